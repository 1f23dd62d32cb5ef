"""What a checkpoint covers is proved before it is counted; what is objected to is not counted."""

from pathlib import Path
from typing import Any

import pytest

from shoeproof.audit_reports.errors import LeafRefused
from shoeproof.audit_reports.rows import verified as verification
from shoeproof.audit_reports.tables import projection as projections
from shoeproof.audit_reports.tables.projection import open_projection
from shoeproof.ledger import Ledger
from shoeproof.ledger.checkpoint.note import sign_note
from shoeproof.ledger.checkpoint.signed import Checkpoint
from shoeproof.ledger.findings import CHECKPOINT_MISMATCH, KEY_NOT_VALID, SIGNATURE_INVALID
from shoeproof.ledger.leaf.events import KeyRevoked
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.verify import ranges as checked_ranges
from shoeproof.ledger.verify.batch import LeafBatch
from shoeproof.replay.rounds.catalogue import add_published_games
from tests.audit_reports.helpers import (
    begun,
    closed,
    contents,
    counted,
    go_on,
    play,
    settled,
    simple,
)
from tests.ledger.helpers import alter, tampering


def checkpoint(ledger: Ledger) -> int:
    sign_checkpoint(ledger)
    return ledger.size()


def sign_into(path: Path, ledger: Ledger, said: Checkpoint) -> None:
    """Keep a checkpoint that only a holder of the keys could sign."""
    note = sign_note(said.text, *ledger.signers("log"))
    (path / "checkpoints").mkdir(exist_ok=True)
    (path / "checkpoints" / str(said.size)).write_bytes(note)


def test_a_ledger_in_memory_is_read_by_no_other_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(verification, "SHARED_FROM", 0)
    monkeypatch.setattr("shoeproof.ledger.verify.workers.SHARED_FROM", 0)
    with Ledger.in_memory("test.example/memory") as ledger:
        add_published_games(ledger)
        play(ledger, simple(200))
        with open_projection(ledger) as projection:
            assert projection.update().size == ledger.size()
            assert counted(projection) == [(1, 200, 0)]


