"""Attackers who can write the database, and hold no key."""

from pathlib import Path
from shutil import rmtree

import pytest

from shoeproof.ledger import findings
from shoeproof.ledger.errors import PublishRefused, SigningRefused, StoreDamaged
from shoeproof.ledger.exchange.publish import publish, verify_published
from shoeproof.ledger.exchange.tile_files import tile_path
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.verify.fsck import fsck
from tests.attacks.conftest import Scene
from tests.attacks.helpers import (
    NOT_WHAT_WAS_SIGNED,
    forget,
    found,
    found_with_kept,
    rebuild_tiles,
    remove,
    renumber,
)
from tests.cli.conftest import Shoeproof, shoeproof
from tests.ledger.helpers import (
    FIRST,
    ROUND,
    alter,
    opened,
    play,
    round_id,
    tampering,
    unguarded,
)

__all__ = ["shoeproof"]

CARD, DECISION = FIRST + 3, FIRST + 4


def test_edit(scene: Scene) -> None:
    alter(scene.path, CARD, b'"Td"', b'"Ad"')
    assert found(scene) == [
        (CARD, findings.SIGNATURE_INVALID),
        (DECISION, findings.PREV_MISMATCH),
        NOT_WHAT_WAS_SIGNED,
    ]
    assert NOT_WHAT_WAS_SIGNED in found_with_kept(scene)


def test_insert(scene: Scene) -> None:
    """A card of another round, which the engine did sign, dealt once more in this one."""
    with tampering(scene.path) as connection:
        connection.execute(
            "INSERT INTO stored_events (originator_id, originator_version, topic, state) SELECT ?, "
            "9, topic, state FROM stored_events WHERE topic = 'CardDealt' AND originator_id != ?",
            (ROUND, ROUND),
        )
        connection.execute("INSERT INTO leaves SELECT 21, MAX(event_rowid) FROM stored_events")
        rebuild_tiles(connection)
    assert (FIRST + 16, findings.STREAM_MISMATCH) in found(scene)


def test_delete(scene: Scene) -> None:
    with tampering(scene.path) as connection:
        remove(connection, f"topic = 'CardDealt' AND originator_id = '{ROUND}'")
        renumber(connection)
    assert found(scene) == [(CARD, findings.SEQ_GAP), NOT_WHAT_WAS_SIGNED]
    assert NOT_WHAT_WAS_SIGNED in found_with_kept(scene)


def test_reorder(scene: Scene) -> None:
    with tampering(scene.path) as connection:
        places = "SELECT event_rowid FROM leaves WHERE leaf_index IN (8, 9) ORDER BY leaf_index"
        (card,), (decision,) = connection.execute(places).fetchall()
        connection.execute("DELETE FROM leaves WHERE leaf_index IN (8, 9)")
        connection.execute("INSERT INTO leaves VALUES (8, ?), (9, ?)", (decision, card))
        rebuild_tiles(connection)
    gaps = [(place, findings.SEQ_GAP) for place in (8, 9, 10)]
    assert found(scene) == [*gaps, NOT_WHAT_WAS_SIGNED]
    assert NOT_WHAT_WAS_SIGNED in found_with_kept(scene)


def swap(scene: Scene, topic: str) -> None:
    """Swap what an event says between the two rounds."""
    with tampering(scene.path) as connection:
        fetch = "SELECT event_rowid, state FROM stored_events WHERE topic = ? ORDER BY event_rowid"
        (one, state), (other, other_state) = connection.execute(fetch, (topic,)).fetchall()
        change = "UPDATE stored_events SET state = ? WHERE event_rowid = ?"
        connection.executemany(change, [(other_state, one), (state, other)])
        rebuild_tiles(connection)


def test_swap_between_rounds(scene: Scene) -> None:
    swap(scene, "CardDealt")
    assert {(CARD, findings.STREAM_MISMATCH), (CARD + 8, findings.STREAM_MISMATCH)} <= set(
        found(scene)
    )


def test_seed_commitment_swapped(scene: Scene) -> None:
    swap(scene, "ShoeCommitted")
    committed = FIRST + 1
    assert {
        (committed, findings.STREAM_MISMATCH),
        (committed + 8, findings.STREAM_MISMATCH),
    } <= set(found(scene))


def test_truncate_tail(scene: Scene, shoeproof: Shoeproof) -> None:
    """Chains end where they end: only what was kept, here or elsewhere, knows of more."""
    with tampering(scene.path) as connection:
        remove(connection, f"originator_id = '{ROUND}' AND originator_version > 5")
        remove(connection, f"originator_id != '{ROUND}' AND originator_id != 'keys'")
        renumber(connection)
    assert found(scene) == [NOT_WHAT_WAS_SIGNED]
    with Ledger.open(scene.path) as ledger, pytest.raises(SigningRefused, match="tail was cut"):
        sign_checkpoint(ledger)
    told = shoeproof("verify", "--ledger", scene.path)
    assert (told.code, "the largest of 21 leaves" in told.out, "tail is gone" in told.out) == (
        1, True, True,
    )  # fmt: skip
    # The guard alone tells it as well, and to `audit` too.
    rmtree(scene.path / "checkpoints")
    for command in ("verify", "audit"):
        told = shoeproof(command, "--ledger", scene.path)
        assert (told.code, "tail is gone" in told.out) == (1, True), told
    (scene.path / "checkpoints").mkdir()
    forget(scene)
    assert "a cut-off end would not show" in shoeproof("verify", "--ledger", scene.path).out
    assert found(scene) == []
    assert found_with_kept(scene) == [NOT_WHAT_WAS_SIGNED]


