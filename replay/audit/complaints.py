"""Check what a ledger records about complaints against what they may be: decided once, by as many
persons as it takes, and paid what was awarded and no more. An audit asks this of every complaint.
"""

from collections.abc import Iterator, Mapping, Sequence

from shoeproof.ledger import Finding, Recorded
from shoeproof.ledger.keys.trust import build_ring
from shoeproof.ledger.leaf.events import Awarded, ComplaintOpened, DisputeDecided
from shoeproof.ledger.leaf.layout import claimed_key_id
from shoeproof.ledger.leaf.streams import KEYS_STREAM
from shoeproof.ledger.verify.beside import Leaves
from shoeproof.replay import findings as codes
from shoeproof.replay.cases.case import decided
from shoeproof.replay.currency import amount_text
from shoeproof.replay.disputes.complaints.cases import complaints_in
from shoeproof.replay.disputes.complaints.persons import (
    Gift,
    gifts,
    given_minor,
    goodwill_limit,
    persons_needed,
    policies_before,
)
from shoeproof.replay.rounds.narrative import counted
from shoeproof.replay.rounds.shoe_check import Problem


def check_complaints(leaves: Leaves, size: int, from_leaf: int = 0) -> list[Finding]:
    """Return what is wrong with the complaints among the first `size` leaves.

    Complaints without an event at `from_leaf` or later are not judged. What cannot be read is
    passed over: to report it is the business of verification.
    """
    persons = build_ring(leaves.stream(KEYS_STREAM), None)[0].persons()
    found: list[Finding] = []
    streams = complaints_in(leaves, size)
    given = gifts(streams.values())
    for complaint, events in streams.items():
        if events and events[-1].leaf_index >= from_leaf:
            found += _Walk(leaves, complaint, persons, given).findings(events)
    return found


class _Walk:
    """The walk along one complaint's events."""

    def __init__(
        self,
        leaves: Leaves,
        complaint: str,
        persons: Mapping[str, str],
        given: Sequence[Gift],
    ) -> None:
        self._leaves, self._complaint, self._persons = leaves, complaint, persons
        self._given = given
        self._player: str | None = None
        self._is_open = False
        self._signed: DisputeDecided | None = None
        self._keys: set[str] = set()
        self._unpaid = 0

    def findings(self, events: Sequence[Recorded]) -> Iterator[Finding]:
        for place, recorded in enumerate(events):
            following = events[place + 1].event.data if place + 1 < len(events) else None
            for code, text in self._take(recorded, following):
                event = recorded.event
                yield Finding(code, text, event.stream, recorded.leaf_index, event.seq)
        if self._unpaid > 0:
            last = events[-1]
            text = f"{self._unpaid} minor units of what was decided were never paid"
            event = last.event
            yield Finding(codes.PAYMENT_MISSING, text, event.stream, last.leaf_index, event.seq)

    def _take(self, recorded: Recorded, following: object) -> Iterator[Problem]:
        match recorded.event.data:
            case ComplaintOpened(complaint=name, player=player):
                if name != self._complaint or recorded.event.seq:
                    text = "a complaint was opened in the stream of another complaint"
                    yield codes.CASE_OUT_OF_PLACE, text
                self._is_open, self._player = True, player
            case DisputeDecided() as data:
                yield from self._decide(data, recorded, following)
            case Awarded(amount_minor=amount, currency=currency):
                self._unpaid -= amount
                if self._is_open or self._unpaid < 0:
                    text = f"{amount_text(amount, currency)} was paid"
                    yield codes.PAYMENT_UNDECIDED, f"{text}, but no decision in force allows it"
            case data:
                text = f"{type(data).__name__} belongs to a case about a round, and this is not one"
                yield codes.CASE_OUT_OF_PLACE, text

    def _decide(
        self, data: DisputeDecided, recorded: Recorded, following: object
    ) -> Iterator[Problem]:
        if not self._is_open or data.round != self._complaint:
            yield codes.CASE_OUT_OF_PLACE, "a decision was made on a complaint that is not open"
        # What is given is in the currency of the payment that follows the last signature.
        currency = following.currency if isinstance(following, Awarded) else ""
        limit = goodwill_limit(policies_before(self._leaves, recorded.leaf_index), currency)
        before = given_minor(self._given, self._player, currency, recorded.leaf_index)
        needed = persons_needed(data.remedy, data.amount_minor, data.reference, limit, before)
        if data.keys_needed < needed:
            signed = counted(data.keys_needed, "person")
            text = f"{data.remedy} was decided by {signed}; it takes {needed}"
            yield codes.KEYS_MISSING, text
        if decided(data) != self._signed:
            self._signed, self._keys = decided(data), set()
        key = claimed_key_id(recorded.leaf)
        self._keys.add(self._persons.get(key, key))
        if len(self._keys) >= data.keys_needed and data.remedy != "refer":
            self._is_open = False
            self._unpaid = data.amount_minor
