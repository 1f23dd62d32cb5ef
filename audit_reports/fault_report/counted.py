"""Rounds counted and judged where their leaves were verified, in one pass over them.

What a round says of itself is folded as for the tables, and checked against its rules as in an
audit. The rounds that lie whole in a range of leaves are done by whichever process verified the
range; the others are joined from their pieces (`Joined`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from shoeproof.audit_reports.rows.round_leaves import Gathered, SoundLeaf, part
from shoeproof.audit_reports.rows.round_rows import rows_of
from shoeproof.ledger import Finding, StoredLeaf
from shoeproof.ledger.findings import EVENT_AFTER_CLOSE
from shoeproof.ledger.leaf.events import CLOSING, Mode, RoundOpened
from shoeproof.ledger.leaf.recorded import read_leaf
from shoeproof.ledger.leaf.streams import DISPUTES_PREFIX, HOLDS_PREFIX
from shoeproof.ledger.store.round_index import RoundState, is_round
from shoeproof.ledger.verify.batch import LeafBatch
from shoeproof.replay.bulk.ranges import RangeJudge
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.interruptions.check import Circumstances
from shoeproof.replay.interruptions.judge import judge


class BetCount(NamedTuple):
    """All hands of one bet of a round, in minor units, as the round booked them."""

    bet: str
    initial_minor: int
    staked_minor: int
    paid_minor: int


class CountedRound(NamedTuple):
    """A round as it stands in the ledger; `found_at` are its findings by code and leaf."""

    round: str
    first_leaf: int
    opened_at: str
    ended_at: str | None
    state: RoundState
    mode: Mode
    player: str
    currency: str
    rules_digest: str
    table: str | None
    build: str | None
    bets: tuple[BetCount, ...]
    found_at: frozenset[tuple[str, int | None]] = frozenset()

    @property
    def codes(self) -> frozenset[str]:
        """The codes of what was found in it."""
        return frozenset(code for code, _ in self.found_at)

    def with_found(self, found: Iterable[Finding]) -> "CountedRound":
        """Return it with further findings."""
        return self._replace(found_at=self.found_at | {(f.code, f.leaf_index) for f in found})


class RangeCount(NamedTuple):
    """What a range of leaves holds: whole rounds, pieces of others, the seeds they reveal, and the
    rounds that cases of the range are about.
    """

    rounds: list[CountedRound]
    pieces: list[SoundLeaf]
    reveals: bytes
    cases: set[str]


def count_range(
    rules: Mapping[str, Rules],
    told: Circumstances,
    leaves: Sequence[StoredLeaf],
    texts: Sequence[bytes | None],
) -> RangeCount:
    """Count and judge what lies whole in a range of verified leaves, which are in order."""
    start, stop = leaves[0].leaf_index, leaves[-1].leaf_index + 1
    report = RangeJudge(rules, told).judge(LeafBatch.of_leaves(leaves), start, stop, texts=texts)
    found: dict[str, list[Finding]] = {}
    for finding in (each for _, findings in report.found for each in findings):
        found.setdefault(finding.stream or "", []).append(finding)
    parts = part(zip(leaves, texts, strict=True))
    judged = set(report.whole)
    for piece in report.pieces:
        if piece.stream in judged:
            late = Finding(EVENT_AFTER_CLOSE, "", piece.stream, piece.leaves[0])
            found.setdefault(piece.stream, []).append(late)
    rounds = []
    for each in parts.whole:
        if each.stream not in judged:
            found[each.stream] = list(_judged(each, rules, told))
        counted = count_round(each, found.get(each.stream, ()))
        rounds += [] if counted is None else [counted]
    return RangeCount(rounds, parts.pieces, report.reveals, _cases(leaves))


class Joined:
    """Rounds that do not lie whole in one range, gathered leaf by leaf."""

    def __init__(self, rules: Mapping[str, Rules], told: Circumstances) -> None:
        """Begin with no round."""
        self._rules, self._told = rules, told
        self._open: dict[str, Gathered] = {}

    def ended(self, pieces: Iterable[SoundLeaf]) -> Iterator[CountedRound]:
        """Take the pieces of the next range and yield each round that ended in it."""
        for leaf, text in pieces:
            held = self._open.setdefault(leaf.stream, gathering(leaf.stream))
            held.take(leaf, text)
            if leaf.topic in CLOSING:
                yield from self._counted(self._open.pop(leaf.stream))

    def unended(self) -> Iterator[CountedRound]:
        """Yield the rounds that are open, as far as they go."""
        for held in self._open.values():
            yield from self._counted(held)

    def late(self) -> Iterator[Finding]:
        """Yield what is wrong with events that came after their round had ended."""
        for held in self._open.values():
            if held.leaves[0].version > 1:
                yield from _judged(held, self._rules, self._told)

    def _counted(self, held: Gathered) -> Iterator[CountedRound]:
        counted = count_round(held, _judged(held, self._rules, self._told))
        if counted is not None:
            yield counted


def gathering(stream: str) -> Gathered:
    """Return a round before its first leaf."""
    return Gathered(stream, [], [], [], is_stored=False)


def count_round(held: Gathered, found: Iterable[Finding]) -> CountedRound | None:
    """Return a round as it stands, with what was found in it; None if no round was opened."""
    rows = rows_of(held.stream, held.events, None)
    if rows is None:
        return None
    opened = held.events[0].data
    assert isinstance(opened, RoundOpened)
    sums: dict[str, list[int]] = {}
    for row in rows.bets.values():
        mine = sums.setdefault(row.bet, [0, 0, 0])
        parts = (row.initial_stake_minor, row.stake_minor, row.paid_minor or 0)
        sums[row.bet] = [a + b for a, b in zip(mine, parts, strict=True)]
    told = rows.round
    return CountedRound(
        round=told.round,
        first_leaf=told.first_leaf,
        opened_at=told.opened_at,
        ended_at=told.closed_at,
        state=told.state,
        mode=told.mode,
        player=told.player,
        currency=told.currency,
        rules_digest=told.rules_digest,
        table=told.table_name,
        build=opened.build,
        bets=tuple(BetCount(bet, *of_bet) for bet, of_bet in sums.items()),
        found_at=frozenset((each.code, each.leaf_index) for each in found),
    )


def round_of(stream: str) -> str:
    """Return the round that a stream of a round, its cases or its held win is about."""
    return stream.removeprefix(DISPUTES_PREFIX).removeprefix(HOLDS_PREFIX)


def _judged(held: Gathered, rules: Mapping[str, Rules], told: Circumstances) -> Iterable[Finding]:
    return judge([read_leaf(leaf) for leaf in held.leaves], rules, told)


def _cases(leaves: Iterable[StoredLeaf]) -> set[str]:
    streams: AbstractSet[str] = {leaf.stream for leaf in leaves}
    about = (each for each in streams if each.startswith((DISPUTES_PREFIX, HOLDS_PREFIX)))
    return {name for name in map(round_of, about) if is_round(name)}
