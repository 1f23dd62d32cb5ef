"""What is asked of a ledger while its leaves are taken in (`trusted.Sources`), and of one leaf."""

from shoeproof.ledger.errors import EventUnreadable
from shoeproof.ledger.leaf import layout
from shoeproof.ledger.leaf.clock import utc_now
from shoeproof.ledger.leaf.envelope import Event
from shoeproof.ledger.leaf.events import CLOSING
from shoeproof.ledger.leaf.recorded import read_leaf
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.store.sqlite import Store
from shoeproof.ledger.verify.anchors import Proves
from shoeproof.ledger.verify.known_checkpoints import begins
from shoeproof.ledger.verify.scan import Link, link_of
from shoeproof.ledger.verify.times import TimeBounds


def time_bounds(ledger: Ledger) -> TimeBounds:
    """Return the earliest and latest times that events of a ledger can have."""
    first = ledger.store.fetch(0, 1)
    at = first[0].state[layout.TIME].decode("latin-1") if first else ""
    return TimeBounds.of(at, utc_now())


def tiles_prove(ledger: Ledger) -> Proves:
    """Return what tells whether stored tiles prove that a tree was seen as it is."""
    return lambda seen, size, root: begins(ledger, seen.size, bytes.fromhex(seen.root), size, root)


def closing_before(store: Store, stream: str, seq: int, leaf_index: int) -> Link | None:
    """Return the link of the event that closed a round before a leaf, None where none did."""
    closing = [
        leaf
        for leaf in store.stream(stream)
        if leaf.topic in CLOSING and leaf.leaf_index < leaf_index
    ]
    return link_of(max(closing), None) if closing else None


def event_of(leaf: StoredLeaf) -> Event | None:
    """Return what a leaf says, unverified, None where it cannot be read."""
    try:
        return read_leaf(leaf).event
    except EventUnreadable:
        return None
