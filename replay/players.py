"""Simulated players: each maps what is offered to an act, reproducibly from a seed."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Final, TypeAlias

from replay.engine.hand import (
    DECLINE,
    DOUBLE,
    EVEN_MONEY,
    HIT,
    INSURANCE,
    SPLIT,
    STAND,
    ZAP,
    Act,
    Hand,
)
from replay.engine.round import RoundState

Player: TypeAlias = Callable[[RoundState, str, Sequence[Act]], Act]
"""State, hand that decides, acts offered: the act chosen."""


def random_player(seed: int) -> Player:
    """Return a player who takes any offered act with equal chance."""
    random = Random(seed)

    def choose(state: RoundState, name: str, offered: Sequence[Act]) -> Act:
        return random.choice(offered)

    return choose


def cautious_player(state: RoundState, name: str, offered: Sequence[Act]) -> Act:
    """Choose for someone who never risks a bust, insures, and takes even money."""
    for safe in (INSURANCE, EVEN_MONEY):
        if safe in offered:
            return safe
    hand = _hand(state, name)
    return (
        HIT if HIT in offered and (hand.total <= 11 or (hand.soft and hand.total < 18)) else STAND
    )


def basic_player(state: RoundState, name: str, offered: Sequence[Act]) -> Act:
    """Choose by the common basic strategy for many decks: total, up card, pairs; no insurance."""
    if DECLINE in offered:
        return DECLINE
    hand, up = _hand(state, name), state.dealer.up_value
    if SPLIT in offered and _splits(hand, up):
        return SPLIT
    if ZAP in offered and hand.total in (15, 16, 17):
        return ZAP
    if DOUBLE in offered and _doubles(hand, up):
        return DOUBLE
    return STAND if _stands(hand, up) else HIT


def make_player(name: str, seed: int) -> Player:
    """Return the player of that name; `seed` matters to the random one alone.

    Raises KeyError for a name that is none of PLAYERS.
    """
    return PLAYERS[name](seed)


PLAYERS: Final[dict[str, Callable[[int], Player]]] = {
    "basic": lambda seed: basic_player,
    "random": random_player,
    "cautious": lambda seed: cautious_player,
}


def _hand(state: RoundState, name: str) -> Hand:
    return next(held.hand for held in state.hands if held.name == name)


def _splits(hand: Hand, up: int) -> bool:
    if hand.soft:
        return True
    card = hand.total // 2
    return (
        card == 8 or (card in (2, 3, 6, 7) and 2 <= up <= 6) or (card == 9 and up not in (1, 7, 10))
    )


def _doubles(hand: Hand, up: int) -> bool:
    if hand.soft:
        return 13 <= hand.total <= 18 and 4 <= up <= 6
    if hand.total == 11:
        return up != 1
    return (hand.total == 10 and 2 <= up <= 9) or (hand.total == 9 and 3 <= up <= 6)


def _stands(hand: Hand, up: int) -> bool:
    if hand.soft:
        return hand.total >= 19 or (hand.total == 18 and up not in (1, 9, 10))
    if hand.total >= 17:
        return True
    return hand.total >= 12 and 2 <= up <= 6 and not (hand.total == 12 and up <= 3)
