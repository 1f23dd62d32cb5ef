"""`replay --luck`: what each card and decision added, for people and for machines."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Shoeproof


def _rounds(shoeproof: Shoeproof, played: Path, game: str) -> list[str]:
    rows = shoeproof("rounds", "--game", game, "--json", "--ledger", played).out
    return [row["round"] for row in json.loads(rows)]


@pytest.mark.parametrize("game", ["zappit", "zero", "nba"])
def test_a_round_is_told_move_by_move_and_adds_up(
    shoeproof: Shoeproof, played: Path, game: str
) -> None:
    for round_id in _rounds(shoeproof, played, game)[:5]:
        shown = shoeproof("replay", round_id, "--luck", "--ledger", played)
        assert shown.code == 0
        assert "s1 main" in shown.out
        assert "before the first card" in shown.out
        told = json.loads(shoeproof("replay", round_id, "--luck", "--json", "--ledger", played).out)
        for bet in told["luck"]["bets"]:
            parts = bet["start_minor"] + bet["luck_minor"] + bet["skill_minor"]
            assert parts + bet["error_minor"] == pytest.approx(bet["returned_minor"])
            whole, hundredths = divmod(bet["returned_minor"], 100)
            assert f"{whole:,}.{hundredths:02}00" in shown.out


def test_without_the_option_nothing_is_said_of_luck(shoeproof: Shoeproof, played: Path) -> None:
    round_id = _rounds(shoeproof, played, "nba")[0]
    assert "luck" not in shoeproof("replay", round_id, "--ledger", played).out
    told = shoeproof("replay", round_id, "--json", "--ledger", played).out
    assert "luck" not in json.loads(told)


def test_a_round_text_cannot_show_luck(shoeproof: Shoeproof, played: Path) -> None:
    round_id = _rounds(shoeproof, played, "nba")[0]
    result = shoeproof("replay", round_id, "--luck", "--as-round", "--ledger", played)
    assert result.code == 2
    assert "cannot show --luck" in result.err
