"""What must never happen twice: seeds, commitments, shoes.

Of each thing 16 bytes of a hash are kept, with the leaf its round begins at: 24 bytes a round, for
two of ten million to agree by chance one needs 10²⁴ such ledgers.
"""

from collections.abc import Iterator
from hashlib import sha256
from typing import Final

import msgspec
import numpy as np

from shoeproof.ledger import Finding

_BYTES: Final = 16
_LEAF_BYTES: Final = 8


class Repeats(msgspec.Struct):
    """Things of one kind, each with the first leaf of the round it belongs to, by their bytes."""

    prints: bytearray = bytearray()
    leaves: bytearray = bytearray()

    def add(self, thing: bytes, first_leaf: int) -> None:
        """Note a thing."""
        self.prints += sha256(thing).digest()[:_BYTES]
        self.leaves += first_leaf.to_bytes(_LEAF_BYTES, "little")

    def merge(self, other: "Repeats") -> None:
        """Note the things of another."""
        self.prints += other.prints
        self.leaves += other.leaves

    def findings(self, code: str, says: str) -> Iterator[Finding]:
        """Yield a finding for each time a thing came again, in the order of leaves."""
        prints = np.frombuffer(self.prints, np.uint64).reshape(-1, _BYTES // 8)
        leaves = np.frombuffer(self.leaves, "<i8")
        # Few have even half of a hash in common, so that only those need be put in order whole.
        halves = np.sort(prints[:, 0])
        alike = np.isin(prints[:, 0], halves[1:][halves[1:] == halves[:-1]])
        prints, leaves = prints[alike], leaves[alike]
        order = np.lexsort((leaves, *prints.T))
        again = np.flatnonzero((prints[order][1:] == prints[order][:-1]).all(axis=1)) + 1
        pairs = sorted((int(leaves[order[at]]), int(leaves[order[at - 1]])) for at in again)
        for leaf, earlier in pairs:
            text = f"{says} that the round from leaf {earlier} had"
            yield Finding(code, text, None, leaf)
