"""The audit of a whole ledger in ranges, on all processors, with the report of
`shoeproof.replay.audit.one_by_one`.

Ranges are judged in any order by any process and joined in theirs, so that the report is the same
bit for bit however they are cut and shared. Memory is in proportion to a range and to the rounds
that are open, but for 16 bytes of each revealed seed (`shoeproof.replay.rounds.seeds`). A ledger
that grows meanwhile is audited up to the size it had at the start. A worker that dies takes nothing
with it: its ranges are judged again.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec

from shoeproof.ledger import Ledger, StoredLeaf
from shoeproof.ledger.keys.keyring import KeyRing
from shoeproof.ledger.leaf.recorded import read_leaf, readable
from shoeproof.ledger.leaf.streams import DISPUTES_PREFIX, RULES_STREAM
from shoeproof.ledger.store.errors import translated_errors
from shoeproof.ledger.verify.batch import FetchBatch, LeafBatch, elsewhere, here
from shoeproof.ledger.verify.beside import Beside, BesideDiffers, VerifiedLeaves
from shoeproof.ledger.verify.integrity import Integrity, IntegrityJoin, examined
from shoeproof.ledger.verify.ranges import check_range
from shoeproof.ledger.verify.scan import leaf_from_bytes
from shoeproof.ledger.verify.second_reads import LeavesAgain, ReadRange, other_leaves
from shoeproof.ledger.verify.trusted import KeysHidden
from shoeproof.ledger.verify.whole import SAMPLE
from shoeproof.ledger.verify.workers import Progress
from shoeproof.replay.audit.cases import check_cases
from shoeproof.replay.audit.complaints import check_complaints
from shoeproof.replay.audit.one_by_one import (
    AuditResult,
    OpenRound,
    check_seeds,
    concerns,
    open_round,
    reveals_before,
)
from shoeproof.replay.bulk import progress as notes_of
from shoeproof.replay.bulk.pool import shared, uncollected
from shoeproof.replay.bulk.progress import Notes
from shoeproof.replay.bulk.ranges import Judge, RangeJudge, RangeReport, RoundPiece
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.errors import ClusterUnusable
from shoeproof.replay.interruptions.check import Circumstances, circumstances_in
from shoeproof.replay.interruptions.judge import judge
from shoeproof.replay.rounds.catalogue import rules_in

RANGE = 4_096
"""Leaves judged at a time: enough rounds for the columns to pay, few enough for a cache."""

CLUSTER_RANGE = 32 * RANGE
"""Leaves judged at a time on a cluster, where handing out a range costs some 5 ms, however long."""

SHARED_FROM = 100_000
"""From how many leaves on worker processes are worth the second they take to start."""

_SAVED_EVERY = 5.0


class LedgerAudit(msgspec.Struct, frozen=True):
    """What an audit of a ledger came to: its rounds, and the integrity of what says them."""

    rounds: AuditResult
    integrity: Integrity


def audit(
    ledger: Ledger,
    progress: Progress | None = None,
    *,
    only: str | None = None,
    from_leaf: int = 0,
    public_key: str | None = None,
    checkpoint: bytes | None = None,
    every_signature: bool = False,
    sample: int = SAMPLE,
    workers: int | None = None,
    scheduler: str | None = None,
    partitions: int | None = None,
    notes: Path | None = None,
) -> LedgerAudit:
    """Check and judge a ledger as it stands now: every leaf's integrity, and every round.

    Of the rounds the result is that of `shoeproof.replay.audit.one_by_one.audit`. `only` is a
    game's id; leaves are checked whatever they are of. `from_leaf` is where an auditor goes on:
    rounds that have events from there on are judged, whole, and no others. `public_key` is the
    operator's as handed over outside, `checkpoint` one kept elsewhere, which the ledger must
    extend; signatures of leaves that it or the ledger's own latest checkpoint covers are verified
    only where a round is disputed, in a `sample` of so many, or with `every_signature`.

    `workers` is by default the number of processors; in one process, and for a ledger in memory,
    everything is done here. `scheduler` is the address of a Dask scheduler whose workers check and
    judge instead; they must reach the store as this process does. `partitions` cuts the leaves into
    so many ranges of equal size, by default into ranges of `RANGE`, on a cluster of
    `CLUSTER_RANGE`. `notes` is a file in which an interrupted audit leaves how far it came and from
    which it goes on; it is removed at the end. Raises ProgressUnusable for notes of another audit,
    WorkersLost, ClusterUnusable, ValueError where the ledger ends before `from_leaf`, and the
    ledger's errors.
    """
    asked = notes_of.asked(only, from_leaf, public_key, checkpoint, every_signature)
    how = _How(workers or os.cpu_count() or 1, workers is None, scheduler, partitions, sample)
    hidden, beside = list[StoredLeaf](), None
    while True:
        try:
            return _audit(ledger, asked, checkpoint, how, notes, progress, hidden, beside)
        except KeysHidden as error:
            hidden += error.leaves
        except BesideDiffers as error:
            if beside is not None:
                raise other_leaves(from_leaf) from None
            beside = error.beside
        # What was judged by what an index showed is judged again.
        if notes is not None:
            notes.unlink(missing_ok=True)


class JudgedBy(NamedTuple):
    """What rounds are judged by: rules by digest, circumstances, and which rounds have cases."""

    rules: Mapping[str, Rules]
    told: Circumstances
    with_cases: frozenset[str]

    @classmethod
    def of(cls, leaves: VerifiedLeaves) -> "JudgedBy":
        """Return what leaves of no round come to."""
        cases = (
            leaf.stream.removeprefix(DISPUTES_PREFIX) for leaf in leaves.under(DISPUTES_PREFIX)
        )
        return cls(
            rules_in(readable(leaves.stream(RULES_STREAM))),
            circumstances_in(leaves, leaves.size),
            frozenset(cases),
        )


class _How(NamedTuple):
    """How an audit is to be done, which changes nothing in what it finds."""

    workers: int
    may_stay_alone: bool
    scheduler: str | None
    partitions: int | None
    sample: int


def _audit(
    ledger: Ledger,
    asked: notes_of.AuditScope,
    checkpoint: bytes | None,
    how: _How,
    notes: Path | None,
    progress: Progress | None,
    hidden: list[StoredLeaf],
    beside: Beside | None,
) -> LedgerAudit:
    kept, ring, keys = notes_of.load(
        notes, ledger, asked, checkpoint, how.workers, progress, hidden
    )
    shown = beside or Beside.looked_up(ledger.store, kept.size)
    notes_of.hold_to_shown(kept, shown)
    by = JudgedBy.of(VerifiedLeaves(kept.size, shown, ledger.store.stream, _by_place(ledger)))
    join = _Join(ledger, shown, by, kept, ring, keys)
    if progress is not None and kept.next:
        progress(kept.next, kept.size)
    if notes is not None:
        # Where they cannot be written is said before hours of work, not after.
        notes_of.save(notes, ledger, kept)
    saved = time.monotonic()
    try:
        for report in _reports(ledger, by, ring, kept, how):
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
    result = join.result(how.sample, how.workers)
    if notes is not None:
        notes.unlink(missing_ok=True)
    return result


class _Join:
    """Takes the reports of ranges in order into one; `kept` always stands at the end of a range."""

    def __init__(
        self,
        ledger: Ledger,
        shown: Beside,
        by: JudgedBy,
        kept: Notes,
        ring: KeyRing,
        keys: list[StoredLeaf],
    ) -> None:
        self._ledger, self._shown, self._by, self._kept = ledger, shown, by, kept
        self._again = LeavesAgain(elsewhere(ledger.store), kept.ranges)
        noted = sorted(each for places in kept.integrity.trust.beside.values() for each in places)
        self._beside = [
            (leaf.leaf_index, leaf.state) for leaf in filter(None, map(self._again.at, noted))
        ]
        self._integrity = IntegrityJoin(ledger, ring, keys, kept.integrity)
        self._judge = _range_judge(by, kept.asked.only, ledger.origin, ring, kept.integrity.covered)
        self._reveals = reveals_before(ledger, kept.next)

    def take(self, report: RangeReport) -> None:
        """Take in the next range."""
        kept = self._kept
        self._reveals.merge(report.reveals)
        if report.check is not None:
            self._integrity.take(report.check)
            self._beside += report.check.beside
            kept.ranges.append(ReadRange(report.start, report.stop, report.check.digest))
        carried = kept.carried.keys()
        if not carried.isdisjoint(report.whole):
            # What looked whole goes on from an earlier range.
            report = self._judge_again(report, carried)
        for piece in report.with_cases:
            kept.with_cases.setdefault(piece.stream, []).append(piece)
        ended = [pieces for pieces in map(self._follow, report.pieces) if pieces]
        joined = self._judge.judge_rounds(
            [self._fetch(pieces) for pieces in ended], report.start, report.stop
        )
        for part in (report, joined):
            self._integrity.count(part.examined)
        kept.closed += report.closed + joined.closed
        kept.voids += [void for _, void in sorted(report.voids + joined.voids, key=_place)]
        for _, findings in sorted(report.found + joined.found, key=_place):
            kept.findings += findings
        kept.next = report.stop

    def _judge_again(self, report: RangeReport, carried: AbstractSet[str]) -> RangeReport:
        """Judge a range again that holds the end of a round which an earlier one began."""
        batch = elsewhere(self._ledger.store)(report.start, report.stop)
        judged = self._judge.judge(batch, report.start, report.stop, carried)
        if report.check is not None and batch.digest != report.check.digest:
            raise other_leaves(report.start)
        return msgspec.structs.replace(judged, check=report.check)

    def _follow(self, piece: RoundPiece) -> list[RoundPiece]:
        """Take a piece of a round and return all of its pieces once it has ended."""
        pieces = self._kept.carried.get(piece.stream)
        if pieces is None:
            earlier = self._integrity.before_first(piece.stream, piece.leaves[0])
            pieces = self._kept.carried[piece.stream] = []
            if earlier:
                pieces.append(RoundPiece.of(piece.stream, earlier, ended=False))
        pieces.append(piece)
        return self._kept.carried.pop(piece.stream) if piece.ended else []

    def result(self, sample: int, workers: int) -> LedgerAudit:
        """Return the report, the rounds that are still open judged as far as they go."""
        kept, rules = self._kept, self._by.rules
        leaves = self._verified()
        findings, still_open = list(kept.findings), list[OpenRound]()
        for pieces in kept.carried.values():
            of_one = self._fetch(pieces)
            events = [read_leaf(leaf) for leaf in of_one]
            if concerns(events, rules, kept.asked.only):
                of_round = list(judge(events, rules, self._by.told))
                if of_round:
                    self._integrity.examine(of_one)
                findings += of_round
                told = open_round(events)
                still_open += [] if told is None else [told]
        asked = partial(concerns, rules=rules, only=kept.asked.only)
        from_leaf = kept.integrity.from_leaf
        more = check_seeds(leaves, kept.size, self._reveals, asked, from_leaf)
        more += check_cases(self._ledger, leaves, kept.size, asked, from_leaf)
        if kept.asked.only is None:
            more += check_complaints(leaves, kept.size, from_leaf)
        for stream in sorted({finding.stream for finding in more if finding.stream}):
            if stream in kept.integrity.disputed:
                continue
            self._integrity.examine(leaves.stream(stream))
        findings += more
        rounds = AuditResult(
            size=kept.size,
            closed_rounds=kept.closed,
            void_rounds=tuple(kept.voids),
            open_rounds=tuple(still_open),
            findings=tuple(findings),
        )
        integrity = self._integrity.result(
            sample=sample,
            from_outside=kept.asked.public_key is not None,
            workers=1 if self._ledger.store.is_in_memory else workers,
        )
        return LedgerAudit(rounds, integrity)

    def _verified(self) -> VerifiedLeaves:
        """Return the leaves that were verified; raises BesideDiffers for others than were shown."""
        kept, from_leaf = self._kept, self._kept.integrity.from_leaf
        earlier = [each for each in self._shown.bytes_from(0) if each[0] < from_leaf]
        beside = Beside([*earlier, *self._beside])
        if beside.bytes_from(from_leaf) != self._shown.bytes_from(from_leaf):
            raise BesideDiffers(beside)
        leaves = VerifiedLeaves(kept.size, beside, self._of_round, self._leaf)
        if JudgedBy.of(leaves) != self._by:
            raise other_leaves(kept.size - 1)
        return leaves

    def _leaf(self, leaf_index: int) -> StoredLeaf | None:
        if leaf_index < self._kept.integrity.from_leaf:
            return _by_place(self._ledger)(leaf_index)
        return self._again.at(leaf_index)

    def _of_round(self, stream: str) -> list[StoredLeaf]:
        """Return the leaves of a round, as they were checked, in the order of their versions."""
        kept = self._kept
        has_case = stream in self._by.with_cases
        stop = kept.integrity.from_leaf if has_case else kept.size
        shown = self._ledger.store.stream(stream) if stop else []
        places = (leaf.leaf_index for leaf in shown if leaf.leaf_index < stop)
        found = [leaf for leaf in map(self._leaf, places) if leaf is not None]
        found += self._fetch(kept.with_cases.get(stream, []))
        return sorted(found, key=lambda leaf: leaf.version)

    def _fetch(self, pieces: list[RoundPiece]) -> list[StoredLeaf]:
        """Fetch the leaves of pieces again, which must be what was checked."""
        found: list[StoredLeaf] = []
        for piece in pieces:
            leaves = [
                leaf_from_bytes(leaf.leaf_index, leaf.state) for leaf in self._at(piece.leaves)
            ]
            if RoundPiece.of(piece.stream, leaves, ended=piece.ended) != piece:
                raise other_leaves(piece.leaves[0])
            found += leaves
        return found

    def _at(self, leaves: list[int]) -> list[StoredLeaf]:
        """Fetch leaves by their places, neighbours together."""
        if not leaves:
            return []
        cuts = [n for n, (a, b) in enumerate(pairwise(leaves), start=1) if b != a + 1]
        runs = pairwise([0, *cuts, len(leaves)])
        fetch = self._ledger.store.fetch
        return [leaf for a, b in runs for leaf in fetch(leaves[a], leaves[b - 1] + 1)]


def _by_place(ledger: Ledger) -> Callable[[int], StoredLeaf | None]:
    fetch = ledger.store.fetch
    return lambda leaf_index: next(iter(fetch(leaf_index, leaf_index + 1)), None)


def _place(item: tuple[int, object]) -> int:
    return item[0]


def _reports(
    ledger: Ledger,
    by: JudgedBy,
    ring: KeyRing,
    kept: Notes,
    how: _How,
) -> Iterator[RangeReport]:
    store, scheduler = ledger.store, how.scheduler
    width = RANGE if scheduler is None else CLUSTER_RANGE
    if how.partitions is not None:
        width = max(1, -(-(kept.size - kept.integrity.from_leaf) // how.partitions))
    bounds = list(_cut(store.ranges(kept.next, kept.size, width), kept.integrity.trust.sizes))
    few = how.may_stay_alone and kept.size - kept.next < SHARED_FROM
    if store.is_in_memory and scheduler is not None:
        raise ClusterUnusable("a ledger in memory cannot be seen by a cluster")
    # A connection of its own reads sooner than the store's.
    fetch = elsewhere(store)
    make_judge = partial(
        _make_judge, fetch, by, kept.asked.only, ledger.origin, ring,
        kept.integrity.covered, kept.integrity.trust.sizes,
    )  # fmt: skip
    with translated_errors():
        if scheduler is None and (store.is_in_memory or how.workers == 1 or few):
            judge_here = make_judge()
            with uncollected():
                for start, stop in bounds:
                    yield judge_here(start, stop)
        else:
            last = here(store)(kept.size - 1, kept.size)
            yield from shared(
                bounds, partial(_elsewhere, fetch, last, make_judge), how.workers, scheduler
            )


def _cut(ranges: Iterable[tuple[int, int]], sizes: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Have some ranges end where a checkpoint does."""
    for start, stop in ranges:
        yield from pairwise([start, *sorted(each for each in sizes if start < each < stop), stop])


