"""Whoever can write the database, or holds a stolen key, against what others signed later.

No checkpoint was kept and the directory forgot its own: only the rounds themselves, each opened and
closed on a tree that its signer names, tell what is gone.
"""

import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from shoeproof.ledger import findings
from shoeproof.ledger.exchange.bundle import make_bundle, receipt_checkpoints
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.verify.whole import verify
from shoeproof.replay.bulk.audit import audit
from tests.attacks.conftest import Scene
from tests.attacks.helpers import forget, rebuild_tiles, remove, renumber
from tests.ledger.helpers import (
    FIRST,
    ORIGIN,
    OTHER_ROUND,
    ROUND,
    TickingClock,
    append_raw,
    opened,
    play,
    round_id,
    tampering,
)

LATER = round_id(1)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """Three rounds, one after the other, and no checkpoint of them."""
    path = tmp_path / "ledger"
    with Ledger.init(path, ORIGIN, clock=TickingClock()) as ledger:
        for stream in (ROUND, OTHER_ROUND, LATER):
            play(ledger, stream)
        return Scene(path, ledger.public_keys()["operator"], b"")


def told(scene: Scene) -> list[tuple[int | None, str]]:
    found = verify(scene.path, public_key=scene.public_key).findings
    with Ledger.open(scene.path) as ledger:
        audited = audit(ledger, public_key=scene.public_key).integrity.findings
    assert [each.code for each in found] == [each.code for each in audited]
    return [(each.leaf_index, each.code) for each in found]


def test_a_round_that_was_dropped_whole(scene: Scene) -> None:
    honest = verify(scene.path, public_key=scene.public_key)
    # The last event is the close of the last round: its signer saw all before it.
    assert (honest.findings, honest.anchored) == ([], honest.size - 1)
    with tampering(scene.path) as connection:
        remove(connection, f"originator_id = '{OTHER_ROUND}'")
        renumber(connection)
    # The later round was opened by one who had seen the round that is gone.
    assert told(scene) == [(FIRST + 8, findings.ANCHOR_MISMATCH)]


def test_a_dropped_round_beside_an_older_fault(scene: Scene) -> None:
    """A fault that all later signers saw says nothing of what is gone after it."""
    with Ledger.open(scene.path, clock=TickingClock()) as ledger:
        size = ledger.size()
        append_raw(ledger, opened(), seq=1, prev=None, stream=round_id(5))
        for stream in (round_id(2), round_id(3), round_id(4)):
            play(ledger, stream)
    with tampering(scene.path) as connection:
        remove(connection, f"originator_id = '{round_id(3)}'")
        renumber(connection)
    assert told(scene) == [(size, findings.SEQ_GAP), (size + 9, findings.ANCHOR_MISMATCH)]


def test_rounds_in_another_order(scene: Scene) -> None:
    with tampering(scene.path) as connection:
        rows = "SELECT leaf_index, event_rowid FROM leaves WHERE leaf_index >= ?"
        ours = connection.execute(rows, (FIRST,)).fetchall()
        connection.execute("DELETE FROM leaves WHERE leaf_index >= ?", (FIRST,))
        moved = [*ours[8:16], *ours[:8], *ours[16:]]
        places = [(place, row) for (place, _), (_, row) in zip(ours, moved, strict=True)]
        columns = [each[1] for each in connection.execute("PRAGMA table_info(leaves)")]
        assert columns[:2] == ["leaf_index", "event_rowid"]
        _put_back(connection, places)
        rebuild_tiles(connection)
    assert (FIRST, findings.ANCHOR_MISMATCH) in told(scene)


def _put_back(connection: sqlite3.Connection, places: list[tuple[int, Any]]) -> None:
    connection.executemany("INSERT INTO leaves (leaf_index, event_rowid) VALUES (?, ?)", places)


def test_the_tail_after_the_last_anchor_stays_open(scene: Scene) -> None:
    """No event that is left had seen the last round: only a checkpoint or a receipt tells."""
    with tampering(scene.path) as connection:
        remove(connection, f"originator_id = '{LATER}'")
        renumber(connection)
    assert told(scene) == []


def test_a_receipt_holds_the_ledger_to_all_that_came_before_it(scene: Scene) -> None:
    with Ledger.open(scene.path) as ledger:
        receipt = receipt_checkpoints(make_bundle(ledger, LATER), scene.public_key)
        size = ledger.size()
        assert verify(ledger, receipts=receipt).findings == []
    assert [each.size for each in receipt] == [FIRST + 16, size - 1, size]
    with tampering(scene.path) as connection:
        remove(connection, f"originator_id = '{LATER}'")
        renumber(connection)
    forget(scene)
    assert told(scene) == []
    held = verify(scene.path, public_key=scene.public_key, receipts=receipt).findings
    assert [each.code for each in held] == [findings.CHECKPOINT_MISMATCH]
    assert (
        f"a receipt covers {size} leaves, but the ledger has {size - 8}: its tail" in held[0].text
    )
    with tampering(scene.path) as connection:
        remove(connection, f"originator_id = '{OTHER_ROUND}'")
        renumber(connection)
    with Ledger.open(scene.path) as ledger:
        play(ledger, OTHER_ROUND)
        play(ledger, round_id(3))
        play(ledger, round_id(4))
    forget(scene)
    assert told(scene) == []
    held = verify(scene.path, public_key=scene.public_key, receipts=receipt).findings
    assert f"the first {FIRST + 16} leaves are not those a receipt speaks of" in held[0].text


def test_a_stolen_engine_key_cannot_write_before_what_others_saw(
    scene: Scene, tmp_path: Path
) -> None:
    """A whole round, rightly signed at its place, contradicts what was seen by those after it."""
    with Ledger.open(_before(scene, tmp_path), clock=TickingClock()) as thief:
        play(thief, round_id(2))
        forged = thief.store.stream(round_id(2))
    with tampering(scene.path) as connection:
        rows = connection.execute(
            "SELECT leaf_index, event_rowid FROM leaves WHERE leaf_index >= ? ORDER BY 1", (FIRST,)
        ).fetchall()
        connection.execute("DELETE FROM leaves WHERE leaf_index >= ?", (FIRST,))
        again = "INSERT INTO stored_events (originator_id, originator_version, topic, state)"
        new = [
            connection.execute(
                f"{again} VALUES (?, ?, ?, ?)", (leaf.stream, leaf.version, leaf.topic, leaf.state)
            ).lastrowid
            for leaf in forged
        ]
        _put_back(connection, list(enumerate([*new, *(row for _, row in rows)], FIRST)))
        rebuild_tiles(connection)
    # The signer who closed the first round had seen other leaves before its last one.
    assert told(scene) == [(FIRST + 15, findings.ANCHOR_MISMATCH)]


def _before(scene: Scene, tmp_path: Path) -> Path:
    """The ledger with its keys as it was before its rounds."""
    path = Path(shutil.copytree(scene.path, tmp_path / "before"))
    with tampering(path) as connection:
        for stream in (ROUND, OTHER_ROUND, LATER):
            remove(connection, f"originator_id = '{stream}'")
        rebuild_tiles(connection)
    return path
