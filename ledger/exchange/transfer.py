"""Leaves as a stream from one ledger into another of the same name.

So rounds of a second game server, which holds a key of its own that the operator added, come into
the ledger. What is taken in is verified first, by itself and as a chain, exactly as if it stood
where it will stand. What is there already is passed over, so that a stream can be sent again.
"""

from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO, NamedTuple

from shoeproof.ledger.errors import EventUnreadable, ImportRefused
from shoeproof.ledger.exchange.leaf_stream import read_stream, write_stream
from shoeproof.ledger.findings import Finding
from shoeproof.ledger.keys.trust import Admission
from shoeproof.ledger.leaf.events import Seen
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.leaf.streams import KEYS_STREAM
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.store.transaction import Conditions, SealedEvent
from shoeproof.ledger.verify.scan import (
    Link,
    anchors_in,
    check_leaf,
    check_link,
    leaf_from_bytes,
    link_of,
)

BATCH = 1024
"""How many leaves are taken in by one transaction."""


class Imported(NamedTuple):
    """How many leaves were taken in, and how many were there already."""

    added: int
    known: int


def export_leaves(ledger: Ledger) -> Iterator[bytes]:
    """Return a ledger's leaves as they stand, verbatim, as a stream that `import_leaves` reads."""
    return write_stream(ledger.origin, (leaf.state for leaf in ledger.leaves()))


def import_leaves(ledger: Ledger, file: BinaryIO) -> Imported:
    """Take in the leaves of a stream, in its order, a batch of them at a time.

    They must name this ledger, be signed by keys it has added, and follow on what is here. Raises
    ImportRefused at the first that may not come in, and for a stream that is not whole; nothing of
    that batch is kept then, while the batches before it are. Raises StreamConflict, SigningRefused
    for a restored copy, StoreUnavailable and StoreDamaged too.
    """
    ledger.growth.check()
    added = known = 0
    entries = read_stream(file)
    while True:
        try:
            batch = list(islice(entries, BATCH))
        except EventUnreadable as error:
            raise ImportRefused(f"{error}; {added} leaves before it were imported") from None
        if not batch:
            return Imported(added, known)
        importer = _Batch(ledger)
        for number, state in enumerate(batch, added + known):
            objection = importer.take(state)
            if objection is not None:
                raise ImportRefused(
                    f"leaf {number} of the stream: {objection}; nothing from leaf "
                    f"{added + known} on was imported, and {added} leaves before it were"
                )
        ledger.store.append(importer.fresh, Conditions(Admission()))
        added += len(importer.fresh)
        known += len(batch) - len(importer.fresh)


class _Batch:
    """The leaves of one transaction, each held to the ledger and to those before it."""

    def __init__(self, ledger: Ledger) -> None:
        self.fresh: list[SealedEvent] = []
        self._ledger = ledger
        self._ring = ledger.key_ring()
        self._start = ledger.size()
        self._heads: dict[str, Link | None] = {}
        self._seen: set[Seen] = set()

    def take(self, state: bytes) -> str | None:
        """Take a leaf, unless it is here already, or say why it may not come in."""
        leaf = leaf_from_bytes(self._start + len(self.fresh), state)
        here = self._ledger.store.event(leaf.stream, leaf.version)
        if here is not None:
            return None if here.state == state else "another event stands in its place"
        event, found = check_leaf(leaf, self._ledger.origin, self._ring)
        if event is not None and event.stream == KEYS_STREAM:
            return "keys are added by the operator here, and never imported"
        link = link_of(leaf, event)
        found += check_link(self._head(leaf), link)
        if found:
            return _told(found)
        for anchor in anchors_in(leaf.leaf_index, event) if event is not None else ():
            if not self._has(anchor.seen):
                return (
                    f"its signer had seen another tree of {anchor.seen.size} leaves: for the "
                    f"ledger of a second game server, ledger.toml must say the size at which it "
                    f"was copied, as copied_at"
                )
        self._heads[leaf.stream] = link
        self.fresh.append(SealedEvent(leaf.stream, leaf.version, leaf.topic, state))
        return None

    def _has(self, seen: Seen) -> bool:
        if seen not in self._seen:
            size = seen.size
            if size > self._start or self._ledger.tree(size).root().hex() != seen.root:
                return False
            self._seen.add(seen)
        return True

    def _head(self, leaf: StoredLeaf) -> Link | None:
        if leaf.stream not in self._heads:
            last = self._ledger.store.head(leaf.stream)
            event = None if last is None else check_leaf(last, self._ledger.origin, self._ring)[0]
            self._heads[leaf.stream] = None if last is None else link_of(last, event)
        return self._heads[leaf.stream]


def _told(found: list[Finding]) -> str:
    return "; ".join(f"{finding.code}, {finding.text}" for finding in found)