def test_drop_a_whole_round(scene: Scene) -> None:
    with tampering(scene.path) as connection:
        remove(connection, f"originator_id = '{ROUND}'")
        renumber(connection)
    assert found(scene) == [NOT_WHAT_WAS_SIGNED]
    with Ledger.open(scene.path) as ledger:
        with pytest.raises(SigningRefused, match="13 leaves, but 21 were signed"):
            play(ledger, round_id(1))
        with unguarded(scene.path):
            play(ledger, round_id(1))
            play(ledger, round_id(2))
        with pytest.raises(SigningRefused, match="are not those that were signed"):
            sign_checkpoint(ledger)
    forget(scene)
    # The other round was closed by one who had seen the round that is gone.
    assert found(scene) == [(FIRST, findings.ANCHOR_MISMATCH)]
    assert found_with_kept(scene) == [NOT_WHAT_WAS_SIGNED]


def test_row_ids_used_again_after_a_deleted_tail(scene: Scene) -> None:
    """SQLite gives the numbers of deleted rows to the next ones: nothing may hang on them."""
    with tampering(scene.path) as connection:
        remove(connection, f"originator_id != '{ROUND}' AND originator_id != 'keys'")
    with unguarded(scene.path):
        with (
            Ledger.open(scene.path) as ledger,
            pytest.raises(StoreDamaged, match="leaves were removed"),
        ):
            ledger.append((round_id(1), opened()))
        with tampering(scene.path) as connection:
            rebuild_tiles(connection)
        with Ledger.open(scene.path) as ledger:
            play(ledger, round_id(1))
    assert found(scene) == [NOT_WHAT_WAS_SIGNED]


def test_bit_flip_on_disk_before_signing(scene: Scene) -> None:
    with Ledger.open(scene.path) as ledger:
        play(ledger, round_id(1))
    alter(scene.path, 24, b'"Td"', b'"Tc"')
    with (
        Ledger.open(scene.path) as ledger,
        pytest.raises(SigningRefused, match="leaves 21 to 28 on the disk are not what was"),
    ):
        sign_checkpoint(ledger)


def test_tile_overwritten_in_the_store(scene: Scene) -> None:
    with tampering(scene.path) as connection:
        connection.execute("UPDATE tiles SET hashes = zeroblob(length(hashes))")
    with Ledger.open(scene.path) as ledger:
        for write in (play, sign_checkpoint):
            with pytest.raises(SigningRefused, match="not those that were signed"):
                write(ledger)
        checkup = fsck(ledger, public_key=scene.public_key)
    assert {finding.code for finding in checkup.findings} == {findings.TILE_MISMATCH}
    assert checkup.damaged == list(range(21))


def test_inner_tile_overwritten_in_the_store(scene: Scene) -> None:
    """The root no longer hangs on a full tile: signing goes on, and only `fsck` reads it again."""
    with Ledger.open(scene.path) as ledger:
        for number in range(35):
            play(ledger, round_id(number))
        sign_checkpoint(ledger)
    with tampering(scene.path) as connection:
        connection.execute(
            "UPDATE tiles SET hashes = CAST(zeroblob(32) || substr(hashes, 33) AS BLOB)"
            " WHERE level = 0 AND start = 0"
        )
    with Ledger.open(scene.path) as ledger:
        play(ledger, round_id(35))
        sign_checkpoint(ledger)
        checkup = fsck(ledger, public_key=scene.public_key)
    assert {finding.code for finding in checkup.findings} == {findings.TILE_MISMATCH}


def test_tile_overwritten_where_it_is_published(scene: Scene, tmp_path: Path) -> None:
    folder = tmp_path / "published"
    with Ledger.open(scene.path) as ledger:
        publish(ledger, folder)
        tile = folder / tile_path(0, 0, 21)
        hashes = bytearray(tile.read_bytes())
        hashes[32 * CARD] ^= 1
        tile.write_bytes(hashes)
        result = verify_published(folder, public_key=scene.public_key)
        assert [(each.leaf_index, each.code) for each in result.findings] == [
            (CARD, findings.TILE_MISMATCH)
        ]
        # Publishing looks only at files it has to write.
        publish(ledger, folder)
        (folder / "checkpoint").unlink()
        with pytest.raises(PublishRefused, match="published files are never replaced"):
            publish(ledger, folder)
