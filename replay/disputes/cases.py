"""The cases about a round, as the fold of its stream `disputes/<round>`.

All cases about one round stand in one stream, one after another: a case is opened only when the
one before it is decided. So they are found by the round's name, and whoever appends after the last
event it read has seen every decision and every payment there is: nothing is decided or paid twice,
from however many processes. A case is called `<round>.<n>`, with n from 1.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias, get_args

import msgspec

from ledger import Ledger, Recorded
from ledger.clock import parse_time
from ledger.envelope import claimed_key_id
from ledger.errors import UnknownStream
from ledger.events import (
    DISPUTES_PREFIX,
    BetResettled,
    DisputeDecided,
    DisputeOpened,
    Refunded,
)
from replay.disputes.assessment import Claim

DAYS_TO_ANSWER: Final = 10
"""How many days after its opening a case is to be answered, unless it was opened with others."""

CLAIMS: Final[tuple[Claim, ...]] = get_args(Claim)

CaseState: TypeAlias = Literal["open", "awaiting_second_key", "referred", "decided"]
"""A referred case waits for an adjudicator, whose decision then decides it."""

Payment: TypeAlias = BetResettled | Refunded


class Decision(msgspec.Struct, frozen=True):
    """One decision, when it was last signed (RFC 3339, UTC), and the names of the keys so far."""

    data: DisputeDecided
    at: str
    keys: tuple[str, ...]

    @property
    def stands(self) -> bool:
        """Whether as many keys have signed it as it needs."""
        return len(self.keys) >= self.data.keys_needed


class Case(msgspec.Struct, frozen=True):
    """One case: the claim, every decision made of it, and the money moved by the one that stands.

    `number` counts the round's cases from 1. Only the last of `decisions` is in force; those before
    it were referrals, or never had the keys they needed.
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
        """What the player says went wrong, `other` for a word no claim is called by."""
        said = self.opened.claim
        return next((claim for claim in CLAIMS if claim == said), "other")

    @property
    def state(self) -> CaseState:
        """What the case waits for."""
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
    def moved_minor(self) -> int:
        """What the decision in force moved to the player, nothing before there is one."""
        return self.decisions[-1].data.amount_minor if self.state == "decided" else 0

    def age(self, now: datetime) -> timedelta:
        """Return how long it has been open, or was."""
        end = now if self.decided_at is None else parse_time(self.decided_at)
        return end - parse_time(self.opened_at)

    def is_overdue(self, now: datetime) -> bool:
        """Tell whether its answer was due before `now` and is not there."""
        deadline = self.opened.deadline
        return self.state != "decided" and deadline is not None and parse_time(deadline) < now


def dispute_stream(round_id: str) -> str:
    """Return the stream that all cases about a round stand in."""
    return DISPUTES_PREFIX + round_id


def fold_cases(events: Sequence[Recorded], names: Mapping[str, str]) -> tuple[Case, ...]:
    """Return the cases that the events of one `disputes/…` stream make, in order.

    `names` maps the ids of keys to their names; two keys count as two where their names differ,
    since a key and the one it was rotated to are one person's. Events before the first opening, and
    decisions and payments after a case is decided, are no part of a case.
    """
    cases: list[Case] = []
    for recorded in events:
        event = recorded.event
        key = claimed_key_id(recorded.leaf)
        signer = names.get(key, key)
        match event.data:
            case DisputeOpened() as opened:
                number = len(cases) + 1
                cases.append(Case(opened.round, number, opened, event.at, signer))
            case DisputeDecided() as data if cases and cases[-1].state != "decided":
                decisions = _decide(cases[-1].decisions, Decision(data, event.at, (signer,)))
                cases[-1] = msgspec.structs.replace(cases[-1], decisions=decisions)
            case BetResettled() | Refunded() as payment if cases:
                payments = (*cases[-1].payments, payment)
                cases[-1] = msgspec.structs.replace(cases[-1], payments=payments)
    return tuple(cases)


def read_cases(ledger: Ledger, round_id: str) -> tuple[Case, ...]:
    """Return the cases about a round, unverified; none where nobody complained.

    `round_id` is the whole id. Raises EventUnreadable.
    """
    try:
        events = ledger.events(dispute_stream(round_id))
    except UnknownStream:
        return ()
    return fold_cases(events, key_names(ledger))


def key_names(ledger: Ledger) -> dict[str, str]:
    """Return the name of each of the ledger's keys by its id."""
    return {key.public_key.key_id_hex: key.public_key.name for key in ledger.key_ring()}


def _decide(decisions: tuple[Decision, ...], new: Decision) -> tuple[Decision, ...]:
    if decisions and not decisions[-1].stands and decisions[-1].data == new.data:
        before = decisions[-1]
        keys = tuple(dict.fromkeys((*before.keys, *new.keys)))
        return (*decisions[:-1], Decision(new.data, new.at, keys))
    return (*decisions, new)
