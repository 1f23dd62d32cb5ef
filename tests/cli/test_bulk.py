"""The audit's options and the export, as a user calls them."""

import json
import shutil
from pathlib import Path

import pytest

from ledger import Ledger
from ledger.signing import sign_checkpoint
from tests.cli.conftest import Shoeproof
from tests.ledger.helpers import alter


def test_one_game_alone(shoeproof: Shoeproof, played: Path) -> None:
    report = json.loads(shoeproof("audit", "--only", "zero", "--json", "--ledger", played).out)
    assert report["closed_rounds"] == 40
    result = shoeproof("audit", "--only", "poker", "--ledger", played)
    assert result.code == 2
    assert "no game 'poker'" in result.err


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
    assert "does not show which key signed each event" in result.out
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
    for name in ("foreign", "missing"):
        result = shoeproof("audit", "--checkpoint", tmp_path / name, "--ledger", played)
        assert (result.code, result.out, len(result.err.splitlines())) == (3, "", 1)


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
    checkpoint.write_text("test.example/played\n12\n")
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
    assert "--parquet stands alone" in result.err


def test_an_export_that_is_none(shoeproof: Shoeproof, tmp_path: Path) -> None:
    result = shoeproof("audit", "--parquet", tmp_path)
    assert result.code == 3
    assert "is this an export?" in result.err
