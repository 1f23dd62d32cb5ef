"""A witness that is asked rightly, and one that is lied to."""

from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoeproof.ledger.checkpoint.note import (
    COSIGNATURE,
    NoteKey,
    parse_note,
    sign_note,
    verify_note,
)
from shoeproof.ledger.checkpoint.signed import Checkpoint, parse_checkpoint
from shoeproof.ledger.errors import (
    ClockBehind,
    KeyUnusable,
    LedgerExists,
    NotALedger,
    NotConsistent,
    NoteRefused,
    NotSignedByLog,
    OldSizeDiffers,
    StoreDamaged,
    UnknownLog,
)
from shoeproof.ledger.keys.key import FileSigner
from shoeproof.ledger.tree.merkle import consistency_proof, leaf_hash, root_hash
from shoeproof.ledger.witness.cosigner import SplitView, Witness
from shoeproof.ledger.witness.request import (
    CosignRequest,
    origin_digest,
    parse_request,
    with_cosignature,
)
from shoeproof.ledger.witness.witness_policy import parse_policy, require

ORIGIN = "log.example/bj"
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class Log:
    """A log that signs whatever it likes; `word` makes histories differ from their `fork` on."""

    def __init__(self, signer: FileSigner | None = None, word: str = "leaf", fork: int = 0) -> None:
        self.signer = signer or FileSigner(ORIGIN, Ed25519PrivateKey.generate())
        self.key = NoteKey(self.signer.name, self.signer.public_key)
        self._hashes = [
            leaf_hash(f"{'leaf' if index < fork else word} {index}".encode()) for index in range(64)
        ]

    def forked(self, at: int) -> "Log":
        return Log(self.signer, "another leaf", at)

    def note(self, size: int) -> bytes:
        return sign_note(Checkpoint(ORIGIN, size, root_hash(self._hashes[:size])).text, self.signer)

    def request(self, old: int, size: int) -> CosignRequest:
        def node(level: int, index: int) -> bytes:
            return root_hash(self._hashes[index << level : (index + 1) << level])

        return CosignRequest(old, tuple(consistency_proof(old, size, node)), self.note(size))


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def make(tmp_path: Path, log: Log) -> Callable[..., Witness]:
    def make_witness(moment: datetime = NOW) -> Witness:
        path = tmp_path / "witness"
        if not path.exists():
            Witness.init(path, "regulator.example", [log.key])
        return Witness.open(path, clock=lambda: moment)

    return make_witness


@pytest.fixture
def witness(make: Callable[..., Witness]) -> Witness:
    return make()


def evidence(witness: Witness) -> list[SplitView]:
    files = sorted((witness.path / "evidence").iterdir())
    return [msgspec.json.decode(file.read_bytes(), type=SplitView) for file in files]


def test_growing_log_is_cosigned_each_time(witness: Witness, log: Log) -> None:
    for old, size in ((0, 1), (1, 7), (7, 8), (8, 8), (8, 64)):
        request = log.request(old, size)
        assert parse_request(request.encode()) == request
        line = witness.cosign(request)
        _, [own] = verify_note(request.note + line, [witness.key])
        assert own.time == int(NOW.timestamp())
        kept = witness.last(origin_digest(ORIGIN))
        assert kept == request.note + line
    assert evidence(witness) == []


def test_same_checkpoint_again_is_dated_again(make: Callable[..., Witness], log: Log) -> None:
    """So that a log at rest can show that it has not been frozen."""
    make().cosign(log.request(0, 5))
    later = make(NOW + timedelta(days=1))
    request = later.request(log.note(5))
    cosigned = with_cosignature(request.note, later.key, later.cosign(request))
    policy = parse_policy(f"witness w {later.key.vkey}\nquorum w\n".encode())
    times = require(policy, cosigned, now=NOW + timedelta(days=1), max_age=timedelta(hours=1))
    assert list(times) == ["w"]
    again = with_cosignature(cosigned, later.key, later.cosign(CosignRequest(5, (), cosigned)))
    assert len(verify_note(again, [later.key])[1]) == 1


