"""The store on PostgreSQL: the tables and statements of SQLite, in its dialect.

Writers take turns by an advisory lock, which the role of a writer may take though it may change
nothing: a table lock would need the right to UPDATE or DELETE. What a reader that tails the ledger
relies on is not the lock but the leaf index, which a trigger keeps dense in the order of commits:
no leaf appears below one that was seen. An append is flushed to the disk when it returns.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import Any, Final, LiteralString, cast

import eventsourcing.postgres as es
import psycopg
from eventsourcing.persistence import InfrastructureFactory, PersistenceError, StoredEvent
from eventsourcing.utils import Environment
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import tuple_row

from ledger import schema
from ledger.schema import StoredLeaf
from ledger.store import LeafReader, Store
from ledger.store_errors import translated_errors
from ledger.transaction import index_events

_CONNECT_SECONDS: Final = 5

_DIALECT: Final = (
    ("?", "%s"),
    (
        # A prefix is a range by bytes; by a language's order it need not be one.
        "originator_id >= %s AND originator_id < %s",
        'originator_id COLLATE "C" >= %s AND originator_id COLLATE "C" < %s',
    ),
    ("event_rowid INTEGER PRIMARY KEY", "event_rowid BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE"),
    ("INTEGER", "BIGINT"),
    ("BLOB", "BYTEA"),
    ("x''", "''::BYTEA"),
    (" WITHOUT ROWID", ""),
    (" NOT INDEXED", ""),
    (
        # Beyond the memory of one query NOT IN would look through all leaves for every event.
        "event_rowid NOT IN (SELECT event_rowid FROM leaves WHERE leaf_index >= 0)",
        "NOT EXISTS (SELECT 1 FROM leaves WHERE leaves.event_rowid = stored_events.event_rowid)",
    ),
)
"""What SQLite writes, and what is written here for it."""

_TRIGGERS: Final = (
    """CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'a ledger is only ever added to'; END $$""",
    """CREATE FUNCTION refuse_gap() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.leaf_index <> (SELECT COALESCE(MAX(leaf_index) + 1, 0) FROM leaves) THEN
            RAISE EXCEPTION 'a leaf index must follow the last one';
        END IF;
        RETURN NEW; END $$""",
    *(
        f"""CREATE TRIGGER {table}_refuse_change BEFORE {acts} ON {table}
        EXECUTE FUNCTION refuse_change()"""
        for table, acts in (
            ("stored_events", "UPDATE OR DELETE OR TRUNCATE"),
            ("leaves", "UPDATE OR DELETE OR TRUNCATE"),
            ("tiles", "DELETE OR TRUNCATE"),
        )
    ),
    """CREATE TRIGGER tiles_only_grow BEFORE UPDATE ON tiles FOR EACH ROW
        WHEN ((NEW.level, NEW.tile_index, substr(NEW.hashes, 1, length(OLD.hashes)))
            IS DISTINCT FROM (OLD.level, OLD.tile_index, OLD.hashes))
        EXECUTE FUNCTION refuse_change()""",
    """CREATE TRIGGER leaves_are_dense BEFORE INSERT ON leaves FOR EACH ROW
        EXECUTE FUNCTION refuse_gap()""",
)

# The size is read after the lock is had, and must be the latest: each statement sees what was
# committed before it. Who waits longer than this for another writer is told so.
_BEGIN: Final = """SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    SET LOCAL synchronous_commit = on;
    SET LOCAL lock_timeout = '5s';
    SELECT pg_advisory_xact_lock('stored_events'::regclass::oid::bigint)"""

_INSERT_EVENTS: Final = """INSERT INTO stored_events
    (originator_id, originator_version, topic, state)
    SELECT * FROM unnest(%s::text[], %s::bigint[], %s::text[], %s::bytea[])
    RETURNING event_rowid"""


@cache
def in_postgres(statement: str) -> LiteralString:
    """Return one of our statements in PostgreSQL's dialect."""
    for theirs, ours in _DIALECT:
        statement = statement.replace(theirs, ours)
    return statement


class _Cursor:
    """A cursor that takes our statements (`transaction.Cursor`)."""

    def __init__(self, cursor: psycopg.Cursor[Any]) -> None:
        self._cursor = cursor
        self.fetchone = cursor.fetchone
        self.fetchall = cursor.fetchall

    def execute(self, statement: str, parameters: Sequence[Any] = (), /) -> object:
        return self._cursor.execute(in_postgres(statement), parameters)

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> object:
        self._cursor.executemany(in_postgres(statement), rows)
        return self


