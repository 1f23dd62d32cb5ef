"""eventsourcing's recorder on SQLite, which writes units of work together and reads leaves.

Its notification ids are leaf indices + 1, dense for ever.
"""

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import eventsourcing.sqlite as es
from eventsourcing.persistence import Notification, StoredEvent
from eventsourcing.utils import Environment

from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.store import schema
from shoeproof.ledger.store.errors import turn_of_a_process
from shoeproof.ledger.store.group import CommitGroup, Unit
from shoeproof.ledger.store.transaction import (
    Conditions,
    Cursor,
    Frontier,
    SealedEvent,
    Transaction,
)


class LeafReader(ABC):
    """Reads leaves by queries, and writes them; what the recorders of all databases share.

    `group` is who waits to write, `reached` the tree as the last commit of this process left it.
    """

    def __init__(self, *words: Any, **named: Any) -> None:
        """Be a recorder of eventsourcing."""
        super().__init__(*words, **named)
        self.group = CommitGroup(self._write_together)
        self.reached = Frontier()

    @abstractmethod
    def writing(self) -> AbstractContextManager[Cursor]:
        """Give a cursor in a transaction that is the only writing one, committed at the end."""

    @abstractmethod
    def insert(self, cursor: Cursor, events: Sequence[SealedEvent], first: int) -> None:
        """Write events as leaves, the first at the index `first` (`transaction.Insert`)."""

    @abstractmethod
    def select(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query, whose placeholders are question marks."""

    def _write_together(self, units: Sequence[Unit]) -> None:
        with self.writing() as cursor:
            reached = self.attempt(cursor, units)
        self.reached = reached

    def attempt(self, cursor: Cursor, units: Sequence[Unit]) -> Frontier:
        """Do the work of units in the transaction of a cursor, and return where the tree stands."""
        transaction = Transaction(cursor, self.insert)
        for unit in units:
            unit.attempt(transaction, is_alone=len(units) == 1)
        return transaction.grow(self.reached)

    def insert_events(self, stored_events: Sequence[StoredEvent], **kwargs: Any) -> Sequence[int]:
        """Write what eventsourcing stores, under `conditions`, and return its notification ids."""
        conditions: Conditions = kwargs["conditions"]
        events = [
            SealedEvent(str(each.originator_id), each.originator_version, each.topic, each.state)
            for each in stored_events
        ]
        places = self.group.do(lambda transaction: transaction.append(events, conditions))
        return [place + 1 for place in places]

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


class _Cursor:
    """A cursor of SQLite (`transaction.Cursor`)."""

    def __init__(self, cursor: es.SQLiteCursor) -> None:
        self.execute, self.executemany = cursor.execute, cursor.executemany
        self.fetchone, self.fetchall = cursor.fetchone, cursor.fetchall

    def later(self, query: str, parameters: tuple[Any, ...] = (), /) -> Callable[[], Any]:
        """Ask now, since an answer costs nothing here, and return what gives the first row."""
        self.execute(query, parameters)
        # All rows, since nothing can be committed while a statement that writes has more to give.
        row = next(iter(self.fetchall()), None)
        return lambda: row

    def mark(self) -> None:
        """Set a savepoint."""
        self.execute("SAVEPOINT unit")

    def undo(self, _: Exception) -> None:
        """Roll back to the savepoint, and forget it."""
        self.execute("ROLLBACK TO SAVEPOINT unit")
        self.release()

    def release(self) -> None:
        """Forget the savepoint."""
        self.execute("RELEASE SAVEPOINT unit")


class LeafRecorder(LeafReader, es.SQLiteApplicationRecorder):
    """The recorder on SQLite; `queue` is the file at which processes wait for their turn to write,
    None where there is but one.
    """

    queue: Path | None = None

    def construct_create_table_statements(self) -> list[str]:
        """Return the statements that make a new ledger's tables."""
        return list(schema.CREATE_TABLES)

    def insert(self, cursor: Cursor, events: Sequence[SealedEvent], first: int) -> None:
        """Write events as leaves, the first at the index `first`."""
        cursor.execute(schema.SELECT_LAST_ROW)
        last_row: int = cursor.fetchone()[0]
        cursor.executemany(schema.INSERT_EVENT, events)
        cursor.execute(schema.INSERT_LEAVES, (first - last_row - 1, last_row))

    @contextmanager
    def writing(self) -> Iterator[Cursor]:
        """Give a cursor in a transaction that is the only writing one, committed at the end."""
        # SQLite itself has who waits look again at times: some of many wait for seconds.
        turn = nullcontext() if self.queue is None else turn_of_a_process(self.queue)
        with turn, self.datastore.transaction(commit=True) as c:
            c.execute(schema.TAKE_WRITERS_LOCK)
            yield _Cursor(c)

    def select(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        with self.datastore.transaction(commit=False) as c:
            c.execute(statement, parameters)
            return [tuple(row) for row in c.fetchall()]


def _as_text(value: bytes) -> str:
    return value.decode("utf-8", "backslashreplace")


class _Pool(es.SQLiteConnectionPool):
    def _create_connection(self) -> es.SQLiteConnection:
        connection = super()._create_connection()
        # A damaged column is told of like any other, and stops nothing.
        connection._sqlite_conn.text_factory = _as_text
        connection.cursor().execute("PRAGMA synchronous=FULL")
        return connection

    def put_connection(self, conn: es.SQLiteConnection) -> None:
        # After a commit that failed a transaction may still stand open: what was not committed by
        # now never is.
        with suppress(sqlite3.Error):
            conn.rollback()
        super().put_connection(conn)


class Factory(es.SQLiteFactory):
    """Makes the recorder on SQLite."""

    application_recorder_class: type[es.SQLiteApplicationRecorder] = LeafRecorder

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.datastore.pool = _Pool(db_name=env[self.SQLITE_DBNAME])
