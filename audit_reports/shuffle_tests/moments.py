"""Exact means and variances of what is counted in a shuffled shoe, and exact distributions."""

from fractions import Fraction
from math import comb
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class Moments(NamedTuple):
    """The mean and the variance of one shoe's count."""

    mean: float
    variance: float


def neighbours(scores: npt.NDArray[Any], lag: int) -> Moments:
    """Return the moments of Σ scores[card at p, card at p + lag] over a shuffled shoe's places.

    `scores` (n, n) is symmetric; its diagonal counts for nothing. Mantel's permutation moments
    (Cancer Research 27, 1967, 209-220) for the graph that joins each place with that `lag` further
    on. Counts of runs, of equal neighbours and serial correlations are all such sums.
    """
    n = len(scores)
    off = np.array(scores, float)
    np.fill_diagonal(off, 0)
    degrees = (np.arange(n) >= lag).astype(int) + (np.arange(n) < n - lag)
    edges = n - lag
    # The sums over ordered pairs, their squares, and pairs that share a place.
    places = (2.0 * edges, 2.0 * edges, float((degrees**2).sum()))
    cards = (off.sum(), (off**2).sum(), (off.sum(axis=1) ** 2).sum())
    same = 2 * places[1] * cards[1] / (n * (n - 1))
    share = 4 * (places[2] - places[1]) * (cards[2] - cards[1]) / (n * (n - 1) * (n - 2))
    apart = [each[0] ** 2 + 2 * each[1] - 4 * each[2] for each in (places, cards)]
    rest = apart[0] * apart[1] / (n * (n - 1) * (n - 2) * (n - 3))
    mean = places[0] * cards[0] / (n * (n - 1))
    # Each pair was counted in both orders.
    return Moments(mean / 2, (same + share + rest - mean**2) / 4)


def products(scores: npt.NDArray[Any]) -> Moments:
    """Return the moments of Σ x(card at p in one shoe)·x(card at p in the next), Σx being zero."""
    return Moments(0.0, float((np.asarray(scores, float) ** 2).sum() ** 2 / (len(scores) - 1)))


def overlap(cards: int, drawn: int) -> Moments:
    """Return the moments of how many cards two draws of `drawn` from a shoe have in common."""
    share = drawn / cards
    variance = drawn * share * (1 - share) * (cards - drawn) / (cards - 1)
    return Moments(drawn * share, variance)


def successions(cards: int) -> float:
    """Return how many neighbours of one shoe stand in the same order in the next, on average.

    Both shoes are taken as circles. The count is close to Poisson: its variance differs from its
    mean by less than one in `cards` (Kaplansky, Annals of Mathematical Statistics 16, 1945).
    """
    return cards / (cards - 1)


def collected_by(cards: int, kinds: int) -> list[Fraction]:
    """Return the chance that the first k cards show every kind, for k from 0 to `cards`.

    Each kind has as many cards. The coupon collector's problem without replacement, by inclusion
    and exclusion.
    """
    of_kind = cards // kinds
    return [
        sum(
            (
                Fraction(
                    (-1) ** missing * comb(kinds, missing) * comb(cards - missing * of_kind, k)
                )
                for missing in range(kinds + 1)
            ),
            Fraction(0),
        )
        / comb(cards, k)
        for k in range(cards + 1)
    ]