def _elsewhere(fetch: FetchBatch, last: LeafBatch, make_judge: Callable[[], Judge]) -> Judge:
    """Return what `make_judge` does, once `fetch` is known to reach the ledger of that last leaf.

    On another machine an old copy may stand under the same path.
    """
    for leaf in last.leaves():
        if fetch(leaf.leaf_index, leaf.leaf_index + 1).leaves() != [leaf]:
            raise ClusterUnusable(
                "a worker does not reach this ledger: under its path or URL it found another, or "
                "an older copy"
            )
    return make_judge()


def _range_judge(
    by: JudgedBy, only: str | None, origin: str, ring: KeyRing, covered: int
) -> RangeJudge:
    examine = partial(examined, origin=origin, ring=ring, covered=covered)
    return RangeJudge(by.rules, by.told, only, examine, by.with_cases)


def _make_judge(
    fetch: FetchBatch,
    by: JudgedBy,
    only: str | None,
    origin: str,
    ring: KeyRing,
    covered: int,
    sizes: tuple[int, ...],
) -> Judge:
    """Return what checks and judges a range of a ledger's leaves."""
    judge_range = _range_judge(by, only, origin, ring, covered).judge

    def check_and_judge(start: int, stop: int) -> RangeReport:
        checked = check_range(fetch(start, stop), start, stop, origin, ring, covered, sizes)
        whole = checked.check.run.whole.keys()
        report = judge_range(checked.batch, start, stop, texts=checked.texts, whole=whole)
        return msgspec.structs.replace(report, check=checked.check)

    return check_and_judge
