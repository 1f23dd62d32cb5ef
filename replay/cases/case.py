"""The cases about a round, as the fold of its stream `disputes/<round>`.

All cases about one round stand in one stream: a case is opened only when those before it are
decided or referred. So they are found by the round's name, and anyone who appends after the last
event it read has seen every decision and every payment there is: nothing is decided or paid twice,
from however many processes. A case is called `<round>.<n>`, with n from 1.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, get_args

import msgspec

from shoeproof.ledger import Ledger, Recorded
from shoeproof.ledger.errors import UnknownStream
from shoeproof.ledger.leaf.clock import parse_time
from shoeproof.ledger.leaf.events import (
    Awarded,
    BetResettled,
    ComplaintOpened,
    DisputeDecided,
    DisputeOpened,
    Refunded,
)
from shoeproof.ledger.leaf.layout import claimed_key_id
from shoeproof.ledger.leaf.streams import DISPUTES_PREFIX
from shoeproof.replay.cases.assessment import Claim, RemedyName

DAYS_TO_ANSWER: Final = 10
"""How many days after its receipt a case is to be answered, unless it was opened with others."""

CLAIMS: Final[tuple[Claim, ...]] = get_args(Claim)

DecisionName: TypeAlias = RemedyName | Literal["award", "goodwill", "withdraw"]
"""What a case may be decided by: a remedy of its assessment, an adjudicator's award of any amount,
the operator's goodwill, or the player's withdrawal.
"""
RESUME: Final = "resume"
"""The remedy that gives the player the whole period again, from the decision on."""

UNSETTLED: Final = frozenset({"refer", "resume", "withdraw"})
"""The remedies by which a decision leaves open what is due."""

CaseState: TypeAlias = Literal["open", "awaiting_second_key", "referred", "decided"]
"""A referred case waits for an adjudicator, whose decision then decides it."""

Payment: TypeAlias = BetResettled | Refunded | Awarded


class Decision(msgspec.Struct, frozen=True):
    """One decision, when it was last signed (RFC 3339, UTC), and by which persons so far.

    `leaf_index` is the leaf of the last signature, `seq` its place in the cases' stream.
    """

    data: DisputeDecided
    at: str
    keys: tuple[str, ...]
    leaf_index: int
    seq: int

    @property
    def stands(self) -> bool:
        """Whether all the persons it needs have signed it."""
        return len(self.keys) >= self.data.keys_needed


def decided(data: DisputeDecided) -> DisputeDecided:
    """Return what a decision decides: what its signer had seen of the tree is not part of that."""
    return msgspec.structs.replace(data, seen=None)


def decision_of(data: DisputeDecided, signer: str, recorded: Recorded) -> Decision:
    """Return a decision as one person signed it."""
    at, seq = recorded.event.at, recorded.event.seq
    return Decision(decided(data), at, (signer,), recorded.leaf_index, seq)


class Decided(NamedTuple):
    """A decision that stands: the leaf and the time of the signature it stands by, its remedy."""

    leaf_index: int
    at: datetime
    remedy: str


class Answered:
    """What cases of rounds and complaints about spans have in common: their state and times."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def opened(self) -> DisputeOpened | ComplaintOpened:
            """What opened it."""

        @property
        def opened_at(self) -> str:
            """When it was opened (RFC 3339, UTC)."""

        @property
        def decisions(self) -> tuple[Decision, ...]:
            """Every decision made of it."""

    @property
    def state(self) -> CaseState:
        """What it waits for."""
        if not self.decisions:
            return "open"
        last = self.decisions[-1]
        if not last.stands:
            return "awaiting_second_key"
        return "referred" if last.data.remedy == "refer" else "decided"

    @property
    def decided_at(self) -> str | None:
        """When it was decided, None before it is."""
        return self.decisions[-1].at if self.state == "decided" else None

    @property
    def received_at(self) -> str:
        """When the complaint came in."""
        return self.opened.received or self.opened_at

    @property
    def is_late(self) -> bool:
        """Whether it was opened after its answer was due."""
        deadline = self.opened.deadline
        return deadline is not None and parse_time(deadline) < parse_time(self.opened_at)

    def age(self, now: datetime) -> timedelta:
        """Return how long the complaint has waited for its answer, or did."""
        end = now if self.decided_at is None else parse_time(self.decided_at)
        return end - parse_time(self.received_at)

    def is_overdue(self, now: datetime) -> bool:
        """Tell whether its answer was due before `now` and is missing."""
        deadline = self.opened.deadline
        return self.state != "decided" and deadline is not None and parse_time(deadline) < now

    @property
    def was_answered_late(self) -> bool:
        """Whether it was decided after its answer was due."""
        deadline, decided = self.opened.deadline, self.decided_at
        if deadline is None or decided is None:
            return False
        return parse_time(deadline) < parse_time(decided)


class Case(Answered, msgspec.Struct, frozen=True):
    """One case: the claim, every decision made of it, and the money moved by the one that stands.

    `number` counts the round's cases from 1. Only the last of `decisions` is in force; those before
    it were referrals, or never had the persons they needed.
    """

    round: str
    number: int
    opened: DisputeOpened
    opened_at: str
    opened_by: str
    decisions: tuple[Decision, ...] = ()
    payments: tuple[Payment, ...] = ()

    @property
    def id(self) -> str:
        """The case's name."""
        return f"{self.round}.{self.number}"

    @property
    def claim(self) -> Claim:
        """What the player says went wrong, `other` for an unknown word."""
        said = self.opened.claim
        return next((claim for claim in CLAIMS if claim == said), "other")

    @property
    def bars_another(self) -> bool:
        """Whether it must be decided, or referred, before another case may be opened."""
        referred = any(each.stands and each.data.remedy == "refer" for each in self.decisions)
        return self.state != "decided" and not referred

    @property
    def decided_leaf(self) -> int | None:
        """The leaf that decided it, and so the size of the tree before it; None before it is."""
        return self.decisions[-1].leaf_index if self.state == "decided" else None

    @property
    def moved_minor(self) -> int:
        """What the decision in force moved to the player; nothing before there is one."""
        return self.decisions[-1].data.amount_minor if self.state == "decided" else 0


