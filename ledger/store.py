"""The store: eventsourcing on SQLite, holding leaves verbatim in one gap-free order.

What eventsourcing stores as an event's state is the leaf, byte for byte, and its topic the event's
type. Each append writes the events, their leaf indices and the look-up index of rounds in one
transaction, durable when it returns (synchronous FULL); all of it is there or none. Every error of
SQLite or eventsourcing leaves here as one of ours. The process environment configures nothing.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
    PersistenceError,
    StoredEvent,
)
from eventsourcing.utils import Environment, EnvType

from ledger import rounds, schema
from ledger.errors import LedgerError, StoreDamaged, StoreUnavailable, StreamConflict
from ledger.schema import StoredLeaf

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


class LeafRecorder(es.SQLiteApplicationRecorder):
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
        # Only now, holding the write lock, is the size read certain to be the latest.
        c.execute(schema.SELECT_SIZE)
        start: int = c.fetchone()[0]
        leaf_indices = range(start, start + len(row_ids))
        c.executemany(schema.INSERT_LEAF, zip(leaf_indices, row_ids, strict=True))
        rounds.index_rounds(
            c,
            (
                StoredLeaf(index, str(e.originator_id), e.originator_version, e.topic, e.state)
                for index, e in zip(leaf_indices, stored_events, strict=True)
            ),
        )
        return [index + 1 for index in leaf_indices]

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

    def select(self, statement: str, parameters: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """Return all rows of a query."""
        with self.datastore.transaction(commit=False) as c:
            c.execute(statement, parameters)
            return list(c.fetchall())

    def select_leaves(self, statement: str, parameters: Sequence[Any]) -> list[StoredLeaf]:
        """Return all leaves of a query for leaves."""
        return [StoredLeaf(*row) for row in self.select(statement, parameters)]


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
                    "SQLITE_DBNAME": database,
                    "ORIGINATOR_ID_TYPE": "text",
                    "CREATE_TABLE": "yes" if create else "no",
                }
            )
            self.size()

    @classmethod
    def at(cls, path: Path, *, create: bool = False) -> "Store":
        """Open the store in a file; it must exist unless it is to be created.

        Where nothing may be written, as on an auditor's read-only medium, it can still be read.
        """
        path = path.resolve()
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
        return _Factory(env)

    def construct_mapper(self) -> LeafMapper:
        """Return the mapper that keeps leaves verbatim."""
        return LeafMapper()

    @property
    def leaf_recorder(self) -> LeafRecorder:
        """The recorder, as what it is."""
        assert isinstance(self.recorder, LeafRecorder)
        return self.recorder

    @property
    def is_in_memory(self) -> bool:
        """Whether this store vanishes with this process."""
        return "mode=memory" in self.database

    def append(self, sealed: Sequence[SealedEvent]) -> list[int]:
        """Write events in one durable transaction and return their leaf indices.

        Raises StreamConflict when a stream has an event of that `seq` already, StoreUnavailable
        or StoreDamaged; then nothing was written.
        """
        with translated_errors():
            return [recording.notification.id - 1 for recording in self.events.put(sealed)]

    def size(self) -> int:
        """Return the number of leaves."""
        with translated_errors():
            return self.leaf_recorder.max_notification_id()

    def fetch(self, start: int, stop: int) -> list[StoredLeaf]:
        """Return the leaves with `start <= leaf_index < stop`."""
        with translated_errors():
            return self.leaf_recorder.select_leaves(schema.SELECT_RANGE, (start, stop))

    def leaves(self, start: int = 0, stop: int | None = None) -> Iterator[StoredLeaf]:
        """Yield leaves in order, a page at a time; `stop` is exclusive, None the size now."""
        end = self.size() if stop is None else stop
        for first in range(start, end, PAGE):
            yield from self.fetch(first, min(first + PAGE, end))

    def stream(self, stream: str) -> list[StoredLeaf]:
        """Return a stream's leaves in the order of their versions."""
        with translated_errors():
            return self.leaf_recorder.select_leaves(schema.SELECT_STREAM, (stream,))

    def head(self, stream: str) -> StoredLeaf | None:
        """Return a stream's last leaf, or None when it has none."""
        with translated_errors():
            found = self.leaf_recorder.select_leaves(schema.SELECT_HEAD, (stream,))
        return found[0] if found else None

    def query(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        with translated_errors():
            return [tuple(row) for row in self.leaf_recorder.select(statement, parameters)]


@contextmanager
def translated_errors() -> Iterator[None]:
    """Turn SQLite's and eventsourcing's errors into ours."""
    try:
        yield
    except (sqlite3.Error, PersistenceError) as error:
        raise _translated(error) from error


def _translated(error: BaseException) -> LedgerError:
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, sqlite3.Error):
        cause = cause.__cause__
    code = getattr(cause, "sqlite_errorname", "")
    if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreUnavailable("the ledger is locked by another program: try again when it ends")
    if code.startswith(("SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH")):
        return StoreUnavailable("the ledger is read-only: it needs write permission")
    if code.startswith("SQLITE_FULL"):
        return StoreUnavailable("the disk is full: nothing was written, make room and try again")
    if code.startswith("SQLITE_CANTOPEN"):
        return StoreUnavailable("the ledger's database cannot be opened: is it there and yours?")
    if code in ("SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY"):
        if "stored_events" in str(cause):
            return StreamConflict("another writer appended to the stream first: try again")
        return StoreDamaged(f"the ledger's leaf index contradicts its events ({cause})")
    if code.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR", "SQLITE_CONSTRAINT")):
        return StoreDamaged(f"the ledger's database is damaged: restore a copy ({cause})")
    if isinstance(cause, sqlite3.OperationalError) and not code:
        return StoreDamaged(f"the ledger's database is damaged: restore a copy ({cause})")
    return StoreUnavailable(f"the ledger's database cannot be used: {cause or error}")
