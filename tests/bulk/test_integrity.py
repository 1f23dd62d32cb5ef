"""What an audit proves of a ledger's bytes, one test for each fault."""

import shutil
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec
import pytest

from shoeproof.ledger import Ledger, findings
from shoeproof.ledger.errors import NoteRefused
from shoeproof.ledger.findings import EVENT_UNREADABLE
from shoeproof.ledger.leaf.envelope import Event, payload, seal_leaf
from shoeproof.ledger.leaf.events import InputRefused, RoundClosed
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.store.transaction import SealedEvent
from shoeproof.ledger.verify.integrity import Integrity
from shoeproof.ledger.verify.whole import verify
from shoeproof.replay.audit.one_by_one import audit as scalar_audit
from shoeproof.replay.bulk.audit import LedgerAudit, audit
from shoeproof.replay.errors import ProgressUnusable
from shoeproof.replay.rounds.catalogue import add_published_games
from tests.attacks.helpers import rebuild_tiles, remove, store_twice
from tests.bulk.ledgers import damage, interleaved
from tests.ledger.helpers import alter, tampering
from tests.replay.helpers import ORIGIN, new_ledger

FIRST, SECOND = 14, 10
"""Rounds before the first checkpoint, and between it and the second."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes, bytes]:
    """A ledger with two checkpoints, both of which an auditor kept, and rounds after them."""
    path = tmp_path_factory.mktemp("integrity") / "ledger"
    with Ledger.init(path, ORIGIN) as ledger:
        add_published_games(ledger)
        interleaved(ledger, Random(1), FIRST)
        first = sign_checkpoint(ledger)
        interleaved(ledger, Random(2), SECOND)
        second = sign_checkpoint(ledger)
        interleaved(ledger, Random(3), 6)
    return path, first, second


@pytest.fixture
def path(made: tuple[Path, bytes, bytes], tmp_path: Path) -> Path:
    return Path(shutil.copytree(made[0], tmp_path / "ledger"))


def _size(note: bytes) -> int:
    return int(note.split(b"\n")[1])


def _audited(path: Path, **asked: Any) -> LedgerAudit:
    with Ledger.open(path) as ledger:
        return audit(ledger, **asked)


def _codes(proved: Integrity) -> set[str]:
    return {finding.code for finding in proved.findings}


def _places(proved: Integrity, code: str) -> list[int | None]:
    return [finding.leaf_index for finding in proved.findings if finding.code == code]


def test_a_sound_ledger(made: tuple[Path, bytes, bytes]) -> None:
    path, first, second = made
    told = _audited(path, checkpoint=first, sample=20)
    proved = told.integrity
    assert not proved.findings
    assert [(held.size, held.source, held.agrees) for held in proved.checkpoints] == [
        (_size(first), "given", True),
        (_size(second), "own", True),
    ]
    assert proved.covered == _size(second)
    checked = proved.signatures
    assert (checked.uncovered, checked.sampled) == (proved.size - _size(second), 20)
    assert not checked.disputed
    assert "which key signed each" in " ".join(proved.left_open)
    with Ledger.open(path) as ledger:
        assert told.rounds == scalar_audit(ledger)


def test_no_checkpoint_at_all(path: Path) -> None:
    shutil.rmtree(path / "checkpoints")
    proved = _audited(path).integrity
    assert (proved.covered, proved.signatures.uncovered) == (0, proved.size)
    assert not proved.findings


def test_every_signature_asked_for(path: Path) -> None:
    proved = _audited(path, every_signature=True).integrity
    assert (proved.covered, proved.signatures.uncovered) == (0, proved.size)
    assert all(held.agrees for held in proved.checkpoints)


@pytest.fixture(scope="module")
def troubled() -> Ledger:
    """Every kind of trouble, all of it under a checkpoint."""
    ledger = new_ledger()
    interleaved(ledger, Random(7), 40)
    damage(ledger)
    interleaved(ledger, Random(8), 10)
    return ledger


def test_the_same_however_cut(troubled: Ledger) -> None:
    note = sign_checkpoint(troubled)
    expected = audit(troubled, checkpoint=note, partitions=1, sample=0)
    assert expected.integrity.signatures.disputed > 10
    assert {findings.SEQ_GAP, findings.EVENT_AFTER_CLOSE} <= _codes(expected.integrity)
    for partitions in (2, 8, 50, 500):
        assert audit(troubled, checkpoint=note, partitions=partitions, sample=0) == expected


def test_every_signature_finds_what_verify_finds(troubled: Ledger) -> None:
    expected = [each for each in verify(troubled).findings if each.code != EVENT_UNREADABLE]
    for partitions in (1, 9):
        told = audit(troubled, every_signature=True, partitions=partitions)
        assert list(told.integrity.findings) == expected


def test_worker_processes_prove_the_same(path: Path) -> None:
    alone = _audited(path, sample=3, workers=1)
    assert _audited(path, sample=3, workers=2, partitions=7) == alone


def test_an_altered_leaf_under_the_checkpoint(path: Path, made: tuple[Path, bytes, bytes]) -> None:
    place = _size(made[1]) + 3
    with Ledger.open(path) as ledger:
        at = ledger.store.fetch(place, place + 1)[0].state[7:34]
    alter(path, place, at, at[:-2] + (b"1Z" if at[-2:-1] == b"0" else b"0Z"))
    proved = _audited(path).integrity
    assert _places(proved, findings.TILE_MISMATCH) == [place]
    assert f"leaf {place} is not what" in "".join(each.text for each in proved.findings)
    assert place in _places(proved, findings.SIGNATURE_INVALID)
    assert [held.agrees for held in proved.checkpoints] == [False]
    assert (proved.covered, proved.signatures.uncovered) == (0, proved.size)
    kept = _audited(path, checkpoint=made[1]).integrity
    assert kept.covered == _size(made[1])
    assert kept.signatures.uncovered == kept.size - kept.covered


def test_an_altered_leaf_and_tiles_made_to_fit(path: Path, made: tuple[Path, bytes, bytes]) -> None:
    first, second = _size(made[1]), _size(made[2])
    place = first + 3
    alter(path, place, b'"v":1', b'"v":2')
    with tampering(path) as connection:
        rebuild_tiles(connection)
    proved = _audited(path).integrity
    (mismatch,) = [each for each in proved.findings if each.code == findings.CHECKPOINT_MISMATCH]
    assert f"between leaf {first} and leaf {second - 1}" in mismatch.text


def test_history_written_anew_by_the_keys_holder(
    path: Path, made: tuple[Path, bytes, bytes], tmp_path: Path
) -> None:
    with tampering(path) as connection:
        remove(connection, "originator_id = 'rules'")
        rows = connection.execute("SELECT event_rowid FROM leaves ORDER BY leaf_index").fetchall()
        connection.execute("DELETE FROM leaves")
        connection.executemany(
            "INSERT INTO leaves VALUES (?, ?)", enumerate(row for (row,) in rows)
        )
        rebuild_tiles(connection)
    shutil.rmtree(path / "checkpoints")
    assert findings.CHECKPOINT_MISMATCH not in _codes(_audited(path).integrity)
    told = _audited(path, checkpoint=made[1])
    assert findings.CHECKPOINT_MISMATCH in _codes(told.integrity)
    # Rounds that name rules the ledger does not carry are findings; the rest is audited.
    assert told.rounds.closed_rounds > 10
    assert told.rounds.by_code["rules_digest_unknown"] >= told.rounds.closed_rounds


def test_a_column_that_says_something_else_than_the_leaf(
    path: Path, made: tuple[Path, bytes, bytes]
) -> None:
    with tampering(path) as connection:
        connection.execute("UPDATE stored_events SET topic = 'RoundClosed' WHERE event_rowid = 31")
    proved = _audited(path).integrity
    assert _places(proved, findings.STREAM_MISMATCH) == [30]
    assert findings.CHECKPOINT_MISMATCH not in _codes(proved)


class _Pretender(NamedTuple):
    """Signs with a key's id and without the key."""

    key_id_hex: str

    def sign(self, message: bytes) -> bytes:
        return bytes(64)


