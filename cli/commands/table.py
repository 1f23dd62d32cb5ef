"""`table`: stop and start live tables, sweep abandoned rounds, and release held wins."""

from collections import Counter
from datetime import tzinfo
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from shoeproof.cli.errors import UsageError
from shoeproof.cli.exit_codes import FINDINGS
from shoeproof.cli.input.options import (
    UTC_ZONE,
    JsonOption,
    LedgerOption,
    RoundArgument,
    StaffKeyOption,
    ZoneOption,
    find_round,
    open_to_read,
    open_to_write,
    parse_zone,
    staff_signer,
)
from shoeproof.cli.input.wallets import operators_wallet, pay_by_hand
from shoeproof.cli.screen.render import (
    MOST_SHOWN,
    amount,
    console,
    plain,
    plain_table,
    print_json,
    print_verdict,
    progress_bar,
)
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import (
    GameDisabled,
    GameEnabled,
    Incident,
    RoundOpened,
    ServiceStarted,
    ServiceStopped,
)
from shoeproof.ledger.leaf.streams import OPERATIONS_STREAM
from shoeproof.replay.cases.case import fold_cases, key_names
from shoeproof.replay.currency import unit_of
from shoeproof.replay.interruptions.holds import held_wins
from shoeproof.replay.local_time import clock_text, zoned_text
from shoeproof.replay.rounds.catalogue import rules_by_digest
from shoeproof.replay.rounds.narrative import counted

if TYPE_CHECKING:
    from shoeproof.replay.live.sweep import SweepResult

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Record outages, end abandoned rounds, release held wins.",
    epilog="Example: shoeproof table sweep",
)


def register(commands: typer.Typer) -> None:
    """Add this group."""
    commands.add_typer(app, name="table")


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


@app.command("stop", epilog='Example: shoeproof table stop --note "new release"')
def stop_command(
    path: LedgerOption = None,
    scope: ScopeOption = None,
    cause: CauseOption = 3,
    note: NoteOption = None,
) -> None:
    """Record that the service stops.

    No round is opened from then on, and no player's time runs.
    """
    _record(path, ServiceStopped(cause, scope, note), "stopped")


@app.command("start", epilog="Example: shoeproof table start --cause 3")
def start_command(
    path: LedgerOption = None,
    scope: ScopeOption = None,
    cause: CauseOption = 3,
    note: NoteOption = None,
) -> None:
    """Record that the service runs again.

    It may follow a breakdown that nobody could record.
    """
    _record(path, ServiceStarted(cause, scope, note), "started")


@app.command("disable", epilog="Example: shoeproof table disable nba")
def disable_command(
    scope: Annotated[str, typer.Argument(metavar="GAME", help="A game's id or a table's name.")],
    path: LedgerOption = None,
    cause: CauseOption = 6,
    note: NoteOption = None,
) -> None:
    """Record that a game is out of service.

    No round of it is opened; open ones are played on.
    """
    _record(path, GameDisabled(cause, scope, note), "disabled")


@app.command("enable", epilog="Example: shoeproof table enable nba")
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
        raise UsageError(f"{scope!r} is neither a game nor a table of this ledger; it has {known}")


