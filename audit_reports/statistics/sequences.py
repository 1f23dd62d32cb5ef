"""Anytime-valid confidence sequences: intervals that may be looked at after every round.

The whole sequence holds the truth with probability 1 − level, so daily looks, and stopping at a
striking one, cost nothing. All kinds are computed from sums alone, in any order of the rounds:

- the normal mixture of Robbins (1970), as in Howard, Ramdas, McAuliffe and Sekhon (2021), with the
  variance estimated: an asymptotic sequence in the sense of Waudby-Smith et al. (2024);
- a mixture of bets (Waudby-Smith and Ramdas 2024) for returns that are bounded and so skewed that
  the first would need very many rounds. It holds for every number of rounds;
- a mixture of bets on a counted event, whose chance is known before each move, with Bennett's bound
  on what they win (Howard et al. 2020). It holds for every number of moves.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from math import log, log1p, sqrt
from typing import Any, Final, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from shoeproof.audit_reports.statistics.intervals import Interval
from shoeproof.audit_reports.statistics.special import log_sum_exp
from shoeproof.audit_reports.statistics.sums import BetSums, CountSums, LuckSums

Floats = npt.NDArray[np.float64]
Number = TypeVar("Number", float, Floats)

FEWEST_ROUNDS: Final = 500
"""With fewer effective rounds a sum is too far from normal for the normal mixture."""

FEWEST_TOGETHER: Final = 150
"""All luck of a round together, for a unit of stake, is so little skewed that as few will do."""

TUNED_TO: Final = 4
"""The mixture is narrowest at so many times the variance of the first look that counts.

A ledger that was handed over whole is a single look, which must not be the widest.
"""

UNIT_VARIANCE: Final = 1_000.0
"""The variance at which luck for a unit of stake is held most narrowly: some 1,000 rounds' worth.

