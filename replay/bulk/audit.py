"""The audit of a whole ledger in ranges, on all processors, with the report of `replay.audit`.

Ranges are judged in any order by any process and joined in theirs, so that the report is the same
bit for bit however they are cut and shared. Memory is in proportion to a range and to the rounds
that are open, never to the ledger. A ledger that grows meanwhile is audited up to the size it had
at the start. A worker that dies takes nothing with it: its ranges are judged again.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path

from ledger import Ledger, StoredLeaf
from ledger.ledger import read_leaf
from ledger.sharing import Progress
from ledger.store_errors import translated_errors
from replay.audit import AuditResult, OpenRound, concerns, judge, open_round
from replay.bulk import progress as notes_of
from replay.bulk.pool import JudgeRange, shared
from replay.bulk.progress import Notes
from replay.bulk.ranges import Piece, RangeJudge, RangeReport
from replay.catalogue import rules_by_digest
from replay.engine.rules import Rules
from replay.interruptions import Circumstances, circumstances_of

RANGE = 16_384
"""Leaves judged at a time: enough rounds for the columns to pay, few megabytes to hold."""

SHARED_FROM = 100_000
"""From how many leaves on worker processes are worth the second they take to start."""

_SAVED_EVERY = 5.0


def audit(
    ledger: Ledger,
    progress: Progress | None = None,
    *,
    only: str | None = None,
    workers: int | None = None,
    partitions: int | None = None,
    notes: Path | None = None,
) -> AuditResult:
    """Judge every round of the ledger as it stands now; the result is that of `replay.audit.audit`.

    `only` is a game's id. `workers` is by default the number of processors; in one process, and
    for a ledger in memory, everything is done here. `partitions` cuts the leaves into so many
    ranges of equal size, by default into ranges of `RANGE`. `notes` is a file in which an
    interrupted audit leaves how far it came and from which it goes on; it is removed at the end.
    Raises ProgressUnusable for notes of another audit, WorkersLost, and the ledger's errors.
    """
    rules = rules_by_digest(ledger)
    kept = notes_of.begin(ledger, only) if notes is None else notes_of.load(notes, ledger, only)
    told = circumstances_of(ledger, kept.size)
    join = _Join(ledger, rules, told, kept)
    saved = time.monotonic()
    try:
        for report in _reports(ledger, rules, told, kept, workers, partitions):
            join.take(report)
            if progress is not None:
                progress(report.stop, kept.size)
            if notes is not None and time.monotonic() - saved > _SAVED_EVERY:
                notes_of.save(notes, ledger, kept)
                saved = time.monotonic()
    except BaseException:
        if notes is not None:
            notes_of.save(notes, ledger, kept)
        raise
    result = join.result()
    if notes is not None:
        with suppress(FileNotFoundError):
            notes.unlink()
    return result


class _Join:
    """Takes the reports of ranges in order into one; `kept` always stands at the end of a range."""

    def __init__(
        self, ledger: Ledger, rules: Mapping[str, Rules], told: Circumstances, kept: Notes
    ) -> None:
        self._ledger, self._rules, self._told, self._kept = ledger, rules, told, kept
        self._judge = RangeJudge(rules, told, kept.only)

    def take(self, report: RangeReport) -> None:
        """Take in the next range."""
        kept = self._kept
        carried = kept.carried.keys()
        if not carried.isdisjoint(report.whole):
            # What looked whole goes on from an earlier range.
            leaves = self._ledger.store.fetch(report.start, report.stop)
            report = self._judge.judge(leaves, report.start, report.stop, carried)
        ended = [leaves for leaves in map(self._follow, report.pieces) if leaves]
        joined = self._judge.judge_rounds(
            [self._fetch(leaves) for leaves in ended], report.start, report.stop
        )
        kept.closed += report.closed + joined.closed
        kept.voids += [void for _, void in sorted(report.voids + joined.voids, key=_place)]
        for _, findings in sorted(report.found + joined.found, key=_place):
            kept.findings += findings
        kept.next = report.stop

    def _follow(self, piece: Piece) -> list[int]:
        """Take a piece of a round and return all of its leaves once it has ended."""
        leaves = self._kept.carried.setdefault(piece.stream, [])
        leaves += piece.leaves
        return self._kept.carried.pop(piece.stream) if piece.ended else []

    def result(self) -> AuditResult:
        """Return the report, the rounds that are still open judged as far as they go."""
        kept = self._kept
        findings, still_open = list(kept.findings), list[OpenRound]()
        for leaves in kept.carried.values():
            events = [read_leaf(leaf) for leaf in self._fetch(leaves)]
            if concerns(events, self._rules, kept.only):
                findings += judge(events, self._rules, self._told)
                told = open_round(events)
                still_open += [] if told is None else [told]
        return AuditResult(
            size=kept.size,
            closed_rounds=kept.closed,
            void_rounds=tuple(kept.voids),
            open_rounds=tuple(still_open),
            findings=tuple(findings),
        )

    def _fetch(self, leaves: list[int]) -> list[StoredLeaf]:
        """Fetch leaves by their places, neighbours together."""
        cuts = [n for n, (a, b) in enumerate(pairwise(leaves), start=1) if b != a + 1]
        runs = pairwise([0, *cuts, len(leaves)])
        fetch = self._ledger.store.fetch
        return [leaf for a, b in runs for leaf in fetch(leaves[a], leaves[b - 1] + 1)]


def _place(item: tuple[int, object]) -> int:
    return item[0]


def _reports(
    ledger: Ledger,
    rules: Mapping[str, Rules],
    told: Circumstances,
    kept: Notes,
    workers: int | None,
    partitions: int | None,
) -> Iterator[RangeReport]:
    width = RANGE if partitions is None else max(1, -(-kept.size // partitions))
    bounds = [
        (first, min(first + width, kept.size)) for first in range(kept.next, kept.size, width)
    ]
    store, count = ledger.store, workers or os.cpu_count() or 1
    few = workers is None and kept.size - kept.next < SHARED_FROM
    if store.is_in_memory or count == 1 or few:
        judge_here = _make_judge(store.fetch, rules, told, kept.only)
        for start, stop in bounds:
            yield judge_here(start, stop)
        return
    make_judge = partial(_make_judge, store.fetcher(), rules, told, kept.only)
    with translated_errors():
        yield from shared(bounds, count, make_judge)


def _make_judge(
    fetch: Callable[[int, int], list[StoredLeaf]],
    rules: Mapping[str, Rules],
    told: Circumstances,
    only: str | None,
) -> JudgeRange:
    """Return what judges a range of a ledger's leaves."""
    judge_range = RangeJudge(rules, told, only).judge
    return lambda start, stop: judge_range(fetch(start, stop), start, stop)
