"""The dealer's hand: drawn by rule, never by choice."""

from typing import Final

import msgspec

from shoeproof.replay.engine.cards import VALUE
from shoeproof.replay.engine.hand import add_card
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.errors import IllegalMove


class Dealer(msgspec.Struct, frozen=True, gc=False):
    """The dealer's shown cards: best total, softness, count, and the up card, which comes first.

    The hole card joins when it is turned over, whatever its place in the deal was.
    """

    total: int = 0
    soft: bool = False
    count: int = 0
    up: str = ""

    @property
    def natural(self) -> bool:
        """Tell whether the first two cards are 21."""
        return self.count == 2 and self.total == 21

    @property
    def up_value(self) -> int:
        """Return the up card's value, the ace as 1; 0 before it lies."""
        return VALUE[self.up] if self.up else 0


EMPTY_DEALER: Final = Dealer()


def makes_natural(dealer: Dealer, hole: str) -> bool:
    """Tell whether a hole card makes a natural with the up card."""
    return {VALUE[hole], dealer.up_value} == {1, 10}


def dealer_draws(rules: Rules, dealer: Dealer) -> bool:
    """Tell whether the dealer, both first cards shown, must draw another."""
    if dealer.total == 17 and dealer.soft:
        return rules.dealer_hits_soft_17
    return dealer.total < 17


def dealer_step(rules: Rules, dealer: Dealer, card: str) -> Dealer:
    """Return the dealer's hand after one more card; raise IllegalMove when none was due."""
    if dealer.count >= 2 and not dealer_draws(rules, dealer):
        raise IllegalMove(f"the dealer stands on {dealer.total}, {card} came")
    total, soft = add_card(dealer.total, dealer.soft, card)
    return Dealer(total=total, soft=soft, count=dealer.count + 1, up=dealer.up or card)
