"""The store on PostgreSQL: the tables and statements of SQLite, in its dialect.

Writers take turns by an advisory lock, which the role of a writer may take though it may change
nothing: a table lock would need the right to UPDATE or DELETE. What a reader that tails the ledger
relies on is not the lock but the leaf index, which a trigger keeps dense in the order of commits:
no leaf appears below one that was seen. An append is flushed to the disk when it returns.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, partial
from typing import Any, Final, LiteralString, TypeAlias

import eventsourcing.postgres as es
import psycopg
from eventsourcing.persistence import InfrastructureFactory, PersistenceError
from eventsourcing.utils import Environment
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import tuple_row

from shoeproof.ledger.errors import NotALedger
from shoeproof.ledger.store import postgres_schema, schema
from shoeproof.ledger.store.errors import translated_errors
from shoeproof.ledger.store.group import Answer
from shoeproof.ledger.store.recorder import LeafReader
from shoeproof.ledger.store.sqlite import Store
from shoeproof.ledger.store.transaction import Cursor, SealedEvent

_CONNECT_SECONDS: Final = 5

_Connection: TypeAlias = psycopg.Connection[Any]

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
            ("tiles", "UPDATE OR DELETE OR TRUNCATE"),
            ("intents", "DELETE OR TRUNCATE"),
        )
    ),
    """CREATE TRIGGER leaves_are_dense BEFORE INSERT ON leaves FOR EACH ROW
        EXECUTE FUNCTION refuse_gap()""",
)

# The size is read after the lock is had, and must be the latest: each statement sees what was
# committed before it. Who waits longer than this for another writer is told so.
_TAKE_TURN: Final = (
    "SET LOCAL synchronous_commit = on",
    "SET LOCAL lock_timeout = '5s'",
    "SELECT pg_advisory_xact_lock('stored_events'::regclass::oid::bigint)",
)

_INSERT: Final = """WITH written AS (
        INSERT INTO stored_events (originator_id, originator_version, topic, state)
        SELECT * FROM unnest(?::text[], ?::bigint[], ?::text[], ?::bytea[])
        RETURNING event_rowid)
    INSERT INTO leaves
    SELECT ? + row_number() OVER (ORDER BY event_rowid), event_rowid FROM written
    ORDER BY event_rowid"""
"""The numbers of rows go up as the events come."""


@cache
def in_postgres(statement: str) -> LiteralString:
    """Return one of our statements in PostgreSQL's dialect."""
    for theirs, ours in _DIALECT:
        statement = statement.replace(theirs, ours)
    return statement


class _Cursor:
    """A cursor that takes our statements (`transaction.Cursor`), and waits for those it must.

    In a pipeline a statement is sent while those before it are still under way; what the server
    has to say of it comes with the next fetch, or `settle`.
    """

    def __init__(self, connection: _Connection, pipeline: psycopg.Pipeline) -> None:
        self._connection, self._pipeline = connection, pipeline
        self._last = connection.cursor()
        self._is_settled = True

    def execute(self, statement: str, parameters: Sequence[Any] = (), /) -> object:
        self._is_settled = False
        with _psycopg_errors():
            self._last = self._connection.cursor()
            return self._last.execute(in_postgres(statement), parameters)

    def executemany(self, statement: str, rows: Sequence[Sequence[Any]], /) -> object:
        self._is_settled = False
        with _psycopg_errors():
            if rows:
                self._connection.cursor().executemany(in_postgres(statement), rows)
        return self

    def later(self, query: str, parameters: tuple[Any, ...] = (), /) -> Callable[[], Any]:
        self.execute(query, parameters)
        return partial(self._row, self._last)

    def _row(self, cursor: psycopg.Cursor[Any]) -> Any:
        self.settle()
        with _psycopg_errors():
            return cursor.fetchone()

    def fetchone(self) -> Any:
        return self._row(self._last)

    def fetchall(self) -> list[Any]:
        self.settle()
        with _psycopg_errors():
            return self._last.fetchall()

    def mark(self) -> None:
        # psycopg's own savepoint: it knows which prepared statements an error leaves unprepared.
        # By `Connection.transaction` each would wait for the server four times.
        self._unit = psycopg.Transaction(self._connection)
        with _psycopg_errors():
            self._unit.__enter__()

    def undo(self, error: Exception) -> None:
        # After an error of the server's nothing is heard, not even a rollback, until this.
        with suppress(PersistenceError):
            self.settle()
        with _psycopg_errors():
            self._unit.__exit__(type(error), error, error.__traceback__)
            self._pipeline.sync()

    def release(self) -> None:
        self.settle()
        with _psycopg_errors():
            self._unit.__exit__(None, None, None)

    def settle(self) -> None:
        """Wait for the statements so far, and raise what is wrong with them."""
        if not self._is_settled:
            with _psycopg_errors():
                self._pipeline.sync()
            self._is_settled = True


