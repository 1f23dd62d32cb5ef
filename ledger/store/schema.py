"""The tables of a ledger's SQLite store, and what is read from them.

`stored_events` is eventsourcing's table with two changes: the row id is declared, since SQLite may
renumber an undeclared one, and rows are never changed or removed. `leaves` gives every row its
place, dense from 0. `tiles` is the Merkle tree over the leaves (`shoeproof.ledger.tree.tiles`), in
the pieces that it grew by with them; a reader derives it again before trusting it. `rounds` only
helps to find rounds; it can be rebuilt from the leaves and nothing that verifies reads it.
"""

import sqlite3
from typing import Any

from shoeproof.ledger.leaf import layout

CREATE_ROUNDS = """CREATE TABLE rounds (
    round TEXT PRIMARY KEY,
    rules_digest TEXT NOT NULL,
    player TEXT NOT NULL,
    table_name TEXT,
    currency TEXT NOT NULL,
    mode TEXT NOT NULL,
    opened_at TEXT NOT NULL,
    closed_at TEXT,
    state TEXT NOT NULL,
    first_leaf INTEGER NOT NULL,
    last_leaf INTEGER NOT NULL) WITHOUT ROWID"""
_SEED_HEAD = f"substr(state, {layout.SEED_HEAD[0] + 1}, {layout.SEED_HEAD[1]})"
"""The first 8 bytes of a revealed seed, in hex, cut from the canonical bytes of its leaf."""
CREATE_TABLES = (
    """CREATE TABLE stored_events (
        event_rowid INTEGER PRIMARY KEY,
        originator_id TEXT NOT NULL,
        originator_version INTEGER NOT NULL,
        topic TEXT NOT NULL,
        state BLOB NOT NULL,
        UNIQUE (originator_id, originator_version))""",
    """CREATE TABLE leaves (
        leaf_index INTEGER PRIMARY KEY,
        event_rowid INTEGER NOT NULL UNIQUE)""",
    CREATE_ROUNDS,
    """CREATE TABLE tiles (
        level INTEGER NOT NULL,
        start INTEGER NOT NULL,
        hashes BLOB NOT NULL,
        PRIMARY KEY (level, start))""",
    # What is owed to or by the wallet; no part of the record (`shoeproof.ledger.store.intents`).
    """CREATE TABLE intents (
        scope TEXT NOT NULL,
        attempt INTEGER NOT NULL,
        stream TEXT NOT NULL,
        player TEXT NOT NULL,
        direction TEXT NOT NULL,
        amount_minor INTEGER NOT NULL,
        asked_at TEXT NOT NULL,
        state TEXT NOT NULL,
        asker TEXT NOT NULL,
        PRIMARY KEY (scope, attempt)) WITHOUT ROWID""",
    "CREATE INDEX intents_open ON intents (stream) WHERE state IN ('asked', 'dropped')",
    "CREATE INDEX intents_cancelled ON intents (stream) WHERE state = 'cancelled'",
    "CREATE INDEX rounds_by_player ON rounds (player, opened_at)",
    "CREATE INDEX rounds_by_time ON rounds (opened_at)",
    "CREATE INDEX rounds_open ON rounds (player, opened_at) WHERE state = 'open'",
    # Few events are disputes: without this, to list them would be to look through all.
    """CREATE INDEX disputes_opened ON stored_events (originator_id)
        WHERE topic = 'DisputeOpened'""",
    # Without this, to find who else revealed a seed would be to look through all.
    f"CREATE INDEX seeds_revealed ON stored_events ({_SEED_HEAD}) WHERE topic = 'ShoeRevealed'",
    *(
        f"""CREATE TRIGGER {table}_refuse_{act} BEFORE {act} ON {table}
        BEGIN SELECT RAISE(ABORT, 'a ledger is only ever added to'); END"""
        for table in ("stored_events", "leaves", "tiles")
        for act in ("UPDATE", "DELETE")
    ),
    """CREATE TRIGGER intents_refuse_DELETE BEFORE DELETE ON intents
        BEGIN SELECT RAISE(ABORT, 'what money was asked for is never forgotten'); END""",
    """CREATE TRIGGER leaves_are_dense BEFORE INSERT ON leaves
        WHEN NEW.leaf_index IS NOT (SELECT COALESCE(MAX(leaf_index) + 1, 0) FROM leaves)
        BEGIN SELECT RAISE(ABORT, 'a leaf index must follow the last one'); END""",
)

INSERT_EVENT = """INSERT INTO stored_events (originator_id, originator_version, topic, state)
    VALUES (?, ?, ?, ?)"""
SELECT_LAST_ROW = "SELECT COALESCE(MAX(event_rowid), 0) FROM stored_events"
INSERT_LEAVES = """INSERT INTO leaves SELECT event_rowid + ?, event_rowid FROM stored_events
    WHERE event_rowid > ? ORDER BY event_rowid"""
INSERT_PIECE = "INSERT INTO tiles VALUES (?, ?, ?)"
SELECT_TILE = """SELECT start, CAST(hashes AS BLOB) FROM tiles
    WHERE level = ? AND start >= ? AND start < ? ORDER BY start"""
TAKE_WRITERS_LOCK = "UPDATE tiles SET level = level WHERE 0 = 1"
"""Changes nothing; on SQLite whoever has run it reads the latest, and is the only writer."""
SELECT_SIZE = "SELECT COALESCE(MAX(leaf_index) + 1, 0) FROM leaves"

