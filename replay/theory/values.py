"""Cards as the theory counts them: ten values, the ace first, and how many of each are left.

A count is an integer array whose last axis has ten places, the ace at 0 and the tens at 9. The
rules ask about ranks and suits only while the first two cards fall, so one card can stand for all
of its value everywhere else.
"""

from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

from shoeproof.replay.engine.cards import PACK, RANKS, VALUE

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

CARD_OF_VALUE: Final = tuple(rank + "c" for rank in RANKS[:10])
"""One card of each value, the ace first."""

ACE: Final = 0
TEN: Final = 9
VALUES: Final = range(10)
VALUE_NAMES: Final = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10")


def place(card: str) -> int:
    """Return a card's place in a count: the ace 0, a ten 9."""
    return VALUE[card] - 1


def count_cards(cards: Iterable[str]) -> Ints:
    """Return how many cards of each value there are."""
    return np.bincount([place(card) for card in cards], minlength=10).astype(np.int64)


def count_places(places: Iterable[int]) -> Ints:
    """Return the count of some places."""
    return np.bincount(list(places), minlength=10).astype(np.int64)


def sums(places: Ints, amounts: Floats, size: int) -> Floats:
    """Return the sum of the amounts at each of `size` places."""
    return np.bincount(places.ravel(), amounts.ravel(), size).astype(np.float64)


def full_shoe(decks: int) -> Ints:
    """Return the count of a whole shoe."""
    return decks * count_cards(PACK)
