"""Hold a round to the policy it was opened under: deadlines, defaults, late inputs, held wins.

The replayer says whether a round follows from its rules; this says whether the system kept what it
had disclosed about interruptions. It is pure: `now` is the time of the last leaf that is judged, so
that two auditors of one ledger find the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from ledger import Finding, Ledger, Recorded
from ledger.clock import format_time, parse_time
from ledger.errors import EventUnreadable, UnknownStream
from ledger.events import (
    HOLDS_PREFIX,
    OPERATIONS_STREAM,
    BetSettled,
    DealRequested,
    DecisionMade,
    DecisionOffered,
    RoundClosed,
    RoundOpened,
    StakesPlaced,
    WinHeld,
    WinReleased,
)
from ledger.recorded import read_leaf
from ledger.schema import StoredLeaf
from replay import findings as codes
from replay.catalogue import policies_by_digest
from replay.currency import amount_text
from replay.engine.hand import INSURANCE_ACTS
from replay.money_check import not_credited_minor
from replay.policies import Policy
from replay.shoe_check import Problem
from replay.waiting import (
    Outage,
    Waiting,
    default_due,
    follow,
    held_minor,
    offer_deadline,
    outages_in,
)


class Hold(NamedTuple):
    """What was held of a round's win, and what of it was released, in minor units."""

    held_minor: int
    released_minor: int


class Circumstances(msgspec.Struct, frozen=True):
    """What a ledger says besides its rounds, as far as rounds are judged by it.

    `policies` are by digest, `holds` by round; `outages` are all there were, as they were recorded.
    `now` is the time of the last leaf.
    """

    policies: Mapping[str, Policy]
    outages: tuple[Outage, ...]
    holds: Mapping[str, Hold]
    now: datetime


def circumstances_of(
    ledger: Ledger, size: int | None = None, *, round_id: str | None = None
) -> Circumstances:
    """Read the circumstances of a ledger's first `size` leaves, by default of all of them.

    With a `round_id` the holds are those of that round alone. What cannot be read is passed over:
    to report it is verification's business.
    """
    store = ledger.store
    size = ledger.size() if size is None else size
    held = store.under(HOLDS_PREFIX) if round_id is None else store.stream(HOLDS_PREFIX + round_id)
    last = [each for each in map(_read, store.fetch(size - 1, size)) if each is not None]
    return Circumstances(
        policies=policies_by_digest(ledger),
        outages=outages_in(each for each in operations_of(ledger) if each.leaf_index < size),
        holds=holds_in(leaf for leaf in held if leaf.leaf_index < size),
        now=parse_time(last[0].event.at) if last else datetime.min.replace(tzinfo=UTC),
    )


def operations_of(ledger: Ledger) -> list[Recorded]:
    """Return what was recorded of the service as a whole, in order."""
    try:
        return ledger.events(OPERATIONS_STREAM)
    except UnknownStream:
        return []


def holds_in(leaves: Iterator[StoredLeaf]) -> dict[str, Hold]:
    """Return what leaves say of held wins, by round."""
    found: dict[str, Hold] = {}
    for leaf in leaves:
        recorded = _read(leaf)
        data = None if recorded is None else recorded.event.data
        if isinstance(data, WinHeld | WinReleased):
            before = found.get(data.round, Hold(0, 0))
            held = data.amount_minor if isinstance(data, WinHeld) else 0
            released = data.amount_minor - held
            found[data.round] = Hold(before.held_minor + held, before.released_minor + released)
    return found


def _read(leaf: StoredLeaf) -> Recorded | None:
    try:
        return read_leaf(leaf)
    except EventUnreadable:
        return None


def check_policy(
    events: Sequence[Recorded], circumstances: Circumstances, game: str | None
) -> list[Finding]:
    """Return where a round departs from the policy it names.

    `events` are its stream's, in order; `game` is the id of its rules, None where they are unknown.
    A round under no policy may have neither deadlines nor decisions of the system.
    """
    opened = events[0].event.data
    if not isinstance(opened, RoundOpened):
        return []
    policy = circumstances.policies.get(opened.policy_digest or "")
    if opened.policy_digest is not None and policy is None:
        sentence = f"the ledger carries no policy with digest {opened.policy_digest}"
        return [_placed((codes.POLICY_DIGEST_UNKNOWN, sentence), events[0])]
    outages = tuple(each for each in circumstances.outages if each.covers(game, opened.table))
    judge = _Judge(policy, outages, circumstances, opened.currency)
    return [_placed(problem, at) for at in events for problem in judge.take(at)] + [
        _placed(problem, events[-1]) for problem in judge.finish(events[0].event.stream)
    ]


def _placed(problem: Problem, recorded: Recorded) -> Finding:
    return Finding(*problem, recorded.event.stream, recorded.leaf_index, recorded.event.seq)