class CaseFold:
    """The cases that the events of one `disputes/…` stream make, taken one by one.

    `names` maps the ids of keys to the persons whose keys they are (`key_names`).
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        """Begin with no case."""
        self._names = names
        self._paying: int | None = None
        self.cases: list[Case] = []

    def take(self, recorded: Recorded) -> Case | None:
        """Take the next event in, and return the case it is part of, None where it is of none.

        A decision is of the case it names, of the last undecided one where it names none; of a case
        that is decided it is no part. Payments are part of the case whose decision they follow.
        """
        event = recorded.event
        key = claimed_key_id(recorded.leaf)
        signer = self._names.get(key, key)
        place = self._paying
        match event.data:
            case DisputeOpened() as opened:
                place, self._paying = len(self.cases), None
                self.cases.append(Case(opened.round, place + 1, opened, event.at, signer))
            case DisputeDecided() as data:
                place, self._paying = self._undecided(data.case), None
                if place is not None:
                    decision = decision_of(data, signer, recorded)
                    self._decide(place, decision)
            case BetResettled() | Refunded() | Awarded() as payment if place is not None:
                case = self.cases[place]
                payments = (*case.payments, payment)
                self.cases[place] = msgspec.structs.replace(case, payments=payments)
        return None if place is None else self.cases[place]

    def _undecided(self, number: int | None) -> int | None:
        places = [each.number - 1 for each in self.cases if each.state != "decided"]
        if number is None:
            return places[-1] if places else None
        return number - 1 if number - 1 in places else None

    def _decide(self, place: int, new: Decision) -> None:
        case = self.cases[place]
        case = msgspec.structs.replace(case, decisions=signed(case.decisions, new))
        self.cases[place] = case
        if case.decisions[-1].stands:
            self._paying = place


def signed(before: tuple[Decision, ...], new: Decision) -> tuple[Decision, ...]:
    """Return decisions with one more signed: of the same as the last, the signatures add up."""
    last = before[-1] if before else None
    if last is None or last.stands or last.data != new.data:
        return (*before, new)
    keys = tuple(dict.fromkeys((*last.keys, *new.keys)))
    return (*before[:-1], msgspec.structs.replace(new, keys=keys))


def dispute_stream(round_id: str) -> str:
    """Return the stream that all cases about a round stand in."""
    return DISPUTES_PREFIX + round_id


def fold_cases(events: Iterable[Recorded], names: Mapping[str, str]) -> tuple[Case, ...]:
    """Return the cases that the events of one `disputes/…` stream make, in order.

    `names` maps the ids of keys to the persons whose keys they are (`key_names`).
    """
    fold = CaseFold(names)
    for recorded in events:
        fold.take(recorded)
    return tuple(fold.cases)


def decided_in(events: Sequence[Recorded], names: Mapping[str, str]) -> tuple[Decided, ...]:
    """Return the decisions that stand in one `disputes/…` stream, in order; see `fold_cases`."""
    return tuple(
        Decided(each.leaf_index, parse_time(each.at), each.data.remedy)
        for case in fold_cases(events, names)
        for each in case.decisions
        if each.stands
    )


def read_decided(ledger: Ledger, round_ids: Sequence[str]) -> dict[str, tuple[Decided, ...]]:
    """Return the decisions that stand about some rounds, at most a few hundred, unverified.

    A round that nobody decided about, or whose cases cannot be read, is left out.
    """
    told = ledger.events_of([dispute_stream(each) for each in round_ids])
    names = key_names(ledger) if told else {}
    return {
        stream.removeprefix(DISPUTES_PREFIX): decided_in(events, names)
        for stream, events in told.items()
    }


def resumed_at(decided: Sequence[Decided]) -> list[datetime]:
    """Return when a decision resumed the round."""
    return [each.at for each in decided if each.remedy == RESUME]


def read_cases(ledger: Ledger, round_id: str) -> tuple[Case, ...]:
    """Return the cases about a round, unverified; none where nobody complained.

    `round_id` is the whole id. Raises EventUnreadable.
    """
    try:
        events = ledger.events(dispute_stream(round_id))
    except UnknownStream:
        return ()
    return fold_cases(events, key_names(ledger))


def last_waiting(cases: Sequence[Case]) -> Case | None:
    """Return the last of a round's cases that waits for its decision, else the last, if any."""
    waiting = [case for case in cases if case.state != "decided"]
    return next(reversed([*cases[-1:], *waiting]), None)


def key_names(ledger: Ledger) -> dict[str, str]:
    """Return the person whose key each of the ledger's keys is, by the key's id.

    Persons are told apart as `KeyRing.persons` does.
    """
    return ledger.key_ring().persons()


def goodwill_minor(cases: Sequence[Case]) -> int:
    """Return all that was given in goodwill about a round."""
    given = [case for case in cases if case.state == "decided"]
    return sum(c.moved_minor for c in given if c.decisions[-1].data.remedy == "goodwill")
