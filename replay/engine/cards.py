"""Cards as two-letter codes, rank then suit: `Ac`, `Td`, `7h`.

Values follow every page alike: an ace is 1 or 11, `T J Q K` are 10, the rest their number.
"""

from itertools import product
from typing import Final, TypeAlias

Card: TypeAlias = str

RANKS: Final = "A23456789TJQK"
SUITS: Final = "cdhs"
FACE_DOWN: Final = "??"
"""Stands for a card whose face nobody has seen."""

PACK: Final[tuple[Card, ...]] = tuple(rank + suit for suit, rank in product(SUITS, RANKS))
"""One deck in the order of `shoe/v1`: suits c d h s, within each A 2 … K."""

VALUE: Final[dict[Card, int]] = {card: min(RANKS.index(card[0]) + 1, 10) for card in PACK}
"""A card's value with the ace as 1."""

RED_SUITS: Final = "dh"
SUIT_SYMBOL: Final = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}


def pretty(card: Card) -> str:
    """Return a card as people write it, `10♦` or `A♠`; a face-down card is `??`."""
    if card == FACE_DOWN:
        return card
    rank = "10" if card[0] == "T" else card[0]
    return rank + SUIT_SYMBOL[card[1]]


def is_red(card: Card) -> bool:
    """Tell whether the card's suit is diamonds or hearts."""
    return card[1] in RED_SUITS
