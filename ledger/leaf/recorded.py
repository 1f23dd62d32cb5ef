"""What a stored leaf says, read as it stands; whether to believe it is for `scan` to tell."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from shoeproof.ledger.errors import EventUnreadable
from shoeproof.ledger.leaf import envelope
from shoeproof.ledger.leaf.envelope import Event
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.tree.merkle import leaf_hash


class Recorded(NamedTuple):
    """An event in the ledger: its 0-based place, what it says, its leaf's hash and bytes."""

    leaf_index: int
    event: Event
    leaf_hash: bytes
    leaf: bytes


def read_leaf(leaf: StoredLeaf) -> Recorded:
    """Return what a stored leaf says, unverified; raise EventUnreadable when it cannot be read."""
    try:
        event = envelope.read_event(envelope.split_leaf(leaf.state).payload)
    except EventUnreadable as error:
        raise EventUnreadable(f"leaf {leaf.leaf_index} cannot be read: {error}") from error
    return Recorded(leaf.leaf_index, event, leaf_hash(leaf.state), leaf.state)


def readable(leaves: Iterable[StoredLeaf]) -> Iterator[Recorded]:
    """Yield what leaves say; what cannot be read is for verification to report."""
    for leaf in leaves:
        with suppress(EventUnreadable):
            yield read_leaf(leaf)
