"""Tests of whole shoes, as their seeds give them.

A shoe is an order of all its cards, so each count below has an exact mean and variance over all
orders; shoes are independent, so sums over them are close to normal. Only counts are kept, and the
last shoe. A card is a place in the ordered shoe: copies of a card from different decks differ.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from shoeproof.audit_reports.shuffle_tests.moments import (
    Moments,
    collected_by,
    neighbours,
    overlap,
    products,
    successions,
)
from shoeproof.audit_reports.shuffle_tests.results import (
    COUPON_COLLECTOR,
    DUPLICATES,
    INTERPLAY,
    OVERLAPS,
    RUNS,
    SERIAL,
    TOTAL_DISTRIBUTION,
    ShuffleTest,
    chi_square_p_value,
    normal_p_value,
    poisson_p_value,
    standard_score,
)
from shoeproof.replay.engine.cards import PACK, RANKS, RED_SUITS, SUITS, VALUE

Ints = npt.NDArray[Any]

RANK: Final = np.array([RANKS.index(card[0]) for card in PACK])
SUIT: Final = np.array([SUITS.index(card[1]) for card in PACK])
TEN: Final = np.array([VALUE[card] == 10 for card in PACK])
_RED: Final = np.array([card[1] in RED_SUITS for card in PACK])
SCORE: Final = RANK - (len(RANKS) - 1) // 2
"""Ranks as numbers around zero, for correlations."""

FEWEST_SHOES: Final = 100
LAGS: Final = (1, len(RANKS), 2 * len(RANKS))
"""Neighbours, and cards of one rank one suit or two suits apart before the shuffle."""

_BETWEEN: Final = {"products", "overlap"}
"""What is summed between one shoe and the next, as scores."""

_COLLECTED_SHARES: Final = 10

NO_COUNTS: Final = np.empty(0, np.int64)
"""Stands for counts that are yet to begin."""


class ShoeCounts(msgspec.Struct):
    """What has been counted of the shoes of one game, of `decks` decks each.

    `by_place` counts cards by position, (cards, cards), `first_two` shoes by their first two cards,
    `collected` by how many cards show every rank; `sums` are those within shoes, and between each
    of the `followed` shoes and the next, in the order of their rounds' beginnings. `last` is the
    last of these, (1, cards), or none.
    """

    decks: int
    shoes: int = 0
    followed: int = 0
    by_place: Ints = NO_COUNTS
    first_two: Ints = NO_COUNTS
    collected: Ints = NO_COUNTS
    last: Ints = NO_COUNTS
    sums: dict[str, int] = {}

    def __post_init__(self) -> None:
        """Begin with no shoe, unless counts are given."""
        if not self.by_place.size:
            self.by_place = np.zeros((self.size, self.size), np.int64)
            self.first_two = np.zeros((self.size, self.size), np.int64)
            self.collected = np.zeros(self.size + 1, np.int64)
            self.last = np.empty((0, self.size), np.int16)

    @property
    def size(self) -> int:
        """How many cards a shoe has."""
        return self.decks * len(PACK)

    @property
    def _type(self) -> Ints:
        return np.arange(self.size) % len(PACK)

    def add(self, shoes: Ints) -> None:
        """Count shoes by themselves, (shoes, cards) as `whole_shoes` gives them."""
        self.shoes += len(shoes)
        for place, cards in enumerate(shoes.T):
            self.by_place[place] += np.bincount(cards, minlength=self.size)
        np.add.at(self.first_two, (shoes[:, 0], shoes[:, 1]), 1)
        types = self._type[shoes]
        self._add_sums(_within(types))
        self.collected += np.bincount(_collected_at(RANK[types]), minlength=self.size + 1)

    def follow(self, shoes: Ints) -> None:
        """Count how shoes follow those before, in the order of the rounds' beginnings."""
        joined = np.concatenate([self.last, shoes])
        if len(joined) > 1:
            self._add_sums(_between(joined, SCORE[self._type[joined]]))
        self.followed += len(shoes)
        self.last = joined[-1:]

    def merge(self, other: "ShoeCounts") -> None:
        """Add what was counted of other shoes by themselves."""
        self.shoes += other.shoes
        self.by_place += other.by_place
        self.first_two += other.first_two
        self.collected += other.collected
        self._add_sums(other.sums)

    def _add_sums(self, sums: dict[str, int]) -> None:
        for name, value in sums.items():
            self.sums[name] = self.sums.get(name, 0) + value

    def results(self, game: str) -> Iterator[ShuffleTest]:
        """Yield every test of whole shoes."""
        for name, kind, shoes, test in self._tests():
            if shoes < FEWEST_SHOES:
                needs = f"{FEWEST_SHOES} shoes"
                yield ShuffleTest(game=game, name=name, kind=kind, observations=shoes, needs=needs)
            else:
                yield ShuffleTest(game=game, name=name, kind=kind, observations=shoes, **test())

    def _tests(self) -> Iterator[tuple[str, str, int, Callable[[], dict[str, Any]]]]:
        """Yield each test's name, its kind, on how many shoes it rests, and what makes it."""
        shoes, followed = self.shoes, self.followed
        for what, groups in (("card", None), ("rank", RANK), ("suit", SUIT)):
            yield f"{what} by position", TOTAL_DISTRIBUTION, shoes, partial(self._placed, groups)
        yield "cards until every rank", COUPON_COLLECTOR, shoes, self._collector
        for lag in LAGS:
            yield f"serial, {lag} apart", SERIAL, shoes, partial(self._scored, f"serial {lag}")
        for name in ("ten-card runs", "colour runs"):
            yield name, RUNS, shoes, partial(self._scored, name)
        # A single deck has no two cards of a kind.
        for name in ("rank pairs", "card pairs")[: self.decks]:
            yield f"{name} side by side", DUPLICATES, shoes, partial(self._scored, name)
        yield "same first two cards", DUPLICATES, shoes, self._repeated_beginnings
        yield "serial, shoe to shoe", SERIAL, followed, partial(self._scored, "products")
        yield "first halves, shoe to shoe", OVERLAPS, followed, partial(self._scored, "overlap")
        same = {"place": ("fixed", 1.0), "neighbours": ("successions", successions(self.size))}
        for name, counted in same.items():
            test = partial(self._coincidences, *counted)
            yield f"same {name}, shoe to shoe", INTERPLAY, followed, test

    def _placed(self, groups: Ints | None) -> dict[str, Any]:
        """Return χ² of cards, or groups of them, by position, scaled to its exact mean.

        Over all orders the counts have the covariance N/(n−1)·(I − J/n)⊗(I − J/n), so that
        (n−1)/n·Σ(O−E)²/E has the mean of χ² with (groups−1)(n−1) degrees of freedom, for cards
        (n−1)². Its variance is 1 − 1/N times that of χ², exactly, and is mended. (The sum of
        squares counts the places in which two shoes agree, and pairs of shoes are independent.)
        """
        n, shoes = self.size, self.shoes
        table = self.by_place
        if groups is not None:
            table = np.stack(
                [table[:, groups[self._type] == group].sum(axis=1) for group in np.unique(groups)],
                axis=1,
            )
        expected = shoes / table.shape[1]
        statistic = (n - 1) / n * float(((table - expected) ** 2).sum()) / expected
        freedom = (table.shape[1] - 1) * (n - 1)
        mended = freedom + (statistic - freedom) / np.sqrt(1 - 1 / shoes)
        return {
            "statistic": statistic,
            "degrees_of_freedom": freedom,
            "p_value": chi_square_p_value(max(mended, 0.0), freedom),
        }

    def _collector(self) -> dict[str, Any]:
        edges, chances = _collector_classes(self.size)
        counts = np.add.reduceat(self.collected, edges)
        expected = self.shoes * chances
        statistic = float(((counts - expected) ** 2 / expected).sum())
        freedom = len(chances) - 1
        return {
            "statistic": statistic,
            "degrees_of_freedom": freedom,
            "p_value": chi_square_p_value(statistic, freedom),
        }

    def _scored(self, name: str) -> dict[str, Any]:
        moments = _moments(self.size)[name]
        terms = self.followed - 1 if name in _BETWEEN else self.shoes
        score = standard_score(self.sums[name], terms * moments.mean, terms * moments.variance)
        return {"statistic": score, "p_value": normal_p_value(score)}

    def _coincidences(self, name: str, each: float) -> dict[str, Any]:
        count, mean = self.sums[name], (self.followed - 1) * each
        return {
            "statistic": count, "expected": mean, "p_value": poisson_p_value(count, mean),
        }  # fmt: skip

    def _repeated_beginnings(self) -> dict[str, Any]:
        """Count pairs of shoes that begin with the same two cards.

        Pairs of shoes agree independently two by two, so mean and variance are those of Poisson
        but for one in n(n−1).
        """
        counts = self.first_two
        count = int((counts * (counts - 1)).sum()) // 2
        mean = self.shoes * (self.shoes - 1) / 2 / (self.size * (self.size - 1))
        return {"statistic": count, "expected": mean, "p_value": poisson_p_value(count, mean)}