def _pretend(ledger: Ledger, stream: str) -> int:
    """Let nobody's key sign an event that follows in a round; return its leaf."""
    last = ledger.events(stream)[-1]
    data = InputRefused("s9 hit", "late")
    event = Event(
        1, ledger.origin, stream, last.event.seq + 1, "InputRefused", last.event.at,
        last.leaf_hash.hex(), data,
    )  # fmt: skip
    leaf = seal_leaf(payload(event), _Pretender(ledger.signer("engine").key_id_hex))
    return ledger.store.append([SealedEvent(stream, event.seq + 1, event.type, leaf)])[0]


def test_a_forged_signature_that_a_checkpoint_covers(path: Path) -> None:
    """Under a checkpoint of who wrote it only the signature tells, once somebody looks at it."""
    with Ledger.open(path) as ledger:
        place = _pretend(ledger, scalar_audit(ledger).open_rounds[0].round)
        sign_checkpoint(ledger)
    assert not _audited(path, sample=0).integrity.findings
    for asked in ({"sample": place + 1}, {"every_signature": True}):
        proved = _audited(path, **asked).integrity
        assert _places(proved, findings.SIGNATURE_INVALID) == [place]


def test_a_forged_signature_in_a_disputed_round(path: Path) -> None:
    with Ledger.open(path) as ledger:
        stream = scalar_audit(ledger).open_rounds[0].round
        place = _pretend(ledger, stream)
        ledger.append((stream, RoundClosed(total_paid_minor=1, total_staked_minor=2)))
        sign_checkpoint(ledger)
        length = len(ledger.events(stream))
    told = _audited(path, sample=0)
    assert {each.stream for each in told.rounds.findings} == {stream}
    assert _places(told.integrity, findings.SIGNATURE_INVALID) == [place]
    assert told.integrity.signatures.disputed == length