class _Judge:
    """The walk through one round's events; lives for one call of `check_policy`."""

    def __init__(
        self,
        policy: Policy | None,
        outages: tuple[Outage, ...],
        circumstances: Circumstances,
        currency: str,
    ) -> None:
        self.policy, self.outages, self.circumstances = policy, outages, circumstances
        self.currency = currency
        self.waiting: Waiting | None = None
        self.settled: list[BetSettled] = []
        self.last_turn = 0
        self.closed = False

    def take(self, recorded: Recorded) -> Iterator[Problem]:
        """Take the next event; nothing after the end is judged here."""
        data, at = recorded.event.data, parse_time(recorded.event.at)
        before = self.waiting or Waiting(at)
        if before.ended:
            return
        self.waiting = follow(before, data, at)
        if isinstance(data, DecisionMade) and data.actor != "player":
            yield from self._default(data, before, at)
        elif isinstance(data, DecisionMade):
            yield from self._late(f"{data.act} of {data.hand}", before, at)
        elif isinstance(data, StakesPlaced | DealRequested) and before.laid and not before.dealt:
            yield from self._late(f"{type(data).__name__}", before, at)
        elif isinstance(data, DecisionOffered):
            self.last_turn = len(self.settled)
            yield from self._offer(data)
        elif isinstance(data, BetSettled):
            self.settled.append(data)
        elif isinstance(data, RoundClosed):
            self.closed = True

    def _due(self, waiting: Waiting, now: datetime) -> datetime | None:
        return default_due(waiting, self.policy, self.outages, now)

    def _late(self, what: str, before: Waiting, at: datetime) -> Iterator[Problem]:
        due = self._due(before, at)
        if due is not None and at >= due:
            sentence = f"{what} was taken at {format_time(at)}"
            yield codes.DECISION_LATE, f"{sentence}; the default was due at {format_time(due)}"

    def _default(self, made: DecisionMade, before: Waiting, at: datetime) -> Iterator[Problem]:
        what = f"{made.act} of {made.hand} by {made.actor or 'nobody'}"
        default = None if self.policy is None else self.policy.default
        if made.actor is None:
            return
        if default is None or made.actor == "staff":
            yield codes.DEFAULT_NOT_ALLOWED, f"{what}: the policy leaves this to the player"
            return
        act = default.insurance if made.act in INSURANCE_ACTS else default.act
        if made.act != act:
            yield codes.DEFAULT_NOT_ALLOWED, f"{what}: the policy provides {act}"
        due = self._due(before, at)
        if due is None:
            yield codes.DEFAULT_EARLY, f"{what} at {format_time(at)}, when no default was due"
        elif at < due:
            sentence = f"{what} at {format_time(at)}"
            yield codes.DEFAULT_EARLY, f"{sentence}; it was due at {format_time(due)}"

    def _offer(self, offer: DecisionOffered) -> Iterator[Problem]:
        assert self.waiting is not None
        due = offer_deadline(self.waiting, self.policy)
        deadline = None if due is None else format_time(due)
        if offer.deadline != deadline:
            sentence = f"{offer.hand} was given until {offer.deadline or 'no time'}"
            yield codes.DEADLINE_WRONG, f"{sentence}, the policy says {deadline or 'no time'}"

    def finish(self, round_id: str) -> Iterator[Problem]:
        """Judge how the round stands after its last event."""
        assert self.waiting is not None
        due = self._due(self.waiting, self.circumstances.now)
        if due is not None and self.waiting.laid and due <= self.circumstances.now:
            sentence = f"the round is open at {format_time(self.circumstances.now)}"
            yield codes.DEFAULT_OVERDUE, f"{sentence}; its default was due at {format_time(due)}"
        yield from self._hold(self.circumstances.holds.get(round_id))

    def _hold(self, hold: Hold | None) -> Iterator[Problem]:
        due = held_minor(self.policy, self.settled, self.last_turn) if self.closed else 0
        if due and hold is None:
            sentence = f"{self._text(due)} of the win waits for a person's verification"
            yield codes.WIN_NOT_HELD, f"{sentence} and was not held"
            return
        held, released = hold or Hold(0, 0)
        if held != due:
            yield (
                codes.HOLD_MISMATCH,
                f"{self._text(held)} of the win was held, {self._text(due)} is to be",
            )
        if released > held:
            sentence = f"{self._text(released)} was released"
            yield codes.HOLD_MISMATCH, f"{sentence}, only {self._text(held)} was held"
        kept = not_credited_minor(self.settled)
        if kept is not None and kept != held:
            sentence = f"{self._text(held)} is held, and {self._text(kept)} of the payments"
            yield codes.HOLD_MISMATCH, f"{sentence} not credited"

    def _text(self, minor: int) -> str:
        return amount_text(minor, self.currency)
