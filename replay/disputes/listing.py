"""Every case and complaint of a ledger, as far as the leaves they stand in verify.

What is listed is made of the events that were verified, never of a second read. Of a stream that
does not verify nothing is listed but its name. A leaf that is gone leaves no trace in its stream:
where the ledger as a whole lacks any, every case is in doubt, and that is said.
"""

from collections import defaultdict
from typing import NamedTuple

from shoeproof.ledger import Ledger
from shoeproof.ledger.keys.trust import build_ring
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.leaf.streams import DISPUTES_PREFIX, KEYS_STREAM
from shoeproof.ledger.store.schema import SELECT_IS_WHOLE
from shoeproof.ledger.verify.known_checkpoints import tail_is_gone
from shoeproof.ledger.verify.one_stream import verified
from shoeproof.replay.cases.case import Case, fold_cases
from shoeproof.replay.disputes.complaints.cases import Complaint, fold_complaint
from shoeproof.replay.disputes.evidence import covered_leaves
from shoeproof.replay.disputes.record import signed_for


class Listing(NamedTuple):
    """The cases that verify, the rounds and complaints whose do not, and what casts doubt on all.

    `unsound` are ids of rounds and complaints, `doubts` are sentences.
    """

    cases: tuple[Case | Complaint, ...]
    unsound: tuple[str, ...]
    doubts: tuple[str, ...]


def list_cases(ledger: Ledger) -> Listing:
    """Read and verify every case and complaint; complaints come first, each in its stream's order.

    Raises StoreUnavailable and StoreDamaged.
    """
    ring = build_ring(ledger.store.stream(KEYS_STREAM), None)[0]
    persons = ring.persons()
    streams: defaultdict[str, list[StoredLeaf]] = defaultdict(list)
    for leaf in ledger.store.under(DISPUTES_PREFIX):
        streams[leaf.stream].append(leaf)
    complaints: list[Case | Complaint] = []
    cases: list[Case | Complaint] = []
    unsound: set[str] = set()
    for stream, leaves in sorted(streams.items()):
        events, found = verified(sorted(leaves), ledger.origin, ring)
        if found:
            # A leaf that was moved here is missing where it was signed for.
            unsound |= {stream, *filter(None, map(signed_for, leaves))}
            continue
        complaint = fold_complaint(events, persons)
        if complaint is None:
            cases += fold_cases(events, persons)
        else:
            complaints.append(complaint)
    names = {stream.removeprefix(DISPUTES_PREFIX) for stream in unsound}
    sound = [each for each in (*complaints, *cases) if _subject(each) not in names]
    return Listing(tuple(sound), tuple(sorted(names)), tuple(_doubts(ledger)))


def _subject(case: Case | Complaint) -> str:
    return case.round if isinstance(case, Case) else case.id


def _doubts(ledger: Ledger) -> list[str]:
    doubts = []
    covered, size = covered_leaves(ledger), ledger.size()
    if covered > size:
        doubts.append(tail_is_gone(covered, size).text)
    if not ledger.store.query(SELECT_IS_WHOLE)[0][0]:
        doubts.append("leaves of this ledger are missing")
    return doubts
