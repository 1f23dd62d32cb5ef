"""What a database says went wrong, as errors of ours that say what to do."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from eventsourcing.persistence import PersistenceError

from shoeproof.ledger.errors import (
    LedgerError,
    LedgerExists,
    NotALedger,
    StoreDamaged,
    StoreUnavailable,
    StreamConflict,
)
from shoeproof.ledger.files.durable import TakenTooLong, turn

_LOCKED: Final = "the ledger is locked by another program: try again when it ends"
_READ_ONLY: Final = "the ledger is read-only: it needs write permission"
_FULL: Final = "the disk is full: nothing was written, make room and try again"
_CONFLICT: Final = "another writer appended to the stream first: try again"
_EVENTS: Final = "stored_events"


@contextmanager
def translated_errors() -> Iterator[None]:
    """Turn the errors of SQLite, PostgreSQL and eventsourcing into ours."""
    try:
        yield
    except (sqlite3.Error, PersistenceError) as error:
        raise _translated(error) from error


@contextmanager
def turn_of_a_process(queue: Path, seconds: float = 5.0) -> Iterator[None]:
    """Hold the only turn to write among processes, waiting for it at a file for so long.

    Raises StoreUnavailable.
    """
    try:
        with turn(queue, seconds):
            yield
    except TakenTooLong:
        raise StoreUnavailable(_LOCKED) from None


def _translated(error: BaseException) -> LedgerError:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, sqlite3.Error):
            return _of_sqlite(cause)
        # An error of psycopg, which need not be installed.
        sqlstate = getattr(cause, "sqlstate", None)
        if sqlstate is not None:
            return _of_postgres(sqlstate, cause)
        cause = cause.__cause__
    return _unusable(error)


def _of_sqlite(cause: sqlite3.Error) -> LedgerError:
    code = getattr(cause, "sqlite_errorname", "")
    if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreUnavailable(_LOCKED)
    if code.startswith(("SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH")):
        return StoreUnavailable(_READ_ONLY)
    if code.startswith("SQLITE_FULL"):
        return StoreUnavailable(_FULL)
    if code.startswith("SQLITE_CANTOPEN"):
        return StoreUnavailable(
            "the ledger's database cannot be opened: check that it exists and that you may open it"
        )
    if code in ("SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY"):
        return _not_unique(cause)
    if code.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR", "SQLITE_CONSTRAINT")):
        return _damaged(cause)
    if isinstance(cause, sqlite3.OperationalError) and not code:
        return _damaged(cause)
    return _unusable(cause)


def _of_postgres(sqlstate: str, cause: BaseException) -> LedgerError:
    # Classes and codes: PostgreSQL documentation, appendix A.
    if sqlstate in ("55P03", "40001", "40P01"):
        return StoreUnavailable(_LOCKED)
    if sqlstate in ("42501", "25006"):
        return StoreUnavailable(_READ_ONLY)
    if sqlstate == "53100":
        return StoreUnavailable(_FULL)
    if sqlstate == "23505":
        return _not_unique(cause)
    if sqlstate == "42P07":
        return LedgerExists("the database holds a ledger already: a ledger is never overwritten")
    if sqlstate == "42P01":
        return NotALedger("the database holds no ledger")
    if sqlstate.startswith(("P0", "22", "23", "42", "XX")):
        return _damaged(cause)
    return _unusable(cause)


def _not_unique(cause: BaseException) -> LedgerError:
    if _EVENTS in str(cause):
        return StreamConflict(_CONFLICT)
    return StoreDamaged(f"the ledger's leaf index contradicts its events ({cause})")


def _damaged(cause: BaseException) -> LedgerError:
    return StoreDamaged(f"the ledger's database is damaged: restore a copy ({cause})")


def _unusable(error: BaseException) -> LedgerError:
    # What libpq says has several lines.
    return StoreUnavailable(f"the ledger's database cannot be used: {' '.join(str(error).split())}")
