"""What attackers do, and what an auditor with and without a kept checkpoint then finds."""

import sqlite3
from collections.abc import Iterable
from typing import Any, TypeAlias

from ledger import findings
from ledger.merkle import leaf_hash
from ledger.tree import grow
from ledger.verify import VerifyResult, verify
from tests.attacks.conftest import Scene

Found: TypeAlias = list[tuple[int | None, str]]

NOT_WHAT_WAS_SIGNED = (None, findings.CHECKPOINT_MISMATCH)


def found(scene: Scene) -> Found:
    """Return leaf and code of what `verify` finds, with the operator's key from outside."""
    return _codes(verify(scene.path, public_key=scene.public_key))


def found_with_kept(scene: Scene) -> Found:
    """Return leaf and code of what `verify --checkpoint` finds."""
    return _codes(verify(scene.path, public_key=scene.public_key, checkpoint=scene.kept))


def _codes(result: VerifyResult) -> Found:
    return [(finding.leaf_index, finding.code) for finding in result.findings]


def renumber(connection: sqlite3.Connection) -> None:
    """Close every gap in the leaf index and build the tiles anew, as a careful attacker does."""
    rows = connection.execute("SELECT event_rowid FROM leaves ORDER BY leaf_index").fetchall()
    connection.execute("DELETE FROM leaves")
    connection.executemany("INSERT INTO leaves VALUES (?, ?)", enumerate(row for (row,) in rows))
    rebuild_tiles(connection)


def rebuild_tiles(connection: sqlite3.Connection) -> None:
    """Make the tiles those of the leaves as they are now."""
    states = connection.execute(
        "SELECT state FROM leaves JOIN stored_events USING (event_rowid) ORDER BY leaf_index"
    )
    tiles = grow(0, [leaf_hash(state) for (state,) in states], lambda level, index: b"")
    connection.execute("DELETE FROM tiles")
    connection.executemany("INSERT INTO tiles VALUES (?, ?, ?)", tiles)


def remove(connection: sqlite3.Connection, condition: str) -> None:
    """Remove events and their places."""
    rows = f"SELECT event_rowid FROM stored_events WHERE {condition}"
    connection.execute(f"DELETE FROM leaves WHERE event_rowid IN ({rows})")
    connection.execute(f"DELETE FROM stored_events WHERE {condition}")


def store_twice(
    connection: sqlite3.Connection, size: int, events: Iterable[tuple[Any, ...]]
) -> None:
    """Store events anew as leaves `size` and on, in a table that no longer minds."""
    columns = "event_rowid, originator_id, originator_version, topic, state"
    connection.execute("ALTER TABLE stored_events RENAME TO unique_events")
    connection.execute(
        "CREATE TABLE stored_events (event_rowid INTEGER PRIMARY KEY, originator_id TEXT,"
        " originator_version INTEGER, topic TEXT, state BLOB)"
    )
    connection.execute(f"INSERT INTO stored_events SELECT {columns} FROM unique_events")
    connection.execute("DROP TABLE unique_events")
    for leaf_index, event in enumerate(events, start=size):
        row = connection.execute(
            "INSERT INTO stored_events VALUES (NULL, ?, ?, ?, ?)", event
        ).lastrowid
        connection.execute("INSERT INTO leaves VALUES (?, ?)", (leaf_index, row))
    rebuild_tiles(connection)
