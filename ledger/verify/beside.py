"""Leaves as they were verified, for whoever judges rounds by what stands beside them.

By leaves of no round, few as they are, rounds are judged: rules, policies, outages, held wins and
disputes. So they are looked up before the leaves are read, by an index that may lie. What leaves
then hold decides: where that differs, all is judged again by it.
"""

from collections.abc import Callable, Iterable
from typing import Protocol

import msgspec

from shoeproof.ledger.leaf.recorded import Recorded, readable
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.leaf.streams import (
    DISPUTES_PREFIX,
    HOLDS_PREFIX,
    KEYS_STREAM,
    OPERATIONS_STREAM,
    POLICIES_STREAM,
    RULES_STREAM,
    stream_kind,
)
from shoeproof.ledger.store.round_index import is_round
from shoeproof.ledger.store.sqlite import Store
from shoeproof.ledger.verify.scan import leaf_from_bytes


class Leaves(Protocol):
    """What gives leaves by their streams: a store, by its index, or what was verified."""

    def stream(self, stream: str) -> list[StoredLeaf]:
        """Return a stream's leaves in the order of their versions."""

    def under(self, prefix: str) -> list[StoredLeaf]:
        """Return the leaves of every stream whose name begins so, in their order."""

    def fetch(self, start: int, stop: int) -> list[StoredLeaf]:
        """Return the leaves with `start <= leaf_index < stop`."""


def read_before(leaves: Leaves, stream: str, size: int) -> list[Recorded]:
    """Return what can be read of a stream among the first `size` leaves."""
    return list(readable(each for each in leaves.stream(stream) if each.leaf_index < size))


class Beside:
    """The readable leaves of no round, by what their bytes say of themselves."""

    def __init__(self, leaves: Iterable[tuple[int, bytes]]) -> None:
        """Take them by index and bytes; those that are no such leaf are left out."""
        self._streams: dict[str, list[StoredLeaf]] = {}
        for each in sorted(set(leaves)):
            leaf = leaf_from_bytes(*each)
            if stream_kind(leaf.stream) not in (None, "round"):
                self._streams.setdefault(leaf.stream, []).append(leaf)

    @classmethod
    def looked_up(cls, store: Store, size: int) -> "Beside":
        """Return those among the first `size` leaves by the store's index."""
        fixed = (KEYS_STREAM, RULES_STREAM, POLICIES_STREAM, OPERATIONS_STREAM)
        found = [leaf for stream in fixed for leaf in store.stream(stream)]
        found += [*store.under(HOLDS_PREFIX), *store.under(DISPUTES_PREFIX)]
        return cls((leaf.leaf_index, leaf.state) for leaf in found if leaf.leaf_index < size)

    def bytes_from(self, start: int) -> list[tuple[int, bytes]]:
        """Return those from a leaf on, by index and bytes, in order."""
        return [
            (each.leaf_index, each.state) for each in self.under("") if each.leaf_index >= start
        ]

    def stream(self, stream: str) -> list[StoredLeaf]:
        """Return a stream's leaves in the order of their versions."""
        return sorted(self._streams.get(stream, ()), key=lambda leaf: leaf.version)

    def under(self, prefix: str) -> list[StoredLeaf]:
        """Return the leaves of every stream whose name begins so, in their order."""
        streams = self._streams.items()
        return sorted(leaf for name, each in streams if name.startswith(prefix) for leaf in each)


class BesideDiffers(Exception):
    """The index shows other leaves beside the rounds than there are: `beside` are those there."""

    def __init__(self, beside: Beside) -> None:
        """Name them."""
        super().__init__("the store's index shows other leaves of no round than there are")
        self.beside = beside


class VerifiedLeaves(msgspec.Struct, frozen=True):
    """The first `size` leaves of a ledger as they were verified.

    Those of no round are here; `of_round` tells those of a round, and `at` which one is at a place.
    """

    size: int
    beside: Beside
    of_round: Callable[[str], list[StoredLeaf]]
    at: Callable[[int], StoredLeaf | None]

    def stream(self, stream: str) -> list[StoredLeaf]:
        """Return a stream's leaves in the order of their versions."""
        return self.of_round(stream) if is_round(stream) else self.beside.stream(stream)

    def under(self, prefix: str) -> list[StoredLeaf]:
        """Return the leaves of every stream of no round whose name begins so, in their order."""
        return self.beside.under(prefix)

    def fetch(self, start: int, stop: int) -> list[StoredLeaf]:
        """Return the leaves with `start <= leaf_index < stop`."""
        return [leaf for leaf in map(self.at, range(start, stop)) if leaf is not None]
