"""Tiles held to leaves: which leaf, or which hash, is not the one the tree was built from.

Each hash is compared with what lies directly below it, so that one altered leaf is one finding and
one altered hash is one there and, where its tile is full, one in the tile above.
"""

from collections.abc import Iterable, Iterator, Sequence

from shoeproof.ledger import findings as codes
from shoeproof.ledger.findings import Finding
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.tree.merkle import HASH_SIZE, leaf_hash, root_hash
from shoeproof.ledger.tree.tiles import WIDTH, ReadTile, split_hashes
from shoeproof.ledger.verify.workers import Fetch


def bundles(
    fetch: Fetch[list[StoredLeaf]], size: int, start: int = 0
) -> Iterator[list[StoredLeaf]]:
    """Yield the first `size` leaves, those of each tile of level 0 together.

    With a `start`, those from there on, as many at a time.
    """
    for first in range(start, size, WIDTH):
        yield fetch(first, min(first + WIDTH, size))


def check_end(size: int, read: ReadTile) -> Iterator[Finding]:
    """Yield the tiles at the end of a tree of `size` leaves that hold more hashes than it has.

    They remember leaves that were removed from the end. Only of a ledger nobody appends to.
    """
    level = 0
    while size:
        index, width = divmod(size, WIDTH)
        there = len(read(level, index)) // HASH_SIZE
        if there > width:
            text = (
                f"tile {index} of level {level} has {there} hashes but the leaves require "
                f"{width}: leaves were removed from the end"
            )
            yield Finding(codes.TILE_MISMATCH, text)
        level, size = level + 1, size // WIDTH


def check_tiles(
    bundled: Iterable[Sequence[StoredLeaf]], size: int, read: ReadTile
) -> Iterator[Finding]:
    """Yield what tiles and the first `size` leaves contradict each other in.

    `bundled` are the leaves as `bundles` yields them.
    """
    below: list[bytes] = []
    for index, leaves in enumerate(bundled):
        stored = split_hashes(read(0, index)[: min(WIDTH, size - index * WIDTH) * HASH_SIZE])
        for leaf in leaves:
            place = leaf.leaf_index - index * WIDTH
            if place >= len(stored):
                text = f"tile {index} of level 0 lacks the leaf's hash"
            elif leaf_hash(leaf.state) != stored[place]:
                text = "the leaf is not the one the tree was built from"
            else:
                continue
            yield Finding(codes.TILE_MISMATCH, text, leaf.stream, leaf.leaf_index, leaf.version - 1)
        if len(stored) == WIDTH:
            below.append(root_hash(stored))
    level = 1
    while below:
        above: list[bytes] = []
        for index in range(-(-len(below) // WIDTH)):
            expected = below[index * WIDTH : (index + 1) * WIDTH]
            stored = split_hashes(read(level, index)[: len(expected) * HASH_SIZE])
            for place, digest in enumerate(expected):
                if stored[place : place + 1] != [digest]:
                    text = f"hash {place} of tile {index}, level {level}, is not of the tile below"
                    first = (index * WIDTH + place) * WIDTH**level
                    yield Finding(codes.TILE_MISMATCH, text, None, first)
            if len(stored) == WIDTH:
                above.append(root_hash(stored))
        level, below = level + 1, above
