"""Tests of what was dealt: the initial deal's cards that lay face up, by their place in the deal.

Later cards are chosen by the players, and a hole card is seen only where play came to it, so both
would be a biased sample. The k cards of a deal are drawn without replacement, so their counts have
the covariance of a multivariate hypergeometric distribution; rounds are independent.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from math import sqrt
from typing import Any, Final

import msgspec
import numpy as np

from shoeproof.audit_reports.shuffle_tests.results import (
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
from shoeproof.audit_reports.shuffle_tests.shoes import NO_COUNTS, RANK, SCORE, SUIT, TEN, Ints
from shoeproof.replay.engine.cards import PACK, RANKS, SUITS

FEWEST_DEALS: Final = 1000
PLACES: Final = 16
"""Places in the deal that are counted: seven seats twice and the dealer's up card are fifteen."""

_IS_TEN: Final = TEN.tolist()
_TEN_SHARE: Final = float(TEN.mean())
_VARIANCE: Final = float((SCORE.astype(float) ** 2).mean())


class Dealt(msgspec.Struct, frozen=True, gc=False):
    """What of a deal the next one is compared with: its first card and its standardised score."""

    first: int
    score: float


class DealCounts(msgspec.Struct):
    """What has been counted of the initial deals of one game, from shoes of `decks` decks.

    `by_place` counts cards by their place in the deal, (places, 52), `first_two` the ranks of the
    first two cards; `cards` is how many lay face up and `spreads` the sum of k·(n−k) over deals of
    k cards from n. The `followed` deals stand in the order of their rounds' beginnings, `tens` of
    them with a ten-card first. Of each and the next `products` sums the products of their
    scores, `repeats` counts equal first cards, `changes` those of which one is a ten-card.
    """

    decks: int
    deals: int = 0
    by_place: Ints = NO_COUNTS
    first_two: Ints = NO_COUNTS
    cards: int = 0
    spreads: int = 0
    followed: int = 0
    tens: int = 0
    products: float = 0.0
    repeats: int = 0
    changes: int = 0
    last: Dealt | None = None

    def __post_init__(self) -> None:
        """Begin with no deal, unless counts are given."""
        if not self.by_place.size:
            self.by_place = np.zeros((PLACES, len(PACK)), np.int64)
            self.first_two = np.zeros((len(RANKS), len(RANKS)), np.int64)

    @property
    def size(self) -> int:
        """How many cards a shoe has."""
        return self.decks * len(PACK)

    def add(self, cards: Sequence[int]) -> Dealt:
        """Count a deal by itself: its face-up cards as places in `PACK`, two or more, in order."""
        cards = cards[:PLACES]
        count = len(cards)
        self.deals += 1
        self.by_place[np.arange(count), cards] += 1
        self.first_two[RANK[cards[0]], RANK[cards[1]]] += 1
        self.cards += count
        spread = count * (self.size - count)
        self.spreads += spread
        score = sum(SCORE[cards].tolist()) / sqrt(_VARIANCE * spread / (self.size - 1))
        return Dealt(cards[0], score)

    def follow(self, deals: Iterable[Dealt]) -> None:
        """Count how deals follow those before, in the order of the rounds' beginnings."""
        for dealt in deals:
            self.followed += 1
            self.tens += _IS_TEN[dealt.first]
            if self.last is not None:
                self.products += self.last.score * dealt.score
                self.repeats += self.last.first == dealt.first
                self.changes += _IS_TEN[self.last.first] != _IS_TEN[dealt.first]
            self.last = dealt

    def merge(self, other: "DealCounts") -> None:
        """Add what was counted of other deals by themselves."""
        self.deals += other.deals
        self.by_place += other.by_place
        self.first_two += other.first_two
        self.cards += other.cards
        self.spreads += other.spreads

    @property
    def _spread(self) -> float:
        """The sum of the deals' variances in units of one card's."""
        return self.spreads / (self.size - 1)

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
        for place, row in enumerate(self.by_place):
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
        followed = self.followed
        yield "dealt ranks, round to round", SERIAL, followed, self._serial
        yield "first card, round to round", DUPLICATES, followed, self._repeated
        yield "first card, ten-card runs", RUNS, followed, self._runs

    def _pooled(self, groups: Ints) -> dict[str, Any]:
        """Return χ² of all cards dealt, by the variance of draws without replacement."""
        counts = np.bincount(groups, weights=self.by_place.sum(axis=0))
        return _goodness(counts, self.cards, self._spread)

    def _ten_cards(self) -> dict[str, Any]:
        tens = float(self.by_place[:, TEN].sum())
        share = _TEN_SHARE
        score = standard_score(tens, self.cards * share, share * (1 - share) * self._spread)
        return {"statistic": score, "p_value": normal_p_value(score)}

    def _pairs(self) -> dict[str, Any]:
        """Return χ² of the first two cards' ranks against the chance of each pair."""
        of_rank = self.size / len(RANKS)
        ways = np.full(self.first_two.shape, of_rank**2) - of_rank * np.eye(len(RANKS))
        return _goodness_of(self.first_two, self.deals * ways / (self.size * (self.size - 1)))

    def _serial(self) -> dict[str, Any]:
        """Return the score of Σ zᵢ·zᵢ₊₁ over deals i, z the standardised sum of ranks."""
        score = standard_score(self.products, 0.0, self.followed - 1)
        return {"statistic": score, "p_value": normal_p_value(score)}

    def _repeated(self) -> dict[str, Any]:
        trials, chance = self.followed - 1, 1 / len(PACK)
        return {
            "statistic": self.repeats,
            "expected": trials * chance,
            "p_value": binomial_p_value(self.repeats, trials, chance),
        }

    def _runs(self) -> dict[str, Any]:
        """Return the score of the number of runs, given how many first cards were ten-cards.

        Wald and Wolfowitz (Annals of Mathematical Statistics 11, 1940, 147-162).
        """
        n, twice = self.followed, 2 * self.tens * (self.followed - self.tens)
        variance = twice * (twice - n) / (n * n * (n - 1))
        if not variance:
            return {"needs": "both kinds of first card"}
        score = standard_score(self.changes + 1, 1 + twice / n, variance)
        return {"statistic": score, "p_value": normal_p_value(score)}


def _goodness(counts: Ints, total: int, spread: float | None = None) -> dict[str, Any]:
    """Return χ² of counts of equally likely kinds; `spread` stands for `total` in the variance."""
    expected = np.full(counts.shape, total / counts.size)
    return _goodness_of(counts, expected, 1.0 if spread is None else total / spread)


def _goodness_of(counts: Ints, expected: Ints, scale: float = 1.0) -> dict[str, Any]:
    statistic = scale * float(((counts - expected) ** 2 / expected).sum())
    freedom = counts.size - 1
    return {
        "statistic": statistic,
        "degrees_of_freedom": freedom,
        "p_value": chi_square_p_value(statistic, freedom),
    }
