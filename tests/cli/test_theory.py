"""`theory`, `strategy` and `value` as a person and a program read them."""

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Shoeproof

CASES = Path(__file__).parent.parent / "cases"


def test_theory_holds_the_published_return_to_the_rules(shoeproof: Shoeproof) -> None:
    zappit = shoeproof("theory", "zappit")
    assert zappit.code == 0
    assert "does not follow" in zappit.out
    assert "does not follow" not in shoeproof("theory", "nba").out


@pytest.mark.parametrize(
    ("game", "main"), [("zappit", "0.987149"), ("zero", "1.000047"), ("nba", "0.992926")]
)
def test_theory_as_json(shoeproof: Shoeproof, game: str, main: str) -> None:
    told = json.loads(shoeproof("theory", game, "--json").out)
    assert set(told) >= {"game", "rules_digest", "bets", "outcomes", "classes"}
    bets = {each["bet"]: each for each in told["bets"]}
    assert bets["main"]["computed"] == main
    assert len(told["classes"]) == 550


def test_classes_are_a_distribution(shoeproof: Shoeproof) -> None:
    rows = list(csv.DictReader(io.StringIO(shoeproof("theory", "zero", "--classes").out)))
    assert list(rows[0]) == ["hand", "up", "probability", "return", "best"]
    chance = [float(row["probability"]) for row in rows]
    net = sum(float(row["return"]) * each for row, each in zip(rows, chance, strict=True))
    assert sum(chance) == pytest.approx(1, abs=1e-9)
    assert 1 + net == pytest.approx(1.000047, abs=1e-6)
    assert {"10,10", "A,7", "8,8"} <= {row["hand"] for row in rows}


def test_changed_rules_are_computed(shoeproof: Shoeproof, tmp_path: Path) -> None:
    rules = json.loads(shoeproof("rules", "show", "zero", "--json").out)
    rules["decks"] = 6
    file = tmp_path / "six.json"
    file.write_text(json.dumps(rules))
    told = json.loads(shoeproof("theory", "zero", "--rules", file, "--json").out)
    assert told["bets"][0]["computed"] != "1.000047"


def test_strategy_in_the_terminal_and_as_a_page(shoeproof: Shoeproof, tmp_path: Path) -> None:
    page = tmp_path / "chart.html"
    result = shoeproof("strategy", "zero", "--html", page)
    assert result.code == 0
    assert "Pairs" in result.out
    assert "4 cards" in result.out
    text = page.read_text()
    assert text.startswith("<!doctype html>")
    assert "http" not in text
    assert "<script" not in text


def test_value_of_each_decision(shoeproof: Shoeproof) -> None:
    told = json.loads(
        shoeproof("value", CASES / "nba" / "cash-out-after-a-hit.round", "--json").out
    )
    first, second = told["decisions"]
    assert first["act"] == "hit"
    assert first["cost"] == 0
    assert second["act"] == "cash-out"
    assert second["cost"] == pytest.approx(second["values"]["hit"] - second["values"]["cash-out"])


def test_bad_input(shoeproof: Shoeproof, tmp_path: Path) -> None:
    assert shoeproof("theory", "poker").code == 2
    assert shoeproof("strategy", "poker").code == 2
    assert shoeproof("value", CASES / "malformed" / "not-toml.round").code == 3
    assert shoeproof("value", tmp_path / "missing.round").code == 2
    assert shoeproof("strategy", "nba", "--html", tmp_path / "none" / "x.html").code == 3
