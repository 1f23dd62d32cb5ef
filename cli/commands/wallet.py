"""`wallet`: the operator's wallet compared with the ledger."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final
from zoneinfo import ZoneInfo

import msgspec
import typer
from rich.text import Text

from shoeproof.cli.errors import UsageError
from shoeproof.cli.exit_codes import FINDINGS
from shoeproof.cli.input.options import (
    JsonOption,
    LedgerOption,
    ZoneOption,
    open_to_write,
    parse_local,
    parse_zone,
)
from shoeproof.cli.input.wallets import operators_wallet
from shoeproof.cli.screen.render import MOST_SHOWN, console, plain, plain_table, print_verdict
from shoeproof.ledger import Ledger
from shoeproof.ledger.files.foreign import read_toml
from shoeproof.ledger.leaf.events import AlarmRaised
from shoeproof.ledger.leaf.streams import OPERATIONS_STREAM
from shoeproof.replay.disputes.complaints.statement import read_statement
from shoeproof.replay.wallet.intents import IN_FLIGHT, settle_open
from shoeproof.replay.wallet.reconcile import Reconciled, WalletLine, booked_in, reconcile

FIRST_MOMENT: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""From when on a wallet is asked for movements: no ledger is older."""

_COMPLETE: Final = 1
_UNKNOWN: Final = 7

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Compare the operator's wallet with the ledger.",
    epilog="Example: shoeproof wallet reconcile --statement wallet.csv",
)


def register(commands: typer.Typer) -> None:
    """Add this group."""
    commands.add_typer(app, name="wallet")


@app.callback()
def wallet_group() -> None:
    """Compare the operator's wallet with the ledger."""


@app.command("reconcile", epilog="Example: shoeproof wallet reconcile --statement wallet.csv")
def reconcile_command(
    statement: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The wallet's movements, a CSV file; without it the wallet is asked.",
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="TIME",
            help="When the wallet is asked: list movements from this time on.",
        ),
    ] = None,
    columns: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help='The names of its columns, a TOML file: `time = "Booked"`.'
        ),
    ] = None,
    fix: Annotated[
        bool,
        typer.Option(
            "--fix", help="First cancel the movements that were asked for and never recorded."
        ),
    ] = False,
    path: LedgerOption = None,
    zone: ZoneOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare a wallet's movements with the ledger's.

    They are compared by reference, and the result is signed. It finds movements without an event,
    events without a movement, other amounts, what was moved twice or late. What turns in flight
    have asked for is left alone. With --fix, what this ledger asked for and no event will record is
    cancelled first, unless it is a restored copy. Exit 0 when all agree, 1 when not.
    """
    shown_in = parse_zone(zone)
    begin = parse_local(since, shown_in)
    wallet = operators_wallet()
    if wallet is None and (fix or statement is None):
        raise UsageError("no wallet is configured: give its URL in SHOEPROOF_WALLET")
    with open_to_write(path) as ledger:
        if fix and wallet is not None:
            settle_open(ledger, wallet, older_than=IN_FLIGHT)
        if statement is not None:
            lines = _lines(statement, columns, shown_in)
        else:
            assert wallet is not None
            lines = wallet.movements(begin or FIRST_MOMENT)
        if not lines:
            raise UsageError(
                "the wallet lists no movement from then on: there is nothing to compare"
            )
        result = reconcile(lines, booked_in(ledger), ledger.intents.all(), ledger.now())
        # A restored copy may say what it finds, though it can record nothing.
        if as_json:
            print_verdict(result, sound=not result.differences)
        else:
            _print(result)
        _sign(ledger, result)
    if result.differences:
        raise typer.Exit(FINDINGS)


def read_columns(path: Path) -> dict[str, str]:
    """Return what a file says that the columns of a statement are called; raise UsageError."""
    try:
        return msgspec.convert(read_toml(path.read_text(encoding="utf-8")), dict[str, str])
    except ValueError as error:
        raise UsageError(f"{path.name} does not say what columns are called: {error}") from None


def _lines(statement: Path, columns: Path | None, zone: ZoneInfo | None) -> list[WalletLine]:
    named = {} if columns is None else read_columns(columns)
    read = read_statement(statement.read_bytes(), statement.name, zone, named)
    unnamed = [line.line for line in read if line.reference is None]
    if unnamed:
        raise UsageError(f"{statement.name}, line {unnamed[0]}: the movement has no reference")
    return [WalletLine(line.reference or "", line.at, line.amount, line.line) for line in read]


def _sign(ledger: Ledger, result: Reconciled) -> None:
    """Record the result: how much agreed, and how many differences there are of each kind."""
    kinds = sorted({each.kind for each in result.differences})
    counts = [f"{sum(e.kind == kind for e in result.differences)} {kind}" for kind in kinds]
    note = (
        f"wallet reconciled from {result.begin} to {result.end}: {result.lines} movements, "
        f"{result.agree} references agree, {result.in_flight} in flight"
        + "".join(f", {each}" for each in counts)
    )
    cause = _UNKNOWN if counts else _COMPLETE
    ledger.append((OPERATIONS_STREAM, AlarmRaised(cause, None, note)))


def _print(result: Reconciled) -> None:
    out = console()
    out.print(
        f"{result.lines:,} movements from {result.begin} to {result.end}: {result.agree:,} "
        f"references agree, {result.in_flight:,} in flight, {len(result.differences):,} differ."
    )
    if not result.differences:
        return
    table = plain_table("what", "reference", "how", whole=("what",), gap=1)
    for each in result.differences[:MOST_SHOWN]:
        table.add_row(each.kind.replace("_", " "), plain(each.reference), plain(each.text))
    out.print(table)
    if len(result.differences) > MOST_SHOWN:
        more = len(result.differences) - MOST_SHOWN
        out.print(Text(f"… and {more:,} more; --json has all", "yellow"))
