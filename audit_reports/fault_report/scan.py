"""One pass over the verified leaves of a tree: the rounds a fault may have touched, sums of all.

The only part of a fault report that reads leaves, but for the evidence of single rounds. Nothing
is taken from an index or from kept tables. Memory is in proportion to the rounds that the fault may
have touched, and to 16 bytes of each revealed seed.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import partial
from typing import NamedTuple

from shoeproof.audit_reports.errors import LeafRefused, ReportError
from shoeproof.audit_reports.fault_report.counted import (
    CountedRound,
    Joined,
    count_range,
    count_round,
    gathering,
    round_of,
)
from shoeproof.audit_reports.fault_report.named import FaultName, LedgerNames, may_touch
from shoeproof.audit_reports.rows.round_leaves import rule_sets_of
from shoeproof.audit_reports.rows.verified import made_of_verified, refuse_cut_tail, verified_stream
from shoeproof.ledger import Finding, Ledger
from shoeproof.ledger.checkpoint.signed import Checkpoint, verify_by_ring
from shoeproof.ledger.findings import CHECKPOINT_MISMATCH
from shoeproof.ledger.keys.trust import build_ring, given_key
from shoeproof.ledger.leaf.clock import format_time
from shoeproof.ledger.leaf.streams import KEYS_STREAM, RULES_STREAM
from shoeproof.ledger.tree.merkle import Peaks, root_of_peaks
from shoeproof.ledger.verify.workers import Progress
from shoeproof.replay import findings as codes
from shoeproof.replay.audit.cases import check_cases
from shoeproof.replay.audit.one_by_one import check_seeds
from shoeproof.replay.interruptions.check import circumstances_of
from shoeproof.replay.rounds.seeds import Reveals

_OF_CASES = {
    codes.CASE_OUT_OF_PLACE, codes.KEYS_MISSING, codes.PAYMENT_UNDECIDED, codes.PAYMENT_MISSING,
    codes.DECISION_UNFOUNDED,
}  # fmt: skip
"""Findings about cases, which take an assessment for each decided one."""


class Period(NamedTuple):
    """Rounds opened at `begin` or later, and before `end`; None means no bound. Both are aware."""

    begin: datetime | None = None
    end: datetime | None = None

    def holds(self, counted: CountedRound) -> bool:
        """Tell whether a round was opened in it."""
        begin, end = (None if each is None else _plain(each) for each in self)
        at = counted.opened_at
        return (begin is None or at >= begin) and (end is None or at < end)


class CellKey(NamedTuple):
    """What returns are told apart by; sums of different rules, currencies or bets never meet."""

    rules_digest: str
    currency: str
    bet: str
    build: str | None
    table: str | None


class BetTotals(NamedTuple):
    """Closed rounds for real money that had a bet, in minor units, as the rounds booked them."""

    rounds: int = 0
    initial_minor: int = 0
    staked_minor: int = 0
    paid_minor: int = 0

    def plus(self, other: "BetTotals", times: int = 1) -> "BetTotals":
        """Return it with another one added, or taken away, field by field."""
        return BetTotals(*(a + times * b for a, b in zip(self, other, strict=True)))


class Scan(NamedTuple):
    """What a pass found: `kept` are the rounds the fault may have touched, `cases` the rounds that
    cases or held wins are about; `root` is that of the tree of `size` leaves.
    """

    origin: str
    size: int
    root: bytes
    operator_key: str | None
    rounds: int
    names: LedgerNames
    cells: dict[CellKey, BetTotals]
    kept: dict[str, CountedRound]
    cases: set[str]
    games: dict[str, str]


def cells_of(rounds: Iterable[CountedRound]) -> dict[CellKey, BetTotals]:
    """Return what closed rounds for real money come to, bet by bet."""
    cells: dict[CellKey, BetTotals] = {}
    for each in rounds:
        _add(cells, each)
    return cells


def scan(
    ledger: Ledger,
    asked: FaultName,
    span: Period,
    size: int,
    *,
    public_key: str | None = None,
    progress: Progress | None = None,
) -> Scan:
    """Verify the first `size` leaves, and count and judge every round in them.

    `public_key` is the operator's as it was handed over outside the ledger. Raises LeafRefused for
    the first leaf there is an objection to, KeyUnusable for a text that is not a key, and the
    store's errors.
    """
    anchor = _anchor(ledger, size, public_key)
    if size == ledger.size():
        refuse_cut_tail(ledger)
    gathered = _Gathered(ledger, asked, span, size)
    peaks: Peaks = ()
    for run in made_of_verified(ledger, 0, size, (), gathered.make):
        peaks = run.peaks
        gathered.take(run.made.rounds)
        gathered.take(gathered.joined.ended(run.made.pieces))
        gathered.reveals.merge(run.made.reveals)
        gathered.cases |= run.made.cases
        if progress is not None:
            progress(run.stop, size)
    gathered.end()
    return Scan(
        ledger.origin,
        size,
        root_of_peaks(peaks),
        anchor,
        gathered.rounds,
        LedgerNames(*map(frozenset, (gathered.builds, gathered.tables, gathered.digests))),
        gathered.cells,
        gathered.kept,
        gathered.cases,
        {digest: each.id for digest, each in gathered.rules.items()},
    )


def checkpoint_in(ledger: Ledger, note: bytes) -> Checkpoint:
    """Return what a checkpoint says that a log key of the ledger signed; raises NoteRefused.

    Raises ReportError for one of more leaves than the ledger has.
    """
    ring = build_ring(ledger.store.stream(KEYS_STREAM), None)[0]
    said = verify_by_ring(note, ring, ledger.origin).checkpoint
    must_reach(ledger, said.size)
    return said


def must_reach(ledger: Ledger, size: int) -> None:
    """Raise ReportError unless the ledger has that many leaves, and at least one is asked for."""
    whole = ledger.size()
    if not 1 <= size <= whole:
        raise ReportError(f"the ledger has {whole:,} leaves: it never had a tree of {size:,}")


def hold_to(said: Checkpoint, found: Scan) -> None:
    """Raise LeafRefused where the leaves counted are not those a checkpoint was signed for."""
    if said.root != found.root:
        text = f"the first {said.size} leaves are not those the checkpoint was signed for"
        raise LeafRefused(Finding(CHECKPOINT_MISMATCH, text, None, said.size - 1))


class _Gathered:
    """What is gathered on the way through the leaves."""

    def __init__(self, ledger: Ledger, asked: FaultName, span: Period, size: int) -> None:
        self._ledger, self._asked, self._span, self._size = ledger, asked, span, size
        sets = rule_sets_of(verified_stream(ledger, RULES_STREAM, size))
        self.rules = {digest: each.rules for digest, each in sets.items()}
        told = circumstances_of(ledger, size)
        self.make = partial(count_range, self.rules, told)
        self.joined, self.reveals = Joined(self.rules, told), Reveals()
        self.rounds = 0
        self.builds: set[str] = set()
        self.tables: set[str] = set()
        self.digests: set[str] = set(self.rules)
        self.cells: dict[CellKey, BetTotals] = {}
        self.kept: dict[str, CountedRound] = {}
        self.cases: set[str] = set()

    def take(self, rounds: Iterable[CountedRound]) -> None:
        """Count rounds, and keep those that the fault may have touched."""
        for each in rounds:
            self.digests.add(each.rules_digest)
            self.builds |= set() if each.build is None else {each.build}
            self.tables |= set() if each.table is None else {each.table}
            if not self._span.holds(each):
                continue
            self.rounds += 1
            _add(self.cells, each)
            if may_touch(self._asked, each):
                self.kept[each.round] = each

    def end(self) -> None:
        """Take in the open rounds, and what is found only once all leaves are read."""
        self.take(self.joined.unended())
        late: dict[str, list[Finding]] = {}
        for finding in (*self._of_seeds_and_cases(), *self.joined.late()):
            late.setdefault(round_of(finding.stream or ""), []).append(finding)
        for round_id, findings in late.items():
            counted = self.kept.get(round_id) or self._counted(round_id)
            if counted is not None and self._span.holds(counted):
                counted = counted.with_found(findings)
                if may_touch(self._asked, counted):
                    self.kept[round_id] = counted

    def _of_seeds_and_cases(self) -> Iterator[Finding]:
        yield from check_seeds(self._ledger.store, self._size, self.reveals, lambda _: True)
        if self._asked.name in _OF_CASES:
            yield from check_cases(self._ledger, self._ledger.store, self._size, lambda _: True)

    def _counted(self, round_id: str) -> CountedRound | None:
        held = gathering(round_id)
        for leaf in verified_stream(self._ledger, round_id, self._size):
            if not held.is_ended:
                held.take(leaf, None)
        return count_round(held, ()) if held.leaves else None


def _add(cells: dict[CellKey, BetTotals], each: CountedRound) -> None:
    if each.state != "closed" or each.mode != "real":
        return
    for bet, *sums in each.bets:
        key = CellKey(each.rules_digest, each.currency, bet, each.build, each.table)
        cells[key] = cells.get(key, BetTotals()).plus(BetTotals(1, *sums))


def _anchor(ledger: Ledger, size: int, public_key: str | None) -> str | None:
    expected = None if public_key is None else given_key(public_key)
    leaves = [each for each in ledger.store.stream(KEYS_STREAM) if each.leaf_index < size]
    _, anchor, found = build_ring(leaves, expected)
    if found:
        raise LeafRefused(found[-1])
    return None if anchor is None else anchor.vkey


def _plain(moment: datetime) -> str:
    """Return a moment as rows have it, in UTC without a zone."""
    return format_time(moment).removesuffix("Z")
