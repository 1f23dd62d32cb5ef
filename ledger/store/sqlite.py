"""The store: eventsourcing on SQLite, holding leaves verbatim in one gap-free order.

What eventsourcing stores as an event's state is the leaf, byte for byte, and its topic the event's
type. Each append writes the events, their leaf indices and the look-up index of rounds in one
transaction, durable when it returns (synchronous FULL); all of it is there or none. What threads
write at once shares a transaction (`shoeproof.ledger.store.group`), and processes take turns. Every
error of SQLite or eventsourcing leaves here as one of ours. The process environment configures
nothing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any
from uuid import uuid4

from eventsourcing.application import Application
from eventsourcing.domain import DomainEventProtocol
from eventsourcing.persistence import InfrastructureFactory, Mapper, StoredEvent
from eventsourcing.utils import Environment, EnvType

from shoeproof.ledger.errors import StoreDamaged
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.store import own_schema, schema
from shoeproof.ledger.store.errors import translated_errors
from shoeproof.ledger.store.group import Answer, Work, nothing
from shoeproof.ledger.store.recorder import Factory, LeafReader
from shoeproof.ledger.store.transaction import UNCONDITIONAL, Conditions, SealedEvent, Transaction
from shoeproof.ledger.tree.merkle import root_of_peaks
from shoeproof.ledger.tree.tiles import WIDTH, tile_of

PAGE = 1024
"""How many leaves are read at a time."""


class LeafMapper(Mapper[str]):
    """Stores a leaf as it is, and returns it as it is: bytes are never encoded again."""

    def __init__(self) -> None:
        """Need no transcoder, since nothing is transcoded."""

    def to_stored_event(self, domain_event: DomainEventProtocol[str]) -> StoredEvent:
        """Return eventsourcing's record of a sealed event."""
        assert isinstance(domain_event, SealedEvent)
        return StoredEvent(*domain_event)

    def to_domain_event(self, stored_event: StoredEvent) -> DomainEventProtocol[str]:
        """Return the sealed event of eventsourcing's record."""
        return SealedEvent(
            str(stored_event.originator_id),
            stored_event.originator_version,
            stored_event.topic,
            stored_event.state,
        )


