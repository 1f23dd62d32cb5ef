"""What `--json` prints: every command has a schema, and prints what it says.

The fixture `shoeproof` holds every document that any test has printed to the schema of its command.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from shoeproof.ledger import Ledger
from tests.cli.command_tree import COMMANDS, prints_json
from tests.cli.conftest import Shoeproof
from tests.cli.json_shapes import SCHEMAS, check_json, schema_name
from tests.cli.test_dispute import Place, call, made, opened, place

__all__ = ["call", "made", "place"]

CASES = Path(__file__).parent.parent / "cases"

SHARED = "shared.json"

OPEN = {("Event", "data"), ("ReplayedEvent", "data"), ("Check", "rows"), ("sql.json", "anyOf")}
"""What has other keys each time: the data of an event, and rows of tables."""


def objects(schema: Any, place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the schemas of objects inside a schema, each with the last names that lead to it."""
    if isinstance(schema, list):
        for each in schema:
            yield from objects(each, place)
    elif isinstance(schema, dict):
        if schema.get("type") == "object":
            yield place, schema
        for name, each in schema.items():
            inside = name in ("properties", "$defs", "items", "additionalProperties")
            yield from objects(each, place if inside else (*place, name)[-2:])


def test_every_command_that_prints_json_has_a_schema() -> None:
    printing = {schema_name(path) for path, each in COMMANDS.items() if prints_json(each)}
    assert {*SCHEMAS} - {SHARED} == printing


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_lets_nothing_through_that_it_does_not_state(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])
    assert SCHEMAS[name]["$id"] == name
    for at, each in objects(SCHEMAS[name], (name,)):
        assert at in OPEN or "additionalProperties" in each, at
        assert {*each.get("required", ())} <= {*each.get("properties", ())}, at


def test_a_verdict_says_whether_all_is_sound_first() -> None:
    """A command that judges is one whose exit code may be 1."""
    for name, schema in SCHEMAS.items():
        for _, each in objects(schema, (name,)):
            if "sound" in each.get("properties", ()):
                assert next(iter(each["properties"])) == "sound"
                assert "sound" in each["required"]


@pytest.mark.parametrize(
    ("code", "out"),
    [
        (0, '{"sound": true, "added": 1, "known": 0}'),
        (0, '{"added": 1}'),
        (0, '{"added": "1", "known": 0}'),
        (1, '{"added": 1, "known": 0}'),
        (0, "[]"),
    ],
)
def test_what_is_of_another_shape_is_noticed(code: int, out: str) -> None:
    with pytest.raises(AssertionError):
        check_json(["import", "all.leaves", "--json"], code, out)


def test_a_verdict_that_the_exit_code_denies_is_noticed() -> None:
    words, told = ["alarms", "list", "--json"], '{"sound": %s, "alarms": []}'
    check_json(words, 0, told % "true")
    check_json(words, 1, told % "false")
    for code, sound in ((0, "false"), (1, "true")):
        with pytest.raises(AssertionError):
            check_json(words, code, told % sound)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("alarms list", 0),
        ("keys list", 0),
        ("rules list", 0),
        ("rules show nba", 0),
        ("project", 0),
        ("sql --checks", 0),
        ("sql --tables", 0),
        ("table holds", 0),
        ("table sweep", 0),
        ("keys new bob --role staff", 0),
        ("keys revoke ENGINE --reason lost", 0),
        ("fault settlement_mismatch", 0),
        ("fault remedy settlement_mismatch", 0),
    ],
)
def test_a_command_prints_what_its_schema_states(
    shoeproof: Shoeproof, played: Path, tmp_path: Path, words: str, code: int
) -> None:
    copy = Path(shutil.copytree(played, tmp_path / "copy"))
    with Ledger.open(copy) as ledger:
        engine = next(each for each in ledger.key_ring() if "engine" in each.roles)
    given = words.replace("ENGINE", engine.public_key.key_id_hex).split()
    ledger_of = [] if words.startswith("rules") else ["--ledger", copy]
    result = shoeproof(*given, "--json", *ledger_of)
    assert (result.code, bool(result.out)) == (code, True), result.err


def test_shuffle_tests_print_what_their_schema_states(shoeproof: Shoeproof, played: Path) -> None:
    # One honest ledger in a hundred fails: the exit code is what the document says.
    assert "rejected" in json.loads(shoeproof("shuffle-tests", "--json", "--ledger", played).out)


def test_a_lost_ledger_is_made_again(shoeproof: Shoeproof, played: Path, tmp_path: Path) -> None:
    with Ledger.open(played) as ledger:
        key = ledger.public_keys()["operator"]
    leaves = tmp_path / "all.leaves"
    assert shoeproof("export", "-o", leaves, "--ledger", played).code == 0
    made = shoeproof("rebuild", tmp_path / "new", "--export", leaves, "--public-key", key, "--json")
    assert json.loads(made.out)["is_writable"] is False, made.err


def test_an_inspection_prints_what_its_file_says(
    shoeproof: Shoeproof, played: Path, tmp_path: Path
) -> None:
    with Ledger.open(played) as ledger:
        key = ledger.public_keys()["operator"]
    words = ("inspect", "--public-key", key, "-o", tmp_path / "report", "--ledger", played)
    told = json.loads(shoeproof(*words, "--json").out)
    assert told.pop("sound") is (told["word"] == "sound")
    assert told == json.loads((tmp_path / "report" / "inspection.json").read_bytes())


@pytest.mark.parametrize("game", ["zappit", "zero", "nba"])
def test_theory_computes_and_judges_nothing(shoeproof: Shoeproof, game: str) -> None:
    told = shoeproof("theory", game, "--json")
    assert told.code == 0
    assert "sound" not in json.loads(told.out)


@pytest.mark.parametrize("game", ["zappit", "zero", "nba"])
def test_the_chart_of_a_game(shoeproof: Shoeproof, game: str) -> None:
    assert shoeproof("strategy", game, "--json").code == 0


def test_a_round_whose_play_cannot_be_is_not_sound(shoeproof: Shoeproof) -> None:
    file = CASES / "nba" / "findings" / "nine-and-ten-split.round"
    told = json.loads(shoeproof("value", file, "--json").out)
    assert told["sound"] is False
    assert told["finding"]["code"] == "illegal_decision"


@pytest.mark.parametrize(
    ("round_of", "words"),
    [
        ("underpaid", "pay CASE"),
        ("lost", "reject CASE"),
        ("open", "resume CASE"),
        ("lost", "refer CASE"),
        ("lost", "withdraw CASE"),
        ("lost", "goodwill CASE 5.00 --note sorry"),
    ],
)
def test_a_decision_prints_the_case_and_its_leaves(
    call: Shoeproof, place: Place, round_of: str, words: str
) -> None:
    claim = "disconnection" if round_of == "open" else "settlement"
    case = opened(call, getattr(place, round_of), claim)
    result = call(*words.replace("CASE", case).split(), "--key", "ann", "--yes", "--json")
    assert json.loads(result.out)["case"] == case, result.err
