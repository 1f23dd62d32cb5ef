"""A run of leaves in columns, as whoever keeps them hands them over: nothing of it is proven."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from hashlib import sha256
from typing import Any, Final, TypeAlias

from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.store.sqlite import Store
from shoeproof.ledger.tree.merkle import leaf_hashes

_LARGEST: Final = 1 << 62


class LeafBatch:
    """Leaves in the order of their indices, each beside what its store's columns say of it.

    `version` is the event's `seq` + 1. Where a leaf's row is missing its version is 0 and its
    bytes are none.
    """

    def __init__(
        self,
        leaf_index: Sequence[int],
        stream: Sequence[bytes],
        version: Sequence[int],
        topic: Sequence[bytes],
        state: Sequence[bytes],
        joined: bytes,
    ) -> None:
        """Hold columns; `joined` are the leaves' bytes one after the other. Use `of_rows`."""
        self.leaf_index, self.stream, self.version = leaf_index, stream, version
        self.topic, self.state, self.joined = topic, state, joined

    @classmethod
    def of_rows(cls, rows: Sequence[Sequence[Any]]) -> "LeafBatch":
        """Take rows as a database has them, whatever a damaged one has in them."""
        if not rows:
            return cls((), (), (), (), (), b"")
        leaf_index, stream, version, topic, state = zip(*rows, strict=True)
        if not _are_bytes(stream):
            stream = tuple(map(_text, stream))
        if not _are_bytes(topic):
            topic = tuple(map(_text, topic))
        if {*map(type, version)} != {int}:
            version = tuple(map(_whole, version))
        try:
            return cls(leaf_index, stream, version, topic, state, b"".join(state))
        except TypeError:
            state = tuple(map(_text, state))
            return cls(leaf_index, stream, version, topic, state, b"".join(state))

    @classmethod
    def of_leaves(cls, leaves: Iterable[StoredLeaf]) -> "LeafBatch":
        """Take leaves that were read one by one."""
        return cls.of_rows(list(leaves))

    def __len__(self) -> int:
        return len(self.state)

    def leaf(self, place: int) -> StoredLeaf:
        """Return the leaf at a place of this run."""
        return StoredLeaf(
            self.leaf_index[place],
            _said(self.stream[place]),
            self.version[place],
            _said(self.topic[place]),
            self.state[place],
        )

    def leaves(self) -> list[StoredLeaf]:
        """Return all of them."""
        return list(map(self.leaf, range(len(self))))

    @cached_property
    def hashes(self) -> list[bytes]:
        """The leaves' hashes."""
        return leaf_hashes(self.state)

    @property
    def digest(self) -> str:
        """The SHA-256 of the leaves' hashes one after the other, in lower hex."""
        return sha256(b"".join(self.hashes)).hexdigest()

    @cached_property
    def streams(self) -> list[bytes]:
        """The streams that leaves stand in, each once, as they come."""
        return list(dict.fromkeys(self.stream))


FetchBatch: TypeAlias = Callable[[int, int], LeafBatch]
"""Returns what stands at the leaves with `start <= leaf_index < stop`."""


def here(store: Store) -> FetchBatch:
    """Return what fetches a store's leaves in this process."""
    return partial(_fetch, store.fetch_rows)


def elsewhere(store: Store) -> FetchBatch:
    """Return what fetches a store's leaves in another process, or sooner in this one.

    It opens a connection of its own. A store in memory is in no other process.
    """
    return partial(_fetch, store.fetch_rows if store.is_in_memory else store.rows_fetcher())


def _fetch(fetch_rows: Callable[[int, int], list[Any]], start: int, stop: int) -> LeafBatch:
    return LeafBatch.of_rows(fetch_rows(start, stop))


def _are_bytes(column: Sequence[Any]) -> bool:
    try:
        b"".join(column)
    except TypeError:
        return False
    return True


def _text(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    return b"" if value is None else str(value).encode("utf-8", "surrogateescape")


def _whole(value: Any) -> int:
    try:
        number = int(value)
    except (TypeError, ValueError):
        return 0
    return number if abs(number) < _LARGEST else 0


def _said(text: bytes) -> str:
    return text.decode("utf-8", "backslashreplace")
