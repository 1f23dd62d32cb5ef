"""Where a ledger's leaves are: beside its settings, or in the database that the caller names."""

import os
from contextlib import suppress
from pathlib import Path

from shoeproof.ledger.errors import EventUnreadable, NotALedger, StoreUnavailable
from shoeproof.ledger.leaf.recorded import read_leaf
from shoeproof.ledger.store import directory
from shoeproof.ledger.store.recorder import LeafRecorder
from shoeproof.ledger.store.sqlite import Store
from shoeproof.needs import need


def store_of(path: Path, settings: directory.Settings, database_url: str | None) -> Store:
    """Return the store of a ledger's directory.

    `database_url` is where the leaves are if they are in PostgreSQL, by default what the
    environment says. Raises NotALedger where another ledger is there, StoreUnavailable, also where
    neither says, and StoreDamaged.
    """
    if settings.database is not None:
        return store_at(settings.database)
    database_url = database_url or directory.database_from_environment()
    if database_url is None:
        raise StoreUnavailable(
            f"the leaves of {path} are in PostgreSQL: give the database's URL in "
            f"{directory.DATABASE_VARIABLE}"
        )
    store = store_at(database_url)
    with suppress(EventUnreadable):  # of which to tell is for whoever verifies
        origin = origin_in(store)
        if origin != settings.origin:
            store.close()
            raise NotALedger(
                f"the database given holds {origin}, but {path} belongs to {settings.origin}"
            )
    return store


def origin_in(store: Store) -> str:
    """Return the ledger that a store's first leaf names.

    Raises NotALedger where there is none, and EventUnreadable.
    """
    first = store.fetch(0, 1)
    if not first:
        store.close()
        raise NotALedger("the database holds no ledger")
    return read_leaf(first[0]).event.ledger


def store_at(place: Path | str, *, create: bool = False) -> Store:
    """Open the store in a file or at a URL of PostgreSQL, or create it there.

    Where nothing may be written, as on an auditor's read-only medium, it can still be read. Raises
    StoreUnavailable and StoreDamaged.
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
    store = Store(f"{path.as_uri()}?mode={mode}", create=create)
    if mode.startswith("rw"):
        assert isinstance(store.recorder, LeafRecorder)
        store.recorder.queue = path.with_name(f"{path.name}-queue")
    return store


def _postgres_store(url: str, create: bool) -> Store:
    need("PostgreSQL", "psycopg", "psycopg_pool", extra="postgres")
    from shoeproof.ledger.store.postgres import PostgresStore

    return PostgresStore(url, create=create)
