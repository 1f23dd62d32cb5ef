"""`dispute report`: a file for whoever has to check a case, or a line that says why not."""

from pathlib import Path

import pytest

from ledger import Ledger
from tests.cli.conftest import Shoeproof


@pytest.fixture
def round_id(played: Path) -> str:
    with Ledger.open(played) as ledger:
        return ledger.rounds(limit=1)[0].round


@pytest.mark.parametrize("suffix", [".html", ".json", ".txt"])
def test_a_round_nobody_complained_of_can_be_reported(
    shoeproof: Shoeproof, played: Path, round_id: str, tmp_path: Path, suffix: str
) -> None:
    file = tmp_path / f"case{suffix}"
    result = shoeproof("dispute", "report", round_id, "-o", file, "--ledger", played)
    assert result.code == 0
    assert "Nobody complained" in result.out
    assert round_id in file.read_text()


def test_another_form_is_refused_before_anything_is_written(
    shoeproof: Shoeproof, played: Path, round_id: str, tmp_path: Path
) -> None:
    file = tmp_path / "case.docx"
    result = shoeproof("dispute", "report", round_id, "-o", file, "--ledger", played)
    assert result.code == 2
    assert "end it in .html, .pdf, .json, .txt" in result.err
    assert not file.exists()


def test_a_case_nobody_opened_is_no_case(
    shoeproof: Shoeproof, played: Path, round_id: str, tmp_path: Path
) -> None:
    file = tmp_path / "case.html"
    result = shoeproof("dispute", "report", f"{round_id}.2", "-o", file, "--ledger", played)
    assert (result.code, file.exists()) == (2, False)
    assert "there is no case 2" in result.err


def test_a_folder_that_is_not_there_is_named(
    shoeproof: Shoeproof, played: Path, round_id: str, tmp_path: Path
) -> None:
    file = tmp_path / "nowhere" / "case.html"
    result = shoeproof("dispute", "report", round_id, "-o", file, "--ledger", played)
    assert result.code == 3
    assert result.err.endswith(f"{tmp_path / 'nowhere'}: there is no such folder\n")


def test_an_unknown_audience_is_refused(
    shoeproof: Shoeproof, played: Path, round_id: str, tmp_path: Path
) -> None:
    file = tmp_path / "case.html"
    words = ("dispute", "report", round_id, "-o", file, "--for", "press", "--ledger", played)
    result = shoeproof(*words)
    assert result.code == 2
    assert "adjudicator" in result.err
