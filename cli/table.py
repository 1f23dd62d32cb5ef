"""`table`: what befalls the live tables, the sweep of rounds nobody plays on, and held wins."""

from typing import Annotated

import typer
from rich.text import Text

from cli.errors import FINDINGS, UsageError
from cli.options import JsonOption, LedgerOption, open_to_read, open_to_write, staff_signer
from cli.render import MOST_SHOWN, amount, console, plain, plain_table, print_json, progress_bar
from cli.rounds import find_round
from ledger import Ledger
from ledger.events import (
    OPERATIONS_STREAM,
    GameDisabled,
    GameEnabled,
    Incident,
    RoundOpened,
    ServiceStarted,
    ServiceStopped,
)
from replay.catalogue import rules_by_digest
from replay.disputes.assess import assess
from replay.disputes.cases import fold_cases, key_names
from replay.disputes.evidence import gather
from replay.disputes.pay import release_held
from replay.holds import HeldWin, held_wins
from replay.sweep import SweepResult, sweep

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Record outages, end rounds that nobody plays on, release held wins.",
)

CauseOption = Annotated[
    int,
    typer.Option(
        min=1,
        max=7,
        help="1 complete, 2 loss of communication, 3 platform restart, 4 device restart, "
        "5 client crash, 6 game disabled, 7 unknown.",
    ),
]
NoteOption = Annotated[str | None, typer.Option(help="What happened, in words.")]
ScopeOption = Annotated[
    str | None, typer.Option(help="A game's id or a table's name; without it all of them.")
]


@app.command("stop")
def stop_command(
    path: LedgerOption = None,
    scope: ScopeOption = None,
    cause: CauseOption = 3,
    note: NoteOption = None,
) -> None:
    """Record that the service stops: no round is opened, and no player's time runs."""
    _record(path, ServiceStopped(cause, scope, note), "stopped")


@app.command("start")
def start_command(
    path: LedgerOption = None,
    scope: ScopeOption = None,
    cause: CauseOption = 3,
    note: NoteOption = None,
) -> None:
    """Record that the service runs again, also after a breakdown that nobody could record."""
    _record(path, ServiceStarted(cause, scope, note), "started")


@app.command("disable")
def disable_command(
    scope: Annotated[str, typer.Argument(metavar="GAME", help="A game's id or a table's name.")],
    path: LedgerOption = None,
    cause: CauseOption = 6,
    note: NoteOption = None,
) -> None:
    """Record that a game is out of service: no round is opened, open ones are played on."""
    _record(path, GameDisabled(cause, scope, note), "disabled")


@app.command("enable")
def enable_command(
    scope: Annotated[str, typer.Argument(metavar="GAME", help="A game's id or a table's name.")],
    path: LedgerOption = None,
    cause: CauseOption = 6,
    note: NoteOption = None,
) -> None:
    """Record that a game is back in service."""
    _record(path, GameEnabled(cause, scope, note), "enabled")


def _record(path: str | None, event: Incident, done: str) -> None:
    with open_to_write(path) as ledger:
        _refuse_unknown_scope(ledger, event.scope)
        recorded = ledger.append((OPERATIONS_STREAM, event))[0]
    what = event.scope or "the service"
    console().print(f"{plain(what)} {done} at {recorded.event.at}, leaf {recorded.leaf_index}")


def _refuse_unknown_scope(ledger: Ledger, scope: str | None) -> None:
    """Refuse what names no game and no table here: an outage of nothing would shield nobody."""
    if scope is None:
        return
    games = sorted({rules.id for rules in rules_by_digest(ledger).values()})
    tables = sorted(ledger.tables())
    if scope not in (*games, *tables):
        known = ", ".join([*games, *tables])
        raise UsageError(f"{scope!r} is no game and no table of this ledger; it has {known}")


@app.command("sweep")
def sweep_command(path: LedgerOption = None, as_json: JsonOption = False) -> None:
    """Do in every open round what its policy has the system do by now.

    Stakes laid without a deal go back, hands past their deadline stand, rounds in which no input is
    open are settled. Call it every minute; it may run twice, or at once with others. Exit 0 when
    nothing that is due was left, 1 when something had to be.
    """
    with open_to_write(path) as ledger, progress_bar() as bar:
        task = bar.add_task("sweeping rounds", total=None)
        result = sweep(
            ledger, progress=lambda done, total: bar.update(task, completed=done, total=total)
        )
    if as_json:
        print_json(result)
    else:
        _print_sweep(result)
    if result.skipped:
        raise typer.Exit(FINDINGS)


_DID = {"stood": "stood", "returned": "stakes returned", "finished": "settled"}


def _print_sweep(result: SweepResult) -> None:
    out = console()
    there = "1 round was" if result.open_rounds == 1 else f"{result.open_rounds:,} rounds were"
    out.print(f"{there} open, {len(result.swept):,} ended.")
    if result.swept:
        table = plain_table(
            "round", "player", "done", "due (UTC)", "paid", whole=("round",), right=("paid",), gap=1
        )
        for each in result.swept[:MOST_SHOWN]:
            due = "" if each.default_due is None else _short(each.default_due)
            paid = amount(each.paid_minor, each.currency)
            table.add_row(each.round, plain(each.player), _DID[each.did], due, paid)
        out.print(table)
        if len(result.swept) > MOST_SHOWN:
            out.print(f"… and {len(result.swept) - MOST_SHOWN:,} more; --json has all")
    for skipped in result.skipped[:MOST_SHOWN]:
        out.print(Text(f"left: {skipped.round}  {plain(skipped.why)}", "yellow"))
    if result.next_due is not None:
        out.print(f"The next is due at {result.next_due}.")


def _short(at: str) -> str:
    return at[:19].replace("T", " ")


@app.command("holds")
def holds_command(
    path: LedgerOption = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also those that were released.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List large wins that wait for a person's verification."""
    with open_to_read(path) as ledger:
        found = [each for each in held_wins(ledger) if everything or each.released_at is None]
        currencies = [_currency(ledger, each) for each in found]
    if as_json:
        print_json(found)
        return
    table = plain_table(
        "round", "held", "since (UTC)", "released", whole=("round",), right=("held",), gap=1
    )
    for each, currency in zip(found, currencies, strict=True):
        released = "" if each.released_at is None else _short(each.released_at)
        held = amount(each.amount_minor, currency)
        table.add_row(each.round, held, _short(each.held_at), released)
    console().print(table if found else "no win is held")


@app.command("release")
def release_command(
    round_id: Annotated[str, typer.Argument(metavar="ROUND", help="Its id, or how it begins.")],
    key: Annotated[
        str | None, typer.Option(help="Whose key signs; by default the ledger's staff key.")
    ] = None,
    path: LedgerOption = None,
) -> None:
    """Release a held win that a person verified; signed by the staff's key, once.

    Refused where evidence of the round is forged or missing, where it has findings that nobody
    decided about, and while a case about it is open.
    """
    with open_to_write(path) as ledger:
        signer = None if key is None else staff_signer(ledger, key)
        evidence = gather(ledger, find_round(ledger, round_id))
        cases = fold_cases(evidence.disputes, key_names(ledger))
        released = release_held(ledger, evidence, assess(evidence), cases, signer)
        currency = _currency(ledger, released)
    console().print(f"released {amount(released.amount_minor, currency)} of {released.round}")


def _currency(ledger: Ledger, held: HeldWin) -> str:
    opened = ledger.events(held.round)[0].event.data
    return opened.currency if isinstance(opened, RoundOpened) else ""
