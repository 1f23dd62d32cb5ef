"""Where the recorded events of a round leave it: what the next process goes on from.

The sealed seed in the ledger opens with the table's key alone, so the same cards come whether the
player left, the terminal died or the server crashed: turns are recorded whole or not at all.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from shoeproof.ledger import Ledger, Recorded
from shoeproof.ledger.leaf.clock import parse_time
from shoeproof.ledger.leaf.events import (
    RoundClosed,
    RoundOpened,
    RoundVoided,
    ShoeCommitted,
    ShoeRevealed,
    StakesPlaced,
)
from shoeproof.replay.engine.round import Decide, Stakes
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.errors import InputRefusedError, RoundUnreadable, UnknownGame
from shoeproof.replay.games.policies import Policy
from shoeproof.replay.interruptions.waiting import Waiting, dealer_has_shown, waiting_of
from shoeproof.replay.live.standing import standing_of
from shoeproof.replay.rounds.replayer import Replay, replay_round
from shoeproof.replay.rounds.shoe_check import ShoeCheck


class LastEvent(NamedTuple):
    """What a round rests on after its last event: its place and time, the wait, the chips laid."""

    seq: int
    at: datetime
    waiting: Waiting
    placed: Stakes


class RecordedPlay(NamedTuple):
    """A round that can go on: its shoe, its rules and its play as far as it is recorded."""

    seed: bytes
    rules: Rules
    policy: Policy | None
    replay: Replay
    is_revealed: bool
    last: LastEvent


def has_ended(events: Sequence[Recorded]) -> bool:
    """Tell whether a round was closed or voided."""
    return any(isinstance(each.event.data, RoundClosed | RoundVoided) for each in events)


def last_of(events: Sequence[Recorded]) -> LastEvent:
    """Return what a round rests on after the last of its events."""
    last = events[-1].event
    laid = [each.event.data for each in events if isinstance(each.event.data, StakesPlaced)]
    placed = laid[-1].stakes if laid else {}
    return LastEvent(last.seq, parse_time(last.at), waiting_of(events), placed)


def read_ended(ledger: Ledger, events: Sequence[Recorded]) -> Replay:
    """Replay a round that has ended; raises RoundUnreadable."""
    return replay_round(events, _rules(ledger, events))


def read_play(ledger: Ledger, events: Sequence[Recorded]) -> RecordedPlay:
    """Return what a round goes on from; the recorded cards are held to the sealed seed.

    What was found that leaves the state whole, about offers, clocks and money, does not hinder
    going on; nor does it that the dealer's cards were shown where no input is left: the same cards
    follow from the seed. Raises InputRefusedError for a round that has ended, whose state is
    broken, or that waits for an input though the dealer has shown more than the up card, which a
    player might have seen (turns being whole, no live table leaves one so); UnknownGame when the
    ledger lacks its rules or policy, RoundUnreadable for a stream that is no round, and the
    ledger's KeyUnusable when the sealed seed does not open.
    """
    round_id = events[0].event.stream
    if has_ended(events):
        raise InputRefusedError(f"the round {round_id} has ended; replay it to see how")
    seed = _unseal(ledger, events)
    replay = replay_round(events, _rules(ledger, events), seed)
    _refuse_broken(replay, events)
    opened, rules = replay.opened, replay.rules
    if seed is None:
        raise RoundUnreadable("the round has no sealed seed to go on from")
    if not ShoeCheck(round_id, opened.rules_digest, None, events).fits(seed):
        raise InputRefusedError(
            f"the round {round_id} cannot go on: its sealed seed is not the one committed to"
        )
    if rules is None:
        raise UnknownGame(f"the ledger lacks the rules {opened.rules_digest}")
    is_revealed = any(isinstance(each.event.data, ShoeRevealed) for each in events)
    policy = _policy(ledger, opened)
    return RecordedPlay(seed, rules, policy, replay, is_revealed, last_of(events))


def _rules(ledger: Ledger, events: Sequence[Recorded]) -> Mapping[str, Rules]:
    opened = events[0].event.data
    named = opened.rules_digest if isinstance(opened, RoundOpened) else None
    return standing_of(ledger).rules(ledger, named)


def _policy(ledger: Ledger, opened: RoundOpened) -> Policy | None:
    named = opened.policy_digest
    if named is None:
        return None
    policy = standing_of(ledger).policies(ledger, named).get(named)
    if policy is None:
        raise UnknownGame(f"the ledger lacks the policy {named}")
    return policy


def _refuse_broken(replay: Replay, events: Sequence[Recorded]) -> None:
    """Raise InputRefusedError for a round that cannot go on."""
    broken, state = replay.broken_by, replay.state
    if broken is not None or not replay.judged:
        why = "its play cannot be followed"
        why = why if broken is None else f"{broken.code}, {broken.text}"
        raise InputRefusedError(
            f"the round {replay.round_id} cannot go on: {why}; replay it to see all"
        )
    waits = state is None or isinstance(state.due, Decide)
    if waits and dealer_has_shown(events):
        raise InputRefusedError(
            f"the round {replay.round_id} cannot be resumed: the dealer's cards have been shown"
        )


def _unseal(ledger: Ledger, events: Sequence[Recorded]) -> bytes | None:
    for each in events:
        data = each.event.data
        if isinstance(data, ShoeCommitted):
            return ledger.unseal(data.sealed_seed, bytes.fromhex(data.commitment))
    return None
