"""A round as it looks rebuilt: its events, its table, its bets, and what was found."""

from datetime import UTC, tzinfo

from rich.console import Console
from rich.table import Table
from rich.text import Text

from shoeproof.cli.screen.render import (
    amount,
    dealer_line,
    hand_line,
    plain,
    plain_table,
    print_findings,
)
from shoeproof.cli.screen.timeline import describe_event
from shoeproof.ledger import Finding
from shoeproof.ledger.leaf.events import BetSettled, RoundVoided
from shoeproof.replay.currency import unit_of
from shoeproof.replay.engine.round import RoundState
from shoeproof.replay.engine.rules import rules_digest
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.local_time import clock_text, zoned_text
from shoeproof.replay.rounds.narrative import actor_of, counted
from shoeproof.replay.rounds.replayer import Replay


def print_replay(
    out: Console,
    replay: Replay,
    evidence: list[Finding],
    *,
    zone: tzinfo = UTC,
    step: bool = False,
    unended: str = "The round is open; nothing so far contradicts the rules.",
) -> None:
    """Print a round event by event, its table, its bets and every finding.

    `evidence` are the findings of the round's own signatures and chain; times are as clocks of
    `zone` show them; `unended` is what to say of a round without findings and without an end.
    """
    found = [*evidence, *replay.findings]
    opened = replay.opened
    out.rule(Text("REPLAY", "bold reverse yellow"), style="yellow")
    out.print("Rebuilt from recorded events; this is not a live round.", style="yellow")
    game = "unknown rules" if replay.rules is None else replay.rules.id
    out.print(Text.assemble(("round  ", "dim"), replay.round_id))
    who = f"{game}, player {opened.player}, table {opened.table or 'unknown'}, {opened.mode} money"
    out.print(Text.assemble(("game   ", "dim"), plain(who)))
    out.print(
        Text.assemble(("rules  ", "dim"), _which_rules(opened.rules_digest), ", with the digest")
    )
    out.print(Text.assemble(("       ", "dim"), plain(opened.rules_digest)))
    signed = "every signature of this round holds" if not evidence else "SEE THE FINDINGS BELOW"
    out.print(Text.assemble(("proof  ", "dim"), (signed, "" if not evidence else "bold red")))
    began = zoned_text(replay.steps[0].recorded.event.at, zone)
    out.print(Text.assemble(("begun  ", "dim"), f"{began}; all times are in this time zone"))
    out.print()
    for each in replay.steps:
        event = each.recorded.event
        line = Table.grid(padding=(0, 2, 0, 0))
        line.add_row(
            Text(f"{event.seq:>3}", "dim"),
            Text(clock_text(event.at, zone, "milliseconds")[11:], "dim"),
            Text(f"{actor_of(event.data):<6}", "cyan"),
            describe_event(each, opened, zone),
        )
        out.print(line)
        if step and each is not replay.steps[-1] and not _wait():
            step = False
    _print_table(out, replay.state)
    _print_bets(out, replay)
    if found:
        print_findings(out, found)
        many = counted(len(found), "finding")
        out.print(Text(f"{many}: the record contradicts the rules", "bold red"))
    elif isinstance(replay.ending, RoundVoided):
        out.print(Text(f"The round is void: {plain(replay.ending.reason)}", "yellow"))
    elif replay.ending is None:
        out.print(Text(unended, "yellow"))
    else:
        out.print(Text("Every card, act and payment follows from the rules.", "bold green"))
    out.rule(Text("END OF REPLAY", "bold reverse yellow"), style="yellow")


def _wait() -> bool:
    """Wait for Enter; tell whether there is somebody to press it."""
    try:
        input()
    except EOFError:
        return False
    return True


def _which_rules(digest: str) -> str:
    published = {rules_digest(game.rules) for game in GAMES.values()}
    return "as published" if digest in published else "a variant"


def _print_table(out: Console, state: RoundState | None) -> None:
    if state is None:
        return
    out.print()
    out.print(Text.assemble(("dealer ", "dim"), dealer_line(state)))
    for held in state.hands:
        out.print(Text.assemble((f"{held.name:<6} ", "dim"), hand_line(held)))


def _print_bets(out: Console, replay: Replay) -> None:
    if not replay.expected:
        return
    currency = unit_of(replay.opened)
    money = ("stake", "rules pay", "was paid")
    table = plain_table("hand", "bet", *money, "line", right=money)
    for bet in replay.expected:
        paid = replay.settled.get((bet.hand, bet.bet))
        agreed = paid is None or bet.paid_minor in (None, paid.paid_minor)
        table.add_row(
            bet.hand,
            bet.bet,
            amount(bet.stake_minor, currency),
            amount(bet.paid_minor, currency),
            Text(amount(_paid(paid), currency), "" if agreed else "bold red"),
            bet.line or "undecided",
        )
    out.print()
    out.print(table)
    out.print()


def _paid(settled: BetSettled | None) -> int | None:
    return None if settled is None else settled.paid_minor