class PostgresLeafRecorder(LeafReader, es.PostgresApplicationRecorder):
    """eventsourcing's recorder whose notification ids are leaf indices + 1, dense and permanent."""

    def create_table(self) -> None:
        """Make a new ledger's tables, all or none."""
        tables = [each for each in schema.CREATE_TABLES if not each.startswith("CREATE TRIGGER")]
        with self.datastore.transaction(commit=True) as cursor:
            for statement in (*tables, *_TRIGGERS):
                cursor.execute(in_postgres(statement))

    def insert(self, cursor: Cursor, events: Sequence[SealedEvent], first: int) -> None:
        """Write events as leaves, the first at the index `first`."""
        cursor.execute(_INSERT, [*map(list, zip(*events, strict=True)), first - 1])

    @contextmanager
    def writing(self) -> Iterator[Cursor]:
        """Give a cursor in a transaction that is the only writing one, committed at the end."""
        with ExitStack() as stack:
            connection = self._answered(stack, _begun)
            with connection.pipeline() as pipeline:
                cursor = _Cursor(connection, pipeline)
                for statement in _TAKE_TURN:
                    cursor.execute(statement)
                cursor.execute(f"NOTIFY {self.channel_name}")
                yield cursor
            connection.commit()

    def select(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""

        def read(connection: _Connection) -> list[tuple[Any, ...]]:
            return connection.execute(in_postgres(statement), parameters).fetchall()

        with ExitStack() as stack:
            return self._answered(stack, read)

    def _answered(self, stack: ExitStack, ask: Callable[[_Connection], Answer]) -> Answer:
        """Ask the server what may be asked twice, by a connection that the stack gives back.

        Nobody notices that the server was restarted before a connection of the pool is used.
        """
        connection = stack.enter_context(self.datastore.get_connection())
        try:
            return ask(connection)
        except psycopg.OperationalError:
            if not connection.broken:
                raise
        stack.close()
        self.datastore.pool.check()
        return ask(stack.enter_context(self.datastore.get_connection()))


def _begun(connection: _Connection) -> _Connection:
    connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
    return connection


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
        # One thread writes; the others read, and a subscription takes a connection of its own.
        env["POSTGRES_POOL_SIZE"] = "1"
        env["POSTGRES_MAX_OVERFLOW"] = "7"
        return _Factory(env, self.database)

    def objections(self) -> list[str]:
        """Return what of the database's schema is not a ledger's; raise NotALedger for none."""
        lines = postgres_schema.objections(self.query, _TRIGGERS)
        if lines is None:
            raise NotALedger("the database holds no ledger")
        return lines

    def complaints(self) -> list[str]:
        """Return nothing: PostgreSQL checks its own files (`pg_amcheck`)."""
        return []

    def rows_fetcher(self) -> Callable[[int, int], list[tuple[Any, ...]]]:
        """Return a `fetch_rows` that another process can call, by a connection of its own."""
        return partial(fetch_rows, self.database)

    def states_fetcher(self) -> Callable[[int, int], list[bytes]]:
        """Return a `fetch_states` for another process, as `fetcher` does."""
        return partial(fetch_states, self.database)


def fetch_rows(url: str, start: int, stop: int) -> list[tuple[Any, ...]]:
    """Return the rows of `schema.SELECT_ROWS` by a connection of its own.

    Raises PersistenceError.
    """
    with _psycopg_errors(), psycopg.connect(url) as connection:
        cursor = connection.cursor(binary=True)
        return cursor.execute(in_postgres(schema.SELECT_ROWS), (start, stop)).fetchall()


def fetch_states(url: str, start: int, stop: int) -> list[bytes]:
    """Return the bytes of leaves as `fetch_rows` does, for those who need no more."""
    with _psycopg_errors(), psycopg.connect(url) as connection:
        rows = connection.execute(in_postgres(schema.SELECT_STATES), (start, stop))
        return [bytes(state) for (state,) in rows]


@contextmanager
def _psycopg_errors() -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise PersistenceError(str(error)) from error
