"""The audit's options and the export, as a user calls them."""

import json
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("option", [("--sample", 3), ("--every-signature",), ("--resume", "x")])
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
