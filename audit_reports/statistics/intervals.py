"""Fixed-sample intervals: for a sample whose size was settled before it was seen.

Looked at every day such an interval is wrong on some day far more often than its level says; for
that there is `sequences`.
"""

from fractions import Fraction
from math import sqrt
from statistics import NormalDist
from typing import Final, Self

import msgspec

from shoeproof.audit_reports.statistics.sums import BetSums


class Interval(msgspec.Struct, frozen=True):
    """An estimate between its bounds."""

    lower: float
    estimate: float
    upper: float

    @classmethod
    def around(cls, estimate: float, radius: float) -> Self:
        """Return the symmetric interval."""
        return cls(estimate - radius, estimate, estimate + radius)

    def holds(self, value: float) -> bool:
        """Tell whether a value lies within, bounds included."""
        return self.lower <= value <= self.upper


LEVEL: Final = 0.05
"""How often one look at a game that pays as it should lies outside an interval or band."""


def normal_quantile(level: float) -> float:
    """Return z with P(|Z| > z) = `level` for a standard normal Z; 1.96 for 0.05."""
    return NormalDist().inv_cdf(1 - level / 2)


def standard_error(sums: BetSums) -> float | None:
    """Return the standard error of the RTP on initial stakes: √(n/(n−1)·Σ(w − r·s)²)/Σs.

    The linearised ratio estimator (Cochran, Sampling Techniques, 3rd ed., 6.4), rounds as units.
    None with fewer than two rounds or nothing staked.
    """
    squares = _squares(sums)
    return None if squares is None else sqrt(squares) / sums.initial


def standard_deviation(sums: BetSums) -> float | None:
    """Return σ of what a unit of initial stake wins: √(n/(n−1)·Σ(w − r·s)²/Σs²).

    None where `standard_error` is, which is σ/√N_eff.
    """
    squares = _squares(sums)
    return None if squares is None else sqrt(squares / sums.initial_initial)


def rtp_on_initial_stakes(sums: BetSums) -> Interval | None:
    """Return the RTP on initial stakes with its interval of confidence 1 − LEVEL.

    None where `standard_error` is.
    """
    rtp, error = sums.rtp_on_initial_stakes, standard_error(sums)
    if rtp is None or error is None:
        return None
    return Interval.around(float(rtp), normal_quantile(LEVEL) * error)


def volatility_index(sd: float) -> float:
    """Return VI = z·σ of a bet with standard deviation σ per unit of initial stake."""
    return normal_quantile(LEVEL) * sd


def volatility_band(centre: float, sd: float, effective_rounds: Fraction) -> Interval | None:
    """Return `centre` ± VI/√N_eff, where a fair bet's RTP lies after that many rounds.

    For a main bet `centre` is V₀ + mean skill, else every real player is below it. None before
    anything was staked.
    """
    if not effective_rounds:
        return None
    return Interval.around(centre, volatility_index(sd) / sqrt(effective_rounds))


def _squares(sums: BetSums) -> Fraction | None:
    """Return n/(n−1)·Σ(w − r·s)², None with fewer than two rounds or nothing staked."""
    rtp = sums.rtp_on_initial_stakes
    if rtp is None or sums.rounds < 2:
        return None
    return sums.residual_squares(rtp - 1) * sums.rounds / (sums.rounds - 1)