def test_fork_of_the_same_size(witness: Witness, log: Log) -> None:
    witness.cosign(log.request(0, 8))
    fork = log.forked(5)
    for old in (0, 8):
        with pytest.raises(NotConsistent, match=r"two different trees of 8 leaves; both notes"):
            witness.cosign(CosignRequest(old, (), fork.note(8)))
    first = evidence(witness)[0]
    assert parse_checkpoint(first.cosigned.encode()) == parse_checkpoint(log.note(8))
    assert first.refused.encode() == fork.note(8)
    # Both are signed by the log: that is what makes them evidence, without this witness's word.
    for text in (first.cosigned, first.refused):
        assert verify_note(text.encode(), [log.key])[1][0].key == log.key
    assert witness.cosign(log.request(8, 9))


def test_fork_that_grew(witness: Witness, log: Log) -> None:
    witness.cosign(log.request(0, 8))
    with pytest.raises(NotConsistent, match="not proven that the log only grew") as refused:
        witness.cosign(log.forked(5).request(8, 20))
    [kept] = evidence(witness)
    assert kept.refused.encode() == log.forked(5).note(20)
    assert kept.proof
    named = Path(str(refused.value).rsplit(" ", 1)[1])
    assert named.read_bytes() == next((witness.path / "evidence").iterdir()).read_bytes()


def test_rollback(witness: Witness, log: Log) -> None:
    witness.cosign(log.request(0, 20))
    with pytest.raises(OldSizeDiffers, match=r"proves no misconduct; both notes are in") as refused:
        witness.cosign(log.request(0, 12))
    assert refused.value.size == 20
    assert evidence(witness)[0].refused.encode() == log.note(12)
    assert witness.last(origin_digest(ORIGIN)) is not None


def test_same_evidence_is_kept_once(witness: Witness, log: Log) -> None:
    witness.cosign(log.request(0, 8))
    for _ in range(3):
        with pytest.raises(NotConsistent):
            witness.cosign(CosignRequest(8, (), log.forked(2).note(8)))
    assert len(evidence(witness)) == 1


def test_replayed_old_proof(witness: Witness, log: Log) -> None:
    witness.cosign(log.request(0, 4))
    witness.cosign(log.request(4, 8))
    with pytest.raises(OldSizeDiffers) as refused:
        witness.cosign(log.request(4, 9))
    assert (refused.value.size, evidence(witness)) == (8, [])


@pytest.mark.parametrize("wrong", ["missing", "cut", "longer", "altered", "of another size"])
def test_proof_that_proves_nothing(witness: Witness, log: Log, wrong: str) -> None:
    witness.cosign(log.request(0, 6))
    good = log.request(6, 13)
    proof = {
        "missing": (),
        "cut": good.proof[:-1],
        "longer": (*good.proof, bytes(32)),
        "altered": (bytes(32), *good.proof[1:]),
        "of another size": log.request(6, 14).proof[::-1],
    }[wrong]
    with pytest.raises(NotConsistent):
        witness.cosign(good._replace(proof=proof))
    assert witness.cosign(good)


def test_first_request_with_a_proof(witness: Witness, log: Log) -> None:
    with pytest.raises(NotConsistent):
        witness.cosign(CosignRequest(0, (bytes(32),), log.note(5)))


def test_empty_tree_has_one_root(witness: Witness, log: Log) -> None:
    bad = sign_note(Checkpoint(ORIGIN, 0, bytes(32)).text, log.signer)
    with pytest.raises(NotConsistent):
        witness.cosign(CosignRequest(0, (), bad))
    assert witness.cosign(log.request(0, 0))


def test_old_size_above_the_checkpoints(witness: Witness, log: Log) -> None:
    with pytest.raises(NoteRefused, match="larger tree"):
        witness.cosign(CosignRequest(9, (), log.note(5)))


def test_log_that_is_not_watched(witness: Witness) -> None:
    stranger = FileSigner("other.example", Ed25519PrivateKey.generate())
    note = sign_note(Checkpoint("other.example", 1, bytes(32)).text, stranger)
    with pytest.raises(UnknownLog, match=r"other\.example"):
        witness.cosign(CosignRequest(0, (), note))


def test_checkpoint_by_another_key(witness: Witness) -> None:
    with pytest.raises(NotSignedByLog, match="no key known here"):
        witness.cosign(Log().request(0, 5))
    assert witness.last(origin_digest(ORIGIN)) is None


