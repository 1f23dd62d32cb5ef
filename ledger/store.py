"""The store: eventsourcing on SQLite, holding leaves verbatim in one gap-free order.

What eventsourcing stores as an event's state is the leaf, byte for byte, and its topic the event's
type. Each append writes the events, their leaf indices and the look-up index of rounds in one
transaction, durable when it returns (synchronous FULL); all of it is there or none. Every error of
SQLite or eventsourcing leaves here as one of ours. The process environment configures nothing.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import eventsourcing.sqlite as es
from eventsourcing.application import Application
from eventsourcing.domain import DomainEventProtocol
from eventsourcing.persistence import (
    InfrastructureFactory,
    Mapper,
    Notification,
    StoredEvent,
)
from eventsourcing.utils import Environment, EnvType

from ledger import schema
from ledger.errors import StoreUnavailable
from ledger.rounds import Alone
from ledger.schema import StoredLeaf
from ledger.store_errors import translated_errors
from ledger.transaction import Admit, index_events

PAGE = 1024
"""How many leaves are read at a time."""


class SealedEvent(NamedTuple):
    """An event on its way into the store: its stream, `seq` + 1, its type, its leaf."""

    originator_id: str
    originator_version: int
    topic: str
    state: bytes


class LeafMapper(Mapper[str]):
    """Stores a leaf as it is, and returns it as it is: bytes are never made anew."""

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


class LeafReader(ABC):
    """Reads leaves by queries; what the recorders of all databases share."""

    @abstractmethod
    def select(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query, whose placeholders are question marks."""

    def select_leaves(self, statement: str, parameters: Sequence[Any]) -> list[StoredLeaf]:
        """Return all leaves of a query for leaves."""
        return [StoredLeaf(*row) for row in self.select(statement, parameters)]

    def select_notifications(
        self,
        start: int | None,
        limit: int,
        stop: int | None = None,
        topics: Sequence[str] = (),
        *,
        inclusive_of_start: bool = True,
    ) -> Sequence[Notification]:
        """Return leaves as eventsourcing's notifications, in leaf order (see ApplicationRecorder).

        `limit` bounds the leaves looked at, so that with `topics` fewer may be returned.
        """
        first = (start or 1) - 1 if inclusive_of_start else (start or 0)
        last = first + limit if stop is None else min(first + limit, stop)
        return [
            Notification(leaf.stream, leaf.version, leaf.topic, leaf.state, leaf.leaf_index + 1)
            for leaf in self.select_leaves(schema.SELECT_RANGE, (first, last))
            if not topics or leaf.topic in topics
        ]

    def max_notification_id(self) -> int:
        """Return the number of leaves."""
        return int(self.select(schema.SELECT_SIZE)[0][0])


class LeafRecorder(LeafReader, es.SQLiteApplicationRecorder):
    """eventsourcing's recorder whose notification ids are leaf indices + 1, dense for ever."""

    def __init__(self, datastore: es.SQLiteDatastore) -> None:
        super().__init__(datastore)
        self.insert_events_statement = schema.INSERT_EVENT

    def construct_create_table_statements(self) -> list[str]:
        """Return the statements that make a new ledger's tables."""
        return list(schema.CREATE_TABLES)

    def _insert_events(
        self, c: es.SQLiteCursor, stored_events: Sequence[StoredEvent], **kwargs: Any
    ) -> Sequence[int]:
        row_ids = super()._insert_events(c, stored_events, **kwargs)
        assert row_ids is not None
        leaf_indices = index_events(
            c, row_ids, stored_events, *map(kwargs.get, ("admit", "alone", "after"))
        )
        return [index + 1 for index in leaf_indices]

    def select(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        with self.datastore.transaction(commit=False) as c:
            c.execute(statement, parameters)
            return [tuple(row) for row in c.fetchall()]


class _Pool(es.SQLiteConnectionPool):
    def _create_connection(self) -> es.SQLiteConnection:
        connection = super()._create_connection()
        connection.cursor().execute("PRAGMA synchronous=FULL")
        return connection


class _Factory(es.SQLiteFactory):
    application_recorder_class: type[es.SQLiteApplicationRecorder] = LeafRecorder

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.datastore.pool = _Pool(db_name=env[self.SQLITE_DBNAME])


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
            self.size()

    @classmethod
    def at(cls, place: Path | str, *, create: bool = False) -> "Store":
        """Open the store in a file or at a URL of PostgreSQL, or create it there.

        Where nothing may be written, as on an auditor's read-only medium, it can still be read.
        """
        if isinstance(place, str):
            return _postgres_store(place, create)
        path = place.resolve()
        if create:
            mode = "rwc"
        elif os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
            mode = "rw"
        elif path.with_name(f"{path.name}-wal").exists():
            mode = "ro"
        else:
            # Without a write-ahead log nobody writes, and SQLite then needs no files beside it.
            mode = "ro&immutable=1"
        return cls(f"{path.as_uri()}?mode={mode}", create=create)

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
        return _Factory(env)

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
        sealed: Sequence[SealedEvent],
        admit: Admit | None = None,
        alone: Alone | None = None,
        after: Mapping[str, int] | None = None,
    ) -> list[int]:
        """Write events in one durable transaction and return their leaf indices.

        `admit` has the last word before they are committed, and `alone` must hold then; `after`
        maps streams that nothing is written to to the last `seq` they must have then, -1 for none.
        Raises what `admit` raises, RoundStillOpen, StreamConflict when a stream has an event of
        that `seq` already or one of `after` went on, StoreUnavailable or StoreDamaged; then nothing
        was written.
        """
        with translated_errors():
            recordings = self.events.put(sealed, admit=admit, alone=alone, after=after)
            return [recording.notification.id - 1 for recording in recordings]

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
        end = self.size() if stop is None else stop
        for first in range(start, end, PAGE):
            yield from self.fetch(first, min(first + PAGE, end))

    def stream(self, stream: str) -> list[StoredLeaf]:
        """Return a stream's leaves in the order of their versions."""
        with translated_errors():
            return self.leaf_reader.select_leaves(schema.SELECT_STREAM, (stream,))

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

    def complaints(self) -> list[str]:
        """Return what the database itself finds wrong with its file."""
        lines = [str(line) for (line,) in self.query("PRAGMA quick_check")]
        return [] if lines == ["ok"] else lines

    def read_tile(self, level: int, index: int) -> bytes:
        """Return a tile's hashes, as many as there are now (`tree.ReadTile`)."""
        found = self.query(schema.SELECT_TILE, (level, index))
        return bytes(found[0][0]) if found else b""

    def fetcher(self) -> Callable[[int, int], list[StoredLeaf]]:
        """Return a `fetch` that another process can call, by a connection of its own.

        It raises what `translated_errors` translates.
        """
        return partial(schema.fetch_leaves, self.database)

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


def _postgres_store(url: str, create: bool) -> Store:
    try:
        from ledger.postgres import PostgresStore
    except ImportError:
        raise StoreUnavailable(
            "PostgreSQL needs more to be installed: pip install 'shoeproof[postgres]'"
        ) from None
    return PostgresStore(url, create=create)
