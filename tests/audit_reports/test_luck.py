"""Luck, skill and error of a whole ledger: rows are those of its rounds one by one."""

from collections.abc import Iterator
from math import fsum
from random import Random
from typing import Any, Literal

import pytest
from msgspec.structs import replace

from shoeproof.audit_reports.rows import luck
from shoeproof.audit_reports.rows.luck import PART_COLUMNS
from shoeproof.audit_reports.tables.projection import open_projection
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import BetSettled, DecisionMade, EventData, RoundOpened
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.luck.one_round import Decomposition
from shoeproof.replay.luck.recorded import decompose_replay
from shoeproof.replay.rounds.catalogue import add_published_games, rules_by_digest
from shoeproof.replay.rounds.replayer import replay_round
from tests.audit_reports.helpers import play, voided
from tests.bulk.rounds import honest_round, stakes_for

ROUNDS = 60


@pytest.fixture(scope="module")
def ledger() -> Iterator[Ledger]:
    """Rounds of every game, some paid wrongly, some for fun, one void, one with a decision gone."""
    random = Random(4)
    with Ledger.in_memory("luck.example/bj") as made:
        add_published_games(made)
        for number in range(ROUNDS):
            game = sorted(GAMES)[number % 3]
            events = honest_round(made, game, stakes_for(game, random), random)
            play(made, [_changed(each.event.data, number) for each in events])
        play(made, voided())
        data: list[EventData] = []
        while not any(isinstance(each, DecisionMade) for each in data):
            events = honest_round(made, "zero", {"s1": {"main": 100}}, random)
            data = [each.event.data for each in events]
        play(made, [each for each in data if not isinstance(each, DecisionMade)])
        yield made


def _changed(data: EventData, number: int) -> EventData:
    if isinstance(data, RoundOpened):
        mode: Literal["fun", "real"] = "fun" if number % 7 == 6 else "real"
        return replace(data, player=f"p-{number % 4}", mode=mode)
    if isinstance(data, BetSettled) and number % 10 == 3:
        return replace(data, paid_minor=data.paid_minor + 5)
    return data


def _rows(ledger: Ledger) -> list[dict[str, Any]]:
    with open_projection(ledger) as projection:
        projection.update()
        select = "FROM luck JOIN rounds USING (first_leaf) ORDER BY first_leaf, bet"
        rows = projection._tables.sql(select)
        return list(rows.to_arrow_table().to_pylist())


def _one_by_one(ledger: Ledger) -> dict[str, Decomposition]:
    """Each round by its stream, replayed and taken apart alone."""
    found, rules = {}, rules_by_digest(ledger)
    streams = {leaf.stream: None for leaf in ledger.leaves(0, ledger.size())}
    for stream in streams:
        events = ledger.events(stream)
        if isinstance(events[0].event.data, RoundOpened):
            alone = decompose_replay(replay_round(events, rules))
            if alone is not None:
                found[stream] = alone
    return found


def test_every_closed_round_has_its_rows_and_they_add_up(ledger: Ledger) -> None:
    rows = _rows(ledger)
    alone = _one_by_one(ledger)
    assert {row["round"] for row in rows} == set(alone)
    # All but the void one and the one with a decision gone.
    assert len(alone) == ROUNDS
    assert {row["mode"] for row in rows} == {"real", "fun"}
    for row in rows:
        apart = alone[row["round"]]
        parts = [row[name] for name in PART_COLUMNS]
        total = row["start_minor"] + fsum(parts) + row["error_minor"]
        assert total == pytest.approx(row["returned_minor"], rel=1e-9, abs=1e-9)
        expected = [
            apart.sums().get((row["bet"], *name.split("_", 1)), 0.0) for name in PART_COLUMNS
        ]
        assert parts == pytest.approx(expected, rel=1e-9, abs=1e-8)
        bets = [bet for bet in apart.bets if bet.bet == row["bet"]]
        assert row["returned_minor"] == sum(bet.returned_minor for bet in bets)
        assert row["error_minor"] == sum(bet.error_minor for bet in bets)
    assert sum(row["error_minor"] != 0 for row in rows) > 3


def test_rows_do_not_depend_on_how_many_rounds_are_taken_apart_together(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = _rows(ledger)
    monkeypatch.setattr(luck, "ROUNDS_A_BATCH", 13)
    assert _rows(ledger) == together