@app.command("sweep", epilog="Example: shoeproof table sweep --json")
def sweep_command(
    path: LedgerOption = None, zone: ZoneOption = None, as_json: JsonOption = False
) -> None:
    """Do in open rounds what their policy has due by now.

    Stakes laid without a deal go back, hands past their deadline stand, rounds in which no input is
    open are settled, and what a wallet was asked for in turns that were never written is cancelled.
    SHOEPROOF_WALLET is the wallet's URL; without it, what is to be paid by hand is said. Call it
    every minute; it may run twice, or at once with others. Exit 0 when nothing that is due was
    left, 1 when something had to be.
    """
    from shoeproof.replay.live.sweep import sweep

    shown_in = parse_zone(zone) or UTC_ZONE
    wallet = operators_wallet()
    with open_to_write(path) as ledger, progress_bar() as bar:
        task = bar.add_task("sweeping rounds", total=None)
        result = sweep(
            ledger,
            wallet=wallet,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    by_hand = any(each.by_hand_minor for each in result.swept)
    sound = not (result.skipped or result.owed or by_hand)
    if as_json:
        print_verdict(result, sound=sound)
    else:
        _print_sweep(result, shown_in)
    if not sound:
        raise typer.Exit(FINDINGS)


_DID = {"stood": "stood", "returned": "stakes returned", "finished": "settled", "paid": "paid"}


def _print_sweep(result: "SweepResult", zone: tzinfo) -> None:
    out = console()
    there = counted(result.open_rounds, "round was", "rounds were")
    out.print(f"{there} open, {len(result.swept):,} ended.")
    if result.swept:
        table = plain_table(
            *("round", "player", "done", f"due ({zone})", "paid"),
            whole=("round",),
            right=("paid",),
            gap=1,
        )
        for each in result.swept[:MOST_SHOWN]:
            due = "" if each.default_due is None else clock_text(each.default_due, zone)
            paid = amount(each.paid_minor, each.currency)
            table.add_row(each.round, plain(each.player), _DID[each.did], due, paid)
        out.print(table)
        if len(result.swept) > MOST_SHOWN:
            out.print(f"… and {len(result.swept) - MOST_SHOWN:,} more; --json has all")
    for skipped in result.skipped[:MOST_SHOWN]:
        out.print(Text(f"left: {skipped.round}  {plain(skipped.why)}", "yellow"))
    for reference in result.owed[:MOST_SHOWN]:
        out.print(Text(f"still to be cancelled by the wallet: {plain(reference)}", "yellow"))
    for currency, minor in sorted(_by_hand(result).items()):
        out.print(
            Text(
                f"{amount(minor, currency)} to be paid by hand: no wallet is configured, and the "
                "ledger records it as not answered for (--json lists the rounds)",
                "yellow",
            )
        )
    if result.next_due is not None:
        out.print(f"The next is due at {zoned_text(result.next_due, zone)}.")


def _by_hand(result: "SweepResult") -> Counter[str]:
    found: Counter[str] = Counter()
    for each in result.swept:
        if each.by_hand_minor:
            found[each.currency] += each.by_hand_minor
    return found


@app.command("holds", epilog="Example: shoeproof table holds --zone Europe/Malta")
def holds_command(
    path: LedgerOption = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also those that were released.")
    ] = False,
    zone: ZoneOption = None,
    as_json: JsonOption = False,
) -> None:
    """List large wins that wait for a person's verification."""
    shown_in = parse_zone(zone) or UTC_ZONE
    with open_to_read(path) as ledger:
        found = [each for each in held_wins(ledger) if everything or each.released_at is None]
        currencies = [_currency(ledger, each.round) for each in found]
    if as_json:
        print_json(found)
        return
    since = f"since ({shown_in})"
    table = plain_table(
        "round", "held", since, "released", whole=("round",), right=("held",), gap=1
    )
    for each, currency in zip(found, currencies, strict=True):
        part = amount(each.released_minor, currency) if each.released_minor else ""
        released = part if each.released_at is None else clock_text(each.released_at, shown_in)
        held = amount(each.amount_minor, currency)
        table.add_row(each.round, held, clock_text(each.held_at, shown_in), released)
    console().print(table if found else "no win is held")


@app.command("release", epilog="Example: shoeproof table release 01a22c2b --key ann")
def release_command(
    round_id: RoundArgument,
    key: StaffKeyOption = None,
    path: LedgerOption = None,
) -> None:
    """Release a held win that a person verified.

    The staff's key signs it, once. Refused where evidence of the round is forged or missing, where
    it has findings that nobody decided about, and while a case about it is open. The wallet in
    SHOEPROOF_WALLET pays it; without one, it is said to be paid by hand.
    """
    from shoeproof.replay.disputes.assess import assess
    from shoeproof.replay.disputes.evidence import gather
    from shoeproof.replay.disputes.record import release_held

    wallet = operators_wallet()
    with open_to_write(path) as ledger:
        signer = None if key is None else staff_signer(ledger, key)
        evidence = gather(ledger, find_round(ledger, round_id))
        cases = fold_cases(evidence.disputes, key_names(ledger))
        released = release_held(ledger, evidence, assess(evidence), cases, signer, wallet)
        currency = _currency(ledger, released.round)
    console().print(f"released {amount(released.amount_minor, currency)} of {released.round}")
    pay_by_hand(released.amount_minor, currency, wallet, evidence.events)


def _currency(ledger: Ledger, round_id: str) -> str:
    opened = ledger.events(round_id)[0].event.data
    return unit_of(opened) if isinstance(opened, RoundOpened) else ""
