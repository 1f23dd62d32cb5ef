"""`fsck` names what is damaged, what is not, and repairs nothing."""

from pathlib import Path

import pytest

from shoeproof.ledger import findings
from shoeproof.ledger.leaf.events import AlarmRaised
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.tree.merkle import leaf_hash
from shoeproof.ledger.verify.fsck import Checkup, fsck
from shoeproof.ledger.verify.tile_check import check_tiles
from tests.ledger.helpers import FIRST, OTHER_ROUND, ROUND, alter, cut_tiles, play, tampering

CARD = FIRST + 3


@pytest.fixture
def signed(played: Path) -> Path:
    """Checkpoints of 13 leaves, and of 21 after a second round."""
    with Ledger.open(played) as ledger:
        sign_checkpoint(ledger)
        play(ledger, OTHER_ROUND)
        sign_checkpoint(ledger)
    return played


def checkup(path: Path) -> Checkup:
    with Ledger.open(path) as ledger:
        return fsck(ledger)


def good_size(result: Checkup) -> int | None:
    return None if result.last_good is None else result.last_good.size


def test_sound_ledger(signed: Path) -> None:
    result = checkup(signed)
    assert (result.findings, good_size(result), result.damaged, result.proven) == ([], 21, [], 21)


def test_damaged_leaf_is_named_with_its_round_and_event(signed: Path) -> None:
    alter(signed, CARD + 8, b'"Td"', b'"Ad"')
    before = (signed / "events.sqlite").read_bytes()
    result = checkup(signed)
    assert [(each.code, each.leaf_index, each.stream, each.seq) for each in result.findings] == [
        (findings.SIGNATURE_INVALID, CARD + 8, OTHER_ROUND, 3),
        (findings.TILE_MISMATCH, CARD + 8, OTHER_ROUND, 3),
        (findings.PREV_MISMATCH, CARD + 9, OTHER_ROUND, 4),
        (findings.CHECKPOINT_MISMATCH, None, None, None),
    ]
    assert (good_size(result), result.damaged, result.proven) == (13, [CARD + 8], 21)
    assert (signed / "events.sqlite").read_bytes() == before


def test_leaf_missing(signed: Path) -> None:
    with tampering(signed) as connection:
        connection.execute("DELETE FROM stored_events WHERE event_rowid = 9")
    result = checkup(signed)
    assert (result.damaged, good_size(result), result.proven) == ([8], None, 21)


def test_look_up_index_altered(signed: Path) -> None:
    with tampering(signed) as connection:
        connection.execute(f"UPDATE rounds SET state = 'open' WHERE round = '{ROUND}'")
        connection.execute(f"DELETE FROM rounds WHERE round = '{OTHER_ROUND}'")
    found = checkup(signed).findings
    assert [(each.code, each.stream) for each in found] == [
        (findings.LOOK_UP_MISMATCH, ROUND),
        (findings.LOOK_UP_MISMATCH, OTHER_ROUND),
    ]


def test_kept_checkpoint_altered(signed: Path) -> None:
    note = signed / "checkpoints" / "13"
    note.write_bytes(note.read_bytes().replace(b"\n13\n", b"\n12\n"))
    result = checkup(signed)
    assert [each.code for each in result.findings] == [findings.CHECKPOINT_MISMATCH]
    assert "is not valid: the note is forged" in result.findings[0].text
    assert good_size(result) == 21


def test_tail_gone(signed: Path) -> None:
    with tampering(signed) as connection:
        connection.execute("DELETE FROM leaves WHERE leaf_index > 15")
        connection.execute("DELETE FROM stored_events WHERE event_rowid > 16")
        cut_tiles(connection, 16)
    result = checkup(signed)
    assert [each.code for each in result.findings] == [
        findings.CHECKPOINT_MISMATCH,
        findings.LOOK_UP_MISMATCH,
    ]
    assert (good_size(result), result.proven) == (13, 13)


def test_leaves_after_the_last_checkpoint_gone(signed: Path) -> None:
    with Ledger.open(signed) as ledger:
        ledger.append(("operations", AlarmRaised(1, None, "soon gone")))
    with tampering(signed) as connection:
        connection.execute("DELETE FROM leaves WHERE leaf_index > 20")
        connection.execute("DELETE FROM stored_events WHERE event_rowid > 21")
    result = checkup(signed)
    assert [each.code for each in result.findings] == [findings.TILE_MISMATCH]
    assert "leaves were removed from the end" in result.findings[0].text


def test_page_of_the_database_damaged(signed: Path) -> None:
    """A page of an index that only look-ups read: the leaves are whole, and are said to be."""
    database = signed / "events.sqlite"
    with tampering(signed) as connection:
        select = "SELECT rootpage FROM sqlite_master WHERE name = 'rounds_by_player'"
        (page,) = connection.execute(select).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    content = bytearray(database.read_bytes())
    content[(page - 1) * size : page * size] = bytes(size)
    database.write_bytes(content)
    result = checkup(signed)
    assert {each.code for each in result.findings} == {findings.DATABASE_DAMAGED}
    assert (good_size(result), result.damaged) == (21, [])


@pytest.mark.parametrize("stored", [0, 1, 2])
def test_a_tile_that_lacks_the_hashes_of_its_last_leaves(stored: int) -> None:
    leaves = [StoredLeaf(place, ROUND, place + 1, "CardDealt", b"%d" % place) for place in range(3)]
    tile = b"".join(leaf_hash(leaf.state) for leaf in leaves[:stored])
    found = list(check_tiles([leaves], 3, lambda level, index: tile))
    assert [(each.leaf_index, each.code) for each in found] == [
        (place, findings.TILE_MISMATCH) for place in range(stored, 3)
    ]
