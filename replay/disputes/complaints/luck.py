"""The luck, skill and error of a span's rounds, summed, with the intervals chance gives. Pure.

`shoeproof.replay.luck` takes each round apart: paid less added stakes = start + luck + skill +
error. A round's luck has mean zero whatever the player does, so the sum of a span lies within about
1.96 · √Σ(luck²) of zero 19 times out of 20 (Hall and Heyde, Martingale Limit Theory, 1980, ch. 3).
"""

from collections.abc import Iterable
from math import sqrt
from statistics import NormalDist
from typing import Final

import msgspec

from shoeproof.replay.luck.kinds import BETWEEN_CARDS, LUCK
from shoeproof.replay.luck.one_round import Decomposition

LEVEL: Final = 0.05
"""How often chance alone goes beyond an interval."""

BEYOND_CHANCE: Final = 0.001
"""How often luck as bad as that is chance before it is called beyond it."""

POWER: Final = 0.8
"""How often a bias of the size named would have shown."""

FEWEST: Final = 30
"""How many rounds of equal luck a sum needs before it is near normal."""

_Z: Final = NormalDist().inv_cdf(1 - LEVEL / 2)


class RoundLuck(msgspec.Struct, frozen=True):
    """One round taken apart, in minor units; its bets together."""

    currency: str
    initial_minor: int
    start_minor: float
    luck_minor: float
    skill_minor: float
    between_minor: float
    error_minor: int


class SpanLuck(msgspec.Struct, frozen=True):
    """The sums of a currency's rounds, in minor units; intervals are ± about zero, or the sum.

    `start_minor` is what the stakes return on average, less the stakes: the price of playing.
    Chance moves `luck_minor` by up to `luck_interval_minor` either way 19 times out of 20;
    `standard_errors` is how far from zero it lies, None for too few rounds. `skill_minor` is what
    the player's decisions added to the best play's return, known to ± `skill_interval_minor`. What
    was paid wrongly is `error_minor`, exactly. A game that took `least_bias` of each stake beyond
    its price would have shown four times out of five.
    """

    currency: str
    rounds: int
    initial_minor: int
    start_minor: float
    luck_minor: float
    luck_interval_minor: float
    standard_errors: float | None
    skill_minor: float
    skill_interval_minor: float
    error_minor: int
    least_bias: float | None

    @property
    def is_beyond_chance(self) -> bool:
        """Whether luck was worse than chance brings once in a thousand spans."""
        bound = NormalDist().inv_cdf(BEYOND_CHANCE)
        return self.standard_errors is not None and self.standard_errors < bound


def parts_of(taken_apart: Decomposition, currency: str) -> RoundLuck:
    """Return a round taken apart as the sums of its bets."""
    luck = sum(part.amount_minor for part in taken_apart.parts if part.term == LUCK)
    skill = sum(part.amount_minor for part in taken_apart.parts if part.term != LUCK)
    between = sum(part.amount_minor for part in taken_apart.parts if part.kind == BETWEEN_CARDS)
    bets = taken_apart.bets
    return RoundLuck(
        currency=currency,
        initial_minor=sum(bet.initial_stake_minor for bet in bets),
        start_minor=sum(bet.start_minor - bet.initial_stake_minor for bet in bets),
        luck_minor=luck,
        skill_minor=skill,
        between_minor=between,
        error_minor=sum(bet.error_minor for bet in bets),
    )


def luck_of(rounds: Iterable[RoundLuck]) -> tuple[SpanLuck, ...]:
    """Return the sums by currency."""
    by_currency: dict[str, list[RoundLuck]] = {}
    for each in rounds:
        by_currency.setdefault(each.currency, []).append(each)
    return tuple(_sum(currency, each) for currency, each in sorted(by_currency.items()))


def _sum(currency: str, rounds: list[RoundLuck]) -> SpanLuck:
    luck = sum(each.luck_minor for each in rounds)
    squares = sum(each.luck_minor**2 for each in rounds)
    fourths = sum(each.luck_minor**4 for each in rounds)
    error = sqrt(squares)
    initial = sum(each.initial_minor for each in rounds)
    is_enough = bool(fourths) and squares**2 / fourths >= FEWEST
    needed = _Z + NormalDist().inv_cdf(POWER)
    return SpanLuck(
        currency=currency,
        rounds=len(rounds),
        initial_minor=initial,
        start_minor=sum(each.start_minor for each in rounds),
        luck_minor=luck,
        luck_interval_minor=_Z * error,
        standard_errors=luck / error if is_enough else None,
        skill_minor=sum(each.skill_minor for each in rounds),
        skill_interval_minor=_Z * sqrt(sum(each.between_minor**2 for each in rounds)),
        error_minor=sum(each.error_minor for each in rounds),
        least_bias=needed * error / initial if initial else None,
    )