class Store(Application[str]):
    """The events of one ledger: append sealed events, read leaves."""

    def __init__(self, database: str, *, create: bool = False) -> None:
        """Open the database at an SQLite URI, or make its tables.

        Raises StoreUnavailable and StoreDamaged.
        """
        self.database = database
        with translated_errors():
            super().__init__(
                {
                    "ORIGINATOR_ID_TYPE": "text",
                    "CREATE_TABLE": "yes" if create else "no",
                }
            )
            if not create:
                self._check_schema()

    def _check_schema(self) -> None:
        lines = self.objections()
        if lines:
            more = f", and {len(lines) - 1} more" if lines[1:] else ""
            raise StoreDamaged(
                f"the ledger's database is damaged: restore a copy ({lines[0]}{more})"
            )

    @classmethod
    def in_memory(cls) -> "Store":
        """Make a store that lives as long as this object."""
        return cls(f"file:ledger-{uuid4()}?mode=memory&cache=shared", create=True)

    def construct_env(self, name: str, env: EnvType | None = None) -> Environment:
        """Return what is given and nothing of this process's environment, which others may set."""
        return Environment("", env)

    def construct_factory(self, env: Environment) -> InfrastructureFactory[Any]:
        """Return the factory of our recorder."""
        env["SQLITE_DBNAME"] = self.database
        return Factory(env)

    def construct_mapper(self) -> LeafMapper:
        """Return the mapper that keeps leaves verbatim."""
        return LeafMapper()

    @property
    def leaf_reader(self) -> LeafReader:
        """The recorder, as what reads leaves."""
        assert isinstance(self.recorder, LeafReader)
        return self.recorder

    @property
    def is_in_memory(self) -> bool:
        """Whether this store vanishes with this process."""
        return "mode=memory" in self.database

    def append(
        self,
        events: Sequence[SealedEvent] | Work[list[int]],
        conditions: Conditions = UNCONDITIONAL,
        undo: Callable[[], None] = nothing,
    ) -> list[int]:
        """Write events in one durable transaction and return their leaf indices.

        They are sealed already, or appended inside the transaction by work that says its own
        conditions; `undo` is as for `write`. Raises what the conditions and their `admit` raise
        where they do not hold, StreamConflict when a stream has an event of that `seq` already,
        StoreUnavailable or StoreDamaged; then nothing was written, except where the store failed
        at the commit: see `written`.
        """
        if callable(events):
            return self.write(events, undo)
        with translated_errors():
            recordings = self.events.put(events, conditions=conditions)
            return [recording.notification.id - 1 for recording in recordings]

    def write(self, work: Work[Answer], undo: Callable[[], None] = nothing) -> Answer:
        """Do some work in the writing transaction and return what it returns, once it is durable.

        It shares the transaction with what other threads write
        (`shoeproof.ledger.store.group.Group.do`). Raises what the work raises, StoreUnavailable or
        StoreDamaged; then nothing of it was written, except where the store failed at the commit:
        see `written`.
        """
        with translated_errors():
            return self.leaf_reader.group.do(work, undo)

    def written(self, sealed: Sequence[SealedEvent]) -> list[int] | None:
        """Return the leaf indices of events that stand as they are given, None where they do not.

        It is asked where the answer to an append was lost, and is certain: no transaction that was
        begun before goes on when it returns. Raises StoreUnavailable or StoreDamaged.
        """

        def find(transaction: Transaction) -> list[int] | None:
            found = []
            for each in sealed:
                transaction.execute(schema.SELECT_AT, (each.originator_id, each.originator_version))
                row = transaction.fetchone()
                if row is None or bytes(row[4]) != each.state:
                    return None
                found.append(int(row[0]))
            return found

        return self.write(find)

    @property
    def last_seen(self) -> tuple[int, bytes]:
        """Size and 32-byte root of the tree as this process's last append left it.

        Those of no leaves before the first one.
        """
        size, peaks = self.leaf_reader.reached
        return size, root_of_peaks(peaks)

    def size(self) -> int:
        """Return the number of leaves."""
        with translated_errors():
            return self.leaf_reader.max_notification_id()

    def fetch(self, start: int, stop: int) -> list[StoredLeaf]:
        """Return the leaves with `start <= leaf_index < stop`."""
        with translated_errors():
            return self.leaf_reader.select_leaves(schema.SELECT_RANGE, (start, stop))

    def streams(self, names: Sequence[str]) -> list[StoredLeaf]:
        """Return the leaves of some streams, at most a few hundred, in their order."""
        if not names:
            return []
        with translated_errors():
            return self.leaf_reader.select_leaves(schema.select_streams(len(names)), names)

    def under(self, prefix: str) -> list[StoredLeaf]:
        """Return the leaves of every stream whose name begins so, `holds/`, in their order."""
        after = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        with translated_errors():
            return self.leaf_reader.select_leaves(schema.SELECT_UNDER, (prefix, after))

    def leaves(self, start: int = 0, stop: int | None = None) -> Iterator[StoredLeaf]:
        """Yield leaves in order, a page at a time; `stop` is exclusive, None the size now."""
        for first, last in self.ranges(start, self.size() if stop is None else stop, PAGE):
            yield from self.fetch(first, last)

    def ranges(self, start: int, stop: int, step: int) -> list[tuple[int, int]]:
        """Cut the leaves with `start <= leaf_index < stop` into ranges of `step` leaves.

        Where leaves are missing a range is wider. So there are no more ranges than there are rows
        for, whatever index a damaged row claims.
        """
        if self.count(start, stop) == stop - start:
            return [(first, min(first + step, stop)) for first in range(start, stop, step)]
        places = [int(place) for (place,) in self.query(schema.SELECT_PLACES, (start, stop))]
        return list(pairwise([start, *places[step::step], stop])) if start < stop else []

    def count(self, start: int, stop: int) -> int:
        """Return how many leaves there are with `start <= leaf_index < stop`."""
        return int(self.query(schema.SELECT_COUNT, (start, stop))[0][0])

    def bounded(self, size: int) -> int:
        """Return `size`, or what is worth looking through where most of so many leaves are missing.

        It is in proportion to the rows there are.
        """
        return min(size, 2 * self.count(0, size) + WIDTH)

    def stream(self, stream: str) -> list[StoredLeaf]:
        """Return a stream's leaves in the order of their versions."""
        with translated_errors():
            return self.leaf_reader.select_leaves(schema.SELECT_STREAM, (stream,))

    def stream_after(self, stream: str, version: int) -> list[StoredLeaf]:
        """Return a stream's leaves after a version (a `seq` + 1), in their order."""
        with translated_errors():
            return self.leaf_reader.select_leaves(schema.SELECT_STREAM_AFTER, (stream, version))

    def streams_after(self, seqs: Mapping[str, int]) -> list[StoredLeaf]:
        """Return the leaves of some streams after the `seq` given for each, in their order."""
        parameters = [each for stream, seq in seqs.items() for each in (stream, seq + 1)]
        with translated_errors():
            return self.leaf_reader.select_leaves(
                schema.select_streams_after(len(seqs)), parameters
            )

    def head(self, stream: str) -> StoredLeaf | None:
        """Return a stream's last leaf, or None when it has none."""
        with translated_errors():
            found = self.leaf_reader.select_leaves(schema.SELECT_HEAD, (stream,))
        return found[0] if found else None

    def event(self, stream: str, version: int) -> StoredLeaf | None:
        """Return the leaf of a stream at a version (its `seq` + 1), or None when there is none."""
        with translated_errors():
            found = self.leaf_reader.select_leaves(schema.SELECT_AT, (stream, version))
        return found[0] if found else None

    def objections(self) -> list[str]:
        """Return what of the database's schema is not a ledger's; all else relies on it."""
        [(encoding,)] = self.query(own_schema.SELECT_ENCODING)
        return own_schema.objections(self.query(own_schema.SELECT_OBJECTS), encoding)

    def complaints(self) -> list[str]:
        """Return what the database itself finds wrong with its file, its indexes among it."""
        try:
            lines = [str(line) for (line,) in self.query("PRAGMA integrity_check")]
        except StoreDamaged as error:  # where it cannot go on
            lines = [str(error)]
        return [] if lines == ["ok"] else lines

    def read_tile(self, level: int, index: int) -> bytes:
        """Return a tile's hashes, as many as there are now (`tree.ReadTile`)."""
        first = index * WIDTH
        return tile_of(first, self.query(schema.SELECT_TILE, (level, first, first + WIDTH)))

    def fetch_rows(self, start: int, stop: int) -> list[tuple[Any, ...]]:
        """Return the rows of the leaves with `start <= leaf_index < stop`, as they are."""
        return self.query(schema.SELECT_ROWS, (start, stop))

    def rows_fetcher(self) -> Callable[[int, int], list[tuple[Any, ...]]]:
        """Return a `fetch_rows` that another process can call, by a connection of its own.

        It raises what `translated_errors` translates.
        """
        return partial(schema.fetch_rows, self.database)

    def fetch_states(self, start: int, stop: int) -> list[bytes]:
        """Return the bytes of the leaves with `start <= leaf_index < stop`, a gap passed over."""
        return [bytes(state) for (state,) in self.query(schema.SELECT_STATES, (start, stop))]

    def states_fetcher(self) -> Callable[[int, int], list[bytes]]:
        """Return a `fetch_states` for another process, as `fetcher` does."""
        return partial(schema.fetch_states, self.database)

    def query(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        with translated_errors():
            return self.leaf_reader.select(statement, parameters)
