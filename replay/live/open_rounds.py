"""Rounds that wait for their players: what is held in them, for how long, and what comes next.

They are found by the ledger's look-up index and read whole, many in one query.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec

from shoeproof.ledger import Ledger, Recorded
from shoeproof.ledger.leaf.clock import format_time
from shoeproof.ledger.leaf.events import (
    BetSettled,
    DealRequested,
    DecisionMade,
    RoundClosed,
    RoundOpened,
    RoundVoided,
    StakesPlaced,
)
from shoeproof.ledger.store.round_index import IndexedRound
from shoeproof.replay.cases.case import Decided, read_decided, resumed_at
from shoeproof.replay.currency import unit_of
from shoeproof.replay.engine.round import stakes_minor
from shoeproof.replay.interruptions.check import operations_of
from shoeproof.replay.interruptions.waiting import (
    Outage,
    Waiting,
    default_due,
    outages_in,
    waiting_of,
    with_resumptions,
)
from shoeproof.replay.rounds.catalogue import policies_by_digest, rules_by_digest

ROUNDS_A_QUERY = 500


class WaitingRound(msgspec.Struct, frozen=True):
    """An open round as support sees it.

    `held_minor` is what was staked, or laid, and not settled yet. `since` is when its period last
    began, `waits_seconds` how long ago that is; `default_due` when the system acts for the player,
    None for never as far as is known now. Times are UTC.
    """

    round: str
    player: str
    currency: str
    held_minor: int
    since: str
    waits_seconds: int
    default_due: str | None


class OpenRounds:
    """Reads open rounds of one ledger as they stand `now`; rules, policies and outages once."""

    def __init__(self, ledger: Ledger, now: datetime) -> None:
        """Read what the rounds depend on."""
        self._ledger, self.now = ledger, now
        self._games = {digest: rules.id for digest, rules in rules_by_digest(ledger).items()}
        self._policies = policies_by_digest(ledger)
        self._outages = outages_in(operations_of(ledger))
        self._decided: dict[str, tuple[Decided, ...]] = {}

    def read(self, rows: Sequence[IndexedRound]) -> Iterator[list[Recorded]]:
        """Yield the events of each round that is still open; one unreadable is passed over."""
        for first in range(0, len(rows), ROUNDS_A_QUERY):
            some = [row.round for row in rows[first : first + ROUNDS_A_QUERY]]
            self._decided |= read_decided(self._ledger, some)
            for events in self._ledger.events_of(some).values():
                ended = isinstance(events[-1].event.data, RoundClosed | RoundVoided)
                if isinstance(events[0].event.data, RoundOpened) and not ended:
                    yield events

    def due(self, events: Sequence[Recorded], waiting: Waiting) -> datetime | None:
        """Return when the system is to act in a round, None for never as far as is known."""
        opened = events[0].event.data
        assert isinstance(opened, RoundOpened)
        policy = self._policies.get(opened.policy_digest or "")
        return default_due(waiting, policy, self.outages(events), self.now)

    def outages(self, events: Sequence[Recorded]) -> tuple[Outage, ...]:
        """Return what puts off the default of a round that was read (`with_resumptions`)."""
        opened = events[0].event.data
        assert isinstance(opened, RoundOpened)
        names = self._games.get(opened.rules_digest), opened.table
        stood = [each for each in self._outages if each.covers(*names)]
        return with_resumptions(stood, resumed_at(self._decided.get(events[0].event.stream, ())))

    def describe(self, events: Sequence[Recorded]) -> WaitingRound:
        """Return what is shown about a round."""
        opened = events[0].event.data
        assert isinstance(opened, RoundOpened)
        waiting = waiting_of(events)
        due = self.due(events, waiting)
        return WaitingRound(
            round=events[0].event.stream,
            player=opened.player,
            currency=unit_of(opened),
            held_minor=held_stakes_minor(events),
            since=format_time(waiting.since),
            waits_seconds=max(0, int((self.now - waiting.since).total_seconds())),
            default_due=None if due is None else format_time(due),
        )


def held_stakes_minor(events: Sequence[Recorded]) -> int:
    """Return what was laid or staked in an open round and is not settled, in minor units."""
    laid = held = 0
    for recorded in events:
        data = recorded.event.data
        if isinstance(data, StakesPlaced):
            laid = stakes_minor(data.stakes)
        elif isinstance(data, DealRequested):
            laid, held = 0, stakes_minor(data.stakes)
        elif isinstance(data, DecisionMade):
            held += data.added_stake_minor
        elif isinstance(data, BetSettled):
            held -= data.stake_minor
    return laid + held
