"""What a hand is paid: the first line of the rules' settlement table whose facts hold."""

from fractions import Fraction
from functools import lru_cache

from shoeproof.replay.engine.dealer import Dealer
from shoeproof.replay.engine.hand import Hand
from shoeproof.replay.engine.money import round_minor
from shoeproof.replay.engine.rules import (
    Comparison,
    DealerKind,
    PlayerKind,
    Rounding,
    Rules,
    SettlementLine,
    When,
    read_odds,
)

_PLAYER_KINDS: dict[str, PlayerKind] = {
    "bust": "bust",
    "natural": "natural",
    "cash_out": "cash_out",
    "even_money": "even_money",
}


def settle(rules: Rules, hand: Hand, dealer: Dealer) -> SettlementLine:
    """Return the line that pays a hand against the dealer's final cards.

    The hand may also have been cut short by a natural found at the check.
    """
    for line in rules.settlement:
        if _player_fits(line.when, hand) and _dealer_fits(line.when, hand, dealer):
            return line
    raise AssertionError("the last settlement line catches everything")


def settle_early(rules: Rules, hand: Hand) -> SettlementLine | None:
    """Return the line that pays a finished hand whatever the dealer has, or None.

    A bust, a cash out, even money or a five-card 21 is decided so: its line stands above every
    line that asks about the dealer and could still apply.
    """
    for line in rules.settlement:
        if _player_fits(line.when, hand):
            return None if line.when.needs_dealer else line
    raise AssertionError("the last settlement line catches everything")


def paid_minor(line: SettlementLine, stake_minor: int, shown_minor: int, rounding: Rounding) -> int:
    """Return what a line pays on a stake, the stake included, in minor units.

    `shown_minor` is the value shown with a cash-out offer and matters to that line alone.
    """
    if line.pays == "lose":
        return 0
    if line.pays == "push":
        return stake_minor
    if line.pays == "offer":
        return shown_minor
    return stake_minor + win_minor(_odds(line.pays), stake_minor, rounding)


def win_minor(odds: Fraction, stake_minor: int, rounding: Rounding) -> int:
    """Return the win on a stake at these odds, the stake not included."""
    if odds.denominator == 1:
        return stake_minor * odds.numerator
    return round_minor(odds * stake_minor, rounding)


@lru_cache(maxsize=256)
def _odds(text: str) -> Fraction:
    return read_odds(text)


def player_kind(hand: Hand) -> PlayerKind:
    """Return the kind of a player's hand as settlement lines name it."""
    return _PLAYER_KINDS.get(hand.over, "made")


def dealer_kind(dealer: Dealer) -> DealerKind:
    """Return the kind of the dealer's hand as settlement lines name it."""
    if dealer.total > 21:
        return "bust"
    return "natural" if dealer.natural else "made"


def comparison(player_total: int, dealer_total: int) -> Comparison:
    """Return where the player's total stands against the dealer's."""
    if player_total == dealer_total:
        return "equal"
    return "above" if player_total > dealer_total else "below"


def _player_fits(when: When, hand: Hand) -> bool:
    return (
        (when.player is None or when.player == player_kind(hand))
        and (when.suited is None or when.suited == hand.suited)
        and (when.origin is None or when.origin == hand.origin)
        and (when.cards is None or when.cards == hand.count)
        and (when.total is None or when.total == hand.total)
    )


def _dealer_fits(when: When, hand: Hand, dealer: Dealer) -> bool:
    return (
        (when.dealer is None or when.dealer == dealer_kind(dealer))
        and (when.dealer_total is None or when.dealer_total == dealer.total)
        and (when.comparison is None or when.comparison == comparison(hand.total, dealer.total))
    )
