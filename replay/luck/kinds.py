"""The parts a payment falls into, by name.

What a bet was paid, less the stakes added after the first, is its mean before the first card, and
luck, skill and error besides; `README.md` says how.
"""

from typing import Final

from shoeproof.replay.engine.hand import (
    DECLINE,
    DOUBLE,
    HIT,
    INSURANCE_ACTS,
    PLAY_ACTS,
    SPLIT,
    ZAP,
    Act,
    Hand,
)

LUCK: Final = "luck"
SKILL: Final = "skill"

INITIAL_DEAL: Final = "initial_deal"
CHECK: Final = "check"
HOLE_CARD: Final = "hole_card"
DEALER_DRAW: Final = "dealer_draw"

LUCK_KINDS: Final = (INITIAL_DEAL, CHECK, HIT, DOUBLE, SPLIT, ZAP, HOLE_CARD, DEALER_DRAW)
"""Chance moves: the deal, the look for a natural, the card an act drew, the dealer's cards."""

BETWEEN_CARDS: Final = "between_cards"
ROUNDING: Final = "rounding"

ACT_KINDS: Final = {act: act.replace("-", "_") for act in (*PLAY_ACTS, *INSURANCE_ACTS)}
"""The kind of each act; with underscores, as names of columns have them."""

SKILL_KINDS: Final = (
    *(kind for act, kind in ACT_KINDS.items() if act != DECLINE),
    BETWEEN_CARDS,
    ROUNDING,
)
"""Decisions; what the table of values lacks in precision; the rounding of wins to minor units.

Declining moves no bet.
"""


def drawn_by(hand: Hand) -> Act:
    """Return the act that made a hand owe a card after the initial deal."""
    if hand.doubled:
        return DOUBLE
    if hand.origin == "zapped" and hand.count < 2:
        return ZAP
    return SPLIT if hand.origin == "split" and hand.count == 1 else HIT
