"""What a complaint rests on: the verified events of every round it is about. The only reader here.

Rounds are found by the look-up index, and each is then read and verified as a case about it would
have it. What the index leaves out is not seen here: how far the ledger shows that nothing is
missing is part of what is told.
"""

from collections.abc import Sequence
from typing import Final

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.clock import parse_time
from shoeproof.ledger.store.round_index import IndexedRound
from shoeproof.ledger.store.schema import SELECT_IS_WHOLE
from shoeproof.ledger.verify.known_checkpoints import tail_is_gone
from shoeproof.ledger.verify.one_stream import verify_stream
from shoeproof.ledger.verify.workers import Progress
from shoeproof.replay.cases.case import dispute_stream
from shoeproof.replay.disputes.complaints.cases import read_complaint
from shoeproof.replay.disputes.complaints.played import FaultyRound, PlayedRound, examine, fault_of
from shoeproof.replay.disputes.complaints.records import ComplaintEvidence
from shoeproof.replay.disputes.evidence import common_of, covered_leaves, gather

MOST_OTHERS: Final = 100
"""How many rounds of other players at the same tables are looked through: the first ones."""

MOST_LISTED: Final = 5_000
"""How many rounds of a span the index is asked for, to find those at the same tables."""


def gather_complaint(
    ledger: Ledger, complaint_id: str, progress: Progress | None = None
) -> ComplaintEvidence:
    """Read and verify what the ledger holds about a complaint.

    `complaint_id` is the whole id; `progress` is told how many rounds are read, and of how many.
    Raises DisputeRefused where there is no such complaint, StoreUnavailable and StoreDamaged.
    """
    size = ledger.size()
    integrity = list(verify_stream(ledger, dispute_stream(complaint_id)))
    complaint = read_complaint(ledger, complaint_id)
    opened = complaint.opened
    rows = rounds_played(ledger, opened.player, opened.begin, opened.end)
    neighbours, left = (
        ([], False) if opened.missing_round else _neighbours(ledger, opened.end, rows)
    )
    common = common_of(ledger, size)
    played: list[PlayedRound] = []
    unreadable: list[str] = []
    others: list[FaultyRound] = []
    for done, row in enumerate((*rows, *neighbours)):
        if progress is not None:
            progress(done, len(rows) + len(neighbours))
        evidence = gather(ledger, row.round, common=common)
        if done >= len(rows):
            fault = fault_of(evidence)
            others += [] if fault is None else [fault]
            continue
        found = examine(evidence)
        if found is None:
            unreadable.append(row.round)
        else:
            played.append(found)
    covered = covered_leaves(ledger)
    if covered > size:
        integrity.append(tail_is_gone(covered, size))
    return ComplaintEvidence(
        complaint=complaint,
        rounds=tuple(played),
        unreadable=tuple(unreadable),
        others=tuple(others),
        others_read=len(neighbours),
        others_left=left,
        integrity=tuple(integrity),
        size=size,
        covered=min(covered, size),
        is_whole=bool(ledger.store.query(SELECT_IS_WHOLE)[0][0]),
    )


def rounds_played(
    ledger: Ledger, player: str | None, begin: str | None, end: str | None
) -> list[IndexedRound]:
    """Return a player's rounds that were being played at some moment of a span, by index.

    The times are as a ledger writes them, None for no bound; the end is exclusive.
    """
    if player is None:
        return []
    rows = ledger.rounds(player=player, opened_to=None if end is None else parse_time(end))
    return [row for row in rows if begin is None or (row.closed_at or begin) >= begin]


def _neighbours(
    ledger: Ledger, end: str | None, rows: Sequence[IndexedRound]
) -> tuple[list[IndexedRound], bool]:
    """Return the rounds of others at the same tables meanwhile, and whether there are more."""
    tables = {row.table for row in rows} - {None}
    if not tables:
        return [], False
    until = parse_time(end or rows[-1].opened_at)
    meanwhile = ledger.rounds(
        opened_from=parse_time(rows[0].opened_at), opened_to=until, limit=MOST_LISTED
    )
    own = {row.round for row in rows}
    found = [row for row in meanwhile if row.table in tables and row.round not in own]
    is_cut = len(found) > MOST_OTHERS or len(meanwhile) == MOST_LISTED
    return found[:MOST_OTHERS], is_cut
