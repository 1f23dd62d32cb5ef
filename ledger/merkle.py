"""Merkle tree hashing (RFC 9162, section 2.1.1): SHA-256, leaves and nodes told apart by a prefix.

Pure functions over bytes. A tree is given by its leaf hashes in order.
"""

from collections.abc import Sequence
from hashlib import sha256


def leaf_hash(data: bytes) -> bytes:
    """Return the 32-byte hash of a leaf's bytes: SHA-256(0x00 ‖ data)."""
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the 32-byte hash above two hashes: SHA-256(0x01 ‖ left ‖ right)."""
    return sha256(b"\x01" + left + right).digest()


def root_hash(hashes: Sequence[bytes]) -> bytes:
    """Return the 32-byte root over leaf hashes; that of no leaves is SHA-256 of nothing.

    Level by level an odd last hash goes up unchanged, which is the same tree as RFC 9162's split
    at the largest power of two below the size.
    """
    if not hashes:
        return sha256().digest()
    level = list(hashes)
    while len(level) > 1:
        above = [node_hash(a, b) for a, b in zip(level[::2], level[1::2], strict=False)]
        level = above + level[len(above) * 2 :]
    return level[0]
