"""A complaint as the fold of its stream `disputes/<complaint>`: what was claimed, what was decided.

Each complaint has a stream of its own, named by an id that belongs to no round. It is decided once,
as a case about a round is.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal, TypeAlias

import msgspec

from shoeproof.ledger import Ledger, Recorded
from shoeproof.ledger.errors import UnknownStream
from shoeproof.ledger.leaf.events import Awarded, ComplaintOpened, DisputeDecided
from shoeproof.ledger.leaf.layout import claimed_key_id
from shoeproof.ledger.leaf.streams import DISPUTES_PREFIX, stream_kind
from shoeproof.ledger.verify.beside import Leaves, read_before
from shoeproof.replay.cases.case import (
    Answered,
    Decision,
    decision_of,
    dispute_stream,
    key_names,
    signed,
)
from shoeproof.replay.errors import DisputeRefused

ComplaintRemedy: TypeAlias = Literal["reject", "uphold", "refer", "award", "goodwill", "withdraw"]
"""How a complaint is decided: nothing is due; each faulty round gets a case of its own; an
adjudicator decides; an adjudicator awarded a sum; the operator gives one; the player withdrew it.
"""

Question: TypeAlias = Literal["run", "fairness", "balance", "other"]
"""What is asked: whether so long a run can be chance, whether the game is fair, where money went.
"""

_ASKED: Final[dict[Question, frozenset[str]]] = {
    "run": frozenset({"run", "running", "row", "streak"}),
    "fairness": frozenset({"rigged", "fair", "unfair", "fairness", "cheat", "cheated", "random"}),
    "balance": frozenset({"balance", "money", "wallet", "deposit", "credit", "settlement"}),
}


class Complaint(Answered, msgspec.Struct, frozen=True):
    """One complaint: the claim, every decision made of it, and what was paid by the last of them.

    `last_seq` is the place of the last event in its stream.
    """

    id: str
    opened: ComplaintOpened
    opened_at: str
    opened_by: str
    last_seq: int
    decisions: tuple[Decision, ...] = ()
    payments: tuple[Awarded, ...] = ()

    @property
    def round(self) -> str:
        """What its events name where those of a case name the round."""
        return self.id

    @property
    def question(self) -> Question:
        """What the claim asks, by its words."""
        words = set(re.findall("[a-z]+", self.opened.claim.lower()))
        return next((asked for asked, ours in _ASKED.items() if ours & words), "other")


def fold_complaint(events: Iterable[Recorded], persons: Mapping[str, str]) -> Complaint | None:
    """Return the complaint that the events of one stream make, None where none was opened there.

    `persons` maps the ids of keys to the persons whose keys they are (`cases.key_names`). Decisions
    after the one that stands, and payments that no decision covers, are not part of it.
    """
    found: Complaint | None = None
    for recorded in events:
        event = recorded.event
        key = claimed_key_id(recorded.leaf)
        person = persons.get(key, key)
        if found is None:
            if isinstance(event.data, ComplaintOpened):
                name = event.stream.removeprefix(DISPUTES_PREFIX)
                found = Complaint(name, event.data, event.at, person, event.seq)
            continue
        found = msgspec.structs.replace(found, last_seq=event.seq)
        match event.data:
            case DisputeDecided() as data if found.state != "decided":
                decisions = signed(found.decisions, decision_of(data, person, recorded))
                found = msgspec.structs.replace(found, decisions=decisions)
            case Awarded() as payment:
                found = msgspec.structs.replace(found, payments=(*found.payments, payment))
    return found


def is_complaint(ledger: Ledger, text: str) -> bool:
    """Tell whether a text is the id of a complaint, or how exactly one begins and no round does."""
    return bool(_complaints_like(ledger, text)) and not _is_rounds(ledger, text)


def find_complaint(ledger: Ledger, text: str) -> str:
    """Return the id of the one complaint that is called, or begins, so.

    Raises DisputeRefused for none and for several.
    """
    found = _complaints_like(ledger, text)
    if not found:
        raise DisputeRefused(f"this ledger has no complaint {text!r}; `dispute list` has them")
    if len(found) > 1:
        raise DisputeRefused(f"several complaints begin with {text!r}; give more of the id")
    return found[0]


def read_complaint(ledger: Ledger, complaint_id: str) -> Complaint:
    """Return a complaint by its whole id, unverified.

    Raises DisputeRefused where there is none of that id, EventUnreadable.
    """
    try:
        events = ledger.events(dispute_stream(complaint_id))
    except UnknownStream:
        events = []
    found = fold_complaint(events, key_names(ledger))
    if found is None:
        raise DisputeRefused(f"this ledger has no complaint {complaint_id!r}")
    return found


def complaint_ids(leaves: Leaves) -> list[str]:
    """Return the ids of all complaints in the order they were opened."""
    return [
        leaf.stream.removeprefix(DISPUTES_PREFIX)
        for leaf in leaves.under(DISPUTES_PREFIX)
        if leaf.version == 1 and leaf.topic == ComplaintOpened.__name__
    ]


def complaints_in(leaves: Leaves, size: int) -> dict[str, list[Recorded]]:
    """Return what can be read of each complaint's stream among the first `size` leaves."""
    return {each: read_before(leaves, dispute_stream(each), size) for each in complaint_ids(leaves)}


def _complaints_like(ledger: Ledger, text: str) -> list[str]:
    name = text.strip().lower()
    if not name:
        return []
    if stream_kind(name) == "round":
        first = ledger.store.event(dispute_stream(name), 1)
        is_one = first is not None and first.topic == ComplaintOpened.__name__
        return [name] if is_one else []
    return [each for each in complaint_ids(ledger.store) if each.startswith(name)]


def _is_rounds(ledger: Ledger, text: str) -> bool:
    name = text.strip().lower()
    return stream_kind(name) != "round" and bool(ledger.round_ids(name))