def _within(types: Ints) -> dict[str, int]:
    """Return what is summed within shoes, given as kinds of cards, (shoes, cards)."""
    score, rank, ten, red = SCORE[types], RANK[types], TEN[types], _RED[types]
    sums = {f"serial {lag}": int((score[:, lag:] * score[:, :-lag]).sum()) for lag in LAGS}
    # Every change begins a run.
    sums["ten-card runs"] = int((ten[:, 1:] != ten[:, :-1]).sum())
    sums["colour runs"] = int((red[:, 1:] != red[:, :-1]).sum())
    sums["rank pairs"] = int((rank[:, 1:] == rank[:, :-1]).sum())
    sums["card pairs"] = int((types[:, 1:] == types[:, :-1]).sum())
    return sums


def _between(shoes: Ints, scores: Ints) -> dict[str, int]:
    """Return what is summed between each shoe and the next."""
    before, after = shoes[:-1], shoes[1:]
    places = np.empty(after.shape, np.int64)
    np.put_along_axis(places, after.astype(np.int64), np.arange(shoes.shape[1])[None, :], axis=1)
    found_at = np.take_along_axis(places, before.astype(np.int64), axis=1)
    half = shoes.shape[1] // 2
    follow = (np.roll(found_at, -1, axis=1) - found_at) % shoes.shape[1] == 1
    return {
        "fixed": int((before == after).sum()),
        "successions": int(follow.sum()),
        "overlap": int((found_at[:, :half] < half).sum()),
        "products": int((scores[:-1] * scores[1:]).sum()),
    }


