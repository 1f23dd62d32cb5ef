"""Exact tests of counts."""

import numpy as np


def two_sided_hypergeometric(won: int, drawn: int, other_won: int, others: int) -> float:
    """Return how likely so many wins among `drawn` of all, or a count as far out, come by chance.

    `other_won` of the `others` won, and which of all were drawn has nothing to do with winning. It
    is twice the smaller tail, at most 1 (Fisher's exact test of two rates).
    """
    wins, size = won + other_won, drawn + others
    counts = np.arange(max(0, wins - others), min(drawn, wins) + 1)
    # Each chance by the one before it, from any first one, and then scaled to a sum of 1.
    now = counts[:-1]
    ratios = (wins - now) * (drawn - now) / ((now + 1) * (size - wins - drawn + now + 1))
    logs = np.concatenate([[0.0], np.cumsum(np.log(ratios))])
    chances = np.exp(logs - logs.max())
    chances /= chances.sum()
    lower, upper = chances[counts <= won].sum(), chances[counts >= won].sum()
    return float(min(1.0, 2 * min(lower, upper)))
