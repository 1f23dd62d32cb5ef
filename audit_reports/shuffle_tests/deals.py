"""Tests of what was dealt: the initial deal's cards that lay face up, by their place in the deal.

Later cards are chosen by the players, and a hole card is seen only where play came to it, so both
would be a biased sample. The k cards of a deal are drawn without replacement, so their counts have
the covariance of a multivariate hypergeometric distribution; rounds are independent.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import sqrt
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from audit_reports.shuffle_tests.results import (
    DUPLICATES,
    INTERPLAY,
    RUNS,
    SERIAL,
    TOTAL_DISTRIBUTION,
    ShuffleTest,
    binomial_p_value,
    chi_square_p_value,
    normal_p_value,
    standard_score,
)
from audit_reports.shuffle_tests.shoes import RANK, SCORE, SUIT, TEN
from replay.engine.cards import PACK, RANKS, SUITS

FEWEST_DEALS: Final = 1000
PLACES: Final = 16
"""Places in the deal that are counted: seven seats twice and the dealer's up card are fifteen."""

_TEN_SHARE: Final = float(TEN.mean())
_VARIANCE: Final = float((SCORE.astype(float) ** 2).mean())


class DealCounts:
    """What has been counted of the initial deals of one game, added in the order of the rounds."""

    def __init__(self, decks: int) -> None:
        """Begin with no deal."""
        self.size = decks * len(PACK)
        self.deals = 0
        self._by_place = np.zeros((PLACES, len(PACK)), np.int64)
        self._first_two = np.zeros((len(RANKS), len(RANKS)), np.int64)
        self._cards = 0
        self._spread = 0.0
        self._products = 0.0
        self._repeats = 0
        self._changes = 0
        self._last: tuple[int, float] | None = None

    def add(self, cards: Sequence[int]) -> None:
        """Count a deal: its face-up cards as places in `PACK`, two or more, in dealing order."""
        cards = cards[:PLACES]
        count = len(cards)
        self.deals += 1
        self._by_place[np.arange(count), cards] += 1
        self._first_two[RANK[cards[0]], RANK[cards[1]]] += 1
        self._cards += count
        spread = count * (self.size - count) / (self.size - 1)
        self._spread += spread
        score = sum(SCORE[cards].tolist()) / sqrt(_VARIANCE * spread)
        if self._last is not None:
            first, before = self._last
            self._products += before * score
            self._repeats += first == cards[0]
            self._changes += int(TEN[first] != TEN[cards[0]])
        self._last = cards[0], score

    def results(self, game: str) -> Iterator[ShuffleTest]:
        """Yield every test of initial deals."""
        for name, kind, observations, test in self._tests():
            if observations < FEWEST_DEALS:
                needs = f"{FEWEST_DEALS} deals"
                yield ShuffleTest(
                    game=game, name=name, kind=kind, observations=observations, needs=needs
                )
            else:
                yield ShuffleTest(
                    game=game, name=name, kind=kind, observations=observations, **test()
                )

    def _tests(self) -> Iterator[tuple[str, str, int, Callable[[], dict[str, Any]]]]:
        """Yield each test's name, its kind, on how many deals it rests, and what makes it."""
        for place, row in enumerate(self._by_place):
            dealt = int(row.sum())
            if not dealt:
                continue
            for what, groups, kinds in (("rank", RANK, RANKS), ("suit", SUIT, SUITS)):
                counts = np.bincount(groups, weights=row, minlength=len(kinds))
                yield (
                    f"dealt {what}, card {place + 1}",
                    TOTAL_DISTRIBUTION,
                    dealt,
                    partial(_goodness, counts, dealt),
                )
        deals = self.deals
        yield "dealt rank, all cards", TOTAL_DISTRIBUTION, deals, partial(self._pooled, RANK)
        yield "dealt suit, all cards", TOTAL_DISTRIBUTION, deals, partial(self._pooled, SUIT)
        yield "dealt ten-cards", TOTAL_DISTRIBUTION, deals, self._ten_cards
        yield "dealt ranks, cards 1 and 2", INTERPLAY, deals, self._pairs
        yield "dealt ranks, round to round", SERIAL, deals, self._serial
        yield "first card, round to round", DUPLICATES, deals, self._repeated
        yield "first card, ten-card runs", RUNS, deals, self._runs

    def _pooled(self, groups: npt.NDArray[Any]) -> dict[str, Any]:
        """Return χ² of all cards dealt, by the variance of draws without replacement."""
        counts = np.bincount(groups, weights=self._by_place.sum(axis=0))
        return _goodness(counts, self._cards, self._spread)

    def _ten_cards(self) -> dict[str, Any]:
        tens = float(self._by_place[:, TEN].sum())
        share = _TEN_SHARE
        score = standard_score(tens, self._cards * share, share * (1 - share) * self._spread)
        return {"statistic": score, "p_value": normal_p_value(score)}

    def _pairs(self) -> dict[str, Any]:
        """Return χ² of the first two cards' ranks against the chance of each pair."""
        of_rank = self.size / len(RANKS)
        ways = np.full(self._first_two.shape, of_rank**2) - of_rank * np.eye(len(RANKS))
        return _goodness_of(self._first_two, self.deals * ways / (self.size * (self.size - 1)))

    def _serial(self) -> dict[str, Any]:
        """Return the score of Σ zᵢ·zᵢ₊₁ over deals i, z the standardised sum of ranks."""
        score = standard_score(self._products, 0.0, self.deals - 1)
        return {"statistic": score, "p_value": normal_p_value(score)}

    def _repeated(self) -> dict[str, Any]:
        trials, chance = self.deals - 1, 1 / len(PACK)
        return {
            "statistic": self._repeats,
            "expected": trials * chance,
            "p_value": binomial_p_value(self._repeats, trials, chance),
        }

    def _runs(self) -> dict[str, Any]:
        """Return the score of the number of runs, given how many first cards were ten-cards.

        Wald and Wolfowitz (Annals of Mathematical Statistics 11, 1940, 147-162).
        """
        tens = int(self._by_place[0, TEN].sum())
        n, twice = self.deals, 2 * tens * (self.deals - tens)
        variance = twice * (twice - n) / (n * n * (n - 1))
        if not variance:
            return {"needs": "both kinds of first card"}
        score = standard_score(self._changes + 1, 1 + twice / n, variance)
        return {"statistic": score, "p_value": normal_p_value(score)}


def _goodness(counts: npt.NDArray[Any], total: int, spread: float | None = None) -> dict[str, Any]:
    """Return χ² of counts of equally likely kinds; `spread` stands for `total` in the variance."""
    expected = np.full(counts.shape, total / counts.size)
    return _goodness_of(counts, expected, 1.0 if spread is None else total / spread)


def _goodness_of(
    counts: npt.NDArray[Any], expected: npt.NDArray[Any], scale: float = 1.0
) -> dict[str, Any]:
    statistic = scale * float(((counts - expected) ** 2 / expected).sum())
    freedom = counts.size - 1
    return {
        "statistic": statistic,
        "degrees_of_freedom": freedom,
        "p_value": chi_square_p_value(statistic, freedom),
    }
