"""What one test of the battery says, its kind and p-value, and how tests are judged together."""

from collections.abc import Sequence
from math import sqrt
from typing import Any, Final

import msgspec
from scipy import special

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
    return _both(
        float(special.chdtr(degrees_of_freedom, statistic)),
        float(special.chdtrc(degrees_of_freedom, statistic)),
    )


def normal_p_value(score: float) -> float:
    """Return the two-sided p-value of a standard score."""
    return 2 * float(special.ndtr(-abs(score)))


def poisson_p_value(count: int, mean: float) -> float:
    """Return the two-sided p-value of a count of rare coincidences, twice the smaller tail."""
    return _both(float(special.pdtr(count, mean)), _upper(count, special.pdtrc(count - 1, mean)))


def binomial_p_value(count: int, trials: int, chance: float) -> float:
    """Return the two-sided p-value of a count of successes, twice the smaller tail."""
    upper = _upper(count, special.bdtrc(count - 1, trials, chance))
    return _both(float(special.bdtr(count, trials, chance)), upper)


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


def _upper(count: int, tail: Any) -> float:
    # SciPy has no tail beyond −1, which is everything.
    return 1.0 if count == 0 else float(tail)


def _both(lower: float, upper: float) -> float:
    return min(1.0, 2 * min(lower, upper))
