"""`rtp`: what players got back, by game and bet, and whether that means anything."""

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from audit_reports.errors import ProjectionBusy
from audit_reports.numerals import percent, standard_errors
from cli.errors import FINDINGS, UsageError
from cli.options import (
    JsonOption,
    LedgerOption,
    open_to_read,
    open_to_write,
    parse_local,
    parse_zone,
)
from cli.project import RebuildOption, VerifiedOnlyOption, up_to_date
from cli.render import amount, console, plain, plain_table, print_json
from cli.report import ByOption, FromOption, ToOption, ZoneOption
from ledger import Ledger

if TYPE_CHECKING:
    from audit_reports.rtp_report.figures import Scope
    from audit_reports.rtp_report.model import Bounds, GameReport, Row

WIDE_ENOUGH: Final = 110
"""The width, in characters, from which amounts and what was expected are shown as well."""

WIDEST: Final = 150
"""The width from which the theoretical return and that on all that was staked are shown too."""

BAR: Final = 13
"""Characters of the bar that shows a return in its band; odd, so that it has a middle."""

LONGEST_NAME: Final = 40
"""Characters shown of a name, which may have thousands; `--json` has it whole."""

WATCH_SECONDS: Final = 2.0

_STYLES: Final = {"no evidence against": "green", "watch": "yellow", "out of range": "bold red"}


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("rtp")(rtp_command)


def rtp_command(
    since: FromOption = None,
    until: ToOption = None,
    zone: ZoneOption = None,
    by: ByOption = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Count on as the ledger grows, until Ctrl-C.")
    ] = False,
    raising: Annotated[
        bool,
        typer.Option("--raise", help="Record an alarm in the ledger for each bet out of range."),
    ] = False,
    rebuild: RebuildOption = False,
    verified_only: VerifiedOnlyOption = False,
    path: LedgerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count the realised return to player by game and bet, and judge it; only verified leaves.

    On initial stakes a doubled push is 100%, as in the published figures. Voids stand apart, play
    for fun is not counted, currencies and rule sets are never summed. A verdict rests on luck and
    wrong payments, not on how people played; the exit code is 1 where a game is out of range.
    Figures are kept in the ledger's directory; who did not make them asks to --rebuild.
    """
    # Statistics and DuckDB take longer to load than most commands to run.
    from audit_reports.rtp_report.alarms import raise_alarms
    from audit_reports.rtp_report.figures import Scope, read_slices

    if watch and (as_json or raising):
        raise UsageError("--watch goes with neither --json nor --raise")
    if raising and (verified_only or since or until):
        raise UsageError("--raise judges the whole ledger: leave out periods and --verified-only")
    shown_in = parse_zone(zone)
    scope = Scope(parse_local(since, shown_in), parse_local(until, shown_in, last=True))
    slices = tuple(map(read_slices, by or ()))
    out = console()
    with open_to_write(path) if raising else open_to_read(path) as ledger:
        if watch:
            _watch(out, ledger, scope, slices, rebuild=rebuild, verified_only=verified_only)
            return
        games, objection = count(
            ledger, scope, slices, rebuild=rebuild, verified_only=verified_only
        )
        raised = raise_alarms(ledger, games) if raising else []
    if as_json:
        print_json({"objection": objection, "games": games})
    else:
        print_rtp(out, games, objection)
        for alarm in raised:
            out.print(Text(f"alarm recorded: {plain(alarm.note or '')}", "bold red"))
    if objection is not None or any(game.word == "out of range" for game in games):
        raise typer.Exit(FINDINGS)


def count(
    ledger: Ledger,
    scope: "Scope | None" = None,
    slices: Sequence[tuple[str, ...]] = (),
    *,
    rebuild: bool = False,
    verified_only: bool = False,
) -> "tuple[tuple[GameReport, ...], str | None]":
    """Bring the ledger's tables up to date, or make them anew, and return every game judged.

    The second value is what verification says of the first leaf not counted, None where all are.
    """
    from audit_reports.rtp_report.figures import Scope
    from audit_reports.rtp_report.from_ledger import games_of

    with up_to_date(ledger, rebuild=rebuild, verified_only=verified_only) as tables:
        return games_of(ledger, tables, scope or Scope(), slices), tables.objection_text


def _watch(
    out: Console,
    ledger: Ledger,
    scope: "Scope",
    slices: Sequence[tuple[str, ...]],
    *,
    rebuild: bool,
    verified_only: bool,
) -> None:
    seen = -1
    try:
        while True:
            size = ledger.size()
            if size != seen:
                # Another process may be counting just now: then it is the next turn's.
                with suppress(ProjectionBusy):
                    # Once counted anew the tables are this reader's own.
                    anew = rebuild and seen < 0
                    games, objection = count(
                        ledger, scope, slices, rebuild=anew, verified_only=verified_only
                    )
                    out.clear()
                    print_rtp(out, games, objection)
                    out.print(Text(f"{size:,} leaves; Ctrl-C ends", "dim"))
                    seen = size
            time.sleep(WATCH_SECONDS)
    except KeyboardInterrupt:
        return


def print_rtp(out: Console, games: "Sequence[GameReport]", objection: str | None = None) -> None:
    """Print every game's verdict and bets, then slices, and what stands apart."""
    if objection is not None:
        out.print(Text(plain(objection), "bold red"))
    if not games:
        out.print("no rounds for real money are recorded in this period")
        return
    for game in games:
        digest = game.rules_digest[:16]
        variant = ", a variant," if game.variant else ""
        name = f"{plain(game.game or 'unknown rules')}{variant} in {plain(game.currency)}"
        out.print(
            Text.assemble(
                (name, "bold"), f", rules {digest}…: ", _word(game.word, judged=game.bets[0].judged)
            )
        )
        for why in game.why:
            out.print(Padding(Text(plain(why)), (0, 0, 0, 2)))
        out.print(_bets(game, out.width))
        for by, rows in game.slices.items():
            out.print(_slices(game, by, rows, out.width))
        _print_apart(out, game)
        out.print()
    out.print(
        "RTP is on initial stakes, ± its 95% interval. Bar: ● realised, │ what such play returns, "
        "[ ] where 19 of 20 fair games are."
    )
    if any(game.slices for game in games):
        out.print("Luck z: standard errors of all luck from zero, one look at one slice.")


