"""Check a round against the policy it was opened under: deadlines, defaults, late inputs, held
wins.

The replayer says whether a round follows from its rules; this says whether the system kept what it
had disclosed about interruptions, and whether what it says of inputs and times is so.
`full_replay` is both, and what every audit and assessment of a ledger's rounds rests on. It is
pure: `now` is the time of the last leaf that is judged, so that two auditors of one ledger find the
same.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Final, NamedTuple

import msgspec

from shoeproof.ledger import Event, Finding, Ledger, Recorded
from shoeproof.ledger.keys.trust import build_ring
from shoeproof.ledger.leaf.clock import format_time, parse_time
from shoeproof.ledger.leaf.events import (
    BetSettled,
    DealRequested,
    DecisionMade,
    DecisionOffered,
    EventData,
    InputRefused,
    RoundClosed,
    StakesPlaced,
    WinHeld,
    WinReleased,
)
from shoeproof.ledger.leaf.recorded import readable
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.leaf.streams import (
    DISPUTES_PREFIX,
    HOLDS_PREFIX,
    KEYS_STREAM,
    OPERATIONS_STREAM,
    POLICIES_STREAM,
)
from shoeproof.ledger.verify.beside import Leaves, read_before
from shoeproof.replay import findings as codes
from shoeproof.replay.cases.case import UNSETTLED, Decided, decided_in, dispute_stream, resumed_at
from shoeproof.replay.currency import amount_text, unit_of
from shoeproof.replay.engine.hand import INSURANCE_ACTS
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.games.policies import Policy
from shoeproof.replay.interruptions.refusals import check_refusal
from shoeproof.replay.interruptions.void_check import check_void
from shoeproof.replay.interruptions.waiting import (
    Outage,
    Waiting,
    default_due,
    follow,
    held_minor,
    offer_deadline,
    outages_in,
    with_resumptions,
)
from shoeproof.replay.rounds.catalogue import policies_in
from shoeproof.replay.rounds.money_check import as_the_rules_pay, not_credited_minor
from shoeproof.replay.rounds.replayer import Replay, Step, replay_round
from shoeproof.replay.rounds.shoe_check import Problem

SETTLED_WITHIN: Final = timedelta(hours=1)
"""How long after its last event a round in which no input is left may stay unsettled (ASSUMED: the
pages have it settled, and Zero's the win credited, and none says how soon)."""


class HeldAndReleased(NamedTuple):
    """How much of a round's win was held, and how much of that was released, in minor units."""

    held_minor: int
    released_minor: int


class Circumstances(msgspec.Struct, frozen=True):
    """What a ledger says besides its rounds, as far as rounds are judged by it.

    `policies` are by digest, `holds` by round; `outages` are all there were, as they were recorded.
    `now` is the time of the last leaf. `decisions` are, by round, those that stand in its cases.
    """

    policies: Mapping[str, Policy]
    outages: tuple[Outage, ...]
    holds: Mapping[str, HeldAndReleased]
    now: datetime
    decisions: Mapping[str, tuple[Decided, ...]] = {}


def circumstances_of(
    ledger: Ledger, size: int | None = None, *, round_id: str | None = None
) -> Circumstances:
    """Read the circumstances of a ledger's first `size` leaves, by default of all of them.

    With a `round_id` the holds and decisions are those of that round alone. What cannot be read is
    passed over: to report it is verification's business.
    """
    size = ledger.size() if size is None else size
    return circumstances_in(ledger.store, size, round_id=round_id)


def circumstances_in(leaves: Leaves, size: int, *, round_id: str | None = None) -> Circumstances:
    """Return the circumstances that the first `size` leaves tell of; see `circumstances_of`."""
    if round_id is None:
        held, disputed = leaves.under(HOLDS_PREFIX), leaves.under(DISPUTES_PREFIX)
    else:
        held = leaves.stream(HOLDS_PREFIX + round_id)
        disputed = leaves.stream(dispute_stream(round_id))
    last = next(readable(leaves.fetch(size - 1, size)), None)
    return Circumstances(
        policies=policies_in(readable(leaves.stream(POLICIES_STREAM))),
        outages=outages_in(read_before(leaves, OPERATIONS_STREAM, size)),
        holds=holds_in(leaf for leaf in held if leaf.leaf_index < size),
        now=datetime.min.replace(tzinfo=UTC) if last is None else parse_time(last.event.at),
        decisions=_decisions(leaves, (leaf for leaf in disputed if leaf.leaf_index < size)),
    )


def operations_of(ledger: Ledger) -> list[Recorded]:
    """Return what was recorded of the service as a whole, in order; the unreadable left out."""
    return list(readable(ledger.store.stream(OPERATIONS_STREAM)))


def holds_in(leaves: Iterator[StoredLeaf]) -> dict[str, HeldAndReleased]:
    """Return what leaves say of held wins, by round."""
    return held_in(each.event.data for each in readable(leaves))


def held_in(told: Iterable[EventData]) -> dict[str, HeldAndReleased]:
    """Return what events say of held wins, by round."""
    found: dict[str, HeldAndReleased] = {}
    for data in told:
        if isinstance(data, WinHeld | WinReleased):
            before = found.get(data.round, HeldAndReleased(0, 0))
            held = data.amount_minor if isinstance(data, WinHeld) else 0
            released = data.amount_minor - held
            found[data.round] = HeldAndReleased(
                before.held_minor + held, before.released_minor + released
            )
    return found


def _decisions(leaves: Leaves, disputed: Iterator[StoredLeaf]) -> dict[str, tuple[Decided, ...]]:
    told = sorted(readable(disputed), key=lambda each: (each.event.stream, each.leaf_index))
    names = build_ring(leaves.stream(KEYS_STREAM), None)[0].persons() if told else {}
    return {
        stream.removeprefix(DISPUTES_PREFIX): decided_in(list(events), names)
        for stream, events in groupby(told, key=lambda each: each.event.stream)
    }


def full_replay(
    events: Sequence[Recorded],
    rules_by_digest: Mapping[str, Rules],
    circumstances: Circumstances | None,
    sealed_seed: bytes | None = None,
) -> Replay:
    """Rebuild a round, with all findings about its rules and its policy.

    Without circumstances, as where times are unknown, neither the policy nor a void is judged.
    `sealed_seed` is as for `replay_round`. Raises RoundUnreadable for a stream that does not begin
    with RoundOpened.
    """
    replay = replay_round(events, rules_by_digest, sealed_seed)
    if circumstances is None:
        return replay
    found = [*replay.findings, *check_policy(replay, circumstances)]
    decisions = circumstances.decisions.get(replay.round_id, ())
    found += check_void(events, replay, found, decisions)
    return msgspec.structs.replace(replay, findings=tuple(found))


def check_policy(replay: Replay, circumstances: Circumstances) -> list[Finding]:
    """Return how a round departs from the policy it names.

    A round under no policy may have neither deadlines nor decisions of the system.
    """
    opened, steps = replay.opened, replay.steps
    policy = circumstances.policies.get(opened.policy_digest or "")
    if opened.policy_digest is not None and policy is None:
        sentence = f"the ledger carries no policy with digest {opened.policy_digest}"
        return [_placed((codes.POLICY_DIGEST_UNKNOWN, sentence), steps[0].recorded)]
    judge = _Judge(replay, policy, circumstances)
    return [_placed(problem, step.recorded) for step in steps for problem in judge.take(step)] + [
        _placed(problem, steps[-1].recorded) for problem in judge.finish()
    ]


def _placed(problem: Problem, recorded: Recorded) -> Finding:
    return Finding(*problem, recorded.event.stream, recorded.leaf_index, recorded.event.seq)


class _Judge:
    """The walk through one round's events; lives for one call of `check_policy`."""

    def __init__(self, replay: Replay, policy: Policy | None, circumstances: Circumstances) -> None:
        opened, round_id = replay.opened, replay.round_id
        game = None if replay.rules is None else replay.rules.id
        stood = [each for each in circumstances.outages if each.covers(game, opened.table)]
        decisions = circumstances.decisions.get(round_id, ())
        self.resumed = resumed_at(decisions)
        self.is_decided = any(each.remedy not in UNSETTLED for each in decisions)
        self.replay, self.policy, self.now = replay, policy, circumstances.now
        self.outages = with_resumptions(stood, self.resumed)
        self.hold = circumstances.holds.get(round_id)
        self.currency, self.unit = opened.currency, unit_of(opened)
        self.waiting: Waiting | None = None
        self.offer: Event | None = None
        self.laid: Event | None = None
        self.settled: list[BetSettled] = []
        self.last_turn = 0
        self.closed = False

    def take(self, step: Step) -> Iterator[Problem]:
        """Take the next event; nothing after the end is judged here."""
        event = step.recorded.event
        data, at = event.data, parse_time(event.at)
        before = self.waiting or Waiting(at)
        if before.ended:
            return
        self.waiting = follow(before, data, at)
        if isinstance(data, StakesPlaced):
            self.laid = event
        if isinstance(data, DecisionMade):
            self.offer = None
            if data.actor == "player":
                yield from self._late(f"{data.act} of {data.hand}", before, at)
            else:
                yield from self._default(data, before, at)
        elif isinstance(data, StakesPlaced | DealRequested) and before.laid and not before.dealt:
            yield from self._late(f"{type(data).__name__}", before, at)
        elif isinstance(data, DecisionOffered):
            self.last_turn = len(self.settled)
            self.offer = event
            yield from self._offer(data)
        elif isinstance(data, InputRefused):
            due = self._due(before, at) if before.laid else None
            yield from check_refusal(
                event, self.offer, self.laid, step.state, before, due, self.outages
            )
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
            sentence = f"{offer.hand} was given until {offer.deadline or 'no deadline'}"
            yield codes.DEADLINE_WRONG, f"{sentence}, the policy says {deadline or 'no deadline'}"

    def finish(self) -> Iterator[Problem]:
        """Judge how the round stands after its last event."""
        assert self.waiting is not None
        if self.waiting.laid and not self.waiting.ended:
            yield from self._overdue(self.waiting)
        yield from self._hold(self.hold)

    def _overdue(self, waiting: Waiting) -> Iterator[Problem]:
        now, due = format_time(self.now), self._due(waiting, self.now)
        if due is not None and due <= self.now:
            sentence = f"the round is open at {now}"
            yield codes.DEFAULT_OVERDUE, f"{sentence}; its default was due at {format_time(due)}"
        elif self._no_input_is_left():
            last = self.replay.steps[-1].recorded.event.at
            if self.now - parse_time(last) > SETTLED_WITHIN:
                sentence = f"no input was left in the round at {last}"
                yield codes.SETTLEMENT_OVERDUE, f"{sentence}, and it is still not settled at {now}"
        elif due is None and self.policy is not None:
            since = max([waiting.since, *self.resumed])
            days = self.policy.longest_wait_days
            if self.now - since > timedelta(days=days):
                sentence = f"the round has waited for its player since {format_time(since)}"
                text = f"{sentence} and is still open at {now}; {days} days is the longest"
                yield codes.SETTLEMENT_OVERDUE, text

    def _no_input_is_left(self) -> bool:
        """Tell whether the player is known to have no decision left."""
        state = self.replay.state if self.replay.judged else None
        return state is not None and not isinstance(state.due, Decide)

    def _hold(self, hold: HeldAndReleased | None) -> Iterator[Problem]:
        held, released = hold or HeldAndReleased(0, 0)
        # A table holds by what it paid; where that was wrong, what the rules hold is right as well.
        amounts = [
            held_minor(self.policy, settled, self.last_turn, self.currency) if self.closed else 0
            for settled in (self.settled, as_the_rules_pay(self.settled, self.replay.expected))
        ]
        due = min(amounts)
        if due and hold is None:
            sentence = f"{self._text(due)} of the win waits for a person's verification"
            yield codes.WIN_NOT_HELD, f"{sentence} and was not held"
            return
        if held not in amounts:
            yield (
                codes.HOLD_MISMATCH,
                f"{self._text(held)} of the win was held, {self._text(due)} is to be",
            )
        if released > held:
            sentence = f"{self._text(released)} was released"
            yield codes.HOLD_MISMATCH, f"{sentence}, only {self._text(held)} was held"
        if 0 < released < held and not self.is_decided:
            sentence = f"{self._text(released)} of the {self._text(held)} held was released"
            yield codes.HOLD_MISMATCH, f"{sentence}, and the rest was not"
        kept = not_credited_minor(self.settled)
        if kept is not None and kept != held:
            sentence = f"{self._text(held)} is held, and {self._text(kept)} of the payments"
            yield codes.HOLD_MISMATCH, f"{sentence} not credited"

    def _text(self, minor: int) -> str:
        return amount_text(minor, self.unit)
