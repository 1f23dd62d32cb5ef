"""The statistics against worked figures, second methods and simulated fair years."""

from fractions import Fraction
from itertools import product
from math import comb, exp, isclose, prod, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from shoeproof.audit_reports.statistics.intervals import (
    rtp_on_initial_stakes,
    standard_error,
    volatility_band,
    volatility_index,
)
from shoeproof.audit_reports.statistics.sequences import (
    FEWEST_ROUNDS,
    betting_looks,
    betting_sequence,
    count_capital,
    count_looks,
    log_capital,
    luck_looks,
    mixture_radius,
    rtp_looks,
    tune,
)
from shoeproof.audit_reports.statistics.sums import BetSums, CountSums, LuckSums
from shoeproof.audit_reports.statistics.verdict import (
    INCONCLUSIVE,
    NO_EVIDENCE,
    OUT_OF_RANGE,
    WATCH,
    read_count,
    read_luck,
    read_settlement,
    read_side_bet,
    verdict,
)
from tests.bench.coverage import alarms, fair_bets

rounds = st.lists(st.tuples(st.integers(1, 500), st.integers(1, 500), st.integers(0, 1000)))
"""Rounds as initial stake, all that was staked, and paid."""


def test_the_two_returns_of_three_rounds() -> None:
    """Stakes 100, 100 doubled, 300; a win, a doubled push, a loss of all but 150."""
    sums = BetSums.of([(100, 100, 200), (100, 200, 200), (300, 300, 150)])
    assert sums.rtp_on_initial_stakes == 1 + Fraction(100 + 0 - 150, 500)
    assert sums.rtp_on_total_staked == Fraction(550, 600)
    assert sums.effective_rounds == Fraction(500**2, 100**2 + 100**2 + 300**2)


def test_a_doubled_push_returns_100_percent() -> None:
    assert BetSums.of([(100, 200, 200)]).rtp_on_initial_stakes == 1


def test_the_interval_rests_on_the_realised_variance_of_unequal_stakes() -> None:
    sums = BetSums.of([(100, 100, 200), (100, 100, 0), (300, 300, 750)])
    # Wins 100, -100, 450; the win rate is 0.9.
    error = sqrt(((100 - 90) ** 2 + (-100 - 90) ** 2 + (450 - 270) ** 2) * 3 / 2) / 500
    found = rtp_on_initial_stakes(sums)
    assert found is not None
    assert isclose(standard_error(sums) or 0, error)
    assert isclose(found.upper - found.estimate, 1.959963984540054 * error)
    assert found.estimate == 1.9


def test_equal_stakes_give_the_interval_of_a_mean() -> None:
    """For equal stakes the ratio estimator is the mean, and the error s/√n as in any book."""
    wins = [-1, 1, 1, -1, 2, 0, -1, 3]
    sums = BetSums.of([(10, 10, 10 + 10 * win) for win in wins])
    assert isclose(standard_error(sums) or 0, np.std(wins, ddof=1) / sqrt(len(wins)))


def test_nothing_is_said_of_too_few_rounds() -> None:
    for sums in (BetSums(), BetSums.of([(100, 100, 0)])):
        assert standard_error(sums) is None
        assert rtp_on_initial_stakes(sums) is None
    assert volatility_band(0.99, 1.1, Fraction(0)) is None


def test_the_volatility_index_and_its_band() -> None:
    """VI = 1.96·σ at 95%; for σ = 1.1 and 10,000 effective rounds the band is ±2.156 points."""
    assert isclose(volatility_index(1.1), 2.156, abs_tol=1e-4)
    band = volatility_band(0.99, 1.1, Fraction(10_000))
    assert band is not None
    assert isclose(band.lower, 0.99 - 0.02156, abs_tol=1e-6)
    assert band.holds(0.99 - 0.0215)
    assert not band.holds(0.99 - 0.0216)


@given(rounds, rounds)
def test_sums_of_parts_add_up(
    some: list[tuple[int, int, int]], others: list[tuple[int, int, int]]
) -> None:
    assert BetSums.of(some) + BetSums.of(others) == BetSums.of(some + others)


@pytest.mark.parametrize(
    ("variance", "tuning", "level"), [(1, 1, 0.05), (50, 7, 0.01), (3, 90, 0.2)]
)
def test_the_radius_is_where_the_mixture_reaches_one_in_level(
    variance: float, tuning: float, level: float
) -> None:
    """Robbins: ∫ exp(θ·s − θ²·V/2) dN(θ; 0, 1/λ) = 1/α at the radius, here by quadrature."""
    radius = mixture_radius(variance, tuning, level)

    def density(theta: float) -> float:
        prior = sqrt(tuning / (2 * np.pi)) * exp(-tuning * theta**2 / 2)
        return prior * exp(theta * radius - theta**2 * variance / 2)

    assert isclose(integrate.quad(density, -20, 20, epsabs=1e-12)[0], 1 / level, rel_tol=1e-6)


