"""`shuffle-tests`: its table, its JSON and its exit codes."""

import json
from pathlib import Path
from shutil import copytree

from shoeproof.cli.commands.demo import alter_payment
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import BetSettled
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.live.table import LiveTable, TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from tests.cli.conftest import Shoeproof


def test_too_few_rounds_for_a_test_are_no_findings(shoeproof: Shoeproof, played: Path) -> None:
    result = shoeproof("shuffle-tests", "--ledger", played)
    assert result.code == 0
    assert "card by position" in result.out
    assert "needs 100 shoes" in result.out
    assert "120 rounds, 120 shoes re-derived, 120 initial deals" in result.out
    assert "too few rounds for any test" in result.out
    assert "fair" not in result.out


def test_json_has_every_test(shoeproof: Shoeproof, played: Path) -> None:
    told = json.loads(shoeproof("shuffle-tests", "--json", "--ledger", played).out)
    assert (told["tested"], told["rejected"], told["rounds"]) == (0, 0, 120)
    assert {test["game"] for test in told["tests"]} == {"zappit", "zero", "nba"}
    assert told["level"] == 0.01


def test_an_empty_ledger(shoeproof: Shoeproof, tmp_path: Path) -> None:
    path = tmp_path / "new"
    shoeproof("init", "--origin", "a.example/b", "--ledger", path)
    result = shoeproof("shuffle-tests", "--ledger", path)
    assert (result.code, result.out) == (0, "the ledger has no rounds\n")


def test_one_seed_for_every_round_fails(shoeproof: Shoeproof, tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    with Ledger.init(path, "a.example/b") as ledger:
        add_published_games(ledger)
        settings = TableSettings(limits={"main": (1, 100)}, currency="EUR")
        rules = current_rules(ledger, "nba")
        table = LiveTable(ledger, rules, settings, seeds=lambda: bytes(32))
        for _ in range(3):
            live = table.open_round("p")
            live.deal({"s1": {"main": 10}})
            while isinstance(live.due, Decide):
                live.decide("s1", "stand" if "stand" in live.offered else "decline")
    result = shoeproof("shuffle-tests", "--ledger", path)
    assert result.code == 1
    assert result.out.count("seed_repeated") == 2
    assert "time between commitment and stakes" in result.out


def test_a_forged_leaf_is_refused(shoeproof: Shoeproof, played: Path, tmp_path: Path) -> None:
    path = tmp_path / "forged"
    copytree(played, path)
    with Ledger.open(path) as ledger:
        stream = ledger.rounds(limit=1)[0].round
        settled = next(
            each for each in ledger.events(stream) if isinstance(each.event.data, BetSettled)
        )
    alter_payment(path / "events.sqlite", settled.leaf)
    # What was counted before it was forged is not read again, unless it is asked for.
    result = shoeproof("shuffle-tests", "--rebuild", "--ledger", path)
    assert (result.code, result.out) == (3, "")
    assert f"leaf {settled.leaf_index} of {stream} is refused" in result.err
