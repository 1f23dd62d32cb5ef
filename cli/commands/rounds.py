"""`rounds` and `replay`: finding a round, and seeing it card by card."""

from datetime import timedelta, tzinfo
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.table import Table
from rich.text import Text

from shoeproof.cli.errors import UsageError
from shoeproof.cli.exit_codes import FINDINGS
from shoeproof.cli.input.options import (
    UTC_ZONE,
    JsonOption,
    LedgerOption,
    OpenedFromOption,
    OpenedToOption,
    RoundArgument,
    ZoneOption,
    find_round,
    open_to_read,
    parse_local,
    parse_zone,
)
from shoeproof.cli.screen.render import (
    amount,
    console,
    plain,
    plain_table,
    print_json,
    print_verdict,
)
from shoeproof.cli.screen.replay import print_replay
from shoeproof.ledger import Finding, Ledger
from shoeproof.ledger.store.round_index import IndexedRound
from shoeproof.replay.currency import unit_of
from shoeproof.replay.local_time import clock_text
from shoeproof.replay.rounds.catalogue import rules_by_digest
from shoeproof.replay.rounds.replayer import Replay
from shoeproof.replay.written.transcript import as_round_text

if TYPE_CHECKING:
    from shoeproof.replay.live.open_rounds import WaitingRound


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("rounds", epilog="Example: shoeproof rounds --game nba --limit 5")(rounds_command)
    app.command("replay", epilog="Example: shoeproof replay 01a22c2b --luck")(replay_command)


