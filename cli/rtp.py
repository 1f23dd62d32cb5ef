"""`rtp`: what players got back, by game and bet."""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from cli.options import JsonOption, LedgerOption, open_to_read
from cli.project import up_to_date
from cli.render import amount, console, plain, plain_table, print_json
from ledger import Ledger

WIDE_ENOUGH = 96
"""The width, in characters, from which the return on everything staked is shown as well."""

if TYPE_CHECKING:
    from audit_reports.rtp import RtpRow


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("rtp")(rtp_command)


def rtp_command(
    path: LedgerOption = None,
    rebuild: Annotated[
        bool,
        typer.Option("--rebuild", help="Count anew from the leaves: for a ledger others wrote."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Count the realised return to player by game and bet; only verified leaves are counted.

    On initial stakes a doubled push is 100%, as in the published figures. Voids stand apart, play
    for fun is not counted, currencies and rule sets are never summed. Figures are kept in the
    ledger's directory and brought up to date; who did not make them asks to --rebuild.
    """
    with open_to_read(path) as ledger:
        rows = count(ledger, rebuild=rebuild)
    if as_json:
        print_json([row.as_data() for row in rows])
    else:
        print_rtp(console(), rows)


def count(ledger: Ledger, *, rebuild: bool = False) -> "list[RtpRow]":
    """Bring the ledger's projection up to date, or make it anew, and return its figures."""
    from audit_reports.rtp import realised_rtp

    with up_to_date(ledger, rebuild=rebuild) as tables:
        return realised_rtp(tables)


def print_rtp(out: Console, rows: "Sequence[RtpRow]") -> None:
    """Print the figures as a table, percentages on initial stakes and on all that was staked."""
    if not rows:
        out.print("no rounds for real money are recorded")
        return
    wide = out.width >= WIDE_ENOUGH
    right = ("rounds", "staked", "paid", "RTP ± SE", *(["of total"] if wide else []), "published")
    for (game, currency, digest), bets in _by_rules(rows).items():
        out.print(Text.assemble((game, "bold"), f" in {plain(currency)}, rules {digest[:16]}…"))
        table = plain_table("  bet", *right, right=right)
        for row in bets:
            of_total = [_percent(row.rtp_on_total_staked)] if wide else []
            table.add_row(
                f"  {row.bet}",
                f"{row.rounds:,}",
                amount(row.staked_minor),
                amount(row.paid_minor),
                _percent(row.rtp_on_initial_stakes, row.standard_error),
                *of_total,
                "" if row.published_percent is None else f"{row.published_percent}%",
            )
        out.print(table)
    out.print("RTP is on initial stakes; SE is its standard error, in points.")
    for row in rows:
        if row.voided_rounds:
            voided = amount(row.voided_stake_minor, row.currency)
            out.print(f"apart: {row.voided_rounds:,} void rounds of {row.game} {row.bet}, {voided}")
        if row.open_rounds:
            held = amount(row.held_stake_minor, row.currency)
            out.print(
                f"apart: {row.open_rounds:,} open rounds of {row.game} {row.bet}, {held} held"
            )


def _by_rules(rows: "Sequence[RtpRow]") -> "dict[tuple[str, str, str], list[RtpRow]]":
    groups: dict[tuple[str, str, str], list[RtpRow]] = {}
    for row in rows:
        key = (row.game or "unknown rules", row.currency, row.rules_digest)
        groups.setdefault(key, []).append(row)
    return groups


def _percent(ratio: Fraction | None, standard_error: float | None = None) -> str:
    if ratio is None:
        return ""
    # Without any spread there is nothing that the error could be known by.
    error = "" if not standard_error else f" ± {100 * standard_error:.2f}"
    return f"{100 * float(ratio):.2f}%{error}"
