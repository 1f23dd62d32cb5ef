"""The ledger's Merkle tree as C2SP tiles: 256 hashes wide, eight levels of the tree high.

Tile (L, N) holds the hashes of the complete subtrees of 256^L leaves numbered N·256 onwards. A
tile only ever grows at its end until it is full, and then never changes. So the last tile of each
level is the frontier from which the tree goes on, and what is cut to a width is the tile of any
earlier tree. Everything here is pure: whoever stores tiles gives a function that reads one.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from ledger import merkle
from ledger.errors import StoreDamaged
from ledger.merkle import HASH_SIZE, Peaks, root_hash

WIDTH = 256
"""The hashes of a full tile; each stands for 256 of the level below."""

_HEIGHT = 8

ReadTile: TypeAlias = Callable[[int, int], bytes]
"""Given a tile's level and index, returns its hashes, 32 bytes each; as many as there are."""


class Tile(NamedTuple):
    """A tile: its level, its 0-based index there, its hashes one after the other."""

    level: int
    tile_index: int
    hashes: bytes

    @property
    def width(self) -> int:
        """The number of hashes."""
        return len(self.hashes) // HASH_SIZE


def grow(size: int, hashes: Sequence[bytes], read: ReadTile) -> list[Tile]:
    """Return every tile that leaf hashes change when they are added to a tree of `size` leaves.

    Each comes once, as it is afterwards. Raises StoreDamaged when a tile read is not as wide as
    `size` says.
    """
    changed: list[Tile] = []
    level = 0
    while hashes:
        above: list[bytes] = []
        index, width = divmod(size, WIDTH)
        growing = read(level, index)
        if len(growing) != width * HASH_SIZE:
            raise StoreDamaged(
                f"tile {index} of level {level} has {len(growing) // HASH_SIZE} hashes where the "
                f"leaves ask for {width}: leaves were removed, or tiles altered; run fsck"
            )
        place = 0
        while place < len(hashes):
            taken = hashes[place : place + WIDTH - width]
            tile = Tile(level, index, growing + b"".join(taken))
            changed.append(tile)
            if tile.width == WIDTH:
                above.append(root_hash(split_hashes(tile.hashes)))
            place += len(taken)
            index, width, growing = index + 1, 0, b""
        level, size, hashes = level + 1, size // WIDTH, above
    return changed


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
            raise StoreDamaged(f"tile {first // WIDTH} of level {tile_level} is not whole")
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

    def inclusion_proof(self, index: int) -> list[bytes]:
        """Return the proof that the leaf at `index` is in this tree (`merkle`)."""
        return merkle.inclusion_proof(index, self.size, self.node)

    def consistency_proof(self, old_size: int) -> list[bytes]:
        """Return the proof that the tree of `old_size` leaves begins this one (`merkle`)."""
        return merkle.consistency_proof(old_size, self.size, self.node)