def test_log_key_rotates_by_signing_with_both(make: Callable[..., Witness], log: Log) -> None:
    witness = make()
    witness.cosign(log.request(0, 5))
    new = Log()
    both = log.request(5, 9)
    text = both.note.decode().partition("\n\n")[0] + "\n"
    assert witness.cosign(both._replace(note=sign_note(text, log.signer, new.signer)))
    logs = witness.path / "logs"
    logs.write_text(f"log {log.key.vkey}\nlog {new.key.vkey}\nquorum none\n")
    text = log.note(12).decode().partition("\n\n")[0] + "\n"
    request = log.request(9, 12)._replace(note=sign_note(text, new.signer))
    assert make().cosign(request)


def test_clock_that_jumped_back(make: Callable[..., Witness], log: Log) -> None:
    make().cosign(log.request(0, 5))
    with pytest.raises(ClockBehind):
        make(NOW - timedelta(seconds=1)).cosign(log.request(5, 6))
    assert make().cosign(log.request(5, 6))


@pytest.mark.parametrize("content", [b"", b"not a note", None])
def test_memory_that_is_damaged(witness: Witness, log: Log, content: bytes | None) -> None:
    """A witness that forgot would cosign a second history: it stops instead."""
    witness.cosign(log.request(0, 5))
    place = witness.path / "seen" / origin_digest(ORIGIN)
    # None: an older note of the log, which this witness did not cosign.
    place.write_bytes(log.note(3) if content is None else content)
    with pytest.raises(
        StoreDamaged,
        match=f"{place}, the record of what was last cosigned for log.example/bj, is damaged",
    ):
        witness.cosign(log.request(5, 6))


def test_checkpoint_alone_needs_no_proof_only_the_first_time(witness: Witness, log: Log) -> None:
    witness.cosign(witness.request(log.note(5)))
    witness.cosign(witness.request(log.note(5)))
    with pytest.raises(OldSizeDiffers, match="witness request --old 5"):
        witness.request(log.note(6))
    with pytest.raises(OldSizeDiffers, match="both notes"):
        witness.cosign(witness.request(log.note(4)))
    witness.cosign(witness.request(log.request(5, 6).encode()))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"old 5\n",
        b"old 05\n\nx",
        b"old -1\n\nx",
        b"old +1\n\nx",
        b"old 9223372036854775808\n\nx",
        b"old 5 \n\nx",
        b"old 5\nAA==\n\nx",
        b"old 5\n" + b"A" * 43 + b"=\r\n\nx",
        b"old 5\n" + b"A" * 42 + b"B=\n\nx",
        b"old 5\n" + (b"A" * 43 + b"=\n") * 64 + b"\nx",
        b"old 5\n\n" + b"x" * (1 << 16),
    ],
)
def test_request_that_is_none(data: bytes) -> None:
    with pytest.raises(NoteRefused):
        parse_request(data)


def test_cosignature_replaces_an_older_one_and_leaves_others(witness: Witness, log: Log) -> None:
    other = FileSigner("other.example", Ed25519PrivateKey.generate())
    text = log.note(5).decode().partition("\n\n")[0] + "\n"
    note = sign_note(text, log.signer, other)
    line = witness.cosign(CosignRequest(0, (), note))
    assert witness.last(origin_digest(ORIGIN)) == log.note(5) + line
    assert with_cosignature(with_cosignature(note, witness.key, line), witness.key, line) == (
        note + line
    )


def test_directory_that_is_no_witness(tmp_path: Path) -> None:
    with pytest.raises(NotALedger, match="not a witness"):
        Witness.open(tmp_path)


def test_second_init_changes_nothing(witness: Witness, log: Log) -> None:
    with pytest.raises(LedgerExists):
        Witness.init(witness.path, "regulator.example", [log.key])
    assert Witness.open(witness.path).key == witness.key


def test_keys_that_are_not_what_they_should_be(tmp_path: Path, witness: Witness, log: Log) -> None:
    with pytest.raises(KeyUnusable, match="kind 4"):
        Witness.init(tmp_path / "a", "a", [witness.key])
    with pytest.raises(KeyUnusable, match="is not a valid name"):
        Witness.init(tmp_path / "a", "two words", [log.key])
    assert not (tmp_path / "a").exists()
    other = NoteKey("regulator.example", log.key.raw, COSIGNATURE)
    (witness.path / "witness.vkey").write_text(other.vkey + "\n")
    with pytest.raises(KeyUnusable, match="not the key"):
        Witness.open(witness.path)


