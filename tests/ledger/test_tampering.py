"""Whoever can write the database but has no key: each alteration is found where it was made."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from shoeproof.ledger import findings
from shoeproof.ledger.errors import SigningRefused, StoreDamaged
from shoeproof.ledger.keys.key import parse_vkey
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.tree.merkle import leaf_hash, root_hash
from shoeproof.ledger.verify.whole import verify
from tests.ledger.helpers import (
    FIRST,
    ORIGIN,
    OTHER_ROUND,
    ROUND,
    TickingClock,
    alter,
    codes_at,
    free_of_constraints,
    opened,
    play,
    tampering,
)


def test_an_untouched_ledger_has_no_findings(played: Path) -> None:
    result = verify(played)
    assert (result.findings, result.size, result.open_rounds) == ([], FIRST + 8, 0)
    with Ledger.open(played) as ledger:
        assert result.anchor == ledger.public_keys()["operator"]


def test_tampered_byte_in_a_payload(played: Path) -> None:
    alter(played, FIRST + 3, b'"Td"', b'"Ad"')
    assert codes_at(played) == [
        (FIRST + 3, findings.SIGNATURE_INVALID),
        (FIRST + 4, findings.PREV_MISMATCH),
    ]


def test_tampered_byte_in_a_signature(played: Path) -> None:
    with Ledger.open(played) as ledger:
        last = ledger.events(ROUND)[-1].leaf
    alter(played, FIRST + 7, last[-40:-30], bytes(reversed(last[-40:-30])))
    assert codes_at(played) == [(FIRST + 7, findings.SIGNATURE_INVALID)]


def test_tampered_key_id(played: Path) -> None:
    with Ledger.open(played) as ledger:
        key_id = parse_vkey(ledger.public_keys()["settlement"]).key_id_hex.encode()
    alter(played, FIRST + 7, b"\n" + key_id, b"\n00000000")
    assert codes_at(played) == [(FIRST + 7, findings.KEY_NOT_VALID)]


def test_leaf_cut_short(played: Path) -> None:
    alter(played, FIRST + 7, b"==\n", b"==")
    assert codes_at(played) == [(FIRST + 7, findings.EVENT_UNREADABLE)]


def test_leaf_emptied(played: Path) -> None:
    with tampering(played) as connection:
        connection.execute("UPDATE stored_events SET state = 7 WHERE topic = 'RoundClosed'")
    assert codes_at(played) == [(FIRST + 7, findings.EVENT_UNREADABLE)]


def test_two_leaves_swapped(played: Path) -> None:
    with tampering(played) as connection:
        fetch = "SELECT state FROM stored_events WHERE topic = ?"
        (card,) = connection.execute(fetch, ("CardDealt",)).fetchone()
        (decision,) = connection.execute(fetch, ("DecisionMade",)).fetchone()
        swap = "UPDATE stored_events SET state = ? WHERE topic = ?"
        connection.execute(swap, (decision, "CardDealt"))
        connection.execute(swap, (card, "DecisionMade"))
    assert codes_at(played) == [
        (FIRST + 3, findings.SEQ_GAP),
        (FIRST + 3, findings.STREAM_MISMATCH),
        (FIRST + 4, findings.SEQ_GAP),
        (FIRST + 4, findings.STREAM_MISMATCH),
        (FIRST + 5, findings.SEQ_GAP),
    ]


def test_leaf_indices_reordered(played: Path) -> None:
    with tampering(played) as connection:
        rows = dict(
            connection.execute("SELECT leaf_index, event_rowid FROM leaves WHERE leaf_index >= 8")
        )
        connection.execute("DELETE FROM leaves WHERE leaf_index IN (8, 9)")
        connection.execute("INSERT INTO leaves VALUES (8, ?), (9, ?)", (rows[9], rows[8]))
    assert codes_at(played) == [
        (8, findings.SEQ_GAP),
        (9, findings.SEQ_GAP),
        (10, findings.SEQ_GAP),
    ]


def test_row_deleted_from_the_middle(played: Path) -> None:
    with tampering(played) as connection:
        connection.execute("DELETE FROM stored_events WHERE topic = 'CardDealt'")
    assert codes_at(played) == [
        (FIRST + 3, findings.LEAF_INDEX_GAP),
        (FIRST + 4, findings.SEQ_GAP),
    ]


def test_row_and_place_deleted_from_the_middle(played: Path) -> None:
    with tampering(played) as connection:
        connection.execute("DELETE FROM stored_events WHERE topic = 'CardDealt'")
        connection.execute("DELETE FROM leaves WHERE leaf_index = ?", (FIRST + 3,))
    assert codes_at(played) == [
        (FIRST + 3, findings.LEAF_INDEX_GAP),
        (FIRST + 4, findings.SEQ_GAP),
    ]


def test_whole_round_deleted(path: Path) -> None:
    with Ledger.init(path, ORIGIN, clock=TickingClock()) as ledger:
        play(ledger)
        play(ledger, OTHER_ROUND)
    with tampering(path) as connection:
        connection.execute("DELETE FROM stored_events WHERE originator_id = ?", (ROUND,))
        connection.execute("DELETE FROM leaves WHERE leaf_index BETWEEN 5 AND 12")
    result = verify(path)
    assert [(f.leaf_index, f.code, f.text) for f in result.findings] == [
        (FIRST, findings.LEAF_INDEX_GAP, "leaves 5 to 12 are missing")
    ]


def test_whole_round_deleted_and_the_rest_numbered_anew(path: Path) -> None:
    """No signature and no chain tells, but what the signers of the next round had seen."""
    with Ledger.init(path, ORIGIN, clock=TickingClock()) as ledger:
        play(ledger)
        play(ledger, OTHER_ROUND)
        before = root_hash([leaf_hash(leaf.state) for leaf in ledger.leaves(0, 13)])
    with tampering(path) as connection:
        connection.execute("DELETE FROM stored_events WHERE originator_id = ?", (ROUND,))
        connection.execute("DELETE FROM leaves WHERE leaf_index BETWEEN 5 AND 12")
        connection.execute("UPDATE leaves SET leaf_index = leaf_index - 8 WHERE leaf_index > 12")
    assert codes_at(path) == [(FIRST, findings.ANCHOR_MISMATCH)]
    with Ledger.open(path) as ledger:
        assert root_hash([leaf_hash(leaf.state) for leaf in ledger.leaves(0, 13)]) != before


def test_tail_deleted_is_noticed_at_the_next_append(ledger: Ledger) -> None:
    path = ledger.path
    assert path is not None
    play(ledger, length=5)
    with tampering(path) as connection:
        connection.execute("DELETE FROM stored_events WHERE event_rowid > 9")
        connection.execute("DELETE FROM leaves WHERE leaf_index >= 9")
    with pytest.raises(SigningRefused, match="had 10 leaves and has 9"):
        ledger.append((ROUND, opened()))
    # Whoever opens it now has seen nothing of what is gone, and nothing of it was signed.
    with Ledger.open(path) as again, pytest.raises(StoreDamaged, match="leaves were removed"):
        again.append((OTHER_ROUND, opened()))
    assert ledger.size() == 9


def test_place_deleted_but_not_the_row(played: Path) -> None:
    with tampering(played) as connection:
        connection.execute("DELETE FROM leaves WHERE leaf_index = 12")
    assert codes_at(played) == [(None, findings.LEAF_INDEX_GAP)]


def test_row_hidden_before_the_first_leaf(played: Path) -> None:
    with tampering(played) as connection:
        connection.execute("UPDATE leaves SET leaf_index = -1 WHERE leaf_index = 12")
    assert codes_at(played) == [(None, findings.LEAF_INDEX_GAP)]


def test_stream_column_edited(played: Path) -> None:
    with tampering(played) as connection:
        connection.execute(
            "UPDATE stored_events SET originator_id = ? WHERE topic = 'CardDealt'", (OTHER_ROUND,)
        )
    assert codes_at(played) == [(FIRST + 3, findings.STREAM_MISMATCH)]


def test_type_column_edited(played: Path) -> None:
    with tampering(played) as connection:
        connection.execute("UPDATE stored_events SET topic = 'X' WHERE topic = 'CardDealt'")
    assert codes_at(played) == [(FIRST + 3, findings.STREAM_MISMATCH)]


def test_closed_round_copied_whole(played: Path) -> None:
    with tampering(played) as connection, free_of_constraints(connection):
        connection.execute(
            "INSERT INTO loose SELECT event_rowid + 100, originator_id, originator_version,"
            " topic, state FROM loose WHERE event_rowid > 5"
        )
        connection.execute(
            "INSERT INTO leaves SELECT event_rowid - 101 + 8, event_rowid FROM loose"
            " WHERE event_rowid > 100"
        )
    assert (None, findings.SEQ_GAP) in codes_at(played)


def test_event_copied_from_another_ledger(played: Path, tmp_path: Path) -> None:
    with Ledger.init(tmp_path / "other", "other.example", clock=TickingClock()) as other:
        play(other, length=4)
        foreign = other.events(ROUND)[3].leaf
    with tampering(played) as connection:
        connection.execute(
            "UPDATE stored_events SET state = ? WHERE topic = 'CardDealt'", (foreign,)
        )
    assert codes_at(played) == [
        (FIRST + 3, findings.KEY_NOT_VALID),
        (FIRST + 4, findings.PREV_MISMATCH),
    ]


def test_look_up_index_is_never_trusted(played: Path) -> None:
    with tampering(played) as connection:
        connection.execute("UPDATE rounds SET state = 'open', first_leaf = 0, player = 'someone'")
    assert codes_at(played) == []


def test_trust_anchor_altered(played: Path) -> None:
    alter(played, 0, b'"operator"', b'"operatox"')
    result = verify(played)
    assert result.anchor is None
    assert {finding.code for finding in result.findings} >= {findings.KEY_NOT_VALID}
    assert result.findings[0].leaf_index == 0


@pytest.mark.parametrize("name", ["of monday", "13.note", "\u0661\u0663"])
def test_tail_cut_beside_a_checkpoint_under_another_name(played: Path, name: str) -> None:
    with Ledger.open(played) as ledger:
        sign_checkpoint(ledger)
        ledger.guard.create()
    (played / "checkpoints" / "13").rename(played / "checkpoints" / name)
    assert codes_at(played) == []
    with tampering(played) as connection:
        connection.execute("DELETE FROM leaves WHERE leaf_index = 12")
        connection.execute("DELETE FROM stored_events WHERE event_rowid = 13")
    assert codes_at(played) == [(None, findings.CHECKPOINT_MISMATCH)]


def test_a_store_whose_triggers_and_indexes_are_gone_is_read_all_the_same(played: Path) -> None:
    """No read is answered otherwise for that, and what was done without them is named."""
    with closing(sqlite3.connect(played / "events.sqlite")) as connection, connection:
        beside = "SELECT type, name FROM sqlite_master WHERE sql IS NOT NULL AND type <> 'table'"
        for kind, name in connection.execute(beside).fetchall():
            connection.execute(f"DROP {kind} {name}")
    assert codes_at(played) == []
    with closing(sqlite3.connect(played / "events.sqlite")) as connection, connection:
        connection.execute(
            "UPDATE stored_events SET state = replace(state, 'Td', 'Ad') WHERE topic = 'CardDealt'"
        )
    assert (FIRST + 3, findings.SIGNATURE_INVALID) in codes_at(played)
