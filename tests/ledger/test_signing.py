"""The guard: what it remembers, what it refuses, and what it says then."""

import threading
from pathlib import Path

import pytest

from shoeproof.ledger import findings
from shoeproof.ledger.checkpoint.signed import log_keys, parse_checkpoint, verify_checkpoint
from shoeproof.ledger.errors import NoteRefused, SigningRefused
from shoeproof.ledger.keys.key import parse_vkey
from shoeproof.ledger.leaf.events import KeyRevoked
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.store.kept_checkpoints import kept_checkpoints
from shoeproof.ledger.tree.merkle import leaf_hash, root_hash
from shoeproof.ledger.verify.fsck import fsck
from shoeproof.ledger.verify.whole import verify
from tests.ledger.helpers import (
    FIRST,
    ORIGIN,
    OTHER_ROUND,
    ROUND,
    TickingClock,
    alter,
    append_raw,
    codes,
    cut_tiles,
    play,
    round_id,
    short_round,
    tampering,
    unguarded,
)


def test_a_checkpoint_says_the_size_and_the_root_and_is_the_logs(ledger: Ledger) -> None:
    play(ledger)
    note = sign_checkpoint(ledger)
    hashes = [leaf_hash(leaf.state) for leaf in ledger.leaves()]
    keys = log_keys(ledger.key_ring(), ORIGIN, ledger.size())
    head = verify_checkpoint(note, keys, ORIGIN).checkpoint
    assert head == (ORIGIN, FIRST + 8, root_hash(hashes))
    assert [key.vkey for key in keys] == [ledger.public_keys()["log"]]
    assert [key.name for key in keys] == [ORIGIN]


def test_signing_the_same_tree_again_gives_the_same_note(ledger: Ledger) -> None:
    note = sign_checkpoint(ledger)
    assert sign_checkpoint(ledger) == note
    play(ledger)
    later = sign_checkpoint(ledger)
    assert ledger.path is not None
    assert list(kept_checkpoints(ledger.path)) == [later, note]


def test_a_ledger_in_memory_signs_too() -> None:
    with Ledger.in_memory(ORIGIN, clock=TickingClock()) as ledger:
        first = sign_checkpoint(ledger)
        play(ledger)
        sign_checkpoint(ledger)
        assert verify(ledger, checkpoint=first).covered == FIRST


def test_guard_missing(ledger: Ledger) -> None:
    assert ledger.path is not None
    (ledger.path / "guard").unlink()
    with pytest.raises(SigningRefused, match=r"is missing.*restore the newest copy"):
        sign_checkpoint(ledger)
    assert [each.code for each in fsck(ledger).findings] == [findings.GUARD_DAMAGED]


@pytest.mark.parametrize(
    ("old", "new"),
    [('"size":5', '"size":4'), ('"root":"', '"root":"00'), (ORIGIN, "other"), ("{", "")],
)
def test_guard_damaged(ledger: Ledger, old: str, new: str) -> None:
    assert ledger.path is not None
    sign_checkpoint(ledger)
    guard = ledger.path / "guard"
    text = guard.read_text()
    assert old in text
    guard.write_text(text.replace(old, new, 1))
    with pytest.raises(SigningRefused, match="is damaged or belongs to another ledger"):
        sign_checkpoint(ledger)


def test_refused_signing_changes_nothing(ledger: Ledger) -> None:
    assert ledger.path is not None
    play(ledger)
    alter(ledger.path, FIRST + 3, b'"Td"', b'"Ad"')
    guard = (ledger.path / "guard").read_bytes()
    with pytest.raises(SigningRefused, match="fsck"):
        sign_checkpoint(ledger)
    assert (ledger.path / "guard").read_bytes() == guard
    assert list(kept_checkpoints(ledger.path)) == []


def test_signers_wait_for_each_other(ledger: Ledger) -> None:
    assert ledger.path is not None
    path, notes = ledger.path, []

    def sign() -> None:
        with Ledger.open(path) as other:
            notes.append(sign_checkpoint(other))

    with ledger.guard.locked():
        thread = threading.Thread(target=sign)
        thread.start()
        thread.join(0.2)
        assert thread.is_alive()
    thread.join(10)
    assert len(notes) == 1


def test_checkpoint_by_a_log_key_distrusted_from_before_is_refused(played: Path) -> None:
    with Ledger.open(played) as ledger:
        early = sign_checkpoint(ledger)
        play(ledger, OTHER_ROUND)
        late = sign_checkpoint(ledger)
        log = parse_vkey(ledger.public_keys()["log"])
        stop = parse_checkpoint(early).size
        ledger.append(("keys", KeyRevoked(log.name, log.key_id_hex, stop, "copied")))
        # The later one is kept in the ledger's directory, where nobody vouches for it any more.
        (found,) = verify(ledger, checkpoint=early).findings
        assert found.code == findings.CHECKPOINT_MISMATCH
        assert "no key known here signed this checkpoint of 21 leaves" in found.text
        unknown = rf"its log key .*\+{log.key_id_hex} is not one this ledger has, or is revoked"
        with pytest.raises(NoteRefused, match=unknown):
            verify(ledger, checkpoint=late)