class PostgresLeafRecorder(LeafReader, es.PostgresApplicationRecorder):
    """eventsourcing's recorder whose notification ids are leaf indices + 1, dense for ever."""

    def create_table(self) -> None:
        """Make a new ledger's tables, all or none."""
        tables = [each for each in schema.CREATE_TABLES if not each.startswith("CREATE TRIGGER")]
        with self.datastore.transaction(commit=True) as cursor:
            for statement in (*tables, *_TRIGGERS):
                cursor.execute(in_postgres(statement))

    def insert_events(
        self, stored_events: Sequence[StoredEvent], **kwargs: Any
    ) -> Sequence[int] | None:
        """Write events and all that goes with them, and return their notification ids."""
        # eventsourcing's own commits what was written before an error of ours, and tries again
        # after a connection was lost, when it cannot know whether it had been written.
        if not stored_events:
            return None
        with self.datastore.transaction(commit=True) as cursor:
            cursor.execute(_BEGIN)
            self._notify_channel(cursor)
            columns = zip(
                *(
                    (str(each.originator_id), each.originator_version, each.topic, each.state)
                    for each in stored_events
                ),
                strict=True,
            )
            cursor.execute(_INSERT_EVENTS, [list(column) for column in columns])
            row_ids = sorted(row[0] for row in cast(list[tuple[int]], cursor.fetchall()))
            conditions = map(kwargs.get, ("admit", "alone", "after"))
            places = index_events(_Cursor(cursor), row_ids, stored_events, *conditions)
        return [index + 1 for index in places]

    def select(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        with self.datastore.cursor() as cursor:
            cursor.execute(in_postgres(statement), parameters)
            return cast(list[tuple[Any, ...]], cursor.fetchall())


class _Factory(es.PostgresFactory):
    application_recorder_class = PostgresLeafRecorder

    def __init__(self, env: Environment, url: str) -> None:
        super().__init__(env)
        # libpq reads everything a URL may say, and passwords from where it keeps them.
        self.datastore.pool.kwargs = {**conninfo_to_dict(url), "row_factory": tuple_row}


class PostgresStore(Store):
    """The events of one ledger in a PostgreSQL database of its own (or a schema of its own)."""

    def __init__(self, database: str, *, create: bool = False) -> None:
        """Open the database at a URL, or make a new ledger's tables there.

        Raises NotALedger, LedgerExists, StoreUnavailable and StoreDamaged.
        """
        with translated_errors(), _psycopg_errors():
            # A pool would say that it waited in vain, and not for what.
            psycopg.connect(database, connect_timeout=_CONNECT_SECONDS).close()
        super().__init__(database, create=create)

    def construct_factory(self, env: Environment) -> InfrastructureFactory[Any]:
        """Return the factory of our recorder."""
        for name in ("DBNAME", "HOST", "USER", "PASSWORD"):
            env[f"POSTGRES_{name}"] = ""
        env["POSTGRES_CONNECT_TIMEOUT"] = str(_CONNECT_SECONDS)
        # A server that was restarted is not noticed: a connection is tried before it is used.
        env["POSTGRES_PRE_PING"] = "yes"
        # One thread uses a ledger; a subscription takes a connection of its own.
        env["POSTGRES_POOL_SIZE"] = "1"
        env["POSTGRES_MAX_OVERFLOW"] = "1"
        return _Factory(env, self.database)

    def complaints(self) -> list[str]:
        """Return nothing: PostgreSQL checks its own files (`pg_amcheck`)."""
        return []

    def fetcher(self) -> Callable[[int, int], list[StoredLeaf]]:
        """Return a `fetch` that another process can call, by a connection of its own."""
        return partial(fetch_leaves, self.database)

    def states_fetcher(self) -> Callable[[int, int], list[bytes]]:
        """Return a `fetch_states` for another process, as `fetcher` does."""
        return partial(fetch_states, self.database)


def fetch_leaves(url: str, start: int, stop: int) -> list[StoredLeaf]:
    """Return the leaves with `start <= leaf_index < stop` by a connection of its own.

    Raises PersistenceError.
    """
    with _psycopg_errors(), psycopg.connect(url) as connection:
        rows = connection.execute(in_postgres(schema.SELECT_RANGE), (start, stop))
        return [StoredLeaf(*row) for row in rows]


def fetch_states(url: str, start: int, stop: int) -> list[bytes]:
    """Return the bytes of leaves as `fetch_leaves` does, for those who need no more."""
    with _psycopg_errors(), psycopg.connect(url) as connection:
        rows = connection.execute(in_postgres(schema.SELECT_STATES), (start, stop))
        return [bytes(state) for (state,) in rows]


@contextmanager
def _psycopg_errors() -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise PersistenceError(str(error)) from error
