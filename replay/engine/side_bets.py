"""Side bets on the initial cards: which line of the pay table they make."""

from fractions import Fraction
from functools import cache

from shoeproof.replay.engine.cards import RANKS, is_red
from shoeproof.replay.engine.rules import SideBet


def side_bet_line(bet: SideBet, cards: tuple[str, ...], up: str) -> str | None:
    """Return the name of the line a hand's first two cards make, with the up card where it counts.

    None when they make none that the pay table pays.
    """
    first_two = cards[:2]
    if bet.on == "pair":
        line = _pair_line(*first_two)
    else:
        line = _three_card_line((*first_two, up), ace_high_and_low=bet.ace_high_and_low)
    return line if line in bet.pays else None


def side_bet_odds(bet: SideBet, line: str) -> Fraction:
    """Return the odds of one line of the pay table."""
    return bet.pays[line]


def _pair_line(first: str, second: str) -> str | None:
    if first[0] != second[0]:
        return None
    if first[1] == second[1]:
        return "perfect_pair"
    return "coloured_pair" if is_red(first) == is_red(second) else "mixed_pair"


def _three_card_line(cards: tuple[str, ...], *, ace_high_and_low: bool) -> str | None:
    first, second, third = cards
    same_rank = first[0] == second[0] == third[0]
    same_suit = first[1] == second[1] == third[1]
    ranks = first[0] + second[0] + third[0]
    in_sequence = not same_rank and _in_sequence(ranks, ace_high_and_low=ace_high_and_low)
    if same_rank:
        return "suited_trips" if same_suit else "three_of_a_kind"
    if in_sequence:
        return "straight_flush" if same_suit else "straight"
    return "flush" if same_suit else None


@cache
def _in_sequence(ranks: str, *, ace_high_and_low: bool) -> bool:
    places = sorted(map(RANKS.index, ranks))
    if places[1] - places[0] == 1 and places[2] - places[1] == 1:
        return True
    return ace_high_and_low and places == [0, RANKS.index("Q"), RANKS.index("K")]
