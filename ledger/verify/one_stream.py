"""One stream by itself: what its leaves say, and what is found against them and their chain.

It says nothing of the rest of the ledger.
"""

from collections.abc import Sequence
from typing import NamedTuple

from shoeproof.ledger.errors import UnknownStream
from shoeproof.ledger.findings import Finding
from shoeproof.ledger.keys.keyring import KeyRing
from shoeproof.ledger.keys.trust import build_ring
from shoeproof.ledger.leaf.recorded import Recorded, read_leaf
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.leaf.streams import KEYS_STREAM
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.tree.merkle import leaf_hash
from shoeproof.ledger.verify.scan import Link, check_leaf, check_link, link_of


def read_stream(ledger: Ledger, stream: str) -> tuple[list[Recorded], list[Finding]]:
    """Return a stream's events by one read, and what verifying exactly those finds.

    They are shown as they stand, also those that findings are about. For what it says nothing of
    see `verify_stream`. Raises UnknownStream when there is no such one, and EventUnreadable where
    one cannot be read.
    """
    leaves = sorted(ledger.store.stream(stream))
    return [read_leaf(leaf) for leaf in leaves], _against(ledger, stream, leaves)


def verify_stream(ledger: Ledger, stream: str) -> list[Finding]:
    """Verify one stream's leaves by themselves and as a chain, in order.

    It says nothing of the rest of the ledger: whether the keys were given from outside, and
    whether other rounds vanished, is for `verify`. Raises UnknownStream when there is no such one.
    """
    return _against(ledger, stream, sorted(ledger.store.stream(stream)))


def _against(ledger: Ledger, stream: str, leaves: Sequence[StoredLeaf]) -> list[Finding]:
    if not leaves:
        raise UnknownStream(f"the ledger has nothing in {stream!r}")
    ring, _, _ = build_ring(ledger.store.stream(KEYS_STREAM), None)
    return verified(leaves, ledger.origin, ring).findings


class Verified(NamedTuple):
    """The events of leaves that are to be believed, and what was found against the others."""

    events: list[Recorded]
    findings: list[Finding]


def verified(
    leaves: Sequence[StoredLeaf], origin: str, ring: KeyRing, *, from_start: bool = True
) -> Verified:
    """Verify leaves of one stream, in order, by themselves and as a chain.

    Where they do not begin with the stream's first leaf, `from_start` is False.
    """
    events: list[Recorded] = []
    found: list[Finding] = []
    before: Link | None = None
    for place, leaf in enumerate(leaves):
        event, of_leaf = check_leaf(leaf, origin, ring)
        link = link_of(leaf, event)
        found += of_leaf
        if place or from_start:
            found += check_link(before, link)
        before = link
        if event is not None and not of_leaf:
            events.append(Recorded(leaf.leaf_index, event, leaf_hash(leaf.state), leaf.state))
    return Verified(events, found)
