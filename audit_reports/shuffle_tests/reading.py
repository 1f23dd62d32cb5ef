"""Rounds read from verified leaves, those that lie whole in a range of leaves apart from others."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from audit_reports.round_leaves import SoundLeaf
from audit_reports.said import said
from audit_reports.shuffle_tests.records import READ, DealtRound
from ledger import StoredLeaf
from ledger.events import CLOSING, RoundOpened
from ledger.rounds import is_round
from replay.bulk.words import Own

_TOPICS = READ.union(CLOSING)


class PartedRounds(NamedTuple):
    """The rounds of a range of leaves.

    `whole` lie in it from first leaf to last, in the order in which they ended; `begun` are the
    first leaves of all that begin in it, in order, and `pieces` what it holds of the others.
    """

    whole: list[DealtRound]
    begun: list[int]
    pieces: list[SoundLeaf]


def part_rounds(leaves: Iterable[SoundLeaf]) -> PartedRounds:
    """Part verified leaves, in order, into whole rounds and pieces of others."""
    parted = PartedRounds([], [], [])
    held: dict[str, list[SoundLeaf]] = {}
    for each in leaves:
        leaf = each[0]
        if leaf.topic not in _TOPICS or not is_round(leaf.stream):
            continue
        if _begins(leaf):
            parted.begun.append(leaf.leaf_index)
            held[leaf.stream] = []
        mine = held.get(leaf.stream)
        if mine is None:
            parted.pieces.append(each)
            continue
        mine.append(each)
        if leaf.topic in CLOSING:
            parted.whole.append(_round_of(held.pop(leaf.stream)))
    parted.pieces.extend(each for mine in held.values() for each in mine)
    return parted


class OpenRounds:
    """The rounds that have begun and not ended, of which more leaves may come."""

    def __init__(self, start: int, earlier: Callable[[str], Sequence[StoredLeaf]]) -> None:
        """Go on from leaf `start`; `earlier` returns a stream's verified leaves before it."""
        self._start, self._earlier = start, earlier
        self._open: dict[str, DealtRound] = {}
        self._ended: set[str] = set()

    def take(self, pieces: Iterable[SoundLeaf]) -> Iterator[DealtRound]:
        """Take in the pieces of the next range of leaves, and yield the rounds that they end."""
        for leaf, text in pieces:
            held = self._open.get(leaf.stream) or self._begun(leaf)
            if held is None:
                continue
            _take(held, leaf, text)
            if held.last_leaf is not None:
                self._ended.add(leaf.stream)
                yield self._open.pop(leaf.stream)

    def rounds(self) -> list[DealtRound]:
        """Return all of them, in the order in which they began."""
        return sorted(self._open.values(), key=lambda each: each.first_leaf)

    def _begun(self, leaf: StoredLeaf) -> DealtRound | None:
        """Return the round that a leaf of no open one is of, None where it is of none or ended."""
        before: Sequence[StoredLeaf] = ()
        if not _begins(leaf):
            if self._start and leaf.stream not in self._ended:
                before = self._earlier(leaf.stream)
            if not before or not _begins(before[0]):
                return None
        found = DealtRound(Own(leaf.stream), (before[0] if before else leaf).leaf_index)
        for each in before:
            _take(found, each, None)
        if found.last_leaf is not None:
            return None
        self._open[leaf.stream] = found
        return found


def _begins(leaf: StoredLeaf) -> bool:
    return leaf.version == 1 and leaf.topic == RoundOpened.__name__


def _round_of(leaves: Sequence[SoundLeaf]) -> DealtRound:
    first = leaves[0][0]
    found = DealtRound(Own(first.stream), first.leaf_index)
    for leaf, text in leaves:
        _take(found, leaf, text)
    return found


def _take(into: DealtRound, leaf: StoredLeaf, text: bytes | None) -> None:
    if leaf.topic in READ:
        into.take(said(leaf, text))
    elif leaf.topic in CLOSING:
        into.last_leaf = leaf.leaf_index
