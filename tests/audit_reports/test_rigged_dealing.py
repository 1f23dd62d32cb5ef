"""Dealing that is rigged where money does not show it, each with an honest control beside it."""

from collections.abc import Sequence
from datetime import date
from functools import cache

import pytest

from shoeproof.audit_reports.rtp_report.build import build_games, headline
from shoeproof.audit_reports.rtp_report.figures import Scope, figures
from shoeproof.audit_reports.rtp_report.model import BetReport, GameReport
from shoeproof.audit_reports.rtp_report.theoretical import theoretical
from shoeproof.audit_reports.statistics.verdict import Reading
from shoeproof.audit_reports.tables.checks.run import checks
from shoeproof.replay.engine.rules import rules_digest
from shoeproof.replay.games.published import GAMES
from tests.audit_reports.simulated import simulated
from tests.luck.simulator import HONEST, Crooked

NO_NATURALS = Crooked(naturals_taken=1.0)
NO_BUSTS = Crooked(busts_taken=0.6)
ROUNDS = 4_000
A_MILLION = (100_000, *[1] * (ROUNDS - 1))
"""The first stake is 1,000,000.00, every other one 10.00."""


@cache
def judged(
    game: str,
    rounds: int,
    crooked: Crooked = HONEST,
    times: Sequence[int] | None = None,
    seed: int = 3,
    days: int = 30,
) -> GameReport:
    rules = GAMES[game].rules
    tables = simulated(game, "basic", rounds, seed=seed, crooked=crooked, times=times, days=days)
    found = figures(tables, Scope())
    (report,) = build_games(found, {rules_digest(rules): theoretical(rules)}, date(2026, 1, 30))
    return report


def main(report: GameReport) -> BetReport:
    return report.bets[0]


def reading(report: GameReport, of: str) -> Reading:
    (found,) = [each for each in main(report).readings if each.of == of]
    return found


def test_no_stake_drowns_the_luck_of_all_others() -> None:
    report = judged("zappit", ROUNDS, NO_NATURALS, A_MILLION)
    assert main(report).effective_rounds == pytest.approx(1.08, abs=0.01)
    assert reading(report, "luck_initial_deal").word == "inconclusive"
    assert reading(report, "unit_initial_deal").word == "out of range"
    assert report.word == "out of range"
    assert any("initial deal per unit of stake" in why for why in report.why)
    # What a return of one effective round may vary by is not shown.
    assert (main(report).band, main(report).anytime, main(report).row.interval) == (None,) * 3
    (deal,) = [part for part in main(report).parts if part.kind == "initial_deal"]
    assert deal.within is None
    assert deal.word == "out of range"


def test_an_honest_game_with_one_large_stake_has_no_evidence_against_it() -> None:
    report = judged("zappit", ROUNDS, HONEST, A_MILLION)
    assert report.word == "no evidence against"
    assert reading(report, "luck_initial_deal").word == "inconclusive"
    assert reading(report, "unit_all").word == "no evidence against"


def test_naturals_that_never_come_are_counted() -> None:
    """4,000 deals of six decks: 2 · 24 · 96 / (312 · 311) of them naturals, 189.9 expected."""
    rigged = reading(judged("zappit", ROUNDS, NO_NATURALS), "player_natural")
    assert rigged.word == "out of range"
    assert "in 4,000, where 190.0 were expected" in rigged.says
    assert reading(judged("zappit", ROUNDS), "player_natural").word == "no evidence against"


def test_a_dealer_whose_stiff_hands_do_not_bust_is_named_by_few_rounds() -> None:
    rigged = judged("nba", 1_200, NO_BUSTS)
    assert reading(rigged, "dealer_bust").word == "out of range"
    assert rigged.word == "out of range"
    assert any(why.startswith("main: busts of the dealer's stiff hands") for why in rigged.why)
    control = judged("nba", 1_200)
    assert reading(control, "dealer_bust").word == "no evidence against"
    assert control.word != "out of range"


def test_all_luck_together_is_a_reading_and_one_day_is_enough() -> None:
    """Too many tens and too few naturals: each kind of luck a little, and all of them together."""
    crooked = Crooked(naturals_taken=0.7, busts_taken=0.12)
    report = judged("zero", 6_000, crooked, days=1)
    assert reading(report, "luck_all").word == "out of range"
    assert report.word == "out of range"
    control = judged("zero", 6_000, days=1)
    assert reading(control, "luck_all").word == "no evidence against"


def test_a_few_rounds_are_inconclusive_and_no_game_hides_another() -> None:
    few, told = judged("zero", 100), judged("nba", ROUNDS)
    assert few.word == main(few).word == "inconclusive"
    assert "no evidence against" not in {each.word for each in few.bets}
    assert headline([few]) == "Inconclusive: too few rounds to judge Zero Blackjack (EUR)"
    both = headline([few, told])
    assert both.startswith("No evidence against NBA")
    assert both.endswith("; too few rounds to judge Zero Blackjack (EUR)")


def test_honest_stakes_of_ten_thousand_million_units_are_no_finding() -> None:
    """Fractions of such a stake are kept to a millionth of a unit, and no nearer."""
    tables = simulated("nba", "random", 600, seed=5, times=[10_000_000] * 600)
    (select,) = [each.select for each in checks() if each.name == "parts_do_not_add_up"]
    assert tables.rows_of(select) == []
    report = judged("nba", 2_000, times=(10_000_000,) * 2_000)
    usual = judged("nba", 2_000)
    assert [(part.term, part.kind, part.moved) for part in main(report).parts] == [
        (part.term, part.kind, part.moved) for part in main(usual).parts
    ]
    assert report.word == usual.word


def test_small_samples_have_no_interval_that_cannot_be() -> None:
    """A hundred rounds of a bet that pays 25 to 1 gave −14.10% to 279.10%."""
    report = judged("nba", 100)
    assert {bet.row.bet: bet.row.interval for bet in report.bets} == dict.fromkeys(
        [bet.row.bet for bet in report.bets]
    )
    assert {bet.word for bet in report.bets} == {"inconclusive"}
    assert all(bet.row.interval is not None for bet in judged("nba", ROUNDS).bets[:1])
