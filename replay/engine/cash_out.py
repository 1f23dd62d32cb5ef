"""What a hand may be sold for now."""

from fractions import Fraction

from shoeproof.replay.engine.hand import Hand
from shoeproof.replay.engine.rules import CashOut


def cash_out_ratio(cash_out: CashOut, hand: Hand, up_value: int) -> Fraction:
    """Return the ratio of the main stake offered for an undecided hand.

    `up_value` is the up card's value with the ace as 1. The `first` block is for the two initial
    cards, `later` for three or more and for split hands.
    """
    initial = hand.count == 2 and hand.origin == "initial"
    table = cash_out.first if initial else cash_out.later
    row = table[f"{'soft' if hand.soft else 'hard'}{hand.total}"]
    return row[-1] if up_value == 1 else row[up_value - 2]
