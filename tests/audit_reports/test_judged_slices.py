"""Slices judged one by one: which table, which player, and however many there are."""

from datetime import date
from functools import cache

import numpy as np
import pyarrow as pa
import pytest

from shoeproof.audit_reports.rtp_report.build import build_games
from shoeproof.audit_reports.rtp_report.figures import Scope, figures
from shoeproof.audit_reports.rtp_report.model import GameReport, Row
from shoeproof.audit_reports.rtp_report.theoretical import theoretical
from shoeproof.audit_reports.statistics.verdict import level_of_each
from shoeproof.replay.engine.rules import rules_digest
from shoeproof.replay.games.published import GAMES
from tests.audit_reports.simulated import SimulatedTables, simulated_rows
from tests.luck.simulator import HONEST, Crooked

PLAYERS = 30


def judged(rows: list[pa.Table], *by: str) -> GameReport:
    rules = GAMES["zero"].rules
    found = figures(SimulatedTables(pa.concat_tables(rows)), Scope(), [(each,) for each in by])
    theories = {rules_digest(rules): theoretical(rules)}
    (report,) = build_games(found, theories, date(2026, 1, 30))
    return report


def of(rows: tuple[Row, ...], name: str, bet: str = "main") -> Row:
    (found,) = [row for row in rows if (*row.slice.values(),) == (name,) and row.bet == bet]
    return found


@cache
def honest_players() -> list[pa.Table]:
    return [
        simulated_rows("zero", "basic", 300, seed=n, name=f"p-{n:02}", days=20)
        for n in range(PLAYERS)
    ]


def the_better_of_two(rounds: int, name: str) -> pa.Table:
    """A player's rounds, each the better one of two that were dealt."""
    one, other = (
        simulated_rows("zero", "basic", rounds, seed=seed, name=name, days=20) for seed in (91, 92)
    )
    won = []
    for rows in (one, other):
        main = np.array(rows["bet"].to_pylist()) == "main"
        net = rows["paid_minor"].to_numpy() - rows["staked_minor"].to_numpy()
        won.append(net[main])
    first = one.filter(np.array(one["bet"].to_pylist()) == "main")
    second = other.filter(np.array(other["bet"].to_pylist()) == "main")
    better = won[0] >= won[1]
    return pa.concat_tables([first.filter(better), second.filter(~better)])


def test_a_player_who_gets_the_better_of_two_shoes_is_named_first() -> None:
    rigged = judged([*honest_players(), the_better_of_two(1_500, "p-zz")], "player")
    first = rigged.slices["player"][0]
    assert (first.slice["player"], first.bet, first.word) == ("p-zz", "main", "out of range")
    assert rigged.word == "out of range"
    assert any(why.startswith("player p-zz, main: ") for why in rigged.why)
    assert all(row.word != "out of range" for row in rigged.slices["player"][1:])
    assert first.kinds["unit_all"] > 10
    assert {"unit_initial_deal", "unit_dealer_draw", "dealer_bust"} <= first.kinds.keys()


def test_a_few_hundred_rounds_are_enough_to_name_a_player() -> None:
    rigged = judged([*honest_players()[:4], the_better_of_two(500, "p-zz")], "player")
    first = rigged.slices["player"][0]
    assert (first.slice["player"], first.bet, first.word) == ("p-zz", "main", "out of range")
    assert [each.partition(":")[0] for each in first.why] == ["all luck together per unit of stake"]


def test_honest_players_are_not_named_and_rows_stand_by_their_evidence() -> None:
    control = judged(honest_players(), "player")
    rows = control.slices["player"]
    assert control.word == control.bets[0].word
    assert {row.word for row in rows} <= {"no evidence against", "inconclusive"}
    distances = [row.furthest or 0.0 for row in rows]
    assert distances == sorted(distances, reverse=True)
    assert [row.slice["player"] for row in rows] != sorted(
        row.slice["player"] or "" for row in rows
    )


def table_rows(rigged: Crooked) -> list[pa.Table]:
    return [
        simulated_rows("zero", "basic", 3_000, seed=n, table=f"t-{n}", crooked=rigged)
        if n == 2
        else simulated_rows("zero", "basic", 3_000, seed=n, table=f"t-{n}")
        for n in range(4)
    ]


@pytest.mark.parametrize("rigged", [HONEST, Crooked(busts_taken=0.5)], ids=["honest", "rigged"])
def test_one_table_of_four_is_named_by_its_kind_of_luck(rigged: Crooked) -> None:
    report = judged(table_rows(rigged), "table", "day")
    rows = report.slices["table"]
    if rigged is HONEST:
        assert {row.word for row in rows if row.bet == "main"} == {"no evidence against"}
        return
    assert of(rows, "t-2").word == "out of range"
    assert any("busts of the dealer" in why for why in of(rows, "t-2").why)
    assert of(rows, "t-1").word == "no evidence against"
    days = [row.slice["day"] or "" for row in report.slices["day"]]
    assert days == sorted(days)


def test_wrong_payments_name_their_table() -> None:
    """A natural paid 6:5 where the rules say 3:2: 3.00 of 10.00 too little, ten times."""
    table = table_rows(HONEST)[1]
    wrong = np.zeros(len(table), np.int64)
    wrong[np.flatnonzero(np.array(table["bet"].to_pylist()) == "main")[:10]] = 1
    for name, value in (
        ("wrong_hands", wrong),
        ("error_minor", -300.0 * wrong),
        ("underpaid_minor", 300.0 * wrong),
    ):
        table = table.set_column(table.schema.get_field_index(name), name, pa.array(value))
    report = judged([*table_rows(HONEST)[:1], table], "table")
    assert of(report.slices["table"], "t-1").why == (
        "settlement: 10 bets were not paid as the rules say, 30.00 EUR too little in all",
    )
    assert of(report.slices["table"], "t-0").word == "no evidence against"


def test_levels_of_things_that_become_more_sum_to_the_whole() -> None:
    """1/2 + 1/6 + 1/12 + …: the n-th to come is never judged at more than level / n(n + 1)."""
    assert sum(level_of_each(0.05, n) for n in range(1, 10_000)) == pytest.approx(0.05, rel=1e-3)