@pytest.mark.parametrize("level", [0.01, 0.05, 0.2])
def test_tuning_makes_the_radius_smallest(level: float) -> None:
    tuning = tune(1000.0, level)
    best = mixture_radius(1000.0, tuning, level)
    others = np.geomspace(tuning / 100, tuning * 100, 2001)
    assert best <= mixture_radius(np.full(2001, 1000.0), others, level).min() * (1 + 1e-9)
    assert best < mixture_radius(1000.0, 0.9 * tuning, level)
    assert best < mixture_radius(1000.0, 1.1 * tuning, level)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_gambler_wins_nothing_on_average_against_the_truth(sign: int) -> None:
    """The mean of the money over all outcomes of 12 rounds, one in five of which pays 4."""
    n, chance = 12, Fraction(1, 5)
    wins = np.arange(n + 1)
    counts = np.stack([n - wins, wins], axis=1).astype(float)
    money = np.exp(log_capital(np.array([0.0, 4.0]), counts, 0.8, 4.0, sign))
    odds = [comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(n + 1)]
    assert isclose(sum(float(p) * m for p, m in zip(odds, money.tolist(), strict=True)), 1)


def test_who_bets_on_counts_wins_nothing_on_average() -> None:
    """The mean of the money over all outcomes of nine moves whose chances differ."""
    chances = (0.05, 0.1, 0.3, 0.3, 0.44, 0.5, 0.62, 0.8, 0.95)
    variance = sum(p * (1 - p) for p in chances)
    mean = 0.0
    for outcome in product((0, 1), repeat=len(chances)):
        likely = prod(p if came else 1 - p for p, came in zip(chances, outcome, strict=True))
        sums = CountSums(len(chances), sum(outcome), sum(chances), variance)
        mean += likely * exp(count_capital(sums))
    assert 0.9 < mean <= 1


def test_counts_of_the_same_event_add_up_and_an_honest_one_is_held() -> None:
    day = CountSums(100, 45, 44.0, 24.0)
    assert day + day == CountSums(200, 90, 88.0, 48.0)
    assert count_looks([day] * 40, 0.05) == [True] * 40
    assert count_looks([day, CountSums(332, 86, 146.7, 78.1)], 0.01) == [True, False]


@pytest.mark.parametrize(
    ("sums", "word"),
    [
        (CountSums(332, 86, 146.7, 78.1), OUT_OF_RANGE),
        (CountSums(332, 118, 146.7, 78.1), WATCH),  # −3.2 standard errors
        (CountSums(332, 140, 146.7, 78.1), NO_EVIDENCE),
        (CountSums(40, 10, 17.7, 9.4), INCONCLUSIVE),
        (CountSums(40, 40, 2.0, 1.9), OUT_OF_RANGE),  # few moves, and no chance at all
    ],
)
def test_a_count_is_read_against_its_chances(sums: CountSums, word: str) -> None:
    assert read_count("busts", [sums], 0.002).word == word