def _bets(game: "GameReport", width: int) -> Table:
    extra = _extra_columns(width)
    expected = (*(["expected"] if extra else []), *(["theory"] if width >= WIDEST else []))
    right = ("rounds", *extra, "RTP ± 95%", *expected)
    table = plain_table("  bet", *right, "", "verdict", right=right)
    for bet in game.bets:
        row = bet.row
        computed = "unknown" if bet.theory is None else _percent(bet.theory.computed)
        table.add_row(
            f"  {_name(row.bet)}",
            f"{row.rounds:,}",
            *_amounts(row, game.currency)[: len(extra)],
            _return(row),
            *(_percent(row.expected), computed)[: len(expected)],
            bar(row.rtp_on_initial_stakes, row.expected, bet.band),
            _word(bet.word, judged=bet.judged),
        )
    return table


def _slices(game: "GameReport", by: str, rows: "Sequence[Row]", width: int) -> Table:
    from audit_reports.rtp_report.write import rows_in_time, slice_words

    names = by.split(",")
    extra = _extra_columns(width)
    luck = (*(("expected",) if extra else ()), "luck z")
    right = ("rounds", *extra, "RTP ± 95%", *luck)
    heads = [name.replace("_", " ") for name in names]
    table = plain_table(f"  {heads[0]}", *heads[1:], "bet", *right, right=right)
    for idle, row in rows_in_time(rows, game.idle.get(by, ())):
        if row is None:
            table.add_row(f"  {idle}", Text("no activity", "dim"))
            continue
        told = [_short(plain(slice_words(name, row.slice[name], game.currency))) for name in names]
        table.add_row(
            f"  {told[0]}", *told[1:], _name(row.bet), f"{row.rounds:,}",
            *_amounts(row, game.currency)[: len(extra)], _return(row),
            *(_percent(row.expected), _errors(row.luck_z))[-len(luck) :],
        )  # fmt: skip
    return table


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _extra_columns(width: int) -> tuple[str, ...]:
    return ("staked", "paid", "of total")[: (width >= WIDE_ENOUGH) * 2 + (width >= WIDEST)]


def _print_apart(out: Console, game: "GameReport") -> None:
    """Print of each bet what is not in its figures, or not as the table paid it."""
    for bet in game.bets:
        row, currency = bet.row, game.currency
        told = []
        if row.voided_rounds:
            told.append(f"{row.voided_rounds:,} void, {amount(row.voided_minor, currency)}")
        if row.open_rounds:
            told.append(f"{row.open_rounds:,} open, {amount(row.held_minor, currency)} held")
        if row.resettled_rounds:
            moved = amount(row.resettled_minor, currency)
            told.append(f"{row.resettled_rounds:,} resettled, by {moved} in all")
        if row.incentive_minor:
            kinds = amount(row.cash_minor, currency), amount(row.incentive_minor, currency)
            told.append(f"staked {kinds[0]} in cash and {kinds[1]} of incentives")
        if told:
            line = Text(f"apart, {_name(row.bet)}: {plain('; '.join(told))}")
            out.print(Padding(line, (0, 0, 0, 2)))


def bar(realised: float | None, expected: float | None, band: "Bounds | None") -> str:
    """Return a return in its band as a bar whose middle is what was expected.

    It reaches twice as far as the band; what lies beyond stands at its end.
    """
    if realised is None or expected is None or band is None or band.upper <= expected:
        return ""
    reach, middle = 2 * (band.upper - expected), BAR // 2

    def place(value: float) -> int:
        return round(min(max((value - expected) / reach, -1.0), 1.0) * middle) + middle

    drawn = ["·"] * BAR
    drawn[place(band.lower)], drawn[place(band.upper)] = "[", "]"
    drawn[middle] = "│"
    drawn[place(realised)] = "●"
    return "".join(drawn)


def _word(word: str, *, judged: bool = True) -> Text:
    """Return a verdict in its colour, which one without anything to go by does not have."""
    return Text(word, _STYLES[word] if judged or word != "no evidence against" else "")


def _name(bet: str) -> str:
    from audit_reports.words import bet_words

    return plain(bet_words(bet))


def _amounts(row: "Row", currency: str) -> tuple[str, ...]:
    from replay.currency import number_text

    money = (number_text(each, currency) for each in (row.staked_minor, row.paid_minor))
    return *money, _percent(row.rtp_on_total_staked)


def _return(row: "Row") -> str:
    if row.rtp_on_initial_stakes is None:
        return ""
    text = _percent(row.rtp_on_initial_stakes)
    if row.interval is None:
        return text
    return f"{text} ± {50 * (row.interval.upper - row.interval.lower):.2f}"


def _errors(z: float | None) -> str:
    return "" if z is None else standard_errors(z)


def _percent(value: float | None) -> str:
    return "" if value is None else percent(value)