def rounds_command(
    path: LedgerOption = None,
    game: Annotated[str | None, typer.Option(help="Rounds of this game only.")] = None,
    player: Annotated[str | None, typer.Option(help="Rounds of this player only.")] = None,
    since: OpenedFromOption = None,
    until: OpenedToOption = None,
    zone: ZoneOption = None,
    only_open: Annotated[bool, typer.Option("--open", help="Open rounds only.")] = False,
    only_void: Annotated[bool, typer.Option("--void", help="Void rounds only.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=1_000_000, help="Show at most this many.")] = 100,
    as_json: JsonOption = False,
) -> None:
    """List rounds, newest first.

    Of open rounds it says what is held in them, for how long they have waited since the last offer,
    input, loss or restoration, and when the system is to act for the player.
    """
    if only_open and only_void:
        raise UsageError("a round is open or void, never both")
    read_in = parse_zone(zone)
    begin, end, shown_in = (
        parse_local(since, read_in),
        parse_local(until, read_in),
        read_in or UTC_ZONE,
    )
    with open_to_read(path) as ledger:
        names = {digest: rules.id for digest, rules in rules_by_digest(ledger).items()}
        if game is not None and game not in names.values():
            known = ", ".join(sorted(set(names.values())))
            raise UsageError(f"unknown game {game!r}; the ledger has {known}")
        digests = [digest for digest, name in names.items() if name == game]
        found = ledger.rounds(
            rules_digests=None if game is None else digests,
            player=player,
            state="open" if only_open else "void" if only_void else None,
            opened_from=begin,
            opened_to=end,
            limit=limit + 1,
            newest_first=True,
        )
        shown = found[:limit]
        waiting = _waiting(ledger, shown) if only_open else {}
    if as_json:
        print_json([_row_json(row, names, waiting.get(row.round)) for row in shown])
        return
    out = console()
    if not shown:
        out.print("No open rounds." if only_open else "No rounds match.")
    elif only_open:
        out.print(_open_table(shown, names, waiting, shown_in))
    else:
        out.print(_table(shown, names, shown_in))
    if len(found) > limit:
        out.print(f"… and more; raise --limit above {limit}, or narrow the search")


def replay_command(
    round_id: RoundArgument,
    path: LedgerOption = None,
    step: Annotated[bool, typer.Option("--step", help="Wait for Enter after each event.")] = False,
    zone: ZoneOption = None,
    as_json: JsonOption = False,
    as_round: Annotated[
        bool, typer.Option("--as-round", help="Print the round as `.round` text.")
    ] = False,
    luck: Annotated[
        bool,
        typer.Option("--luck", help="Also show what each card and decision added to each bet."),
    ] = False,
) -> None:
    """Rebuild a round from its events, card by card.

    It shows every card and act, and for each bet what the rules pay and what was paid.
    """
    from shoeproof.cli.screen.luck import luck_json, print_luck
    from shoeproof.ledger.verify.one_stream import read_stream
    from shoeproof.replay.interruptions.judge import replay_of

    shown_in = parse_zone(zone) or UTC_ZONE
    with open_to_read(path) as ledger:
        stream = find_round(ledger, round_id)
        # What is shown is what was verified, never a second read.
        events, evidence = read_stream(ledger, stream)
        replay = replay_of(ledger, events)
    found = [*evidence, *replay.findings]
    if as_json + as_round + step > 1:
        raise UsageError("choose one of --json, --as-round and --step")
    if luck and as_round:
        raise UsageError("a `.round` text cannot show --luck")
    if as_round:
        print(as_round_text(replay), end="")
    elif as_json:
        taken_apart = {"luck": luck_json(replay)} if luck else {}
        print_verdict(_replay_json(replay, found) | taken_apart, sound=not found)
    else:
        print_replay(console(), replay, evidence, zone=shown_in, step=step)
        if luck:
            print_luck(console(), replay)
    if found:
        raise typer.Exit(FINDINGS)


def _name(row: IndexedRound, names: dict[str, str]) -> str:
    return plain(names.get(row.rules_digest, "unknown"))


def _row_json(
    row: IndexedRound, names: dict[str, str], waiting: "WaitingRound | None"
) -> dict[str, object]:
    told = {} if waiting is None else msgspec.structs.asdict(waiting)
    return {**msgspec.structs.asdict(row), "game": names.get(row.rules_digest), **told}


def _waiting(ledger: Ledger, rows: list[IndexedRound]) -> "dict[str, WaitingRound]":
    from shoeproof.replay.live.open_rounds import OpenRounds

    open_rounds = OpenRounds(ledger, ledger.now())
    return {
        events[0].event.stream: open_rounds.describe(events) for events in open_rounds.read(rows)
    }


def _table(rows: list[IndexedRound], names: dict[str, str], zone: tzinfo) -> Table:
    opened = f"opened ({zone})"
    table = plain_table("round", "game", "player", opened, "state", whole=("round",), gap=1)
    for row in rows:
        state = Text(row.state, {"open": "yellow", "void": "red"}.get(row.state, ""))
        opened = clock_text(row.opened_at, zone, "minutes")
        table.add_row(row.round, _name(row, names), plain(row.player), opened, state)
    return table


def _open_table(
    rows: list[IndexedRound],
    names: dict[str, str],
    waiting: "dict[str, WaitingRound]",
    zone: tzinfo,
) -> Table:
    columns = "round", "game", "player", "held", "waits", f"system acts ({zone})"
    table = plain_table(*columns, whole=("round",), right=("held", "waits"), gap=1)
    for row in rows:
        told = waiting.get(row.round)
        who = row.round, _name(row, names), plain(row.player)
        if told is None:
            table.add_row(*who, "unreadable", "", "")
            continue
        acts = "never" if told.default_due is None else clock_text(told.default_due, zone)
        waits = str(timedelta(seconds=told.waits_seconds))
        table.add_row(*who, amount(told.held_minor, told.currency), waits, acts)
    return table


def _replay_json(replay: Replay, found: list[Finding]) -> dict[str, object]:
    ending = None if replay.ending is None else type(replay.ending).__name__
    return {
        "kind": "replay",
        "round": replay.round_id,
        "game": None if replay.rules is None else replay.rules.id,
        "rules_digest": replay.opened.rules_digest,
        "player": replay.opened.player,
        "currency": unit_of(replay.opened),
        "mode": replay.opened.mode,
        "ending": ending,
        "play_judged_to_the_end": replay.judged,
        "events": [
            {
                "leaf_index": step.recorded.leaf_index,
                "seq": step.recorded.event.seq,
                "at": step.recorded.event.at,
                "type": step.recorded.event.type,
                "data": msgspec.to_builtins(step.recorded.event.data),
            }
            for step in replay.steps
        ],
        "bets": [
            {
                "hand": bet.hand,
                "bet": bet.bet,
                "stake_minor": bet.stake_minor,
                "expected_minor": bet.paid_minor,
                "expected_line": bet.line,
                "paid_minor": None if paid is None else paid.paid_minor,
                "paid_line": None if paid is None else paid.line,
            }
            for bet in replay.expected
            for paid in [replay.settled.get((bet.hand, bet.bet))]
        ],
        "findings": msgspec.to_builtins(found),
    }
