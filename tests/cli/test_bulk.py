"""The audit's options and the export, as a user calls them."""

import json
from pathlib import Path
from shutil import copytree

import pytest

from ledger import Ledger
from ledger.signing import sign_checkpoint
from replay.bulk.export import export_parquet
from tests.cli.conftest import Shoeproof


def test_one_game_alone(shoeproof: Shoeproof, played: Path) -> None:
    report = json.loads(shoeproof("audit", "--only", "zero", "--json", "--ledger", played).out)
    assert report["closed_rounds"] == 40
    result = shoeproof("audit", "--only", "poker", "--ledger", played)
    assert result.code == 2
    assert "no game 'poker'" in result.err


def test_signatures_beside_the_audit(shoeproof: Shoeproof, played: Path) -> None:
    result = shoeproof("audit", "--sample", 7, "--json", "--ledger", played)
    assert json.loads(result.out)["signatures"]["checked"] == 7
    result = shoeproof("audit", "--sample", 7, "--ledger", played)
    assert "7 chosen at random" in result.out
    result = shoeproof("audit", "--every-signature", "--workers", 1, "--ledger", played)
    assert "Every signature of" in result.out


def test_an_audit_leaves_no_notes_when_it_ends(
    shoeproof: Shoeproof, played: Path, tmp_path: Path
) -> None:
    assert shoeproof("audit", "--resume", tmp_path / "notes", "--ledger", played).code == 0
    assert not list(tmp_path.iterdir())
    (tmp_path / "notes").write_text("[]")
    result = shoeproof("audit", "--resume", tmp_path / "notes", "--ledger", played)
    assert result.code == 3
    assert "no notes of an audit" in result.err


def test_an_export_is_audited_without_its_ledger(
    shoeproof: Shoeproof, played: Path, tmp_path: Path
) -> None:
    folder, checkpoint = tmp_path / "rounds", tmp_path / "checkpoint"
    shoeproof("checkpoint", "-o", checkpoint, "--ledger", played)
    words = ("--checkpoint", checkpoint, "--ledger", played)
    assert "120 rounds" in shoeproof("export", "parquet", folder, *words).out
    of_ledger = json.loads(shoeproof("audit", "--json", "--ledger", played).out)
    told = json.loads(shoeproof("audit", "--parquet", folder, "--json").out)
    assert of_ledger.items() <= told.items()
    assert told["checkpoint"] == checkpoint.read_text()
    result = shoeproof("audit", "--parquet", folder)
    assert (result.code, "An export cannot prove:" in result.out) == (0, True)
    assert shoeproof("export", "parquet", folder, "--ledger", played).code == 3


@pytest.mark.parametrize("option", [("--sample", 3), ("--every-signature",), ("--resume", "x")])
def test_an_export_has_no_signatures(
    shoeproof: Shoeproof, tmp_path: Path, option: tuple[object, ...]
) -> None:
    result = shoeproof("audit", "--parquet", tmp_path, *option)
    assert result.code == 2
    assert "--parquet goes without" in result.err


def test_an_export_that_is_none(shoeproof: Shoeproof, tmp_path: Path) -> None:
    result = shoeproof("audit", "--parquet", tmp_path)
    assert result.code == 3
    assert "is this a whole export?" in result.err


@pytest.fixture(scope="module")
def export(played: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An export that carries a checkpoint, and beside it the checkpoint and policies for it."""
    folder = tmp_path_factory.mktemp("export")
    with Ledger.open(played) as ledger:
        note = sign_checkpoint(ledger)
        export_parquet(ledger, folder / "rounds", checkpoint=note)
        (folder / "kept").write_bytes(note)
        (folder / "policy").write_text(f"log {ledger.public_keys()['log']}\nquorum none\n")
    stranger = Ledger.in_memory("other.example/log").public_keys()["log"]
    (folder / "strangers").write_text(f"log {stranger}\nquorum none\n")
    return folder


def test_an_exports_checkpoint_is_verified(shoeproof: Shoeproof, export: Path) -> None:
    words = ("audit", "--parquet", export / "rounds")
    bare = shoeproof(*words)
    assert "signatures were not verified" in bare.out
    judged = shoeproof(*words, "--policy", export / "policy", "--checkpoint", export / "kept")
    assert (bare.code, judged.code) == (0, 0)
    assert "the one you keep, signed as your policy asks" in judged.out
    assert "does not show that these columns are those leaves" in judged.out
    told = json.loads(shoeproof(*words, "--policy", export / "policy", "--json").out)
    assert told["checkpoint_signed_as_the_policy_asks"]
    assert not told["checkpoint_is_the_kept_one"]
    assert told["cosigned_by"] == {}


def test_an_exports_checkpoint_that_was_forged(
    shoeproof: Shoeproof, export: Path, tmp_path: Path
) -> None:
    copytree(export / "rounds", tmp_path / "rounds")
    path = tmp_path / "rounds" / "manifest.json"
    told = json.loads(path.read_text())
    # The last signature's last bits: it is well formed, and of nobody.
    told["checkpoint"] = told["checkpoint"][:-10] + "AAAA" + told["checkpoint"][-6:]
    path.write_text(json.dumps(told))
    words = ("audit", "--parquet", tmp_path / "rounds")
    result = shoeproof(*words, "--policy", export / "policy")
    assert (result.code, result.out, result.err.count("\n")) == (3, "", 1)


def test_an_exports_checkpoint_by_a_stranger(shoeproof: Shoeproof, export: Path) -> None:
    words = ("audit", "--parquet", export / "rounds")
    result = shoeproof(*words, "--policy", export / "strangers")
    assert (result.code, "no log of the policy signed" in result.err) == (3, True)
    (export / "none").write_text("nonsense\n")
    for option in ("--policy", "--checkpoint"):
        result = shoeproof(*words, option, export / "none")
        assert (result.code, result.err.count("\n")) == (3, 1)


def test_an_export_without_a_checkpoint(
    shoeproof: Shoeproof, played: Path, export: Path, tmp_path: Path
) -> None:
    shoeproof("export", "parquet", tmp_path / "rounds", "--ledger", played)
    words = ("audit", "--parquet", tmp_path / "rounds")
    assert "No checkpoint came with this export" in shoeproof(*words).out
    for option, file in (("--policy", "policy"), ("--checkpoint", "kept")):
        result = shoeproof(*words, option, export / file)
        assert (result.code, "carries no checkpoint" in result.err) == (3, True)
        result = shoeproof("audit", option, export / file, "--ledger", played)
        assert (result.code, "give --parquet too" in result.err) == (2, True)


@pytest.mark.parametrize("content", [b"a checkpoint", b"\xff\xfe"])
def test_an_export_with_what_is_no_checkpoint(
    shoeproof: Shoeproof, played: Path, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "checkpoint").write_bytes(content)
    words = ("--checkpoint", tmp_path / "checkpoint", "--ledger", played)
    result = shoeproof("export", "parquet", tmp_path / "rounds", *words)
    assert (result.code, result.err.count("\n")) == (3, 1)
    assert not (tmp_path / "rounds").exists()


def test_an_export_in_an_object_store(shoeproof: Shoeproof, played: Path, tmp_path: Path) -> None:
    url = (tmp_path / "bucket").as_uri()
    assert url in shoeproof("export", "parquet", url, "--ledger", played).out
    assert shoeproof("audit", "--parquet", url).code == 0
    result = shoeproof("audit", "--parquet", "nonsense://bucket/rounds")
    assert (result.code, result.err.count("\n")) == (3, 1)
