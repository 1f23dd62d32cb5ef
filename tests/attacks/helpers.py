"""What attackers do, and what an auditor with and without a kept checkpoint then finds."""

import sqlite3
from collections.abc import Iterable
from shutil import rmtree
from typing import Any, TypeAlias

from shoeproof.ledger import findings
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.store.directory import CHECKPOINTS
from shoeproof.ledger.tree.merkle import leaf_hash
from shoeproof.ledger.tree.tiles import grow
from shoeproof.ledger.verify.whole import VerifyResult, verify
from tests.attacks.conftest import Scene
from tests.ledger.helpers import free_of_constraints

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


def forget(scene: Scene) -> None:
    """Take what was signed out of the directory, as whoever can write there can."""
    rmtree(scene.path / CHECKPOINTS, ignore_errors=True)
    with Ledger.open(scene.path) as ledger:
        ledger.guard.create()


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
    pieces, _ = grow(0, (), [leaf_hash(state) for (state,) in states])
    connection.execute("DELETE FROM tiles")
    connection.executemany("INSERT INTO tiles VALUES (?, ?, ?)", pieces)


def remove(connection: sqlite3.Connection, condition: str) -> None:
    """Remove events and their places."""
    rows = f"SELECT event_rowid FROM stored_events WHERE {condition}"
    connection.execute(f"DELETE FROM leaves WHERE event_rowid IN ({rows})")
    connection.execute(f"DELETE FROM stored_events WHERE {condition}")


def store_twice(
    connection: sqlite3.Connection, size: int, events: Iterable[tuple[Any, ...]]
) -> None:
    """Store events anew as leaves `size` and on, in a table that no longer minds."""
    with free_of_constraints(connection):
        for leaf_index, event in enumerate(events, start=size):
            row = connection.execute("INSERT INTO loose VALUES (NULL, ?, ?, ?, ?)", event).lastrowid
            connection.execute("INSERT INTO leaves VALUES (?, ?)", (leaf_index, row))
    rebuild_tiles(connection)
