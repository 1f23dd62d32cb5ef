"""The ledger's Merkle tree as C2SP tiles: 256 hashes wide, eight levels of the tree high.

Tile (L, N) holds the hashes of the complete subtrees of 256^L leaves numbered N·256 onwards. A
tile only ever grows at its end until it is full, and then never changes; so it is kept as the
pieces it grew by, each written once. What is cut to a width is the tile of any earlier tree. The
tree goes on from its peaks, and nothing has to be read for that. Everything here is pure: whoever
stores tiles gives a function that reads one.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from shoeproof.ledger.errors import StoreDamaged
from shoeproof.ledger.tree import merkle
from shoeproof.ledger.tree.merkle import HASH_SIZE, Peaks, add_to_peaks, root_hash

WIDTH = 256
"""The hashes of a full tile; each stands for 256 of the level below."""

_HEIGHT = 8

ReadTile: TypeAlias = Callable[[int, int], bytes]
"""Given a tile's level and index, returns its hashes, 32 bytes each; as many as there are."""


class TilePiece(NamedTuple):
    """Part of a tile: its level, the place of its first hash in that level, its hashes."""

    level: int
    start: int
    hashes: bytes


def grow(size: int, peaks: Peaks, hashes: Sequence[bytes]) -> tuple[list[TilePiece], Peaks]:
    """Return what is added to the tiles, and the new peaks, when leaf hashes are added to a tree.

    It has `size` leaves and these `peaks`. No piece lies in two tiles.
    """
    pieces: list[TilePiece] = []
    grown: Peaks = ()
    level = 0
    while hashes:
        place, width, above = size, size % WIDTH, list[bytes]()
        # The last peaks lie inside the unfinished tile, the others in levels above.
        outside = len(peaks) - width.bit_count()
        peaks, inside = peaks[:outside], peaks[outside:]
        for taken in _by_tiles(hashes, width):
            pieces.append(TilePiece(level, place, b"".join(taken)))
            inside = add_to_peaks(inside, width, taken)
            place, width = place + len(taken), width + len(taken)
            if width == WIDTH:
                above += inside
                width, inside = 0, ()
        grown = inside + grown
        level, size, hashes = level + 1, size // WIDTH, above
    return pieces, peaks + grown


def _by_tiles(hashes: Sequence[bytes], width: int) -> Iterator[Sequence[bytes]]:
    """Yield hashes as they go into tiles, the first of which has `width` already."""
    start = 0
    while start < len(hashes):
        stop = start + WIDTH - width
        yield hashes[start:stop]
        start, width = stop, 0


def tile_of(first: int, pieces: Iterable[tuple[int, bytes]]) -> bytes:
    """Return the tile whose first hash is at place `first` of its level, made of its pieces.

    Each piece is given as the place of its first hash and its hashes, in their order. Where one is
    missing there are zeros, which are no hash.
    """
    tile = b""
    for start, hashes in pieces:
        offset = (start - first) * HASH_SIZE
        tile = tile[:offset].ljust(offset, b"\0") + hashes
    return tile


def tiles_of(size: int, start: int = 0) -> Iterator[tuple[int, int, int]]:
    """Yield level, index and width of the tiles of a tree of `size` leaves, level by level.

    Only those that a tree of its first `start` leaves lacks, or has at another width.
    """
    level = 0
    while size:
        for index in range(start // WIDTH, -(-size // WIDTH)):
            width = min(WIDTH, size - index * WIDTH)
            if index * WIDTH + width > start:
                yield level, index, width
        level, size, start = level + 1, size // WIDTH, start // WIDTH


def split_hashes(hashes: bytes) -> list[bytes]:
    """Return the 32-byte hashes of a tile."""
    return [hashes[place : place + HASH_SIZE] for place in range(0, len(hashes), HASH_SIZE)]


class Tree:
    """The tree of the first `size` leaves, read from tiles that may have grown beyond it.

    Each tile is read once. Its methods raise StoreDamaged when a tile is too narrow for the size.
    """

    def __init__(self, size: int, read: ReadTile) -> None:
        self.size = size
        self._read = read
        self._tiles: dict[tuple[int, int], bytes] = {}

    def node(self, level: int, index: int) -> bytes:
        """Return the hash of a complete subtree (`merkle.Node`)."""
        tile_level, height = divmod(level, _HEIGHT)
        first = index << height
        place = first % WIDTH * HASH_SIZE
        part = self._tile(tile_level, first // WIDTH)[place : place + (HASH_SIZE << height)]
        if len(part) != HASH_SIZE << height:
            raise StoreDamaged(f"tile {first // WIDTH} of level {tile_level} is incomplete")
        return root_hash(split_hashes(part))

    def _tile(self, level: int, index: int) -> bytes:
        tile = self._tiles.get((level, index))
        if tile is None:
            tile = self._tiles[level, index] = self._read(level, index)
        return tile

    def root(self, size: int | None = None) -> bytes:
        """Return the 32-byte root of this tree, or of its first `size` leaves."""
        return merkle.root_of_peaks(self.peaks(size))

    def peaks(self, size: int | None = None) -> Peaks:
        """Return the peaks of this tree, or of its first `size` leaves."""
        return merkle.peaks_at(self.size if size is None else size, self.node)

    def frontier(self) -> Peaks:
        """Return the peaks that this tree, whose tiles hold no more than it, goes on from.

        Raises StoreDamaged when the last tile of a level is wider than that, too.
        """
        level, size = 0, self.size
        while size:
            index, width = divmod(size, WIDTH)
            there = len(self._tile(level, index)) // HASH_SIZE
            if there != width:
                raise StoreDamaged(
                    f"tile {index} of level {level} has {there} hashes but the leaves require "
                    f"{width}: leaves were removed, or tiles altered; run fsck"
                )
            level, size = level + 1, size // WIDTH
        return self.peaks()

    def inclusion_proof(self, index: int) -> list[bytes]:
        """Return the proof that the leaf at `index` is in this tree (`merkle`)."""
        return merkle.inclusion_proof(index, self.size, self.node)

    def consistency_proof(self, old_size: int) -> list[bytes]:
        """Return the proof that the tree of `old_size` leaves begins this one (`merkle`)."""
        return merkle.consistency_proof(old_size, self.size, self.node)
