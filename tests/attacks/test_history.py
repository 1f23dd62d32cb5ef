"""Attackers who hold everything: database, every key, the guard. Others hold what they kept."""

import shutil
from base64 import b64encode
from pathlib import Path

import pytest

from shoeproof.ledger import findings
from shoeproof.ledger.checkpoint.proof import parse_head
from shoeproof.ledger.checkpoint.signed import parse_checkpoint
from shoeproof.ledger.errors import (
    KeyUnusable,
    ProofRefused,
    PublishRefused,
    SigningRefused,
    StreamConflict,
)
from shoeproof.ledger.exchange.bundle import make_bundle, parse_bundle, verify_bundle
from shoeproof.ledger.exchange.publish import publish
from shoeproof.ledger.leaf.events import RoundVoided
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.tree.merkle import leaf_hash, verify_consistency, verify_inclusion
from shoeproof.ledger.verify.whole import verify
from tests.attacks.conftest import Scene
from tests.attacks.helpers import NOT_WHAT_WAS_SIGNED, found, found_with_kept
from tests.ledger.helpers import (
    ORIGIN,
    OTHER_ROUND,
    ROUND,
    TickingClock,
    play,
    round_id,
    short_round,
)


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """The ledger with all its keys as it was after its first round."""
    path = tmp_path / "backup"
    with Ledger.init(path, ORIGIN, clock=TickingClock()) as ledger:
        play(ledger)
    return path


@pytest.fixture
def grown(backup: Path, tmp_path: Path) -> Scene:
    """The same ledger later, with a checkpoint that somebody kept."""
    path = Path(shutil.copytree(backup, tmp_path / "grown"))
    with Ledger.open(path) as ledger:
        play(ledger, OTHER_ROUND)
        return Scene(path, ledger.public_keys()["operator"], sign_checkpoint(ledger))


def test_rewrite_by_the_log_keys_holder_after_a_kept_checkpoint(grown: Scene, backup: Path) -> None:
    """Every signature is right, the new checkpoint too; only the kept one tells."""
    with Ledger.open(backup) as ledger:
        ledger.append((OTHER_ROUND, short_round()[0]), (OTHER_ROUND, RoundVoided("unread", [])))
        play(ledger, round_id(1))
        sign_checkpoint(ledger)
    rewritten = Scene(backup, grown.public_key, grown.kept)
    assert found(rewritten) == []
    assert found_with_kept(rewritten) == [NOT_WHAT_WAS_SIGNED]


def test_fork_shown_to_two_auditors(grown: Scene, tmp_path: Path) -> None:
    fork = Path(shutil.copytree(grown.path, tmp_path / "fork"))
    notes = []
    for path, stream in ((grown.path, round_id(1)), (fork, round_id(2))):
        with Ledger.open(path) as ledger:
            play(ledger, stream)
            notes.append(sign_checkpoint(ledger))
    one, other = map(parse_checkpoint, notes)
    assert (one.size, one.root != other.root) == (other.size, True)
    with pytest.raises(ProofRefused, match="two different roots"):
        verify_consistency(one.size, one.root, other.size, other.root, [])
    result = verify(fork, public_key=grown.public_key, checkpoint=notes[0])
    assert [each.code for each in result.findings] == [findings.CHECKPOINT_MISMATCH]


def test_rollback_from_a_backup(grown: Scene, backup: Path) -> None:
    (grown.path / "events.sqlite").write_bytes((backup / "events.sqlite").read_bytes())
    with (
        Ledger.open(grown.path) as ledger,
        pytest.raises(SigningRefused, match="13 leaves, but 21 were signed: it was restored from"),
    ):
        sign_checkpoint(ledger)
    assert found_with_kept(grown) == [NOT_WHAT_WAS_SIGNED]


def test_two_writers(grown: Scene, backup: Path) -> None:
    """At one database the second is refused; at two copies the guard, and what was kept, tells."""
    with Ledger.open(grown.path) as one, Ledger.open(grown.path) as other:
        play(one, round_id(1), length=2)
        other.append((round_id(1), short_round()[2]))
        with pytest.raises(StreamConflict):
            one.append((round_id(1), short_round()[2]))
    with Ledger.open(backup) as ledger:
        play(ledger, round_id(1))
        play(ledger, round_id(2))
    (grown.path / "events.sqlite").write_bytes((backup / "events.sqlite").read_bytes())
    with (
        Ledger.open(grown.path) as ledger,
        pytest.raises(SigningRefused, match="a second writer went on from a copy"),
    ):
        sign_checkpoint(ledger)
    assert found_with_kept(grown) == [NOT_WHAT_WAS_SIGNED]


def test_stale_checkpoint_shown_for_ever(grown: Scene, tmp_path: Path) -> None:
    """Who kept a later one sees that the log was frozen; what is published cannot go back."""
    with Ledger.open(grown.path) as ledger:
        play(ledger, round_id(1))
        later = sign_checkpoint(ledger)
        stale = make_bundle(ledger, ROUND, checkpoint=grown.kept)
        verify_bundle(stale, grown.public_key)
        with pytest.raises(ProofRefused, match="does not connect to the kept checkpoint"):
            verify_bundle(stale, grown.public_key, later)
        publish(ledger, tmp_path / "published")
        with pytest.raises(PublishRefused, match="this one has only 21"):
            publish(ledger, tmp_path / "published", grown.kept)


def test_old_proof_replayed(grown: Scene) -> None:
    """A proof holds for one size of the tree; under another root it proves nothing."""
    with Ledger.open(grown.path) as ledger:
        old = parse_bundle(make_bundle(ledger, ROUND, checkpoint=grown.kept)).leaves[0]
        play(ledger, round_id(1))
        head = parse_checkpoint(sign_checkpoint(ledger))
    proof = parse_head(old.proof)
    with pytest.raises(ProofRefused):
        verify_inclusion(
            proof.leaf_index, head.size, leaf_hash(old.leaf.encode()), proof.hashes, head.root
        )


def test_proof_for_another_ledger(grown: Scene, tmp_path: Path) -> None:
    with Ledger.init(tmp_path / "other", ORIGIN, clock=TickingClock()) as other:
        play(other)
        foreign = make_bundle(other, ROUND)
    with pytest.raises(KeyUnusable, match="another ledger"):
        verify_bundle(foreign, grown.public_key)
    with Ledger.open(grown.path) as ledger:
        sound = make_bundle(ledger, ROUND)
    checkpoint = parse_bundle(foreign).checkpoint
    root = b64encode(parse_checkpoint(checkpoint.encode()).root)
    own_root = b64encode(parse_checkpoint(parse_bundle(sound).checkpoint.encode()).root)
    with pytest.raises(ProofRefused):
        verify_bundle(sound.replace(own_root, root), grown.public_key)