def test_a_checkpoint_spares_signatures_and_vouches_for_its_leaves(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(ledger, simple(200))
    covered = checkpoint(ledger)
    play(ledger, simple(0))
    ranges: list[tuple[int, int]] = []
    check = checked_ranges.check_range

    def checking(leaves: LeafBatch, start: int, stop: int, *others: Any) -> Any:
        answer = check(leaves, start, stop, *others)
        ranges.append((stop - start, answer.check.run.verified))
        return answer

    monkeypatch.setattr(verification, "check_range", checking)
    with open_projection(ledger) as projection:
        state = projection.update()
    assert state.covered == covered
    assert ranges == [(covered, 0), (ledger.size() - covered,) * 2]


def test_a_later_checkpoint_vouches_for_what_was_projected_before_it(ledger: Ledger) -> None:
    round_id = play(ledger, begun({"s1": {"main": 100}}))
    with open_projection(ledger) as projection:
        assert projection.update().covered == 0
        # Of what stands now, and of more than was projected.
        assert projection.update().covered == 0
        covered = checkpoint(ledger)
        state = projection.update()
        assert (state.start, state.covered) == (covered, covered)
        go_on(ledger, round_id, closed([settled("s1", 100, 200)]))
        covered = checkpoint(ledger)
        play(ledger, simple(0))
        assert projection.update().covered == covered
        going_on = contents(projection)
    with open_projection(ledger, rebuild=True) as projection:
        projection.update()
        assert contents(projection) == going_on


@pytest.mark.parametrize("run", [1, 1024])
def test_under_a_checkpoint_a_forged_leaf_is_named_and_not_counted(
    ledger: Ledger, path: Path, monkeypatch: pytest.MonkeyPatch, run: int
) -> None:
    monkeypatch.setattr(verification, "RUN", run)
    monkeypatch.setattr(projections, "COMMIT_LEAVES", 1)
    play(ledger, simple(200))
    altered = ledger.size() - 3
    checkpoint(ledger)
    ledger.close()
    alter(path, altered, b'"paid_minor":200', b'"paid_minor":900')
    with Ledger.open(path) as opened, open_projection(opened) as projection:
        with pytest.raises(LeafRefused) as refused:
            projection.update()
        assert refused.value.finding.code == SIGNATURE_INVALID
        assert refused.value.finding.leaf_index == altered
        # In ranges of one leaf, those before it are proven to begin the checkpoint's tree.
        assert sum(paid for _, paid, _ in counted(projection)) == 0


def test_where_only_the_stored_tree_is_damaged_all_leaves_are_hashed_up_to_the_root(
    ledger: Ledger, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "RUN", 3)
    play(ledger, simple(200))
    play(ledger, simple(0))
    checkpoint(ledger)
    ledger.close()
    with tampering(path) as connection:
        connection.execute("UPDATE tiles SET hashes = substr(hashes, 1, 32) || zeroblob(32)")
    hashed: list[tuple[int, int]] = []
    hashing = verification._hashed

    def counting(fetch: Any, start: int, stop: int) -> tuple[bytes, ...]:
        hashed.append((start, stop))
        return hashing(fetch, start, stop)

    monkeypatch.setattr(verification, "_hashed", counting)
    with Ledger.open(path) as opened, open_projection(opened) as projection:
        state = projection.update()
        assert state.size == opened.size()
        assert counted(projection)[0][0] == 2
        assert hashed == [(0, opened.size())]


def test_a_checkpoint_vouches_also_where_a_damaged_tree_proves_nothing(
    ledger: Ledger, path: Path
) -> None:
    play(ledger, simple(200))
    covered = checkpoint(ledger)
    # It writes once more before the damage: after it no ledger that is opened would be written.
    play(ledger, simple(0))
    with tampering(path) as connection:
        altered = "CAST(zeroblob(32) || substr(hashes, 33) AS BLOB)"
        connection.execute(f"UPDATE tiles SET hashes = {altered}")
    with open_projection(ledger) as projection:
        # Its signatures were spared, so that nothing else vouches for them.
        assert projection.update().covered == covered
    with open_projection(ledger) as projection:
        play(ledger, simple(0))
        assert projection.update().covered == covered


def test_a_checkpoint_of_other_leaves_vouches_for_none_that_were_projected_before_it(
    ledger: Ledger, path: Path
) -> None:
    play(ledger, simple(200))
    with open_projection(ledger) as projection:
        assert projection.update().covered == 0
        other = Checkpoint(ledger.origin, ledger.size(), b"\1" * 32)
        sign_into(path, ledger, other)
        play(ledger, simple(0))
        assert projection.update().covered == 0
        assert projection.update().covered == 0


def test_history_rewritten_by_who_holds_the_keys_is_refused(ledger: Ledger, path: Path) -> None:
    play(ledger, simple(200))
    agreeing = checkpoint(ledger)
    play(ledger, simple(200))
    other = Checkpoint(ledger.origin, ledger.size(), b"\1" * 32)
    sign_into(path, ledger, other)
    with open_projection(ledger) as projection:
        with pytest.raises(LeafRefused, match="not those the checkpoint was signed for") as refused:
            projection.update()
        assert refused.value.finding.leaf_index == agreeing
        assert contents(projection)["rounds"] == []
        assert projection.update(verified_only=True).size == agreeing
        assert counted(projection)[0][0] == 1


def test_a_tail_cut_off_under_a_checkpoint_is_refused(ledger: Ledger, path: Path) -> None:
    play(ledger, simple(200))
    size = checkpoint(ledger)
    ledger.close()
    with tampering(path) as connection:
        connection.execute("DELETE FROM leaves WHERE leaf_index = ?", (size - 1,))
    with Ledger.open(path) as opened, open_projection(opened) as projection:
        with pytest.raises(LeafRefused, match="tail is gone") as refused:
            projection.update()
        assert refused.value.finding.code == CHECKPOINT_MISMATCH
        state = projection.update(verified_only=True)
        assert state.size == size - 1
        assert state.objection == refused.value.finding


def test_only_what_stands_before_the_objection_is_counted_when_asked(
    ledger: Ledger, path: Path
) -> None:
    play(ledger, simple(200))
    play(ledger, simple(200))
    altered = ledger.size() - 3
    play(ledger, simple(0))
    ledger.close()
    alter(path, altered, b'"paid_minor":200', b'"paid_minor":900')
    with Ledger.open(path) as opened, open_projection(opened) as projection:
        for _ in range(2):
            state = projection.update(verified_only=True)
            assert state.size == altered
            assert state.objection is not None
            assert state.objection.code == SIGNATURE_INVALID
            assert counted(projection) == [(1, 200, 1)]


def test_before_a_key_was_revoked_into_the_past_its_leaves_count_when_asked(
    ledger: Ledger,
) -> None:
    play(ledger, simple(200))
    key = ledger.signer("settlement")
    first = ledger.size()
    play(ledger, simple(0))
    ledger.append(("keys", KeyRevoked(key.name, key.key_id_hex, first, "stolen")))
    with open_projection(ledger) as projection:
        state = projection.update(verified_only=True)
        assert state.objection is not None
        assert state.objection.code == KEY_NOT_VALID
        assert counted(projection) == [(1, 200, 1)]


def test_a_sound_ledger_has_no_objection(ledger: Ledger) -> None:
    play(ledger, simple(200))
    with open_projection(ledger) as projection:
        state = projection.update(verified_only=True)
        assert (state.size, state.objection) == (ledger.size(), None)
