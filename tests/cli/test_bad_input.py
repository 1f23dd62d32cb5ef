"""Bad input of every kind: one clear line on stderr, no traceback, nothing half-written."""

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import RulesAdded
from tests.cli.conftest import Result, Shoeproof
from tests.ledger.helpers import digest_of


def told(result: Result, code: int, *words: str) -> None:
    """Assert that a command ended with `code` and one line on stderr that holds the words."""
    assert result.code == code, result
    assert "Traceback" not in result.err
    assert result.out == ""
    lines = result.err.strip().splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("shoeproof: ")
    for word in words:
        assert word in lines[0], lines[0]


@pytest.fixture
def copy(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "copy"))


def test_no_ledger_named(shoeproof: Shoeproof) -> None:
    told(shoeproof("rounds"), 2, "--ledger", "SHOEPROOF_LEDGER")


def test_not_a_ledger(shoeproof: Shoeproof, tmp_path: Path) -> None:
    told(shoeproof("verify", "--ledger", tmp_path), 3, "is not a ledger")
    told(shoeproof("verify", "--ledger", tmp_path / "nowhere"), 3, "is not a ledger")


def test_ledger_of_a_newer_format(shoeproof: Shoeproof, copy: Path) -> None:
    settings = copy / "ledger.toml"
    settings.write_text(settings.read_text().replace("format = 3", "format = 4"))
    told(shoeproof("audit", "--ledger", copy), 3, "format 4", "newer")