# An outer join, and casts, because a damaged store must still be read, to be reported.
_SELECT_LEAVES = """SELECT leaf_index, COALESCE(CAST(originator_id AS TEXT), ''),
    COALESCE(CAST(originator_version AS INTEGER), 0), COALESCE(CAST(topic AS TEXT), ''),
    COALESCE(CAST(state AS BLOB), x'')
    FROM leaves LEFT JOIN stored_events USING (event_rowid) """
SELECT_ROWS = """SELECT leaf_index, originator_id, originator_version, topic, state
    FROM leaves LEFT JOIN stored_events USING (event_rowid)
    WHERE leaf_index >= ? AND leaf_index < ? ORDER BY leaf_index"""
"""Leaves for `verify.batch`, which takes the columns as they are: casts take as long as reading."""

SELECT_PLACES = """SELECT leaf_index FROM leaves WHERE leaf_index >= ? AND leaf_index < ?
    ORDER BY leaf_index"""
SELECT_COUNT = "SELECT COUNT(*) FROM leaves WHERE leaf_index >= ? AND leaf_index < ?"
SELECT_RANGE = _SELECT_LEAVES + "WHERE leaf_index >= ? AND leaf_index < ? ORDER BY leaf_index"
SELECT_SEED_HEADS = f"""SELECT leaf_index, {_SEED_HEAD}
    FROM stored_events JOIN leaves USING (event_rowid)
    WHERE topic = 'ShoeRevealed' AND {_SEED_HEAD} >= ? AND {_SEED_HEAD} < ? AND leaf_index < ?"""
SELECT_SEED_REVEALED_BEFORE = (
    _SELECT_LEAVES
    + f"""WHERE topic = 'ShoeRevealed' AND {_SEED_HEAD} = ? AND originator_id <> ?
    AND leaf_index < ? ORDER BY leaf_index LIMIT ?"""
)
SELECT_UNDER = _SELECT_LEAVES + "WHERE originator_id >= ? AND originator_id < ? ORDER BY leaf_index"
SELECT_STATES = """SELECT CAST(state AS BLOB) FROM leaves JOIN stored_events USING (event_rowid)
    WHERE leaf_index >= ? AND leaf_index < ? ORDER BY leaf_index"""
SELECT_STREAM = _SELECT_LEAVES + "WHERE originator_id = ? ORDER BY originator_version"
SELECT_STREAM_AFTER = (
    _SELECT_LEAVES
    + "WHERE originator_id = ? AND originator_version > ? ORDER BY originator_version"
)
SELECT_AT = _SELECT_LEAVES + "WHERE originator_id = ? AND originator_version = ?"
SELECT_HEAD = _SELECT_LEAVES + "WHERE originator_id = ? ORDER BY originator_version DESC LIMIT 1"
SELECT_LAST_SEQ = """SELECT COALESCE(MAX(originator_version), 0) - 1 FROM stored_events
    WHERE originator_id = ?"""
SELECT_STREAMS_FROM = """SELECT DISTINCT CAST(originator_id AS TEXT)
    FROM leaves JOIN stored_events USING (event_rowid) WHERE leaf_index >= ?"""
SELECT_DISPUTED = """SELECT DISTINCT originator_id FROM stored_events
    WHERE topic = 'DisputeOpened'"""
SELECT_UNINDEXED = """SELECT originator_id, originator_version - 1 FROM stored_events
    WHERE event_rowid NOT IN (SELECT event_rowid FROM leaves WHERE leaf_index >= 0)
    ORDER BY event_rowid"""
SELECT_IS_WHOLE = """SELECT (SELECT COUNT(*) FROM stored_events) = size
    AND (SELECT COUNT(*) FROM leaves) = size
    FROM (SELECT COALESCE(MAX(leaf_index) + 1, 0) AS size FROM leaves) AS sizes"""
SELECT_COUNTS = """SELECT (SELECT COUNT(*) FROM stored_events), (SELECT COUNT(*) FROM leaves)"""
SELECT_TWICE_BEGUN = """SELECT originator_id FROM stored_events NOT INDEXED
    WHERE originator_version = 1 GROUP BY originator_id HAVING COUNT(*) > 1"""


def select_streams(count: int) -> str:
    """Return the query for the leaves of so many streams, whose names are its parameters."""
    marks = ", ".join("?" * count)
    return _SELECT_LEAVES + f"WHERE originator_id IN ({marks}) ORDER BY leaf_index"


def select_streams_after(count: int) -> str:
    """Return the query for the leaves of so many streams, each after a version of its own."""
    either = " OR ".join(["originator_id = ? AND originator_version > ?"] * count)
    return _SELECT_LEAVES + f"WHERE {either} ORDER BY leaf_index"


def fetch_rows(database: str, start: int, stop: int) -> list[tuple[Any, ...]]:
    """Return the rows of `SELECT_ROWS` by a connection of its own, texts as bytes.

    `database` is an SQLite URI. Raises sqlite3.Error.
    """
    connection = sqlite3.connect(database, uri=True)
    connection.text_factory = bytes
    try:
        return connection.execute(SELECT_ROWS, (start, stop)).fetchall()
    finally:
        connection.close()


def fetch_states(database: str, start: int, stop: int) -> list[bytes]:
    """Return the bytes of leaves as `fetch_rows` does, for those who need no more."""
    connection = sqlite3.connect(database, uri=True)
    try:
        return [state for (state,) in connection.execute(SELECT_STATES, (start, stop))]
    finally:
        connection.close()
