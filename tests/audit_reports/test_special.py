"""The special functions, by exact sums of what they are the sums of."""

from decimal import Decimal, getcontext
from fractions import Fraction
from math import comb, erfc, exp, factorial, log, sqrt

import numpy as np
import pytest

from shoeproof.audit_reports.statistics.exact import two_sided_hypergeometric
from shoeproof.audit_reports.statistics.sequences import tune
from shoeproof.audit_reports.statistics.special import beta_tail, gamma_tails, log_sum_exp


def poisson_tail(count: int, mean: Fraction) -> float:
    """Return P(X <= count) of a Poisson variable, summed with 60 digits."""
    getcontext().prec = 60
    exact = sum((mean**k / factorial(k) for k in range(count + 1)), Fraction(0))
    part = Decimal(exact.numerator) / Decimal(exact.denominator)
    return float(part * (-Decimal(mean.numerator) / Decimal(mean.denominator)).exp())


def binomial_tail(count: int, trials: int, chance: Fraction) -> float:
    """Return P(X <= count) of a binomial variable, summed as fractions."""
    terms = (comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(count + 1))
    return float(sum(terms, Fraction(0)))


@pytest.mark.parametrize("mean", [Fraction(1, 100), Fraction(1), Fraction(15, 2), Fraction(90)])
@pytest.mark.parametrize("count", [0, 1, 7, 60, 120])
def test_gamma_is_the_tail_of_poisson(count: int, mean: Fraction) -> None:
    lower, upper = poisson_tail(count, mean), gamma_tails(count + 1, float(mean))[1]
    assert upper == pytest.approx(lower, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("chance", [Fraction(1, 1000), Fraction(1, 13), Fraction(1, 2)])
@pytest.mark.parametrize(("count", "trials"), [(0, 1), (0, 40), (3, 40), (39, 40), (80, 900)])
def test_beta_is_the_tail_of_binomial(count: int, trials: int, chance: Fraction) -> None:
    found = beta_tail(trials - count, count + 1, float(1 - chance))
    assert found == pytest.approx(binomial_tail(count, trials, chance), rel=1e-12, abs=1e-15)


def test_beta_at_its_ends() -> None:
    assert (beta_tail(2, 3, 0.0), beta_tail(2, 3, 1.0)) == (0.0, 1.0)
    assert (beta_tail(0, 3, 0.5), beta_tail(3, 0, 0.5), beta_tail(3, 0, 1.0)) == (1.0, 0.0, 1.0)


@pytest.mark.parametrize("statistic", [0.02, 1.0, 9.0, 40.0])
def test_gamma_with_one_and_two_degrees_of_freedom(statistic: float) -> None:
    """Where it has a simple form: a normal variable squared, and an exponential one."""
    assert gamma_tails(0.5, statistic / 2)[1] == pytest.approx(erfc(sqrt(statistic / 2)), rel=1e-12)
    assert gamma_tails(1, statistic / 2)[1] == pytest.approx(exp(-statistic / 2), rel=1e-12)


def test_large_arguments_lose_no_digits() -> None:
    """The series of NIST DLMF 8.7.1 and the binomial sum, taken with 60 digits."""
    below = gamma_tails(2599037.851059933, 2591663.8728942503)[0]
    assert below == pytest.approx(2.3458715415415447e-06, rel=1e-10)
    middle = beta_tail(6749565 - 4502164, 4502164 + 1, 1 - 0.6670297530362627)
    assert middle == pytest.approx(0.5012281562257382, rel=1e-10)


@pytest.mark.parametrize(("won", "drawn", "other_won", "others"), [(3, 9, 4, 31), (0, 5, 9, 9)])
def test_hypergeometric_is_summed_exactly(
    won: int, drawn: int, other_won: int, others: int
) -> None:
    wins, size = won + other_won, drawn + others
    chances = {
        k: Fraction(comb(wins, k) * comb(size - wins, drawn - k), comb(size, drawn))
        for k in range(max(0, wins - others), min(drawn, wins) + 1)
    }
    tails = (
        sum((each for k, each in chances.items() if k <= won), Fraction(0)),
        sum((each for k, each in chances.items() if k >= won), Fraction(0)),
    )
    found = two_sided_hypergeometric(won, drawn, other_won, others)
    assert found == pytest.approx(float(min(Fraction(1), 2 * min(tails))), rel=1e-12)


@pytest.mark.parametrize("level", [1e-9, 0.05, 0.5, 0.99])
def test_tuning_solves_its_equation(level: float) -> None:
    u = 1 / tune(1.0, level)
    assert u - log(1 + u) == pytest.approx(-2 * log(level), rel=1e-9)


def test_log_sum_exp_of_what_no_float_holds() -> None:
    values = np.array([[1000.0, 1000.0], [-1000.0, -1000.0]])
    assert log_sum_exp(values).tolist() == pytest.approx([1000 + log(2), -1000 + log(2)])
