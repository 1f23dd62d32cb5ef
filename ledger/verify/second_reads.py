"""Leaves that were verified and are read a second time: held to what they were.

A store may answer differently each time it is asked.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from shoeproof.ledger.errors import StoreDamaged
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.tree.merkle import Peaks, add_to_peaks, leaf_hash, root_of_peaks
from shoeproof.ledger.verify.batch import FetchBatch
from shoeproof.ledger.verify.scan import leaf_from_bytes


def read_again(leaves: Iterable[StoredLeaf], root: str | None) -> Iterator[StoredLeaf]:
    """Yield leaves that were verified and are read a second time.

    Raises StoreDamaged at the end where they are not those of the tree with this root: a store that
    answers differently each time. Without a root they are not held to any.
    """
    peaks: Peaks = ()
    for count, leaf in enumerate(leaves):
        peaks = add_to_peaks(peaks, count, [leaf_hash(leaf.state)])
        yield leaf
    if root is not None and root_of_peaks(peaks).hex() != root:
        raise other_leaves(0)


class ReadRange(NamedTuple):
    """A range of leaves that were verified, and `LeafBatch.digest` of what they were."""

    start: int
    stop: int
    digest: str


class LeavesAgain:
    """Leaves of ranges that were verified, by their places."""

    def __init__(self, fetch: FetchBatch, ranges: Sequence[ReadRange]) -> None:
        """Read these ranges, which follow each other, again as they are asked for."""
        self._fetch, self._ranges = fetch, ranges
        self._last: tuple[ReadRange, dict[int, StoredLeaf]] | None = None

    def at(self, leaf_index: int) -> StoredLeaf | None:
        """Return a leaf by what its bytes say, None where there was none.

        Raises StoreDamaged where the store gives other leaves than it did.
        """
        place = bisect_right(self._ranges, leaf_index, key=attrgetter("start")) - 1
        if place < 0 or leaf_index >= self._ranges[place].stop:
            return None
        around = self._ranges[place]
        if self._last is None or self._last[0] != around:
            batch = self._fetch(around.start, around.stop)
            if batch.digest != around.digest:
                raise other_leaves(around.start)
            places = zip(batch.leaf_index, batch.leaves(), strict=True)
            self._last = around, dict(places)
        leaf = self._last[1].get(leaf_index)
        return None if leaf is None else leaf_from_bytes(leaf_index, leaf.state)


def other_leaves(leaf_index: int) -> StoreDamaged:
    """Return the error that a store does not give the leaves from an index on that it gave."""
    return StoreDamaged(
        f"the store gave other leaves when those from {leaf_index} on were read again: trust "
        "nothing it says"
    )
