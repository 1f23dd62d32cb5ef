"""Rounds read from verified leaves, those that lie whole in a range of leaves apart from others."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from shoeproof.audit_reports.rows.round_leaves import SoundLeaf, part_rounds
from shoeproof.audit_reports.rows.said import said
from shoeproof.audit_reports.shuffle_tests.records import READ, DealtRound
from shoeproof.ledger import StoredLeaf
from shoeproof.ledger.leaf.events import CLOSING, RoundOpened
from shoeproof.replay.kernel.symbols import RoundColumns

_TOPICS = READ.union(CLOSING)


class PartedRounds(NamedTuple):
    """The rounds of a range of leaves.

    `whole` lie in it from first leaf to last, in the order in which they ended; `begun` are the
    first leaves of all that begin in it, in order, and `pieces` what it holds of the others.
    """

    whole: list[DealtRound]
    begun: list[int]
    pieces: list[SoundLeaf]


def part_dealt(leaves: Iterable[SoundLeaf]) -> PartedRounds:
    """Part verified leaves, in order, into whole rounds and pieces of others."""
    whole, pieces = part_rounds(each for each in leaves if each[0].topic in _TOPICS)
    firsts = [each[0][0] for each in whole] + [leaf for leaf, _ in pieces if _begins(leaf)]
    dealt = [_round_of(each) for each in whole if _begins(each[0][0])]
    return PartedRounds(
        sorted(dealt, key=lambda each: each.last_leaf or 0),
        sorted(leaf.leaf_index for leaf in firsts if _begins(leaf)),
        pieces,
    )


class UnfinishedRounds(msgspec.Struct):
    """The rounds that have begun and not ended, by their streams."""

    by_stream: dict[str, DealtRound] = {}

    def take(self, pieces: Iterable[SoundLeaf]) -> list[DealtRound]:
        """Take in the pieces of the next range of leaves, and return the rounds that they end."""
        ended: list[DealtRound] = []
        for leaf, text in pieces:
            if _begins(leaf):
                self.by_stream[leaf.stream] = DealtRound(RoundColumns(leaf.stream), leaf.leaf_index)
            # Events after the end of a round do not belong to it.
            held = self.by_stream.get(leaf.stream)
            if held is None:
                continue
            _take(held, leaf, text)
            if held.last_leaf is not None:
                ended.append(self.by_stream.pop(leaf.stream))
        return ended

    def rounds(self) -> list[DealtRound]:
        """Return all of them, in the order in which they began."""
        return sorted(self.by_stream.values(), key=lambda each: each.first_leaf)


def _begins(leaf: StoredLeaf) -> bool:
    return leaf.version == 1 and leaf.topic == RoundOpened.__name__


def _round_of(leaves: Sequence[SoundLeaf]) -> DealtRound:
    first = leaves[0][0]
    found = DealtRound(RoundColumns(first.stream), first.leaf_index)
    for leaf, text in leaves:
        _take(found, leaf, text)
    return found


def _take(into: DealtRound, leaf: StoredLeaf, text: bytes | None) -> None:
    if leaf.topic in READ:
        into.take(said(leaf, text))
    elif leaf.topic in CLOSING:
        into.last_leaf = leaf.leaf_index
