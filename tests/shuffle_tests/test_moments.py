"""Means, variances and p-values against enumeration, textbooks and SciPy's distributions."""

from fractions import Fraction
from itertools import permutations
from math import comb, isclose

import numpy as np
import pytest
from scipy import stats

from shoeproof.audit_reports.shuffle_tests.moments import (
    Moments,
    collected_by,
    neighbours,
    overlap,
    products,
    successions,
)
from shoeproof.audit_reports.shuffle_tests.results import (
    ShuffleTest,
    binomial_p_value,
    chi_square_p_value,
    judge,
    normal_p_value,
    poisson_p_value,
)
from tests.shuffle_tests.helpers import Ints

ORDERS = np.array(list(permutations(range(6))))


def _assert_moments(found: Moments, values: Ints) -> None:
    assert isclose(found.mean, values.mean(), abs_tol=1e-9)
    assert isclose(found.variance, values.var(), rel_tol=1e-9)


@pytest.mark.parametrize("lag", [1, 2, 3, 5])
def test_sums_over_neighbours_in_all_orders_of_six_cards(lag: int) -> None:
    scores = np.random.default_rng(1).integers(-9, 9, (6, 6))
    scores = scores + scores.T
    values = scores[ORDERS[:, lag:], ORDERS[:, :-lag]].sum(axis=1)
    _assert_moments(neighbours(scores, lag), values)


def test_runs_have_the_moments_of_wald_and_wolfowitz() -> None:
    """For 8 of one kind and 13 of another: mean 1 + 2·8·13/21, variance as in any table of them."""
    kinds = np.array([0] * 8 + [1] * 13)
    found = neighbours(kinds[:, None] != kinds[None, :], 1)
    twice, n = 2 * 8 * 13, 21
    assert isclose(found.mean + 1, 1 + twice / n)
    assert isclose(found.variance, twice * (twice - n) / (n**2 * (n - 1)))


def test_products_of_two_shoes() -> None:
    scores = np.array([-5, -1, -1, 0, 3, 4])
    _assert_moments(products(scores), (scores * scores[ORDERS]).sum(axis=1))


def test_cards_in_common() -> None:
    _assert_moments(overlap(6, 3), (ORDERS[:, :3] < 3).sum(axis=1))


def test_neighbours_that_stay_neighbours() -> None:
    follow = (np.roll(ORDERS, -1, axis=1) - ORDERS) % 6 == 1
    values = follow.sum(axis=1)
    assert isclose(values.mean(), successions(6))
    # Var = n/(n−2) + n/(n−1) − (n/(n−1))², near the mean for the sizes of shoes.
    assert isclose(values.var(), 6 / 4 + 6 / 5 - (6 / 5) ** 2)


def test_collecting_every_kind_of_six_cards() -> None:
    """Two kinds of three cards each: seen both by the second card with a chance of 3/5."""
    by = collected_by(6, 2)
    assert by == [0, 0, Fraction(3, 5), Fraction(9, 10), 1, 1, 1]
    kinds = np.sort(ORDERS[:, :3] % 2, axis=1)
    assert isclose((kinds[:, 0] != kinds[:, -1]).mean(), 0.9)


def test_p_values_are_twice_the_smaller_tail() -> None:
    for count in (0, 1, 4, 9, 30):
        lower, upper = stats.poisson.cdf(count, 7.5), stats.poisson.sf(count - 1, 7.5)
        assert isclose(poisson_p_value(count, 7.5), min(1, 2 * min(lower, upper)), rel_tol=1e-9)
        lower, upper = stats.binom.cdf(count, 40, 0.2), stats.binom.sf(count - 1, 40, 0.2)
        found = binomial_p_value(count, 40, 0.2)
        assert isclose(found, min(1, 2 * min(lower, upper)), rel_tol=1e-9)
    assert isclose(binomial_p_value(0, 10, 0.5), 2 / 2**10)
    assert isclose(binomial_p_value(9, 10, 0.5), 2 * (comb(10, 9) + 1) / 2**10)
    for freedom, statistic in ((3, 11.34), (12, 3.0), (172_225, 173_600.0)):
        tails = stats.chi2.cdf(statistic, freedom), stats.chi2.sf(statistic, freedom)
        assert isclose(chi_square_p_value(statistic, freedom), 2 * min(tails), rel_tol=1e-7)
    assert isclose(normal_p_value(-1.959963984540054), 0.05)


def test_the_95_percent_points_of_printed_tables() -> None:
    """NIST/SEMATECH e-Handbook 1.3.6.7.4: upper 2.5% of χ² at 3 and 12 degrees of freedom."""
    assert isclose(chi_square_p_value(9.348, 3), 0.05, rel_tol=1e-3)
    assert isclose(chi_square_p_value(23.337, 12), 0.05, rel_tol=1e-3)


def _test(p_value: float | None) -> ShuffleTest:
    return ShuffleTest(game="g", name="n", kind="k", observations=1, p_value=p_value)


def test_holm_by_hand() -> None:
    """0.005·4, then 0.01·3, then 0.03·2, and the last no less than the one before it."""
    results = judge([_test(p) for p in (0.01, 0.04, None, 0.03, 0.005)], 0.035)
    adjusted = [each.adjusted for each in results]
    assert adjusted == pytest.approx([0.03, 0.06, None, 0.06, 0.02])
    assert [each.rejected for each in results] == [True, False, False, False, True]
    assert judge([], 0.01) == []