def test_kept_checkpoint_spares_signatures_but_not_those_after_it(played: Path) -> None:
    with Ledger.open(played) as ledger:
        kept = sign_checkpoint(ledger)
        play(ledger, OTHER_ROUND, length=4)
        result = verify(ledger, checkpoint=kept)
        assert (result.covered, result.sampled, result.findings) == (FIRST + 8, FIRST + 8, [])
        every = verify(ledger, checkpoint=kept, every_signature=True)
        assert (every.covered, every.sampled, every.findings) == (0, 0, [])
        size = ledger.size()
    alter(played, size - 1, b'"Td"', b'"Ad"')
    assert [each.code for each in verify(played, checkpoint=kept).findings] == [
        findings.SIGNATURE_INVALID
    ]


def test_stream_that_goes_on_after_the_kept_checkpoint(played: Path) -> None:
    """What it follows is under the checkpoint, hashed but not scanned."""
    with Ledger.open(played) as ledger:
        play(ledger, OTHER_ROUND, length=4)
        kept = sign_checkpoint(ledger)
        for number in (4, 5):
            ledger.append((OTHER_ROUND, short_round()[number]))
        assert verify(ledger, checkpoint=kept).findings == []


def test_altered_leaf_under_the_kept_checkpoint_is_named(played: Path) -> None:
    """Where hashes disagree every signature is checked, so that the place is told."""
    with Ledger.open(played) as ledger:
        kept = sign_checkpoint(ledger)
    alter(played, FIRST + 3, b'"Td"', b'"Ad"')
    found = verify(played, checkpoint=kept).findings
    assert [(each.leaf_index, each.code) for each in found] == [
        (FIRST + 3, findings.SIGNATURE_INVALID),
        (FIRST + 4, findings.PREV_MISMATCH),
        (None, findings.CHECKPOINT_MISMATCH),
    ]


def test_checkpoint_of_another_log(played: Path, tmp_path: Path) -> None:
    with Ledger.init(tmp_path / "other", "other.example") as other:
        foreign = sign_checkpoint(other)
    with Ledger.init(tmp_path / "forged", ORIGIN) as forged:
        play(forged, round_id(1))
        named_alike = sign_checkpoint(forged)
    for note in (foreign, named_alike, b"not a note"):
        with pytest.raises(NoteRefused):
            verify(played, checkpoint=note)


