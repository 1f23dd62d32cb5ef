"""Verdicts of whole reports: who is caught, who is not, and what is named as guilty."""

from datetime import date
from fractions import Fraction
from functools import cache

import msgspec
import pytest
from msgspec.structs import replace

from shoeproof.audit_reports.rtp_report.alarms import alarms
from shoeproof.audit_reports.rtp_report.build import build_games
from shoeproof.audit_reports.rtp_report.figures import Scope, figures
from shoeproof.audit_reports.rtp_report.model import BetReport, GameReport
from shoeproof.audit_reports.rtp_report.theoretical import theoretical
from shoeproof.audit_reports.statistics.sums import BetSums
from shoeproof.replay.engine.rules import rules_digest
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.live.alarms import Alarm, AlarmChange
from tests.audit_reports.simulated import SimulatedTables, simulated
from tests.luck.simulator import HONEST, Crooked

ROUNDS = 20_000
TENS = Crooked(tens=1.5)
NATURALS = Crooked(naturals_taken=0.5)


@cache
def tables(game: str, player: str, crooked: Crooked = HONEST) -> SimulatedTables:
    return simulated(game, player, ROUNDS, seed=11, crooked=crooked)


@cache
def judged(game: str, player: str, crooked: Crooked = HONEST) -> GameReport:
    rules = GAMES[game].rules
    found = figures(tables(game, player, crooked), Scope())
    (report,) = build_games(found, {rules_digest(rules): theoretical(rules)}, date(2026, 1, 30))
    return report


def main(report: GameReport) -> BetReport:
    return report.bets[0]


@pytest.mark.parametrize("game", sorted(GAMES))
def test_an_honest_game_has_no_evidence_against_it(game: str) -> None:
    report = judged(game, "basic")
    assert [bet.word for bet in report.bets] == ["no evidence against"] * len(report.bets)
    assert report.word == "no evidence against"
    assert report.why[0].endswith("so this is normal.")
    assert not alarms([report])


@pytest.mark.parametrize("game", sorted(GAMES))
def test_a_game_of_many_rounds_is_data(game: str) -> None:
    report = judged(game, "basic")
    assert msgspec.json.decode(msgspec.json.encode(report), type=GameReport) == report


@pytest.mark.parametrize("game", sorted(GAMES))
def test_weak_players_do_not_make_a_game_out_of_range(game: str) -> None:
    report = judged(game, "random")
    bet = main(report)
    assert report.word != "out of range"
    assert bet.theory is not None
    assert bet.band is not None
    assert bet.row.rtp_on_initial_stakes is not None
    # Against the theory itself this player's return would be far out of any band.
    radius = (bet.band.upper - bet.band.lower) / 2
    assert bet.theory.computed - bet.row.rtp_on_initial_stakes > 3 * radius
    assert bet.band.lower < bet.row.rtp_on_initial_stakes < bet.band.upper


@pytest.mark.parametrize("player", ["basic", "random"])
def test_a_dealer_with_too_many_tens_is_out_of_range_by_his_own_cards(player: str) -> None:
    report = judged("nba", player, TENS)
    assert report.word == "out of range"
    (why,) = [each for each in main(report).why if each.startswith("dealer draw")]
    assert "left the range luck stays within" in why
    guilty = {part.kind for part in main(report).parts if part.word == "out of range"}
    assert guilty <= {"dealer_draw", "hole_card", "initial_deal", "check"}
    assert any("dealer draw" in why for why in report.why)


def test_naturals_dealt_again_are_out_of_range_by_the_initial_deal() -> None:
    bet = main(judged("zappit", "basic", NATURALS))
    assert [part.kind for part in bet.parts if part.word == "out of range"] == ["initial_deal"]
    assert any(each.startswith("initial deal") for each in bet.why)


def test_an_alarm_names_the_bet_and_the_part_and_is_raised_once() -> None:
    report = judged("nba", "basic", TENS)
    found = alarms([report])
    assert [alarm.scope for alarm in found] == ["nba"] * len(found)
    assert any("main bet of nba in EUR" in str(alarm.note) for alarm in found)
    assert any("dealer draw" in str(alarm.note) for alarm in found)
    standing = [
        Alarm(
            number, alarm.scope, (AlarmChange("open", "", "engine", alarm.note or "", 9_999_999),)
        )
        for number, alarm in enumerate(found, 1)
    ]
    assert not alarms([report], standing)
    closed = [replace(each, steps=(*each.steps, replace(each.steps[0], state="closed")))
              for each in standing]  # fmt: skip
    assert not alarms([report], closed)
    before = [replace(each, steps=(replace(each.steps[-1], leaf_index=0),)) for each in closed]
    assert alarms([report], before) == found


@pytest.mark.parametrize("game", sorted(GAMES))
def test_the_steps_lead_from_the_theory_to_what_was_realised(game: str) -> None:
    for bet in judged(game, "random").bets:
        assert bet.row.rtp_on_initial_stakes is not None
        total = sum(step.value for step in bet.steps)
        # Wins in this simulation are whole minor units of a stake of a thousand.
        assert total == pytest.approx(bet.row.rtp_on_initial_stakes, abs=1e-3)
        assert bet.theory is not None
        if bet.row.bet != "insurance":
            assert bet.steps[0].value == pytest.approx(bet.theory.computed, abs=1e-6)


def test_sums_are_those_of_the_rounds_one_by_one() -> None:
    found = figures(tables("nba", "basic"), Scope(), [("table", "week"), ("stake_band",)])
    rows = tables("nba", "basic").rows.to_pylist()
    for cell in found.totals:
        mine = [row for row in rows if row["bet"] == cell.key.bet]
        one_by_one = BetSums.of(
            (row["initial_minor"], row["staked_minor"], row["paid_minor"]) for row in mine
        )
        assert cell.sums == one_by_one
        for parts in (
            [each for each in found.days if each.key == cell.key],
            [each for each in found.slices["table", "week"] if each.key == cell.key],
            [each for each in found.slices[("stake_band",)] if each.key == cell.key],
        ):
            assert sum((each.sums for each in parts), BetSums()) == one_by_one
        assert sum(found.growth[cell.key], BetSums()) == one_by_one
        returns = [
            Fraction(row["paid_minor"], row["staked_minor"]) for row in mine if row["staked_minor"]
        ]
        if cell.key.bet not in ("main", "insurance"):
            counted = found.returns[cell.key].values()
            assert sum(sum(day.values()) for day in counted) == len(returns)
            assert {value for day in counted for value in day} == set(returns)
        luck = sum(row["luck_initial_deal"] for row in mine)
        days = found.parts[cell.key].get("luck_initial_deal", {}).values()
        assert sum(day.sums.total for day in days) == pytest.approx(luck, abs=1e-6)


def test_days_without_rounds_are_said_to_have_none() -> None:
    days = judged("zero", "basic").days
    assert len(days) == 30
    assert all(day.rows for day in days)
    found = figures(tables("zero", "basic"), Scope())
    rules = GAMES["zero"].rules
    theories = {rules_digest(rules): theoretical(rules)}
    (later,) = build_games(found, theories, date(2026, 2, 10))
    assert [day.day for day in later.days if not day.rows] == [
        *(f"2026-02-{n:02}" for n in range(10, 0, -1)), "2026-01-31",
    ]  # fmt: skip
