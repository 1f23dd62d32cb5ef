"""Merkle trees (RFC 9162, section 2.1): SHA-256, leaves and nodes told apart by a prefix.

Pure functions over bytes; sizes and indices are counts of leaves. A tree is given by its leaf
hashes, by its peaks, or by a function that knows the hash of any complete subtree. Making a proof
follows the definition from the root down, verifying one the algorithms of sections 2.1.3.2 and
2.1.4.2 from the leaf up, so that neither can hide an error of the other.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import TypeAlias

from shoeproof.ledger.errors import ProofRefused

HASH_SIZE = 32
"""The bytes of a hash."""

Node: TypeAlias = Callable[[int, int], bytes]
"""Given a level and an index, returns the hash over leaves [index·2^level, (index+1)·2^level)."""

Peaks: TypeAlias = tuple[bytes, ...]
"""The hashes of the complete subtrees a tree consists of, the largest first: one for each bit of
its size. They determine the root, and all roots of larger trees together with later leaves.
"""


def leaf_hash(data: bytes) -> bytes:
    """Return the 32-byte hash of a leaf's bytes: SHA-256(0x00 ‖ data)."""
    return sha256(b"\x00" + data).digest()


def leaf_hashes(leaves: Iterable[bytes]) -> list[bytes]:
    """Return the hashes of many leaves, sooner than by calls of `leaf_hash`."""
    return [sha256(b"\x00" + data).digest() for data in leaves]


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
        pairs = iter(level)
        # `node_hash`, written out: millions of calls would take as long as the hashing.
        above = [sha256(b"\x01" + a + b).digest() for a, b in zip(pairs, pairs, strict=False)]
        level = above + level[len(above) * 2 :]
    return level[0]


def add_to_peaks(peaks: Peaks, size: int, hashes: Sequence[bytes]) -> Peaks:
    """Return the peaks of a tree of `size` leaves after more leaf hashes were added."""
    stack = list(peaks)
    for count, digest in enumerate(hashes, size):
        # Each trailing one bit of the count is a subtree that the new leaf completes.
        while count & 1:
            digest = node_hash(stack.pop(), digest)
            count >>= 1
        stack.append(digest)
    return tuple(stack)


class Subtrees:
    """The complete subtrees within the leaves from `start` on, given by their hashes."""

    def __init__(self, start: int, hashes: Sequence[bytes]) -> None:
        """Hash all that lies above them."""
        self._start, self._stop = start, start + len(hashes)
        self._levels: list[tuple[int, Sequence[bytes]]] = [(start, hashes)]
        while len(hashes) > 1:
            # A pair begins at an even index.
            pairs = iter(hashes[start & 1 :])
            # `node_hash`, written out: millions of calls would take as long as the hashing.
            hashes = [sha256(b"\x01" + a + b).digest() for a, b in zip(pairs, pairs, strict=False)]
            start = start + 1 >> 1
            self._levels.append((start, hashes))

    def up_to(self, stop: int | None = None) -> tuple[bytes, ...]:
        """Return the hashes of the largest ones that the leaves before `stop` consist of.

        They are few, in the order of the leaves, and can be added to the peaks of the tree of the
        first `start` leaves. From no leaf on they are a tree's peaks.
        """
        hashes = []
        for level, index in _complete_subtrees(self._start, self._stop if stop is None else stop):
            first, nodes = self._levels[level]
            hashes.append(nodes[index - first])
        return tuple(hashes)


def subtrees_of(start: int, hashes: Sequence[bytes]) -> tuple[bytes, ...]:
    """Return the hashes of the complete subtrees that all leaves from `start` on consist of."""
    return Subtrees(start, hashes).up_to()


def add_subtrees(peaks: Peaks, start: int, stop: int, subtrees: Sequence[bytes]) -> Peaks:
    """Return the peaks of the tree of `stop` leaves, given those of its first `start`.

    `subtrees` are those that the leaves between consist of. Raises ValueError for too many or few.
    """
    stack = list(peaks)
    places = _complete_subtrees(start, stop)
    for (_, index), subtree in zip(places, subtrees, strict=True):
        # Each trailing one bit of the index is a larger subtree that this one completes.
        digest = subtree
        while index & 1:
            digest = node_hash(stack.pop(), digest)
            index >>= 1
        stack.append(digest)
    return tuple(stack)


def root_of_peaks(peaks: Peaks) -> bytes:
    """Return the 32-byte root of the tree with these peaks."""
    if not peaks:
        return root_hash(())
    *larger, root = peaks
    for peak in reversed(larger):
        root = node_hash(peak, root)
    return root


def peaks_at(size: int, node: Node) -> Peaks:
    """Return the peaks of the tree of the first `size` leaves."""
    return tuple(node(level, index) for level, index in _complete_subtrees(0, size))


