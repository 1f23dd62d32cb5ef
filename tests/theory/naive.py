"""An independent valuation, as slow as it is plain: every card in turn, one composition at a time.

It shares no code with the theory but the engine: it plays a hand by `step`, the dealer by
`dealer_step`, and multiplies fractions.
"""

from fractions import Fraction

from shoeproof.replay.engine.dealer import Dealer, dealer_draws, dealer_step
from shoeproof.replay.engine.hand import DOUBLE, HIT, STAND, Hand, legal_acts, step
from shoeproof.replay.engine.rules import Rules, read_odds
from shoeproof.replay.engine.settlement import settle

Left = tuple[int, ...]
CARDS = [f"{rank}c" for rank in "A23456789T"]


def value(rules: Rules, hand: Hand, up: str, left: Left) -> Fraction:
    """The best net result of a hand, the hole card among the cards left."""
    if hand.owed:
        return sum(
            (
                Fraction(count, sum(left)) * value(rules, step(rules, hand, card), up, less)
                for card, count, less in _draws(left)
            ),
            Fraction(0),
        )
    if hand.over:
        return _against_dealer(rules, hand, dealer_step(rules, Dealer(), up), left)
    acts = [act for act in legal_acts(rules, hand) if act in (HIT, STAND, DOUBLE)]
    return max(value(rules, step(rules, hand, act), up, left) for act in acts)


def _against_dealer(rules: Rules, hand: Hand, dealer: Dealer, left: Left) -> Fraction:
    if hand.over == "bust":
        return Fraction(-2 if hand.doubled else -1)
    if dealer.count >= 2 and not dealer_draws(rules, dealer):
        line = settle(rules, hand, dealer)
        stake = 2 if hand.doubled else 1
        fixed = {"lose": Fraction(-1), "push": Fraction(0)}
        return stake * (fixed[line.pays] if line.pays in fixed else read_odds(line.pays))
    return sum(
        (
            Fraction(count, sum(left))
            * _against_dealer(rules, hand, dealer_step(rules, dealer, card), less)
            for card, count, less in _draws(left)
        ),
        Fraction(0),
    )


def _draws(left: Left) -> list[tuple[str, int, Left]]:
    return [
        (CARDS[place], count, (*left[:place], count - 1, *left[place + 1 :]))
        for place, count in enumerate(left)
        if count
    ]