def test_junk_lines_on_a_genuine_note_do_not_stop_the_witness(witness: Witness, log: Log) -> None:
    """A note may carry 100 signatures: kept with one more, it could not be read again."""
    witness.cosign(log.request(0, 5))
    genuine = log.request(5, 9)
    junk = "".join(
        f"\N{EM DASH} junk{number} {b64encode(bytes(68)).decode()}\n" for number in range(99)
    )
    cosigned = witness.cosigned(genuine._replace(note=genuine.note + junk.encode()))
    assert cosigned.startswith(genuine.note)
    assert len(parse_note(cosigned).signatures) == 2
    assert witness.last(origin_digest(ORIGIN)) == cosigned
    assert witness.cosign(log.request(9, 12))


def test_rubbish_proofs_with_an_old_checkpoint_are_one_piece_of_evidence(
    make: Callable[..., Witness], log: Log
) -> None:
    """Whoever asks chooses the proof, the other lines and when the witness dates its note anew."""
    make().cosign(log.request(0, 20))
    for number in range(3):
        witness = make(NOW + timedelta(days=number))
        witness.cosign(log.request(20, 20))
        line = f"\N{EM DASH} junk{number} {b64encode(bytes(68)).decode()}\n".encode()
        rubbish = (bytes([number]) * 32,)
        with pytest.raises(OldSizeDiffers):
            witness.cosign(CosignRequest(1, rubbish, log.note(12) + line))
    [kept] = evidence(witness)
    assert "proves no misconduct" in kept.why
    assert kept.refused.encode() == log.note(12)


def test_checkpoint_this_witness_cosigned_is_no_evidence(witness: Witness, log: Log) -> None:
    first = witness.cosigned(log.request(0, 12))
    witness.cosign(log.request(12, 20))
    with pytest.raises(OldSizeDiffers):
        witness.cosign(CosignRequest(1, (bytes(32),), first))
    with pytest.raises(NotConsistent):
        witness.cosign(log.request(20, 20)._replace(proof=(bytes(32),)))
    assert evidence(witness) == []


def test_larger_fork_with_a_lying_old_size_leaves_no_evidence(witness: Witness, log: Log) -> None:
    """As a log that lost count looks too: only the answer, where the witness stands, helps it."""
    witness.cosign(log.request(0, 8))
    with pytest.raises(OldSizeDiffers) as refused:
        witness.cosign(log.forked(5).request(3, 20))
    assert (refused.value.size, evidence(witness)) == (8, [])


def test_deleted_memory_does_not_let_a_fork_be_cosigned(witness: Witness, log: Log) -> None:
    witness.cosign(log.request(0, 5))
    place = witness.path / "seen" / origin_digest(ORIGIN)
    place.unlink()
    for note in (log.forked(2).note(7), log.note(5)):
        with pytest.raises(StoreDamaged, match=f"{place}, .* is missing: restore it"):
            witness.cosign(CosignRequest(0, (), note))
        with pytest.raises(StoreDamaged, match="is missing"):
            witness.request(note)
    with pytest.raises(KeyUnusable, match="already watched"):
        witness.watch(log.key)
    assert not place.exists()


def test_memory_of_a_log_is_there_before_its_first_checkpoint(witness: Witness, log: Log) -> None:
    digest = origin_digest(ORIGIN)
    assert (witness.path / "seen" / digest).read_bytes()
    assert witness.last(digest) is None
    assert witness.cosign(log.request(0, 5))


def test_log_added_later_is_watched_from_the_empty_tree(
    make: Callable[..., Witness], log: Log
) -> None:
    other = FileSigner("other.example", Ed25519PrivateKey.generate())
    make().watch(NoteKey(other.name, other.public_key))
    note = sign_note(Checkpoint("other.example", 1, bytes(32)).text, other)
    assert make().cosign(CosignRequest(0, (), note))
    assert make().cosign(log.request(0, 5))