def test_blocks_shared_between_processes_give_the_same_root(
    played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoeproof.ledger.verify.rebuild_tree.BLOCK", 4)
    monkeypatch.setattr("shoeproof.ledger.verify.rebuild_tree.SHARED_FROM", 0)
    monkeypatch.setattr("shoeproof.ledger.verify.workers.SHARED_FROM", 0)
    with Ledger.open(played) as ledger:
        kept = sign_checkpoint(ledger)
        assert verify(ledger, checkpoint=kept, workers=2).findings == []


@pytest.fixture
def cut(played: Path) -> Path:
    """A ledger whose directory keeps notes of 13 and of 21 leaves, and whose store has 13."""
    with Ledger.open(played) as ledger:
        sign_checkpoint(ledger)
        play(ledger, OTHER_ROUND)
        sign_checkpoint(ledger)
    with tampering(played) as connection:
        connection.execute("DELETE FROM leaves WHERE leaf_index > 12")
        connection.execute("DELETE FROM stored_events WHERE event_rowid > 13")
    return played


TAIL_GONE = "a checkpoint covers 21 leaves, but the ledger has 13: its tail is gone"


def test_a_ledger_is_held_to_what_its_directory_keeps(cut: Path) -> None:
    first = (cut / "checkpoints" / "13").read_bytes()
    for checkpoint in (None, first):
        result = verify(cut, checkpoint=checkpoint)
        assert [(each.code, each.text) for each in result.findings] == [
            (findings.CHECKPOINT_MISMATCH, TAIL_GONE)
        ]
        assert [(each.size, each.agrees) for each in result.held] == [(13, True), (21, False)]


def test_a_ledger_is_held_to_its_guard(cut: Path) -> None:
    """Whoever removes the notes has not yet changed what was signed last."""
    (cut / "checkpoints" / "21").unlink()
    assert [each.text for each in verify(cut).findings] == [TAIL_GONE]


def test_a_guard_that_cannot_be_read_is_told(cut: Path) -> None:
    (cut / "checkpoints" / "21").unlink()
    (guard,) = cut.glob("guard*")
    guard.write_text("{}")
    assert [each.code for each in verify(cut).findings] == [findings.GUARD_DAMAGED]


def test_a_ledger_that_went_on_from_less_than_was_signed(cut: Path) -> None:
    """Where as many leaves came again they are others, and one finding names the smallest tree."""
    with Ledger.open(cut) as ledger:
        assert ledger.size() == 13
    with tampering(cut) as connection:
        cut_tiles(connection, 13)
    with unguarded(cut), Ledger.open(cut) as ledger:
        play(ledger, round_id(7), length=8)
        play(ledger, round_id(8), length=8)
    first = (cut / "checkpoints" / "13").read_bytes()
    for checkpoint in (None, first):
        result = verify(cut, checkpoint=checkpoint)
        assert [each.text for each in result.findings] == [
            "the first 21 leaves are not those the checkpoint was signed for"
        ]


def test_every_kept_note_of_a_sound_ledger_agrees(played: Path) -> None:
    notes = []
    with Ledger.open(played) as ledger:
        for number in range(3):
            notes.append(sign_checkpoint(ledger))
            play(ledger, round_id(number))
        sizes = [parse_checkpoint(note).size for note in notes]
        for checkpoint in (None, *notes):
            result = verify(ledger, checkpoint=checkpoint)
            assert result.findings == []
            assert [(each.size, each.agrees) for each in result.held] == [
                (size, True) for size in sizes
            ]


def relabel(path: Path, leaf_index: int, **columns: str) -> None:
    """Change the columns beside a leaf, which no hash covers."""
    with tampering(path) as connection:
        for column, value in columns.items():
            connection.execute(
                f"UPDATE stored_events SET {column} = ? WHERE event_rowid ="
                " (SELECT event_rowid FROM leaves WHERE leaf_index = ?)",
                (value, leaf_index),
            )


def test_revocation_under_the_kept_checkpoint_relabelled(path: Path) -> None:
    """The bytes are proven, so they say which keys are revoked, whatever the columns say."""
    with Ledger.init(path, ORIGIN, clock=TickingClock()) as ledger:
        play(ledger, length=4)
        engine = parse_vkey(ledger.public_keys()["engine"])
        [revoked] = ledger.append(
            ("keys", KeyRevoked(engine.name, engine.key_id_hex, ledger.size(), "stolen"))
        )
        kept = sign_checkpoint(ledger)
        prev = leaf_hash(ledger.events(ROUND)[-1].leaf).hex()
        append_raw(ledger, short_round()[4], seq=4, prev=prev)
    relabel(path, revoked.leaf_index, originator_id=OTHER_ROUND, topic="CardDealt")
    assert codes(verify(path, checkpoint=kept)) == [
        (revoked.leaf_index, findings.STREAM_MISMATCH),
        (revoked.leaf_index + 1, findings.KEY_NOT_VALID),
    ]


@pytest.mark.parametrize("columns", [{"topic": "CardDealt"}, {"originator_id": OTHER_ROUND}])
def test_end_of_a_round_under_the_kept_checkpoint_relabelled(
    played: Path, columns: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What follows a covered event is held to its content: closed is closed."""
    monkeypatch.setattr("shoeproof.ledger.verify.whole.SAMPLE", 0)
    with Ledger.open(played) as ledger:
        kept = sign_checkpoint(ledger)
        prev = leaf_hash(ledger.events(ROUND)[-1].leaf).hex()
        append_raw(ledger, short_round()[5], seq=8, prev=prev)
    relabel(played, FIRST + 7, **columns)
    assert codes(verify(played, checkpoint=kept)) == [(FIRST + 8, findings.EVENT_AFTER_CLOSE)]


def test_round_forked_past_a_closing_event_under_the_kept_checkpoint(
    played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row of the end is relabelled away, and its place in the round given to another event."""
    monkeypatch.setattr("shoeproof.ledger.verify.whole.SAMPLE", 0)
    with Ledger.open(played) as ledger:
        kept = sign_checkpoint(ledger)
        prev = leaf_hash(ledger.events(ROUND)[-2].leaf).hex()
    relabel(played, FIRST + 7, originator_id=OTHER_ROUND)
    with Ledger.open(played) as ledger:
        append_raw(ledger, short_round()[5], seq=7, prev=prev)
    assert codes(verify(played, checkpoint=kept)) == [
        (FIRST + 8, findings.EVENT_AFTER_CLOSE),
        (FIRST + 8, findings.SEQ_GAP),
    ]


def test_clock_going_back_right_after_the_kept_checkpoint(ledger: Ledger) -> None:
    play(ledger, length=4)
    kept = sign_checkpoint(ledger)
    prev = leaf_hash(ledger.events(ROUND)[-1].leaf).hex()
    append_raw(ledger, short_round()[4], seq=4, prev=prev, at="2026-01-01T00:00:00.000000Z")
    assert codes(verify(ledger, checkpoint=kept)) == [(FIRST + 4, findings.CLOCK_BACKWARDS)]
