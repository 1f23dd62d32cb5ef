"""What must never happen twice: seeds, commitments, shoes.

Of each thing 16 bytes of a hash are kept, with the leaf its round begins at: 24 bytes a round, for
two of ten million to agree by chance one needs 10²⁴ such ledgers.
"""

from array import array
from collections.abc import Iterator
from hashlib import sha256
from typing import Final

import numpy as np

from ledger import Finding

_BYTES: Final = 16


class Repeats:
    """Things of one kind, each with the first leaf of the round it belongs to."""

    def __init__(self, code: str, says: str) -> None:
        """Begin with none; `code` and `says` are those of the findings."""
        self._code, self._says = code, says
        self._prints = bytearray()
        self._leaves = array("q")

    def add(self, thing: bytes, first_leaf: int) -> None:
        """Note a thing."""
        self._prints += sha256(thing).digest()[:_BYTES]
        self._leaves.append(first_leaf)

    def findings(self) -> Iterator[Finding]:
        """Yield a finding for each time a thing came again, in the order of leaves."""
        prints = np.frombuffer(self._prints, f"V{_BYTES}")
        leaves = np.frombuffer(self._leaves, np.int64)
        order = np.lexsort((leaves, *prints.view(">u8").reshape(-1, 2).T))
        again = np.flatnonzero(prints[order][1:] == prints[order][:-1]) + 1
        pairs = sorted((int(leaves[order[at]]), int(leaves[order[at - 1]])) for at in again)
        for leaf, earlier in pairs:
            text = f"{self._says} that the round from leaf {earlier} had"
            yield Finding(self._code, text, None, leaf)
