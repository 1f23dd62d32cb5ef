"""Other rounds that the same fault touches, found by index within a stated bound.

A fault of the operator's side rarely comes alone: a build, a table or a rule set that fails in one
round fails in its neighbours. Those opened around it under the same rules are read and replayed,
and named where the same finding comes up.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final, NamedTuple

import msgspec

from shoeproof.ledger import Ledger
from shoeproof.ledger.errors import EventUnreadable
from shoeproof.ledger.leaf.clock import parse_time
from shoeproof.ledger.leaf.events import RoundOpened
from shoeproof.ledger.leaf.streams import HOLDS_PREFIX
from shoeproof.ledger.store.round_index import IndexedRound
from shoeproof.replay.cases.assessment import Assessment
from shoeproof.replay.cases.faults import KINDS
from shoeproof.replay.disputes.evidence import Evidence
from shoeproof.replay.disputes.facts import circumstances
from shoeproof.replay.interruptions.check import holds_in
from shoeproof.replay.interruptions.judge import judge

PERIOD: Final = timedelta(hours=24)
"""How long before and after the round its neighbours were opened."""

MOST_EACH_WAY: Final = 100
"""How many neighbours before, and how many after, are read: the nearest ones."""


class _Search(NamedTuple):
    """The rounds looked at, whether the period held more, and those with the same fault."""

    read: int
    is_cut: bool
    touched: tuple[str, ...]


def with_touched(ledger: Ledger, evidence: Evidence, assessment: Assessment) -> Assessment:
    """Return the assessment with the rounds in which the same fault is found.

    Looked through are the rounds of the same rules, and of the same table or the same build, that
    were opened within `PERIOD`; at most `MOST_EACH_WAY` before and after, by the look-up index.
    How far the search went is said in `lacks`. Raises StoreUnavailable and StoreDamaged.
    """
    codes = {each.code for each in assessment.findings if KINDS[each.code].shows != "sound"}
    opened = evidence.events[0].event if evidence.events else None
    if not codes or opened is None or not isinstance(opened.data, RoundOpened):
        return assessment
    found = _search(ledger, evidence, opened.data, opened.at, codes)
    hours = int(PERIOD.total_seconds()) // 3600
    bound = f"of the rounds under the same rules within {hours} hours, {found.read} were replayed"
    if found.is_cut:
        bound += ", the nearest ones; further ones were not looked at (`fault` looks at all)"
    return msgspec.structs.replace(
        assessment, touched=found.touched, lacks=(*assessment.lacks, bound)
    )


def _search(
    ledger: Ledger, evidence: Evidence, opened: RoundOpened, at: str, codes: set[str]
) -> _Search:
    rows = list(_neighbours(ledger, opened.rules_digest, at))
    others = [row for row in rows if row.round != evidence.round_id]
    touched = [row.round for row in others if _has(ledger, evidence, row, opened, codes)]
    return _Search(len(others), len(rows) > 2 * MOST_EACH_WAY, tuple(sorted(touched)))


def _neighbours(ledger: Ledger, rules_digest: str, at: str) -> Iterator[IndexedRound]:
    moment = parse_time(at)
    yield from ledger.rounds(
        rules_digests=[rules_digest],
        opened_from=moment - PERIOD,
        opened_to=moment,
        limit=MOST_EACH_WAY,
        newest_first=True,
    )
    yield from ledger.rounds(
        rules_digests=[rules_digest],
        opened_from=moment,
        opened_to=moment + PERIOD,
        limit=MOST_EACH_WAY + 1,
    )


def _has(
    ledger: Ledger, evidence: Evidence, row: IndexedRound, opened: RoundOpened, codes: set[str]
) -> bool:
    """Tell whether a neighbour has one of these findings."""
    try:
        events = ledger.events(row.round)
    except EventUnreadable:
        return "event_unreadable" in codes
    other = events[0].event.data
    if not isinstance(other, RoundOpened):
        return False
    same_table = opened.table is not None and other.table == opened.table
    same_build = opened.build is not None and other.build == opened.build
    if not (same_table or same_build):
        return False
    holds = iter(ledger.store.stream(HOLDS_PREFIX + row.round))
    told = circumstances(evidence, holds_in(holds))
    return any(finding.code in codes for finding in judge(events, evidence.rules, told))
