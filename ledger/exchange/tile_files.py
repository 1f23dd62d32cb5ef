"""Tiles and leaves as static files (C2SP tlog-tiles): their names, and how leaves are strung.

A tile's file is its hashes, one after the other. An entry bundle is the leaves of a tile of level
0, each after its length as a 16-bit big-endian number.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from shoeproof.ledger.errors import EventUnreadable
from shoeproof.ledger.leaf.layout import LARGEST_LEAF
from shoeproof.ledger.tree.tiles import WIDTH

CHECKPOINT = "checkpoint"
"""The name of the file with the signed checkpoint."""


def tile_path(level: int | None, index: int, width: int) -> Path:
    """Return the relative path of a tile, or of an entry bundle where `level` is None."""
    groups = [f"{index % 1000:03}"]
    while index := index // 1000:
        groups.insert(0, f"x{index % 1000:03}")
    path = Path("tile", "entries" if level is None else str(level), *groups)
    return path if width == WIDTH else path.with_name(f"{path.name}.p") / str(width)


def encode_entries(leaves: Iterable[bytes]) -> bytes:
    """Return leaves, each after its length."""
    return b"".join(len(leaf).to_bytes(2, "big") + leaf for leaf in leaves)


def read_entries(file: BinaryIO) -> Iterator[bytes]:
    """Yield the leaves of an entry bundle.

    Raises EventUnreadable when it ends inside a leaf.
    """
    while length := file.read(2):
        size = int.from_bytes(length, "big")
        leaf = file.read(min(size, LARGEST_LEAF))
        if len(length) < 2 or len(leaf) < size:
            raise EventUnreadable("the stream ends in the middle of a leaf")
        yield leaf
