"""Checkpoints, bundles, published files, streams and fsck, as typed."""

import json
import shutil
import time
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoeproof.cli.commands.demo import alter_payment
from shoeproof.ledger import Ledger
from shoeproof.ledger.checkpoint.note import COSIGNATURE, NoteKey, cosignature_line, parse_note
from shoeproof.ledger.keys.key import FileSigner
from shoeproof.ledger.leaf.events import BetSettled
from tests.cli.conftest import Result, Shoeproof


@pytest.fixture
def copy(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "copy"))


@pytest.fixture
def key(played: Path) -> str:
    with Ledger.open(played) as ledger:
        return ledger.public_keys()["operator"]


def first_round(path: Path) -> str:
    with Ledger.open(path) as ledger:
        return ledger.rounds(limit=1)[0].round


def forge(path: Path) -> int:
    """Alter a digit of the first round's payment; return its leaf."""
    with Ledger.open(path) as ledger:
        settled = next(
            each
            for each in ledger.events(first_round(path))
            if isinstance(each.event.data, BetSettled)
        )
    alter_payment(path / "events.sqlite", settled.leaf)
    return settled.leaf_index


def refused(result: Result, *words: str, code: int = 3) -> None:
    assert (result.code, result.out) == (code, ""), result
    for word in words:
        assert word in result.err


