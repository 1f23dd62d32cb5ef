"""What one test of the battery says, its kind and p-value, and how tests are judged together."""

from collections.abc import Sequence
from math import erfc, sqrt
from typing import Final

import msgspec

from shoeproof.audit_reports.statistics.special import beta_tail, gamma_tails

TOTAL_DISTRIBUTION: Final = "total distribution"
OVERLAPS: Final = "overlaps"
COUPON_COLLECTOR: Final = "coupon collector"
RUNS: Final = "runs"
INTERPLAY: Final = "interplay correlation"
SERIAL: Final = "serial correlation"
DUPLICATES: Final = "duplicates"


class ShuffleTest(msgspec.Struct, frozen=True, kw_only=True):
    """One test of one game's shuffles.

    `kind` is the name that GLI-19 has for such a test, one of those above. `statistic` is χ² where
    there are `degrees_of_freedom`, a count where `expected` is given, else a standard score. Where
    there was too little to test, `p_value` is None and `needs` says how much it takes. `adjusted`
    is the p-value by Holm over the whole battery.
    """

    game: str
    name: str
    kind: str
    observations: int
    statistic: float | None = None
    degrees_of_freedom: int | None = None
    expected: float | None = None
    p_value: float | None = None
    adjusted: float | None = None
    rejected: bool = False
    needs: str | None = None


def chi_square_p_value(statistic: float, degrees_of_freedom: int) -> float:
    """Return the two-sided p-value of χ²: too even is as telling as too uneven."""
    return _both(*gamma_tails(degrees_of_freedom / 2, statistic / 2))


def normal_p_value(score: float) -> float:
    """Return the two-sided p-value of a standard score."""
    return erfc(abs(score) / sqrt(2))


def poisson_p_value(count: int, mean: float) -> float:
    """Return the two-sided p-value of a count of rare coincidences, twice the smaller tail."""
    lower = gamma_tails(count + 1, mean)[1]
    return _both(lower, gamma_tails(count, mean)[0] if count else 1.0)


def binomial_p_value(count: int, trials: int, chance: float) -> float:
    """Return the two-sided p-value of a count of successes, twice the smaller tail."""
    lower = beta_tail(trials - count, count + 1, 1 - chance)
    return _both(lower, beta_tail(count, trials - count + 1, chance) if count else 1.0)


def standard_score(total: float, mean: float, variance: float) -> float:
    """Return how many standard deviations a sum lies from its mean."""
    return float((total - mean) / sqrt(variance))


def judge(results: Sequence[ShuffleTest], level: float) -> list[ShuffleTest]:
    """Return the results judged together: the chance that any is rejected wrongly is ≤ `level`.

    Holm's step-down procedure (Scandinavian Journal of Statistics 6, 1979, 65-70), which asks
    nothing of how the tests depend on each other. Tests without a p-value do not count.
    """
    judged = list(results)
    tested = sorted(
        (result.p_value, place)
        for place, result in enumerate(results)
        if result.p_value is not None
    )
    adjusted = 0.0
    for rank, (p_value, place) in enumerate(tested):
        adjusted = max(adjusted, min(1.0, (len(tested) - rank) * p_value))
        judged[place] = msgspec.structs.replace(
            results[place], adjusted=adjusted, rejected=adjusted <= level
        )
    return judged


def _both(lower: float, upper: float) -> float:
    return float(min(1.0, 2 * min(lower, upper)))