def _complete_subtrees(start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield level and index of the complete subtrees that leaves consist of, largest possible."""
    while start < stop:
        level = (stop - start).bit_length() - 1
        if start:
            # A subtree begins at a multiple of its size.
            level = min(level, (start & -start).bit_length() - 1)
        yield level, start >> level
        start += 1 << level


def _subtree(start: int, stop: int, node: Node) -> bytes:
    return root_of_peaks(tuple(node(*place) for place in _complete_subtrees(start, stop)))


def _split(start: int, stop: int) -> int:
    """Return where the root of a subtree divides it: the largest power of two below its size."""
    return start + (1 << (stop - start - 1).bit_length() - 1)


def inclusion_proof(index: int, size: int, node: Node) -> list[bytes]:
    """Return the proof that the leaf at `index` is in the tree of `size` leaves, leaf first.

    Raises ValueError when there is no such leaf. RFC 9162, section 2.1.3.1.
    """
    if not 0 <= index < size:
        raise ValueError(f"a tree of {size} leaves has no leaf {index}")
    proof: list[bytes] = []
    start, stop = 0, size
    while stop - start > 1:
        middle = _split(start, stop)
        if index < middle:
            proof.append(_subtree(middle, stop, node))
            stop = middle
        else:
            proof.append(_subtree(start, middle, node))
            start = middle
    return proof[::-1]


def consistency_proof(old_size: int, size: int, node: Node) -> list[bytes]:
    """Return the proof that the tree of `old_size` leaves begins the tree of `size` leaves.

    It is empty for an empty old tree and for equal sizes. Raises ValueError when the old tree is
    the larger. RFC 9162, section 2.1.4.1.
    """
    if not 0 <= old_size <= size:
        raise ValueError(f"a tree of {size} leaves has no earlier tree of {old_size}")
    if not old_size:
        return []
    proof: list[bytes] = []
    start, stop = 0, size
    while stop != old_size:
        middle = _split(start, stop)
        if old_size <= middle:
            proof.append(_subtree(middle, stop, node))
            stop = middle
        else:
            proof.append(_subtree(start, middle, node))
            start = middle
    if start:
        proof.append(_subtree(start, stop, node))
    return proof[::-1]


def verify_inclusion(
    index: int, size: int, digest: bytes, proof: Sequence[bytes], root: bytes
) -> None:
    """Accept the proof that the leaf with hash `digest` is at `index` of the tree with this root.

    Raises ProofRefused. RFC 9162, section 2.1.3.2.
    """
    if not 0 <= index < size:
        raise ProofRefused(f"a tree of {size} leaves has no leaf {index}")
    _check_lengths(digest, root, *proof)
    first, last = index, size - 1
    computed = digest
    for sibling in proof:
        if not last:
            raise ProofRefused("the inclusion proof is too long")
        if first & 1 or first == last:
            computed = node_hash(sibling, computed)
            while first and not first & 1:
                first, last = first >> 1, last >> 1
        else:
            computed = node_hash(computed, sibling)
        first, last = first >> 1, last >> 1
    if last:
        raise ProofRefused("the inclusion proof is too short")
    if computed != root:
        raise ProofRefused(f"the proof does not place leaf {index} in the tree of {size} leaves")


def verify_consistency(
    old_size: int, old_root: bytes, size: int, root: bytes, proof: Sequence[bytes]
) -> None:
    """Accept the proof that the first tree begins the second.

    Raises ProofRefused. RFC 9162, section 2.1.4.2, and the two cases it leaves out: an empty tree
    begins every tree and a tree begins itself, both with an empty proof.
    """
    if not 0 <= old_size <= size:
        raise ProofRefused(f"a tree of {old_size} leaves cannot begin one of {size}")
    _check_lengths(old_root, root, *proof)
    if not old_size or old_size == size:
        if proof:
            raise ProofRefused("the consistency proof is too long")
        if old_root != (root if old_size else root_hash(())):
            raise ProofRefused(f"two different roots for the tree of {old_size} leaves")
        return
    hashes = list(proof)
    if old_size & (old_size - 1) == 0:
        hashes.insert(0, old_root)
    if not hashes:
        raise ProofRefused("the consistency proof is empty")
    first, last = old_size - 1, size - 1
    while first & 1:
        first, last = first >> 1, last >> 1
    old = new = hashes[0]
    for sibling in hashes[1:]:
        if not last:
            raise ProofRefused("the consistency proof is too long")
        if first & 1 or first == last:
            old, new = node_hash(sibling, old), node_hash(sibling, new)
            while first and not first & 1:
                first, last = first >> 1, last >> 1
        else:
            new = node_hash(new, sibling)
        first, last = first >> 1, last >> 1
    if last:
        raise ProofRefused("the consistency proof is too short")
    if old != old_root or new != root:
        raise ProofRefused(f"the tree of {size} leaves does not extend the one of {old_size}")


def _check_lengths(*hashes: bytes) -> None:
    if any(len(each) != HASH_SIZE for each in hashes):
        raise ProofRefused("a hash is not 32 bytes long")