It is settled before any round is seen, so that a single look needs no earlier one to be tuned by.
"""

BETS: Final = 16
"""Sizes of bets mixed, each half the one before."""

LARGEST_COUNT_BET: Final = 2.0
"""The largest size of a bet on a counted event: best where it comes some seven times too often."""

_BISECTIONS: Final = 60


def mixture_radius(variance: Number, tuning: Number, level: float) -> Number:
    """Return what a sum of zero-mean terms stays within, at all times, with confidence 1 − `level`.

    √((V + λ)·ln((V + λ)/(λ·α²))), with V the sum of the terms' variances so far, estimated by the
    sum of their squares, λ the `tuning` and α the `level` (Robbins 1970; Howard et al. 2021, eq.
    14). Any λ > 0 fixed beforehand is valid; see `tune`. Arrays are taken place by place.
    """
    growth = np.log1p(variance / tuning) - 2 * log(level)
    radius: Number = np.sqrt((variance + tuning) * growth)
    return radius


def tune(variance: Number, level: float) -> Number:
    """Return the λ that makes `mixture_radius` smallest at a sum of variances V.

    λ = V/(u − 1) where u = −W₋₁(−α²/e), Lambert's function (Howard et al. 2021, 3.2). `variance` is
    what is expected at the number of rounds that matters most, and must be settled before the data
    it is used on: from the theory, or from a first look and kept from then on.
    """
    # With u = −W₋₁(−level²/e) − 1 it is variance / u, and u − log(1 + u) = −2·log(level). The left
    # side is convex, so Newton's steps from above come down to the root.
    u = 2 - 4 * log(level)
    for _ in range(60):
        u -= (u - log1p(u) + 2 * log(level)) * (1 + u) / u
    return variance / u


def rtp_looks(days: Iterable[BetSums], level: float = 0.05) -> list[Interval | None]:
    """Return the RTP on initial stakes so far, with its confidence sequence, after each day.

    `days` are the sums of each day, or of any other spans, from the first on. The terms are
    w − r·s: their mean is zero at the true r = RTP − 1 however stakes are chosen, as long as a
    stake is laid before its cards. None until N_eff has reached `FEWEST_ROUNDS`.
    """
    looks: list[Interval | None] = []
    so_far, tuning = BetSums(), 0.0
    for day in days:
        so_far += day
        rtp = so_far.rtp_on_initial_stakes
        if rtp is None or so_far.effective_rounds < FEWEST_ROUNDS:
            looks.append(None)
            continue
        variance = float(so_far.residual_squares(rtp - 1))
        tuning = tuning or tune(TUNED_TO * variance, level)
        # A float of NumPy's is one to Python, and none to who writes it as JSON.
        sum_radius = float(mixture_radius(variance, tuning, level)) if tuning else 0.0
        radius = sum_radius / so_far.initial
        looks.append(Interval.around(float(rtp), radius))
    return looks


class LuckLook(msgspec.Struct, frozen=True):
    """A sum of luck so far, with what it stays within at all times where it is luck."""

    total: float
    standard_error: float
    radius: float


def luck_looks(
    days: Iterable[LuckSums],
    level: float = 0.05,
    tuned_to: float | None = None,
    fewest: int = FEWEST_ROUNDS,
) -> list[LuckLook | None]:
    """Return the luck so far after each day, to be held to a mean of zero.

    `days` are as in `rtp_looks`, `tuned_to` the variance at which the sequence is narrowest, by
    default one that the first look settles. None until its `effective_rounds` have reached
    `fewest`.
    """
    looks: list[LuckLook | None] = []
    so_far, tuning = LuckSums(), tune(tuned_to, level) if tuned_to else 0.0
    for day in days:
        so_far += day
        if so_far.effective_rounds < fewest:
            looks.append(None)
            continue
        tuning = tuning or tune(TUNED_TO * so_far.squares, level)
        radius = float(mixture_radius(so_far.squares, tuning, level))
        looks.append(LuckLook(so_far.total, sqrt(so_far.squares), radius))
    return looks


def count_looks(days: Iterable[CountSums], level: float = 0.05) -> list[bool]:
    """Tell after each day whether an event came as often so far as chance allows at all times.

    `days` are the sums of each day, or of any other spans, from the first on.
    """
    return [count_capital(each) < -log(level) for each in accumulate(days)]


def count_capital(sums: CountSums) -> float:
    """Return the logarithm of what a gambler has who began with 1 and bets on a counted event.

    Half of the money bets that it comes more often than its chances, half that it comes less often,
    each with a mixture of sizes λ. What a bet makes of its money is put down as exp(λ·d − v·(e^λ −
    λ − 1)), d being came less chance and v = p(1 − p): for d of mean zero and at most 1 that grows
    to no more than 1 in the mean (Bennett's inequality, as in Howard, Ramdas, McAuliffe and Sekhon
    2020). So the money reaches 1/α with a chance of α at most (Ville's inequality), whenever one
    looks.
    """
    bets = LARGEST_COUNT_BET * 0.5 ** np.arange(BETS)
    costs = sums.variance * (np.expm1(bets) - bets)
    gains = sums.excess * bets
    both = np.concatenate([gains - costs, -gains - costs])
    return float(log_sum_exp(both) - log(2 * BETS))


def betting_sequence(
    returns: Mapping[Fraction, int], largest: Fraction, level: float = 0.05
) -> Interval:
    """Return the mean of bounded returns with its confidence sequence as it stands now.

    `returns` counts rounds by what they returned for each unit staked on the bet, hands of one
    round taken together (Σ paid/Σ staked); `largest` is the most the pay table returns, stake
    included. The mean is that of a round, whatever its stake. Against each mean m two gamblers bet,
    one that it is higher, one that it is lower, both with a mixture of fixed bets; m is left out
    once either has multiplied the money by 2/`level` (Ville's inequality). Raises ValueError for a
    return outside 0 to `largest`.
    """
    bound = float(largest)
    values, counts = _counted([returns], largest)
    total = counts.sum()
    if not total:
        return Interval(0.0, bound / 2, bound)
    mean = float((values * counts[0]).sum() / total)
    limit = log(2 / level)

    def edge(outside: float, sign: int) -> float:
        inside = mean
        if log_capital(values, counts[0], outside, bound, sign) < limit:
            return outside
        for _ in range(_BISECTIONS):
            middle = (inside + outside) / 2
            if log_capital(values, counts[0], middle, bound, sign) < limit:
                inside = middle
            else:
                outside = middle
        return outside

    return Interval(edge(0.0, 1), mean, edge(bound, -1))


def betting_looks(
    days: Sequence[Mapping[Fraction, int]], mean: Fraction, largest: Fraction, level: float = 0.05
) -> list[bool]:
    """Tell after each day whether the sequence of the returns so far holds a mean.

    `days` are the counts of each day, as `betting_sequence` takes those of all; raises ValueError
    as it does.
    """
    values, counts = _counted(days, largest)
    so_far = counts.cumsum(axis=0)
    capital = [log_capital(values, so_far, float(mean), float(largest), sign) for sign in (1, -1)]
    held: list[bool] = (np.maximum(*capital) < log(2 / level)).tolist()
    return held


def _counted(days: Sequence[Mapping[Fraction, int]], largest: Fraction) -> tuple[Floats, Floats]:
    returns = sorted({value for day in days for value in day})
    if any(not 0 <= value <= largest for value in returns):
        raise ValueError("a return lies outside the pay table")
    counts = [[day.get(value, 0) for value in returns] for day in days]
    shape = (len(days), len(returns))
    return np.array([float(value) for value in returns]), np.array(counts, float).reshape(shape)


def log_capital(values: Floats, counts: Floats, mean: float, largest: float, sign: int) -> Any:
    """Return the logarithm of a gambler's money, who began with 1 and bets against a mean.

    `values` (k,) are the distinct returns, `counts` (…, k) how often each came; the result has the
    leading shape of `counts`. With `sign` 1 the gambler bets that the mean is higher, with −1 that
    it is lower. The money is the average over bets λ of Π(1 + λ·(x − m))^count; it is a martingale
    at the true mean, and monotone in `mean`.
    """
    # No bet risks more than half the money, wherever the mean is between 0 and the largest return.
    bets = sign / (2 * largest) * 0.5 ** np.arange(BETS)
    growth = np.log1p(np.multiply.outer(values - mean, bets))
    return log_sum_exp(counts @ growth) - log(BETS)
