"""The tables of a ledger's SQLite store, and what is read from them.

`stored_events` is eventsourcing's table with two changes: the row id is declared, since SQLite may
renumber an undeclared one, and rows are never changed or removed. `leaves` gives every row its
place, dense from 0. `rounds` only helps to find rounds; it can be made anew from the leaves and
nothing that verifies reads it.
"""

import sqlite3
from typing import NamedTuple

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
    """CREATE TABLE rounds (
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
        last_leaf INTEGER NOT NULL) WITHOUT ROWID""",
    "CREATE INDEX rounds_by_player ON rounds (player, opened_at)",
    "CREATE INDEX rounds_by_time ON rounds (opened_at)",
    "CREATE INDEX rounds_open ON rounds (opened_at) WHERE state = 'open'",
    *(
        f"""CREATE TRIGGER {table}_refuse_{act} BEFORE {act} ON {table}
        BEGIN SELECT RAISE(ABORT, 'a ledger is only ever added to'); END"""
        for table in ("stored_events", "leaves")
        for act in ("UPDATE", "DELETE")
    ),
    """CREATE TRIGGER leaves_are_dense BEFORE INSERT ON leaves
        WHEN NEW.leaf_index IS NOT (SELECT COALESCE(MAX(leaf_index) + 1, 0) FROM leaves)
        BEGIN SELECT RAISE(ABORT, 'a leaf index must follow the last one'); END""",
)

INSERT_EVENT = """INSERT INTO stored_events (originator_id, originator_version, topic, state)
    VALUES (?, ?, ?, ?)"""
INSERT_LEAF = "INSERT INTO leaves VALUES (?, ?)"
SELECT_SIZE = "SELECT COALESCE(MAX(leaf_index) + 1, 0) FROM leaves"

# An outer join, and casts, because a damaged store must still be read, to be reported.
_SELECT_LEAVES = """SELECT leaf_index, COALESCE(CAST(originator_id AS TEXT), ''),
    COALESCE(CAST(originator_version AS INTEGER), 0), COALESCE(CAST(topic AS TEXT), ''),
    COALESCE(CAST(state AS BLOB), x'')
    FROM leaves LEFT JOIN stored_events USING (event_rowid) """
SELECT_RANGE = _SELECT_LEAVES + "WHERE leaf_index >= ? AND leaf_index < ? ORDER BY leaf_index"
SELECT_STREAM = _SELECT_LEAVES + "WHERE originator_id = ? ORDER BY originator_version"
SELECT_HEAD = _SELECT_LEAVES + "WHERE originator_id = ? ORDER BY originator_version DESC LIMIT 1"
SELECT_UNINDEXED = """SELECT originator_id, originator_version - 1 FROM stored_events
    WHERE event_rowid NOT IN (SELECT event_rowid FROM leaves WHERE leaf_index >= 0)
    ORDER BY event_rowid"""
SELECT_TWICE_BEGUN = """SELECT originator_id FROM stored_events NOT INDEXED
    WHERE originator_version = 1 GROUP BY originator_id HAVING COUNT(*) > 1"""


class StoredLeaf(NamedTuple):
    """A leaf as the store holds it: its place, what the columns say of it, its bytes.

    The columns are an index and prove nothing. Where the leaf's row is missing they are empty and
    `version` is 0; else `version` is the event's `seq` + 1 and `topic` its type.
    """

    leaf_index: int
    stream: str
    version: int
    topic: str
    state: bytes


def fetch_leaves(database: str, start: int, stop: int) -> list[StoredLeaf]:
    """Return the leaves with `start <= leaf_index < stop` by a connection of its own.

    `database` is an SQLite URI. Raises sqlite3.Error.
    """
    connection = sqlite3.connect(database, uri=True)
    try:
        return list(map(StoredLeaf._make, connection.execute(SELECT_RANGE, (start, stop))))
    finally:
        connection.close()
