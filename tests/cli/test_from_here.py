"""A ledger found from the working directory, and one dated in the past to rehearse a complaint."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Shoeproof

BEGAN = "2026-01-01T00:00:00Z"
ANNA = (
    *("simulate", "nba", "--rounds", 4, "--players", 2, "--name", "anna"),
    *("--at", "2026-01-31T20:15", "--zone", "Europe/Malta"),
)


@pytest.fixture
def here(shoeproof: Shoeproof, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with the ledger that `init` makes where it is given no name."""
    monkeypatch.chdir(tmp_path)
    assert shoeproof("init", "--origin", "a.example/rehearsal", "--at", BEGAN).code == 0
    return tmp_path


@pytest.mark.parametrize("folder", [".", "ledger", "ledger/keys", "evidence/of/anna"])
def test_a_ledger_is_found_from_the_working_directory(
    shoeproof: Shoeproof, here: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / folder).mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(here / folder)
    assert shoeproof("rounds", "--json").out == "[]\n"
    assert json.loads(shoeproof("verify", "--json").out)["origin"] == "a.example/rehearsal"


def test_a_ledger_that_was_named_goes_before_the_one_found(
    shoeproof: Shoeproof, here: Path, played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert json.loads(shoeproof("rounds", "--json", "--ledger", played).out)
    monkeypatch.setenv("SHOEPROOF_LEDGER", str(played))
    assert json.loads(shoeproof("rounds", "--json").out)


def test_no_ledger_far_and_wide(
    shoeproof: Shoeproof, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ledger").mkdir()
    monkeypatch.chdir(tmp_path)
    result = shoeproof("rounds")
    assert (result.code, result.out) == (2, "")
    assert "give --ledger PATH" in result.err


def test_a_complaint_can_be_rehearsed(shoeproof: Shoeproof, here: Path) -> None:
    assert shoeproof(*ANNA).code == 0
    evening = ("--from", "2026-01-31T20:15", "--to", "2026-01-31T21:00", "--zone", "Europe/Malta")
    rows = json.loads(shoeproof("rounds", "--json", *evening).out)
    assert sorted(row["player"] for row in rows) == ["anna-1", "anna-1", "anna-2", "anna-2"]
    found = json.loads(shoeproof("dispute", "find", "--player", "anna-2", *evening, "--json").out)
    assert len(found["found"]) == 2
    for command in ("verify", "audit"):
        assert json.loads(shoeproof(command, "--json").out)["sound"] is True


@pytest.mark.parametrize(
    ("at", "why"), [("2099-01-01Z", "not a valid time"), ("2099-01-01T00:00Z", "is in the future"),
                    ("2025-12-31T23:59Z", "the ledger begins later")],
)  # fmt: skip
def test_a_time_that_cannot_be_rehearsed(
    shoeproof: Shoeproof, here: Path, at: str, why: str
) -> None:
    result = shoeproof("simulate", "nba", "--rounds", 1, "--at", at)
    assert (result.code, result.out) == (2, "")
    assert why in result.err
    assert shoeproof("rounds", "--json").out == "[]\n"


def test_the_tables_are_listed_with_their_columns(shoeproof: Shoeproof, here: Path) -> None:
    listed = json.loads(shoeproof("sql", "--tables", "--json").out)
    assert {"rounds", "bets", "cards", "decisions"} <= {row["table"] for row in listed}
    columns = [row["column"] for row in listed if row["table"] == "bets"]
    assert columns[:2] == ["first_leaf", "leaf_index"]
    assert "stake_minor" in columns


VERDICTS = {
    "verify": ("verify",),
    "audit": ("audit",),
    "replay": ("replay", "ROUND"),
    "rtp": ("rtp",),
    "project": ("project",),
    "checks": ("sql", "--checks"),
    "fsck": ("fsck",),
    "shuffle-tests": ("shuffle-tests",),
    "fault": ("fault", "settlement_mismatch"),
    "assess": ("dispute", "assess", "ROUND"),
}


@pytest.mark.parametrize("words", VERDICTS.values(), ids=VERDICTS)
def test_every_verdict_says_whether_all_is_sound(
    shoeproof: Shoeproof, played: Path, words: tuple[str, ...]
) -> None:
    (row,) = json.loads(shoeproof("rounds", "--limit", 1, "--json", "--ledger", played).out)
    asked = (row["round"] if word == "ROUND" else word for word in words)
    result = shoeproof(*asked, "--json", "--ledger", played)
    assert json.loads(result.out)["sound"] is (result.code == 0)
