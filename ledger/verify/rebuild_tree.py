"""The tree rebuilt from the leaves on the disk, and held to checkpoints.

Nothing the store says of hashes, or in the columns beside a leaf, is read here: every leaf's bytes
are hashed again, and what is looked for among them is known by its content.
"""

from collections.abc import Collection, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from shoeproof.ledger.leaf import canonical, layout
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.leaf.streams import KEYS_STREAM
from shoeproof.ledger.store.sqlite import Store
from shoeproof.ledger.tree.merkle import (
    Peaks,
    add_subtrees,
    add_to_peaks,
    leaf_hashes,
    root_of_peaks,
    subtrees_of,
)
from shoeproof.ledger.verify.scan import leaf_from_bytes
from shoeproof.ledger.verify.workers import Fetch, Progress, over_leaves

BLOCK = 1 << 15
"""How many leaves are hashed at a time: a power of two, so that each block is one subtree."""

SHARED_FROM = 200_000
"""From how many leaves on worker processes hash sooner than this one alone (measured)."""


class Reread(NamedTuple):
    """What leaves on the disk are: their tree's peaks, and some of them, known by their content.

    `keys` are those of the stream `keys`, `last` the last one of each stream asked for. They are
    what they seem only if the root is the one expected.
    """

    peaks: Peaks
    keys: list[StoredLeaf]
    last: dict[str, StoredLeaf]

    @property
    def root(self) -> bytes:
        """The 32-byte root of the leaves' tree."""
        return root_of_peaks(self.peaks)


class _Block(NamedTuple):
    subtrees: tuple[bytes, ...]
    keys: list[tuple[int, bytes]]
    last: dict[bytes, tuple[int, bytes]]


def reread(
    store: Store,
    size: int,
    streams: Collection[str],
    workers: int,
    progress: Progress | None = None,
) -> Reread:
    """Return what the first `size` leaves are on the disk, and the last leaves of `streams`."""
    peaks: Peaks = ()
    keys: list[StoredLeaf] = []
    last: dict[bytes, tuple[int, bytes]] = {}
    workers = workers if size >= SHARED_FROM else 1
    job = partial(_reread_block, frozenset(map(_as_written, (KEYS_STREAM, *streams))))
    if store.count(0, size) < size:
        # There is no tree where a leaf is missing: the root is none that anybody signed.
        return Reread((), store.stream(KEYS_STREAM), {})
    ranges = store.ranges(0, size, BLOCK)
    blocks = over_leaves(job, store.fetch_states, store.states_fetcher(), ranges, workers)
    for number, block in enumerate(blocks):
        done = min((number + 1) * BLOCK, size)
        peaks = add_subtrees(peaks, number * BLOCK, done, block.subtrees)
        keys += [leaf_from_bytes(*each) for each in block.keys]
        last.update(block.last)
        if progress is not None:
            progress(done, size)
    of_streams = (leaf_from_bytes(*each) for each in last.values())
    return Reread(peaks, keys, {leaf.stream: leaf for leaf in of_streams})


def _reread_block(
    wanted: frozenset[bytes], fetch: Fetch[list[bytes]], start: int, stop: int
) -> _Block:
    states = fetch(start, stop)
    keys: list[tuple[int, bytes]] = []
    last: dict[bytes, tuple[int, bytes]] = {}
    keys_stream = _as_written(KEYS_STREAM)
    for leaf_index, state in enumerate(states, start):
        stream = layout.claimed_stream(state)
        if stream in wanted:
            last[stream] = leaf_index, state
            if stream == keys_stream:
                keys.append(last[stream])
    return _Block(subtrees_between(start, stop, leaf_hashes(states)), keys, last)


def subtrees_between(start: int, stop: int, hashes: list[bytes]) -> tuple[bytes, ...]:
    """Return the complete subtrees of leaves given by their hashes (`merkle.subtrees_of`).

    Where leaves are missing the root comes out wrong, not the number of subtrees.
    """
    return subtrees_of(start, hashes + [b""] * (stop - start - len(hashes)))


def _as_written(stream: str) -> bytes:
    return canonical.encode(stream)[1:-1]


def roots_at(
    sizes: Iterable[int],
    pages: Iterable[Sequence[StoredLeaf]],
    count: int = 0,
    peaks: Peaks = (),
) -> dict[int, bytes]:
    """Return the roots of the trees of these sizes, for as many as there are leaves.

    `pages` are all leaves in order, some at a time; those behind the first `count` where the
    `peaks` of these are known. No size is smaller.
    """
    wanted = sorted(set(sizes))
    roots: dict[int, bytes] = {}
    for page in pages:
        hashes = leaf_hashes(leaf.state for leaf in page)
        while wanted and wanted[0] <= count + len(hashes):
            size = wanted.pop(0)
            roots[size] = root_of_peaks(add_to_peaks(peaks, count, hashes[: size - count]))
        peaks, count = add_to_peaks(peaks, count, hashes), count + len(hashes)
    return roots
