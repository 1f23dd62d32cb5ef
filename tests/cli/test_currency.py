"""Amounts on the screen in currencies whose minor unit is no hundredth."""

import json
import re
from pathlib import Path

import pytest

from shoeproof.ledger import Ledger
from shoeproof.replay.live.table import LiveTable, TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from tests.cli.conftest import Shoeproof

STAKE_MINOR = 100_000
CURRENCIES = {
    # Currency, recorded exponent: how 100,000 minor units of it are written.
    ("BTC", 8): "0.00100000 BTC",
    ("JPY", None): "100,000 JPY",
    ("BHD", None): "100.000 BHD",
    ("CLF", None): "10.0000 CLF",
    ("XYZ", None): "100,000 minor units of XYZ",
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One open round in each currency."""
    path = tmp_path_factory.mktemp("currencies") / "ledger"
    with Ledger.init(path, "test.example/currencies") as ledger:
        add_published_games(ledger)
        rules = current_rules(ledger, "zappit")
        for currency, exponent in CURRENCIES:
            settings = TableSettings(limits={}, currency=currency, exponent=exponent)
            # A recorded round may be in a currency that no table would open a new one in.
            table = LiveTable(ledger, rules, settings, resumes=currency == "XYZ")
            live = table.open_round(f"player-{currency}")
            live.place({"s1": {"main": STAKE_MINOR}})
    return path


def unwrapped(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize(("currency", "written"), [(c, w) for (c, _), w in CURRENCIES.items()])
def test_every_command_writes_the_places_of_the_round(
    shoeproof: Shoeproof, path: Path, currency: str, written: str
) -> None:
    player = f"player-{currency}"
    row = json.loads(shoeproof("rounds", "--ledger", path, "--player", player, "--json").out)[0]
    for words in (
        ("rounds", "--open", "--player", player),
        ("replay", row["round"]),
        ("dispute", "find", "--player", player),
        ("rtp",),
    ):
        assert written in unwrapped(shoeproof(*words, "--ledger", path).out), words


@pytest.mark.parametrize(
    ("currency", "stake", "unit"),
    [
        ("BTC", "0.00100000", "BTC with 8 decimal places"),
        ("JPY", "100,000", "JPY"),
        ("CLF", "10.0000", "CLF"),
        ("XYZ", "100,000", "minor units of XYZ"),
    ],
)
def test_the_table_of_an_assessment_says_what_its_amounts_are_in(
    shoeproof: Shoeproof, path: Path, currency: str, stake: str, unit: str
) -> None:
    words = ("rounds", "--ledger", path, "--player", f"player-{currency}", "--json")
    row = json.loads(shoeproof(*words).out)[0]
    said = unwrapped(shoeproof("dispute", "assess", row["round"], "--ledger", path).out)
    assert f"s1 main {stake} " in said
    assert f"Amounts in {unit}." in said


def test_machines_are_told_the_exponent_with_the_currency(shoeproof: Shoeproof, path: Path) -> None:
    rows = json.loads(shoeproof("rounds", "--ledger", path, "--open", "--json").out)
    told = {row["player"]: row["currency"] for row in rows}
    assert (told["player-BTC"], told["player-JPY"]) == ("BTC:8", "JPY")


@pytest.mark.parametrize("words", [("rounds", "--open"), ("rtp",)])
def test_long_amounts_fit_80_columns(
    shoeproof: Shoeproof, path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = shoeproof(*words, "--ledger", path).out.splitlines()
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("stake", "finds"),
    [
        ("0.001", "player-BTC"),
        ("10", "player-CLF"),
        ("100", "player-BHD"),
        ("100.000", "player-BHD"),
    ],
)
def test_a_stake_is_found_as_people_write_it(
    shoeproof: Shoeproof, path: Path, stake: str, finds: str
) -> None:
    words = ("dispute", "find", "--ledger", path, "--from", "2000-01-01T00:00Z", "--stake", stake)
    found = json.loads(shoeproof(*words, "--json").out)["found"]
    assert [each["row"]["player"] for each in found] == [finds]


@pytest.mark.parametrize("option", ["--stake", "--paid"])
def test_an_amount_that_may_be_a_thousand_is_refused(
    shoeproof: Shoeproof, played: Path, option: str
) -> None:
    refused = shoeproof("dispute", "find", option, "1.000", "--ledger", played)
    assert refused.code == 2
    assert "1.000 is not a valid amount of EUR: it has too many decimal places" in refused.err
