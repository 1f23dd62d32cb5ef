"""One range of leaves by itself: what it says, and what it adds to the tree.

Ranges are checked apart from all others, by whatever process, and joined in order (`verify.join`).
"""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from shoeproof.ledger.keys.keyring import KeyRing
from shoeproof.ledger.tree.merkle import Subtrees
from shoeproof.ledger.verify.batch import LeafBatch
from shoeproof.ledger.verify.scan import Anchor, ScannedLeaves, scan
from shoeproof.ledger.verify.times import RoundEnd


class RangeCheck(msgspec.Struct, frozen=True):
    """What a range of leaves is by itself.

    `subtrees` are the complete ones it consists of, `up_to` those up to sizes within it that
    somebody speaks of; both are None where a leaf is missing, so that there is no tree. `anchors`
    are what events in it say of the tree, `beside` its leaves of no round, by index and bytes,
    `ends` the events that open or end its rounds.
    `last_hash` is that of its last leaf, `digest` of all of them (`LeafBatch.digest`).
    """

    run: ScannedLeaves
    subtrees: tuple[bytes, ...] | None
    up_to: dict[int, tuple[bytes, ...]]
    anchors: list[Anchor]
    beside: list[tuple[int, bytes]]
    ends: list[RoundEnd]
    last_hash: bytes
    digest: str


class Checked(NamedTuple):
    """A range as it was read, the text of the data of each leaf that is sound, and its check."""

    batch: LeafBatch
    texts: list[bytes | None]
    check: RangeCheck


def check_range(
    batch: LeafBatch,
    start: int,
    stop: int,
    origin: str,
    ring: KeyRing,
    covered: int,
    sizes: Iterable[int] = (),
) -> Checked:
    """Check the leaves there are with `start <= leaf_index < stop`.

    Of those before `covered` no signature is verified. `sizes` are those of trees that somebody
    speaks of from outside.
    """
    run, texts, beside, anchors, ends = scan(batch, start, stop, origin, ring, covered)
    last = batch.hashes[-1] if len(batch) else b""
    subtrees, up_to = None, dict[int, tuple[bytes, ...]]()
    if len(batch) == stop - start:
        within = Subtrees(start, batch.hashes)
        subtrees = within.up_to()
        wanted = {each.seen.size for each in anchors}.union(sizes)
        up_to = {size: within.up_to(size) for size in wanted if start < size <= stop}
    check = RangeCheck(run, subtrees, up_to, anchors, beside, ends, last, batch.digest)
    return Checked(batch, texts, check)
