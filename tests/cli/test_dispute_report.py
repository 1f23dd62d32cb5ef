"""`dispute report`: a file for whoever has to check a case, or a line that says why not."""

import shlex
import shutil
from pathlib import Path

import pytest

from shoeproof.ledger import Ledger
from tests.cli.conftest import Shoeproof


@pytest.fixture
def round_id(played: Path) -> str:
    with Ledger.open(played) as ledger:
        return ledger.rounds(limit=1)[0].round


@pytest.fixture
def copied(played: Path, tmp_path: Path) -> Path:
    """The same ledger to be written to: a receipt may need a checkpoint."""
    shutil.copytree(played, tmp_path / "copied")
    return tmp_path / "copied"


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
    assert "use one of .html, .pdf, .json, .txt" in result.err
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


def test_a_letter_holds_the_receipt_and_names_the_player_s_zone(
    shoeproof: Shoeproof, copied: Path, round_id: str, tmp_path: Path
) -> None:
    file = tmp_path / "letter.html"
    words = ("dispute", "report", round_id, "-o", file, "--for", "player")
    result = shoeproof(*words, "--zone", "Europe/Malta", "--ledger", copied)
    assert (result.code, result.err) == (0, "")
    assert "The receipt of the round is inside it" in result.out
    html = file.read_text()
    assert 'href="data:application/json;base64,' in html
    assert "All times are in Europe/Malta" in html


def test_the_receipt_is_written_beside_a_report_and_verifies(
    shoeproof: Shoeproof, copied: Path, round_id: str, tmp_path: Path
) -> None:
    file, receipt = tmp_path / "letter.txt", tmp_path / "receipt of p-1.json"
    words = ("dispute", "report", round_id, "-o", file, "--for", "player", "--bundle", receipt)
    result = shoeproof(*words, "--ledger", copied)
    assert f"Send {receipt} with it" in result.out
    command = shlex.split(file.read_text().partition("shoeproof bundle verify ")[2].splitlines()[0])
    assert command[0] == receipt.name
    assert shoeproof("bundle", "verify", receipt, *command[1:]).code == 0


def test_a_letter_without_its_receipt_says_how_to_get_one(
    shoeproof: Shoeproof, played: Path, round_id: str, tmp_path: Path
) -> None:
    file = tmp_path / "letter.txt"
    words = ("dispute", "report", round_id, "-o", file, "--for", "player", "--ledger", played)
    assert "--bundle FILE writes one" in shoeproof(*words).out
    assert "shoeproof bundle " in file.read_text()


def test_no_zone_of_that_name_is_told_and_nothing_is_written(
    shoeproof: Shoeproof, played: Path, round_id: str, tmp_path: Path
) -> None:
    file = tmp_path / "case.html"
    words = ("dispute", "report", round_id, "-o", file, "--zone", "Moon/Base", "--ledger", played)
    result = shoeproof(*words)
    assert (result.code, file.exists()) == (2, False)
    assert "'Moon/Base' is not a valid time zone" in result.err