def test_kept_checkpoint_proves_the_later_ledger(
    shoeproof: Shoeproof, copy: Path, key: str, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    assert "signed" in shoeproof("checkpoint", "-o", kept, "--ledger", copy).out
    assert kept.read_bytes() == shoeproof("checkpoint", "--ledger", copy).out.encode()
    assert len(kept.read_bytes()) < 250
    shoeproof("simulate", "nba", "--rounds", 3, "--ledger", copy)
    words = ("verify", "--checkpoint", kept, "--public-key", key, "--ledger", copy)
    shown = shoeproof(*words)
    assert shown.code == 0
    assert "a checkpoint does not show which key signed each event" in shown.out
    told = json.loads(shoeproof(*words, "--json").out)
    assert (told["covered_by_checkpoint"] > 1000, told["sound"]) == (True, True)
    every = json.loads(shoeproof(*words, "--every-signature", "--json").out)
    assert every["signatures_checked"] == every["size"]
    forge(copy)
    forged = shoeproof(*words, "--json")
    assert forged.code == 1
    assert {each["code"] for each in json.loads(forged.out)["findings"]} >= {
        "checkpoint_mismatch",
        "signature_invalid",
    }


def test_checkpoint_that_is_none(shoeproof: Shoeproof, played: Path, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("no checkpoint\n")
    words = ("verify", "--checkpoint", tmp_path / "kept", "--ledger", played)
    refused(shoeproof(*words), "note")
    (tmp_path / "kept").unlink()
    refused(shoeproof(*words), "kept", code=2)


def test_bundle_is_verified_and_replayed_without_the_ledger(
    shoeproof: Shoeproof, copy: Path, key: str, tmp_path: Path
) -> None:
    kept, bundle, round_id = tmp_path / "kept", tmp_path / "bundle", first_round(copy)
    shoeproof("checkpoint", "-o", kept, "--ledger", copy)
    shoeproof("simulate", "zero", "--rounds", 3, "--ledger", copy)
    made = shoeproof("bundle", round_id, "-o", bundle, "--kept", kept, "--ledger", copy)
    assert (made.code, made.err) == (0, "")
    shutil.rmtree(copy)
    words = ("bundle", "verify", bundle, "--public-key", key)
    shown = shoeproof(*words, "--checkpoint", kept)
    assert shown.code == 0
    assert "Every card, act and payment follows from the rules." in shown.out
    assert "of the same history as the checkpoint you kept" in shown.out
    assert json.loads(shoeproof(*words, "--json").out)["sound"]
    bundle.write_text(bundle.read_text().replace("CardDealt", "CardDealT", 1))
    refused(shoeproof(*words), "does not place leaf")
    bundle.write_text("{}")
    refused(shoeproof(*words), "not a bundle")


def test_bundle_with_its_end_cut_off_does_not_pass_for_whole(
    shoeproof: Shoeproof, copy: Path, key: str, tmp_path: Path
) -> None:
    bundle = tmp_path / "bundle"
    shoeproof("bundle", first_round(copy), "-o", bundle, "--ledger", copy)
    words = ("bundle", "verify", bundle, "--public-key", key)
    assert "It cannot show that no revocation was left out" in shoeproof(*words).out
    assert json.loads(shoeproof(*words, "--json").out)["end_is_proven"] is True
    content = json.loads(bundle.read_bytes())
    content["leaves"] = [each for each in content["leaves"] if "RoundClosed" not in each["leaf"]]
    bundle.write_text(json.dumps(content))
    shown = shoeproof(*words).out
    assert "The end of this round is not proven: the bundle holds no closing event" in shown
    assert "The round is open" not in shown
    told = json.loads(shoeproof(*words, "--json").out)
    assert (told["end_is_proven"], told["revocations_proven_complete"]) == (False, False)


def test_a_round_wrongly_dealt_is_found_in_its_bundle(
    shoeproof: Shoeproof, copy: Path, key: str, tmp_path: Path
) -> None:
    """Rightly signed and rightly proven, but dealt from a shoe that was committed elsewhere."""
    copied = "01936f3c-7a10-7b3e-9c55-2f6d8a1b4c5d"
    with Ledger.open(copy) as ledger:
        events = ledger.events(first_round(copy))
        ledger.append(*((copied, each.event.data) for each in events))
    bundle = tmp_path / "bundle"
    assert shoeproof("bundle", copied, "-o", bundle, "--ledger", copy).code == 0
    shown = shoeproof("bundle", "verify", bundle, "--public-key", key, "--json")
    assert shown.code == 1
    assert "commitment_mismatch" in {each["code"] for each in json.loads(shown.out)["findings"]}


def test_published_files_verify_without_the_ledger(
    shoeproof: Shoeproof, copy: Path, key: str, tmp_path: Path
) -> None:
    folder = tmp_path / "published"
    told = shoeproof("publish", folder, "--json", "--ledger", copy)
    assert json.loads(told.out)["size"] > 1000
    assert shoeproof("publish", folder, "--ledger", copy).code == 0
    shutil.rmtree(copy)
    words = ("verify", "--tiles", folder, "--public-key", key)
    assert shoeproof(*words).code == 0
    entries = folder / "tile" / "entries" / "001"
    entries.write_bytes(entries.read_bytes().replace(b"CardDealt", b"CardDealT", 1))
    assert shoeproof(*words).code == 1
    refused(shoeproof("verify", "--tiles", tmp_path), "checkpoint")


def test_false_seed_in_a_published_directory(
    shoeproof: Shoeproof, copy: Path, key: str, tmp_path: Path
) -> None:
    """Rightly signed, but revealed for a shoe that was committed elsewhere."""
    copied = "01936f3c-7a10-7b3e-9c55-2f6d8a1b4c5d"
    with Ledger.open(copy) as ledger:
        events = ledger.events(first_round(copy))
        ledger.append(*((copied, each.event.data) for each in events))
    folder = tmp_path / "published"
    shoeproof("publish", folder, "--ledger", copy)
    shown = shoeproof("verify", "--tiles", folder, "--public-key", key, "--json")
    assert shown.code == 1
    assert [each["code"] for each in json.loads(shown.out)["findings"]] == ["commitment_mismatch"]


def test_leaves_are_exported_and_imported(shoeproof: Shoeproof, copy: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(copy, tmp_path / "other"))
    shoeproof("simulate", "nba", "--rounds", 2, "--ledger", other)
    stream = tmp_path / "stream"
    assert shoeproof("export", "-o", stream, "--ledger", other).code == 0
    told = json.loads(shoeproof("import", stream, "--json", "--ledger", copy).out)
    assert told["added"] > 10
    assert json.loads(shoeproof("import", stream, "--json", "--ledger", copy).out)["added"] == 0
    assert shoeproof("verify", "--ledger", copy).code == 0
    assert shoeproof("audit", "--ledger", copy).code == 0
    refused(shoeproof("export", "-o", stream, "--ledger", other), "stream", code=2)
    stream.write_bytes(stream.read_bytes()[:-1])
    refused(shoeproof("import", stream, "--ledger", copy), "does not say which leaves")


def test_fsck_names_the_damage_and_what_is_left(shoeproof: Shoeproof, copy: Path) -> None:
    shoeproof("checkpoint", "--ledger", copy)
    sound = shoeproof("fsck", "--ledger", copy)
    assert (sound.code, "SOUND" in sound.out) == (0, True)
    leaf = forge(copy)
    damaged = shoeproof("fsck", "--ledger", copy)
    assert damaged.code == 1
    assert f"all but the damaged: {leaf}" in damaged.out
    told = json.loads(shoeproof("fsck", "--json", "--ledger", copy).out)
    assert told["damaged_leaves"] == [leaf]
    assert told["proven_but_for_damaged"] == told["size"]


def test_restored_backup_refuses_to_sign(shoeproof: Shoeproof, copy: Path, tmp_path: Path) -> None:
    backup = (copy / "events.sqlite").read_bytes()
    shoeproof("simulate", "nba", "--rounds", 2, "--ledger", copy)
    shoeproof("checkpoint", "--ledger", copy)
    (copy / "events.sqlite").write_bytes(backup)
    refused(shoeproof("checkpoint", "--ledger", copy), "restored from a backup", "bring back")


def test_a_bundle_bears_the_cosignatures_a_reader_demands(
    shoeproof: Shoeproof, copy: Path, key: str, tmp_path: Path
) -> None:
    kept, bundle, policy = tmp_path / "kept", tmp_path / "bundle", tmp_path / "policy"
    shoeproof("checkpoint", "-o", kept, "--ledger", copy)
    witness = FileSigner("witness.example", Ed25519PrivateKey.generate())
    vkey = NoteKey(witness.name, witness.public_key, COSIGNATURE).vkey
    with Ledger.open(copy) as ledger:
        log = ledger.public_keys()["log"]
    policy.write_text(f"log {log}\nwitness w {vkey}\nquorum w\n")
    note = kept.read_bytes()
    line = cosignature_line(parse_note(note).text, witness, int(time.time()))
    words = ("bundle", "verify", bundle, "--public-key", key, "--policy", policy)
    make = ("bundle", first_round(copy), "-o", bundle, "--checkpoint", kept, "--ledger", copy)
    assert shoeproof(*make).code == 0
    refused(shoeproof(*words), "w")
    kept.write_bytes(note + line)
    assert shoeproof(*make).code == 0
    shown = shoeproof(*words, "--max-age", "1h")
    assert (shown.code, "Cosigned by" in shown.out) == (0, True)
