"""Exact tests of counts."""

import numpy as np
from scipy import special


def two_sided_hypergeometric(won: int, drawn: int, other_won: int, others: int) -> float:
    """Return how likely so many wins among `drawn` of all, or a count as far out, come by chance.

    `other_won` of the `others` won, and which of all were drawn has nothing to do with winning. It
    is twice the smaller tail, at most 1 (Fisher's exact test of two rates).
    """
    wins, size = won + other_won, drawn + others
    counts = np.arange(max(0, wins - others), min(drawn, wins) + 1)
    logs = (
        _log_choose(wins, counts)
        + _log_choose(size - wins, drawn - counts)
        - _log_choose(size, np.array(drawn))
    )
    chances = np.exp(logs)
    lower, upper = chances[counts <= won].sum(), chances[counts >= won].sum()
    return float(min(1.0, 2 * min(lower, upper)))


def _log_choose(size: int, counts: np.ndarray) -> np.ndarray:
    return np.asarray(
        special.gammaln(size + 1) - special.gammaln(counts + 1) - special.gammaln(size - counts + 1)
    )
