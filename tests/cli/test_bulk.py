"""The audit's options and the export, as a user calls them."""

import json
import shutil
from pathlib import Path

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.replay.bulk.export.manifest import CANNOT_PROVE
from shoeproof.replay.bulk.export.write import export_parquet
from tests.cli.conftest import Shoeproof
from tests.ledger.helpers import alter


def test_one_game_alone(shoeproof: Shoeproof, played: Path) -> None:
    report = json.loads(shoeproof("audit", "--only", "zero", "--json", "--ledger", played).out)
    assert report["closed_rounds"] == 40
    result = shoeproof("audit", "--only", "poker", "--ledger", played)
    assert result.code == 2
    assert "no game 'poker'" in result.err
    result = shoeproof("audit", "--only", "zero", "--ledger", played)
    assert "40 closed and 0 void rounds of zero alone" in result.out


def test_an_audit_of_no_round_finds_none_sound(shoeproof: Shoeproof, played: Path) -> None:
    with Ledger.open(played) as ledger:
        size = ledger.size()
    result = shoeproof("audit", "--from-leaf", size, "--ledger", played)
    assert (result.code, "No round was judged." in result.out) == (0, True)
    assert "follows from the rules" not in result.out


def test_what_an_audit_proves_of_the_leaves(
    shoeproof: Shoeproof, played: Path, tmp_path: Path
) -> None:
    path = shutil.copytree(played, tmp_path / "ledger")
    result = shoeproof("audit", "--ledger", path)
    assert "Every signature of the" in result.out
    assert "agree with itself" in result.out
    kept = tmp_path / "kept"
    assert shoeproof("checkpoint", "-o", kept, "--ledger", path).code == 0
    result = shoeproof("audit", "--sample", 7, "--ledger", path)
    assert "0 in disputed rounds and 7 drawn at random" in result.out
    assert "does not show which key signed each event" in " ".join(result.out.split())
    told = json.loads(shoeproof("audit", "--checkpoint", kept, "--json", "--ledger", path).out)[
        "integrity"
    ]
    size = told["size"]
    assert told["covered"] == size
    assert told["checkpoints"][0]["agrees"] is True
    assert told["signatures"] == {"uncovered": 0, "disputed": 0, "sampled": 1000}
    result = shoeproof("audit", "--every-signature", "--workers", 1, "--ledger", path)
    assert f"Every signature of the {size:,} leaves" in result.out
    result = shoeproof("audit", "--from-leaf", size // 2, "--ledger", path)
    assert (result.code, f"Audited from leaf {size // 2:,} on." in result.out) == (0, True)
    assert f"before leaf {size // 2}" in result.out
    assert shoeproof("audit", "--from-leaf", size + 1, "--ledger", path).code == 2


def test_an_audit_of_a_forged_ledger(shoeproof: Shoeproof, played: Path, tmp_path: Path) -> None:
    path, kept = shutil.copytree(played, tmp_path / "ledger"), tmp_path / "kept"
    shoeproof("checkpoint", "-o", kept, "--ledger", path)
    alter(path, 50, b'"v":1', b'"v":2')
    result = shoeproof("audit", "--checkpoint", kept, "--ledger", path)
    assert result.code == 1
    assert "this ledger is not the one it was signed for" in result.out
    assert "leaf 50 is not what the checkpoint was signed for" in result.out


def test_checkpoints_that_are_refused(shoeproof: Shoeproof, played: Path, tmp_path: Path) -> None:
    with Ledger.init(tmp_path / "other", "other.example/blackjack") as other:
        (tmp_path / "foreign").write_bytes(sign_checkpoint(other))
    for name, code in (("foreign", 3), ("missing", 2)):
        result = shoeproof("audit", "--checkpoint", tmp_path / name, "--ledger", played)
        assert (result.code, result.out, len(result.err.splitlines())) == (code, "", 1)


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
    del of_ledger["integrity"]
    assert of_ledger.items() <= told.items()
    assert told["checkpoint"] == checkpoint.read_text()
    result = shoeproof("audit", "--parquet", folder)
    assert (result.code, "An export cannot prove:" in result.out) == (0, True)
    assert shoeproof("export", "parquet", folder, "--ledger", played).code == 3


@pytest.mark.parametrize(
    "option", [("--sample", 3), ("--every-signature",), ("--resume", "x"), ("--from-leaf", 3)]
)
def test_an_export_has_no_signatures(
    shoeproof: Shoeproof, tmp_path: Path, option: tuple[object, ...]
) -> None:
    result = shoeproof("audit", "--parquet", tmp_path, *option)
    assert result.code == 2
    assert "--parquet cannot be combined with" in result.err


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
    shutil.copytree(export / "rounds", tmp_path / "rounds")
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
    result = shoeproof("audit", "--policy", export / "policy", "--ledger", played)
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


def test_a_game_that_an_export_has_not(shoeproof: Shoeproof, export: Path) -> None:
    result = shoeproof("audit", "--parquet", export / "rounds", "--only", "poker")
    assert (result.code, result.out) == (2, "")
    assert "this export has no game 'poker'" in result.err


def test_a_manifest_that_leaves_out_what_it_cannot_prove(
    shoeproof: Shoeproof, export: Path, tmp_path: Path
) -> None:
    shutil.copytree(export / "rounds", tmp_path / "rounds")
    path = tmp_path / "rounds" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"cannot_prove": []}))
    words = ("audit", "--parquet", tmp_path / "rounds")
    assert all(lack in shoeproof(*words).out for lack in CANNOT_PROVE)
    assert json.loads(shoeproof(*words, "--json").out)["cannot_prove"] == list(CANNOT_PROVE)


def test_a_manifest_that_claims_more_leaves_is_not_believed(
    shoeproof: Shoeproof, export: Path, tmp_path: Path
) -> None:
    shutil.copytree(export / "rounds", tmp_path / "rounds")
    path = tmp_path / "rounds" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"size": 9_999_999}))
    words = ("audit", "--parquet", tmp_path / "rounds")
    told = " ".join(shoeproof(*words).out.split())
    assert told.count("9,999,999") == 1
    assert "9,999,999 leaves, as the maker of the export states." in told
    assert json.loads(shoeproof(*words, "--json").out)["unsigned"] == ["size"]


def test_a_last_leaf_that_is_garbage_is_not_called_unaltered(
    shoeproof: Shoeproof, played: Path, tmp_path: Path
) -> None:
    path = shutil.copytree(played, tmp_path / "ledger")
    with Ledger.open(path) as ledger:
        last = ledger.size() - 1
    alter(path, last, b"\n", b" ")
    result = shoeproof("audit", "--workers", 1, "--ledger", path)
    assert result.code == 1
    assert "No leaf is altered" not in result.out
