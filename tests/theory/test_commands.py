"""The commands on theory: what a person and a program read from them."""

import csv
import io
import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from shoeproof.cli.commands import theory as commands
from shoeproof.replay.engine.rules import canonical_rules
from shoeproof.replay.games.published import GAMES
from tests.theory.helpers import changed, computed

CASES = Path(__file__).parents[1] / "cases"

app = typer.Typer()
commands.register(app)


def _run(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_theory_says_what_follows_and_what_does_not() -> None:
    zappit = _run("theory", "zappit")
    assert "does not follow" in zappit
    assert "98.7149%" in zappit
    assert "does not follow" not in _run("theory", "nba")


def test_theory_for_programs() -> None:
    found = json.loads(_run("theory", "nba", "--json"))
    assert found["game"] == "nba"
    assert found["rules_digest"] == computed("nba").rules_digest
    bets = {each["bet"]: each for each in found["bets"]}
    main, three = bets["main"], bets["twenty_one_plus_three"]
    assert (main["published"], main["computed"], main["fraction"]) == ("0.9929", "0.992926", None)
    assert (three["published"], three["fraction"]) == ("0.9630", "119489/124085")
    assert main["sd"] == pytest.approx(1.113066, abs=1e-6)
    assert len(found["classes"]) == 550


def test_classes_are_a_table_that_adds_up_to_the_return() -> None:
    rows = list(csv.DictReader(io.StringIO(_run("theory", "zero", "--classes"))))
    assert list(rows[0]) == ["hand", "up", "probability", "return", "best"]
    assert {"10,10", "A,7", "8,8"} <= {row["hand"] for row in rows}
    net = sum(float(row["probability"]) * float(row["return"]) for row in rows)
    assert 1 + net == pytest.approx(computed("zero").bet("main").returned, abs=1e-7)


def test_a_rules_file_moves_the_figures(tmp_path: Path) -> None:
    file = tmp_path / "six.json"
    file.write_bytes(canonical_rules(changed(GAMES["nba"].rules, decks=6)))
    found = json.loads(_run("theory", "nba", "--json", "--rules", str(file)))
    assert found["bets"][0]["computed"] > "0.992926"
    assert found["rules_digest"] != computed("nba").rules_digest


def test_a_strategy_is_shown_and_written(tmp_path: Path) -> None:
    page = tmp_path / "zero.html"
    shown = _run("strategy", "zero", "--html", str(page))
    assert "hard 12, 4 cards" in shown
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    rows = json.loads(_run("strategy", "zero", "--json"))
    assert {"section", "hand", "cards", "up", "acts", "or_more"} == set(rows[0])


def test_every_decision_of_a_round_is_priced(tmp_path: Path) -> None:
    file = tmp_path / "bold.round"
    file.write_text(
        'format = "round/v1"\ngame = "nba"\nmoves = ["deal s1 Td", "deal dealer 9c", '
        '"deal s1 8s", "deal dealer ?? down", "s1 hit"]\n[stakes]\ns1 = 1000\n',
        encoding="utf-8",
    )
    (decision,) = json.loads(_run("value", str(file), "--json"))["decisions"]
    values = decision["values"]
    assert (decision["hand"], decision["act"]) == ("s1", "hit")
    assert set(values) == {"hit", "stand", "double", "cash-out"}
    assert decision["cost"] == pytest.approx(max(values.values()) - values["hit"], abs=2e-6)
    assert values["stand"] == max(values.values())
    assert "cost" in _run("value", str(file))


@pytest.mark.parametrize("game", sorted(GAMES))
def test_every_written_case_can_be_priced(game: str) -> None:
    for file in sorted((CASES / game).glob("*.round"))[:8]:
        for decision in json.loads(_run("value", str(file), "--json"))["decisions"]:
            assert decision["cost"] >= 0
