"""The schemas that are shipped: generated from the types, true of what is recorded, and strict."""

import copy
import json
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.envelope import split_leaf
from shoeproof.ledger.leaf.events import EVENTS
from shoeproof.replay.errors import RoundTextError
from shoeproof.replay.live.players import make_player
from shoeproof.replay.live.simulation import simulate
from shoeproof.replay.live.table import TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from shoeproof.replay.schemas import schema
from shoeproof.replay.schemas.events import events_schema
from shoeproof.replay.schemas.round_text import round_schema
from shoeproof.replay.written.round_text import read_round
from tests.disputes.scenario import SCENARIOS, read_scenario
from tests.disputes.stage import staged
from tests.replay.helpers import ORIGIN

CASES = Path(__file__).parents[1] / "cases"
EVENT = Draft202012Validator(schema("events"))
LIMITS = {"main": (100, 100_000), "perfect_pairs": (None, None)}
BRANCHES = {each["properties"]["type"]["const"]: each for each in schema("events")["oneOf"]}
OF_TYPE = {
    name: Draft202012Validator({**schema("events"), "oneOf": [branch]})
    for name, branch in BRANCHES.items()
}
"""The same schema with the branch of one type, which is many times faster to ask."""

ROUND = Draft202012Validator(schema("round"))
BEYOND_A_SCHEMA = {
    "offer-and-bar-of-one-act",
    "offer-of-an-act-twice",
    "stake-float",
    "not-toml",
    "key-without-a-value",
}
"""Malformed files whose fault is no shape: one act twice in a move, 1000.0, which JSON takes for a
whole number, and what is no TOML."""


def payloads(ledger: Ledger) -> Iterator[dict[str, Any]]:
    for leaf in ledger.store.leaves():
        if leaf.state:  # else it was removed
            yield json.loads(split_leaf(leaf.state).payload)


@pytest.fixture(scope="module")
def played() -> list[dict[str, Any]]:
    """The payloads of a ledger with rounds of each game, with side bets and limits."""
    ledger = Ledger.in_memory(ORIGIN)
    add_published_games(ledger)
    for game in ("zappit", "zero", "nba"):
        rules = current_rules(ledger, game)
        stakes = {"s1": {"main": 1000, **dict.fromkeys(rules.side_bets, 100)}, "s2": {"main": 500}}
        settings = TableSettings(limits=LIMITS, currency="EUR")
        simulate(ledger, rules, settings, stakes, make_player("random", 5), 20)
    return list(payloads(ledger))


def test_the_files_are_those_that_the_types_give() -> None:
    """`python -m shoeproof.replay.schemas` writes them."""
    assert schema("events") == json.loads(json.dumps(events_schema()))
    assert schema("round") == json.loads(json.dumps(round_schema()))
    Draft202012Validator.check_schema(schema("events"))
    Draft202012Validator.check_schema(schema("round"))


def test_every_event_has_its_branch() -> None:
    assert list(BRANCHES) == list(EVENTS) == schema("events")["properties"]["type"]["enum"]


def test_played_rounds_are_as_the_schema_says(played: list[dict[str, Any]]) -> None:
    for payload in played:
        OF_TYPE[payload["type"]].validate(payload)
    for payload in played[:40]:
        EVENT.validate(payload)


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.toml")), ids=lambda path: path.stem)
def test_disputed_rounds_are_as_the_schema_says(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever they lie about: a lie has the form of the truth."""
    for payload in payloads(staged(read_scenario(path), monkeypatch)):
        OF_TYPE[payload["type"]].validate(payload)


Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("RoundOpened", lambda event: event.update(v=2)),
        ("RoundOpened", lambda event: event.update(at="2026-01-02T03:04:05Z")),
        ("RoundOpened", lambda event: event.update(stream="keys")),
        ("RoundOpened", lambda event: event.update(note="one field more")),
        ("RoundOpened", lambda event: event["data"].pop("seen")),
        ("RoundOpened", lambda event: event["data"].update(mode="demo")),
        ("RoundOpened", lambda event: event["data"].update(limits={"main": 5})),
        ("RoundOpened", lambda event: event["data"].update(limits={"main": {"min_minor": 1}})),
        ("DealRequested", lambda event: event["data"].update(stakes={"s1": 1000})),
        ("DealRequested", lambda event: event["data"].update(stakes={"s1": {"main": 0}})),
        ("DealRequested", lambda event: event["data"].update(stakes={"seat 1": {"main": 10}})),
        ("DealRequested", lambda event: event["data"].update(client_seed="0")),
        ("CardDealt", lambda event: event["data"].update(card="10c")),
        ("CardDealt", lambda event: event["data"].update(card=None)),
        ("CardDealt", lambda event: event["data"].update(receiver="s1.3")),
        ("DecisionOffered", lambda event: event["data"].update(legal=["surrender"])),
        ("DecisionOffered", lambda event: event["data"].update(barred={"double": "mood"})),
        ("DecisionOffered", lambda event: event["data"].update(barred={"bet": "funds"})),
        ("DecisionMade", lambda event: event["data"].update(actor="dealer")),
        ("BetSettled", lambda event: event["data"].update(paid_minor=-1)),
        ("BetSettled", lambda event: event["data"].update(paid_minor=2**53)),
        ("BetSettled", lambda event: event["data"].update(paid_minor=9.5)),
        ("ShoeRevealed", lambda event: event["data"].update(seed="00")),
        ("RulesAdded", lambda event: event["data"]["rules"].update(rounding="up")),
        ("PolicyAdded", lambda event: event["data"]["policy"].update(after_deal="void")),
        ("KeyAdded", lambda event: event["data"].update(roles=["owner"])),
    ],
)
def test_what_is_no_event_is_refused(
    played: list[dict[str, Any]], name: str, change: Change
) -> None:
    payload = next(each for each in played if each["type"] == name)
    changed = copy.deepcopy(payload)
    change(changed)
    assert EVENT.is_valid(payload)
    assert not EVENT.is_valid(changed)


@pytest.mark.parametrize("refund", [{}, {"hand": "s1", "bet": "main", "amount_minor": "5.00"}])
def test_a_refund_has_its_shape(played: list[dict[str, Any]], refund: dict[str, Any]) -> None:
    closed = next(each for each in played if each["type"] == "RoundClosed")
    right = {"hand": "s1", "bet": "main", "amount_minor": 500, "funds": None}
    for given, is_valid in ((right, True), (refund, False)):
        data = {"reason": "the shoe jammed", "refunds": [given], "seen": None}
        assert EVENT.is_valid({**closed, "type": "RoundVoided", "data": data}) is is_valid


@pytest.mark.parametrize("path", sorted(CASES.rglob("*.round")), ids=lambda path: path.stem)
def test_a_round_is_valid_where_it_is_read(path: Path) -> None:
    content = path.read_bytes()
    try:
        read_round(content)
    except RoundTextError:
        if path.stem not in BEYOND_A_SCHEMA:
            assert not ROUND.is_valid(tomllib.loads(content.decode()))
    else:
        ROUND.validate(tomllib.loads(content.decode("utf-8-sig")))