def _collected_at(ranks: Ints) -> Ints:
    """Return after how many cards each shoe has shown every rank."""
    first = np.stack([(ranks == rank).argmax(axis=1) for rank in range(len(RANKS))])
    needed: Ints = first.max(axis=0) + 1
    return needed


@lru_cache(maxsize=8)
def _moments(size: int) -> dict[str, Moments]:
    types = np.arange(size) % len(PACK)
    score, rank, ten, red = SCORE[types], RANK[types], TEN[types], _RED[types]

    def alike(values: Ints) -> Ints:
        table: Ints = values[:, None] == values[None, :]
        return table

    return {
        **{f"serial {lag}": neighbours(np.multiply.outer(score, score), lag) for lag in LAGS},
        "ten-card runs": neighbours(~alike(ten), 1),
        "colour runs": neighbours(~alike(red), 1),
        "rank pairs": neighbours(alike(rank), 1),
        "card pairs": neighbours(alike(types), 1),
        "overlap": overlap(size, size // 2),
        "products": products(score),
    }


@lru_cache(maxsize=8)
def _collector_classes(size: int) -> tuple[list[int], npt.NDArray[np.float64]]:
    """Return where classes of the number of cards begin, each about a tenth likely, and how."""
    by = [float(chance) for chance in collected_by(size, len(RANKS))]
    edges, chances, before = [0], [], 0.0
    for cards, chance in enumerate(by[:-1]):
        if chance - before >= 1 / _COLLECTED_SHARES and 1 - chance >= 1 / _COLLECTED_SHARES:
            edges.append(cards + 1)
            chances.append(chance - before)
            before = chance
    chances.append(1 - before)
    return edges, np.array(chances)