def test_every_leaf_of_a_disputed_round_is_looked_at(troubled: Ledger) -> None:
    told = audit(troubled, checkpoint=sign_checkpoint(troubled), sample=0)
    disputed = {each.stream for each in told.rounds.findings + told.integrity.findings}
    checked = told.integrity.signatures
    of_disputed = sum(leaf.stream in disputed for leaf in troubled.leaves())
    assert (checked.uncovered, checked.disputed) == (0, of_disputed)


def test_a_checkpoint_larger_than_the_ledger(path: Path, made: tuple[Path, bytes, bytes]) -> None:
    with tampering(path) as connection:
        remove(connection, f"event_rowid > {_size(made[2]) - 2}")
        rebuild_tiles(connection)
    proved = _audited(path).integrity
    (gone,) = [each for each in proved.findings if each.code == findings.CHECKPOINT_MISMATCH]
    assert "its tail is gone" in gone.text
    # The one before still covers what it did.
    assert [(held.size, held.agrees) for held in proved.checkpoints] == [(_size(made[1]), True)]


def test_a_checkpoint_of_another_ledger(path: Path, tmp_path: Path) -> None:
    with Ledger.init(tmp_path / "other", "other.example/blackjack") as other:
        foreign = sign_checkpoint(other)
    with pytest.raises(NoteRefused):
        _audited(path, checkpoint=foreign)
    with pytest.raises(NoteRefused):
        _audited(path, checkpoint=b"no checkpoint")


def test_a_ledger_that_grows_and_signs_meanwhile(path: Path) -> None:
    with Ledger.open(path) as growing:
        expected = audit(growing, partitions=4, sample=5)

        def grow(done: int, size: int) -> None:
            interleaved(growing, Random(done), 2)
            sign_checkpoint(growing)

        assert audit(growing, grow, partitions=4, sample=5) == expected


class _Interrupt(Exception):
    pass


def _interrupt(done: int, size: int) -> None:
    if done > size // 3:
        raise _Interrupt


def test_an_interrupted_audit_proves_the_same(path: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    alter(path, 40, b'"v":1', b'"v":2')
    with Ledger.open(path) as ledger:
        expected = audit(ledger, sample=2)
        with pytest.raises(_Interrupt):
            audit(ledger, _interrupt, partitions=9, notes=notes)
        interleaved(ledger, Random(5), 2)
        sign_checkpoint(ledger)
        assert audit(ledger, partitions=5, notes=notes, sample=2) == expected


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("peaks", "x"),
        ("peaks", ["x"]),
        ("peaks", []),
        ("covered", None),
        ("tails", []),
        ("keys", "00"),
    ],
)
def test_damaged_notes(path: Path, tmp_path: Path, field: str, value: object) -> None:
    notes = tmp_path / "notes"
    with Ledger.open(path) as ledger:
        with pytest.raises(_Interrupt):
            audit(ledger, _interrupt, partitions=9, notes=notes)
        told = msgspec.json.decode(notes.read_bytes())
        noted = told["integrity"]
        (noted["trust"] if field in noted["trust"] else noted)[field] = value
        notes.write_bytes(msgspec.json.encode(told))
        with pytest.raises(ProgressUnusable):
            audit(ledger, notes=notes)


def test_notes_of_an_audit_that_asked_for_something_else(path: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    with Ledger.open(path) as ledger:
        with pytest.raises(_Interrupt):
            audit(ledger, _interrupt, partitions=9, notes=notes)
        with pytest.raises(ProgressUnusable, match="another audit"):
            audit(ledger, notes=notes, every_signature=True)
        with pytest.raises(ProgressUnusable, match="another audit"):
            audit(ledger, notes=notes, from_leaf=3)


@pytest.mark.parametrize("kept", ["first", "second"])
def test_a_closed_round_stored_a_second_time(
    path: Path, made: tuple[Path, bytes, bytes], kept: str
) -> None:
    """Every signature and every link of a copy holds, and no checkpoint covers where it stands."""
    with Ledger.open(path) as ledger:
        size = ledger.size()
        closed = next(leaf.stream for leaf in ledger.leaves() if leaf.topic == "RoundClosed")
        copies = [leaf[1:] for leaf in ledger.store.stream(closed)]
    with tampering(path) as connection:
        store_twice(connection, size, copies)
    checkpoint = {"first": made[1], "second": made[2]}[kept]
    for partitions in (1, 5):
        told = _audited(path, checkpoint=checkpoint, sample=0, partitions=partitions)
        assert [(each.code, each.stream) for each in told.integrity.findings] == [
            (findings.SEQ_GAP, closed)
        ]