def test_truncated_database(shoeproof: Shoeproof, copy: Path) -> None:
    database = copy / "events.sqlite"
    database.write_bytes(database.read_bytes()[: database.stat().st_size // 3])
    told(shoeproof("audit", "--ledger", copy), 3)


def test_database_that_is_none(shoeproof: Shoeproof, copy: Path) -> None:
    (copy / "events.sqlite").write_bytes(b"not a database at all, only some text" * 100)
    told(shoeproof("verify", "--ledger", copy), 3)


def test_locked_database(shoeproof: Shoeproof, copy: Path) -> None:
    before = _size(copy)
    locker = sqlite3.connect(copy / "events.sqlite", isolation_level=None)
    locker.execute("BEGIN EXCLUSIVE")
    told(shoeproof("simulate", "nba", "--rounds", "5", "--ledger", copy), 3, "locked")
    locker.execute("ROLLBACK")
    locker.close()
    assert _size(copy) == before


def test_missing_key(shoeproof: Shoeproof, copy: Path) -> None:
    before = _size(copy)
    (copy / "keys" / "engine.pem").unlink()
    told(shoeproof("simulate", "nba", "--rounds", "5", "--ledger", copy), 3, "engine.pem")
    assert _size(copy) == before


def test_world_readable_key(shoeproof: Shoeproof, copy: Path) -> None:
    before = _size(copy)
    (copy / "keys" / "engine.pem").chmod(0o644)
    told(shoeproof("simulate", "nba", "--rounds", "5", "--ledger", copy), 3, "engine.pem")
    assert _size(copy) == before


def test_wrong_passphrase(
    shoeproof: Shoeproof, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "locked"
    monkeypatch.setenv("SHOEPROOF_PASSPHRASE", "right")
    assert shoeproof("init", "--origin", "a.example/b", "--ledger", path).code == 0
    assert shoeproof("simulate", "nba", "--rounds", "2", "--ledger", path).code == 0
    before = _size(path)
    monkeypatch.setenv("SHOEPROOF_PASSPHRASE", "wrong")
    told(shoeproof("simulate", "nba", "--rounds", "2", "--ledger", path), 3, "passphrase")
    monkeypatch.delenv("SHOEPROOF_PASSPHRASE")
    told(shoeproof("simulate", "nba", "--rounds", "2", "--ledger", path), 3, "passphrase")
    assert _size(path) == before


def test_second_init_on_the_same_path(shoeproof: Shoeproof, copy: Path) -> None:
    before = (copy / "ledger.toml").read_bytes()
    told(shoeproof("init", "--origin", "a.example/b", "--ledger", copy), 2, "exists already")
    assert (copy / "ledger.toml").read_bytes() == before


def test_unknown_round(shoeproof: Shoeproof, played: Path) -> None:
    told(shoeproof("replay", "no-such-round", "--ledger", played), 2, "no round")


def test_several_rounds_begin_alike(shoeproof: Shoeproof, played: Path) -> None:
    told(shoeproof("replay", "0", "--ledger", played), 2, "several")


@pytest.mark.parametrize("words", [("play", "poker"), ("simulate", "poker")])
def test_unknown_game(shoeproof: Shoeproof, played: Path, words: tuple[str, ...]) -> None:
    told(shoeproof(*words, "--ledger", played), 2, "poker", "zappit")


def test_unknown_player(shoeproof: Shoeproof, played: Path) -> None:
    told(shoeproof("simulate", "nba", "--player", "lucky", "--ledger", played), 2, "lucky")


@pytest.mark.parametrize(
    ("stake", "word"),
    [
        ("0", "above 0"),
        ("-5", "amounts are not negative"),
        ("5,00", "could mean two amounts"),
        ("1,000", "could mean two amounts"),
        ("1.000", "it has too many decimal places"),
        ("5 EUR", "is not a valid amount"),
        ("ten", "is not a valid amount"),
        ("10001", "the most is"),
    ],
)
@pytest.mark.parametrize("command", ["simulate", "play"])
def test_stake_that_cannot_be(
    shoeproof: Shoeproof, copy: Path, command: str, stake: str, word: str
) -> None:
    before = _size(copy)
    told(shoeproof(command, "nba", "--stake", stake, "--ledger", copy), 2, word)
    assert _size(copy) == before


def test_a_stake_is_read_as_its_currency_writes_it(shoeproof: Shoeproof, copy: Path) -> None:
    words = ("nba", "--rounds", 1, "--player", "cautious", "--json", "--ledger", copy)
    for stake in ("5", "5.0", "5.00"):
        played = json.loads(shoeproof("simulate", *words, "--stake", stake).out)
        # Doubling and insurance, which costs half, may come to more.
        assert played["staked_minor"] >= 500
        assert played["staked_minor"] % 250 == 0


def test_more_seats_than_the_table_has(shoeproof: Shoeproof, played: Path) -> None:
    told(shoeproof("simulate", "zappit", "--seats", "4", "--ledger", played), 2, "3 seats")


def test_time_that_is_none(shoeproof: Shoeproof, played: Path) -> None:
    told(shoeproof("rounds", "--from", "yesterday", "--ledger", played), 2, "yesterday")


def test_public_key_that_is_none(shoeproof: Shoeproof, played: Path) -> None:
    told(shoeproof("verify", "--public-key", "abc", "--ledger", played), 2, "neither")
    told(shoeproof("verify", "--public-key", "abc+def", "--ledger", played), 3)


def test_rules_file_with_a_wrong_field(shoeproof: Shoeproof, copy: Path, tmp_path: Path) -> None:
    before = _size(copy)
    rules = json.loads(shoeproof("rules", "show", "nba", "--json").out)
    rules["decks"] = 9
    file = tmp_path / "variant.json"
    file.write_text(json.dumps(rules))
    told(shoeproof("rules", "add", file, "--ledger", copy), 3, "decks")
    file.write_text("{not json")
    told(shoeproof("rules", "add", file, "--ledger", copy), 3, "JSON")
    told(shoeproof("rules", "add", tmp_path / "missing.json", "--ledger", copy), 2, "missing.json")
    assert _size(copy) == before


@pytest.mark.parametrize(
    ("option", "value", "word"),
    [
        ("--server-seed", "xyz", "hexadecimal"),
        ("--server-seed", "00", "32 bytes"),
        ("--rules-digest", "00", "32 bytes"),
        ("--client-seed", "00" * 65, "64 bytes"),
        ("--decks", "9", "1 to 8"),
    ],
)
def test_shoe_arguments(shoeproof: Shoeproof, option: str, value: str, word: str) -> None:
    words = {
        "--server-seed": "00" * 32,
        "--round-id": "r",
        "--rules-digest": "00" * 32,
        "--client-seed": "",
        "--decks": "6",
    }
    words[option] = value
    arguments = [word for pair in words.items() for word in pair]
    told(shoeproof("shoe", *arguments), 2, word)


@pytest.mark.parametrize(
    "words",
    [
        ("rounds", "--from", "0001-01-01T00:00:00+14:00"),
        ("rounds", "--player", "\udcff"),
        ("replay", "\udcff"),
        ("simulate", "zero", "--seats", "99999999999"),
        ("simulate", "zero", "--side-stake", "1.00"),
        ("replay", "x", "--step", "--as-round"),
        ("rules", "show", "poker"),
    ],
)
def test_words_that_cannot_be(shoeproof: Shoeproof, played: Path, words: tuple[str, ...]) -> None:
    told(shoeproof(*words, "--ledger", played), 2)


def test_a_name_that_is_too_long_for_an_event(shoeproof: Shoeproof, copy: Path) -> None:
    before = _size(copy)
    told(shoeproof("play", "nba", "--player", "x" * 70_000, "--ledger", copy), 2, "too long")
    assert _size(copy) == before


@pytest.mark.parametrize(
    "moves", ["s1 = 1" + "0" * 5000, "s1 = " + "[" * 100_000], ids=["digits", "nesting"]
)
def test_round_text_without_end(shoeproof: Shoeproof, tmp_path: Path, moves: str) -> None:
    file = tmp_path / "endless.round"
    file.write_text(f'format = "round/v1"\ngame = "nba"\nmoves = []\n[stakes]\n{moves}\n')
    told(shoeproof("adjudicate", file), 3, "TOML")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"id": "[/red]"}'], ids=["nesting", "markup"])
def test_rules_files_that_are_none(
    shoeproof: Shoeproof, copy: Path, tmp_path: Path, text: str
) -> None:
    before = _size(copy)
    file = tmp_path / "variant.json"
    file.write_text(text)
    told(shoeproof("rules", "add", file, "--ledger", copy), 3)
    assert _size(copy) == before


def test_a_rule_set_that_is_not_valid_disables_nothing(shoeproof: Shoeproof, copy: Path) -> None:
    with Ledger.open(copy) as ledger:
        ledger.append(("rules", RulesAdded(digest_of({"x": 1}), {"x": 1})))
    assert shoeproof("rounds", "--ledger", copy).code == 0
    assert shoeproof("audit", "--ledger", copy).code == 0


def _size(path: Path) -> int:
    with Ledger.open(path) as ledger:
        return ledger.size()
