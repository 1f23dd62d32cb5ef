"""The first two cards: every hand the rules can tell apart, and how often it comes.

Only here do ranks and suits matter: to what is a pair, and to a suited natural. The counting is
exact, over every ordered choice of an up card and two cards from a full shoe.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

from shoeproof.replay.engine.cards import PACK
from shoeproof.replay.engine.hand import EMPTY_HAND, Hand, step
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.theory.values import Floats, count_places, place


@dataclass(frozen=True)
class StartingHand:
    """A hand of two cards, by the engine's hand and the places of its values, the lower first.

    `chance` is its probability together with each up card, shape (10,).
    """

    hand: Hand
    places: tuple[int, int]
    chance: Floats

    @property
    def drawn(self) -> tuple[int, ...]:
        """Return the two cards as a count."""
        return tuple(count_places(self.places).tolist())


def starts(rules: Rules) -> list[StartingHand]:
    """Return every start, by its values, with its probability from a full shoe."""
    kinds: dict[tuple[tuple[int, int], Hand], int] = {}
    kind_of_pair = np.zeros((52, 52), dtype=np.int64)
    for (i, first), (j, second) in product(enumerate(PACK), enumerate(PACK)):
        hand = step(rules, step(rules, EMPTY_HAND, first), second)
        low, high = sorted((place(first), place(second)))
        kind_of_pair[i, j] = kinds.setdefault(((low, high), hand), len(kinds))
    chances = np.zeros((len(kinds), 10))
    same = np.eye(52)
    for up, card in enumerate(PACK):
        first_left = rules.decks - same[up]
        ways = first_left[:, np.newaxis] * (rules.decks - same[up] - same)
        chances[:, place(card)] += np.bincount(
            kind_of_pair.ravel(), weights=ways.ravel(), minlength=len(kinds)
        )
    size = 52 * rules.decks
    chances *= rules.decks / (size * (size - 1) * (size - 2))
    found = [
        StartingHand(hand, places, chance)
        for ((places, hand), _), chance in zip(kinds.items(), chances, strict=True)
    ]
    return sorted(found, key=lambda start: (start.places, start.hand.pair, start.hand.suited))