def test_of_as_many_rounds_as_are_needed_something_is_said_and_of_fewer_nothing() -> None:
    enough, fewer = ([1.0, -1.0] * (count // 2) for count in (FEWEST_ROUNDS, FEWEST_ROUNDS - 2))
    for values, word in ((enough, NO_EVIDENCE), (fewer, INCONCLUSIVE)):
        (read,) = read_luck({"hit": [LuckSums.of(values)]}, fewest=2)
        assert read.word == word


def test_a_count_says_on_which_day_it_left_what_chance_allows() -> None:
    fair, rigged = CountSums(2_000, 560, 560.0, 403.2), CountSums(2_000, 1_100, 560.0, 403.2)
    assert read_count("busts", [fair, fair]).word == NO_EVIDENCE
    assert "; on day 1 it left" in read_count("busts", [rigged, fair]).says
    assert "; on day 2 it left" in read_count("busts", [fair, rigged]).says
    assert "; it left" in read_count("busts", [rigged]).says


def test_a_single_look_is_as_narrow_as_luck_for_a_unit_is_tuned_to() -> None:
    luck = LuckSums.of([1.0, -1.0] * 500)
    (tuned,) = luck_looks([luck], 0.001, luck.squares)
    assert tuned is not None
    for other in (luck.squares / 30, luck.squares * 30):
        (look,) = luck_looks([luck], 0.001, other)
        assert look is not None
        assert tuned.radius < look.radius


def test_the_betting_sequence_is_where_the_money_reaches_its_limit() -> None:
    returns = {Fraction(0): 9_000, Fraction(6): 800, Fraction(26): 200}
    found = betting_sequence(returns, Fraction(26))
    assert found.lower < found.estimate == 1.0 < found.upper
    values, counts = np.array([0.0, 6.0, 26.0]), np.array([9_000.0, 800.0, 200.0])
    for edge, sign in ((found.lower, 1), (found.upper, -1)):
        assert isclose(np.exp(log_capital(values, counts, edge, 26.0, sign)), 40, rel_tol=1e-6)
    for mean, held in ((0.97, True), (found.lower - 0.01, False), (found.upper + 0.01, False)):
        assert betting_looks([returns], Fraction(mean), Fraction(26)) == [held]


def test_no_returns_and_impossible_ones() -> None:
    empty = betting_sequence({}, Fraction(26))
    assert (empty.lower, empty.upper) == (0, 26)
    assert betting_looks([], Fraction(1), Fraction(26)) == []
    with pytest.raises(ValueError, match="outside the pay table"):
        betting_sequence({Fraction(27): 1}, Fraction(26))


def test_nothing_is_said_while_few_large_stakes_make_up_the_sum() -> None:
    small = BetSums.of([(1, 1, 2 * (n % 2)) for n in range(2 * FEWEST_ROUNDS)])
    whale = BetSums.of([(10_000, 10_000, 0)])
    first, second = rtp_looks([small, whale])
    assert first is not None
    assert second is None
    even = LuckSums.of([1, -1] * FEWEST_ROUNDS)
    assert [look is None for look in luck_looks([even, LuckSums.of([10_000.0])])] == [False, True]


def test_a_sequence_is_wider_than_a_single_look_and_narrows() -> None:
    day = BetSums.of([(100, 100, 200 * (n % 2)) for n in range(1000)])
    looks = [look for look in rtp_looks([day] * 100) if look is not None]
    single = rtp_on_initial_stakes(day)
    assert len(looks) == 100
    assert single is not None
    assert single.lower > looks[0].lower
    assert looks[-1].upper - looks[-1].lower < 0.2 * (looks[0].upper - looks[0].lower)


@pytest.mark.parametrize("name", ["zappit main", "nba perfect_pairs"])
def test_daily_looks_at_fair_years(name: str) -> None:
    """Of 60 fair years; the seed is fixed. `tests.bench.coverage` does this for many more."""
    (bet,) = [bet for bet in fair_bets() if bet.name == name]
    random = np.random.default_rng(7)
    years = [alarms(bet, 500, random) for _ in range(60)]
    fixed, rolling, mixture, luck, betting = (
        sum(map(bool, kind)) for kind in zip(*years, strict=True)
    )
    assert fixed > 20
    assert rolling > 50
    assert max(luck, betting) <= 3
    if bet.largest_return is None:
        assert mixture <= 3


def _days(drift: float, days: int = 30) -> list[LuckSums]:
    random = np.random.default_rng(5)
    return [LuckSums.of(random.choice([-1.0, 1.0], 2000) + drift) for _ in range(days)]


def test_luck_that_is_luck_is_no_evidence() -> None:
    (reading,) = read_luck({"dealer draw": _days(0)})
    assert reading.word == NO_EVIDENCE


def test_a_biased_part_is_out_of_range_and_named() -> None:
    found = verdict(read_luck({"initial deal": _days(0), "dealer draw": _days(-0.03)}))
    assert found.word == OUT_OF_RANGE
    assert [each.of for each in found.readings if each.word == OUT_OF_RANGE] == ["dealer draw"]
    assert "on day" in found.readings[1].says


def test_once_out_of_range_always_out_of_range() -> None:
    days = [*_days(0.1, 10), *_days(-0.1, 10)]
    (reading,) = read_luck({"hit": days})
    assert reading.word == OUT_OF_RANGE


def test_striking_at_a_single_look_is_to_be_watched() -> None:
    """A drift of 2.3 standard errors is beyond 1.96 and within what daily looks allow."""
    n = 10_000
    plus = n // 2 + int(2.3 * sqrt(n) / 2)
    (reading,) = read_luck({"hit": [LuckSums.of([1.0] * plus + [-1.0] * (n - plus))]})
    assert reading.word == WATCH


def test_too_few_rounds_are_inconclusive() -> None:
    (reading,) = read_luck({"zap": [LuckSums.of([1.0] * 100)]})
    assert (reading.word, reading.says) == (INCONCLUSIVE, "too few rounds to judge")
    assert verdict(read_luck({"zap": []})).word == INCONCLUSIVE


def test_a_side_bet_is_read_against_its_theory() -> None:
    day = {Fraction(0): 9_252, Fraction(7): 386, Fraction(13): 193, Fraction(26): 169}
    held = read_side_bet("pairs", [day], Fraction(398, 415), Fraction(26))
    assert held.word == NO_EVIDENCE
    thinned = {Fraction(0): 9_500, Fraction(7): 340, Fraction(13): 120, Fraction(26): 40}
    found = read_side_bet("pairs", [day, thinned, thinned, day], Fraction(398, 415), Fraction(26))
    assert found.word == OUT_OF_RANGE
    assert found.says.endswith("left out on day 2")


def test_any_error_of_settlement_is_out_of_range() -> None:
    assert read_settlement(0, "0.00 EUR").word == NO_EVIDENCE
    found = verdict([read_settlement(1, "−0.50 EUR"), read_settlement(0, "0.00 EUR")])
    assert found.word == OUT_OF_RANGE
    assert "1 bet was not paid as the rules say, −0.50 EUR" in found.readings[0].says


def test_no_word_is_fair() -> None:
    assert verdict([]).word == "inconclusive"
    assert "fair" not in {NO_EVIDENCE, INCONCLUSIVE, WATCH, OUT_OF_RANGE}
