"""Simulated players: each maps what is offered to an act, reproducibly from a seed."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Final, TypeAlias

from shoeproof.replay.engine.hand import (
    EVEN_MONEY,
    HIT,
    INSURANCE,
    STAND,
    Act,
    Hand,
)
from shoeproof.replay.engine.round import RoundState
from shoeproof.replay.theory.strategies import basic_act, optimal_act

Player: TypeAlias = Callable[[RoundState, str, Sequence[Act]], Act]
"""State, hand that decides, acts offered: the act chosen."""


def random_player(seed: int) -> Player:
    """Return a player who takes any offered act with equal chance."""
    random = Random(seed)

    def choose(state: RoundState, name: str, offered: Sequence[Act]) -> Act:
        return random.choice(offered)

    return choose


def cautious_player(state: RoundState, name: str, offered: Sequence[Act]) -> Act:
    """Choose as a player who never risks a bust, insures, and takes even money."""
    for safe in (INSURANCE, EVEN_MONEY):
        if safe in offered:
            return safe
    hand = _hand(state, name)
    return (
        HIT if HIT in offered and (hand.total <= 11 or (hand.soft and hand.total < 18)) else STAND
    )


def basic_player(state: RoundState, name: str, offered: Sequence[Act]) -> Act:
    """Choose by the game's exact basic strategy, which looks at totals; no insurance."""
    return basic_act(state, offered)


def optimal_player(state: RoundState, name: str, offered: Sequence[Act]) -> Act:
    """Choose by the game's exact optimal strategy, which looks at the cards; no insurance."""
    return optimal_act(state, offered)


def make_player(name: str, seed: int) -> Player:
    """Return the player of that name; `seed` matters to the random one alone.

    Raises KeyError for a name that is not one of PLAYERS.
    """
    return PLAYERS[name](seed)


PLAYERS: Final[dict[str, Callable[[int], Player]]] = {
    "optimal": lambda seed: optimal_player,
    "basic": lambda seed: basic_player,
    "random": random_player,
    "cautious": lambda seed: cautious_player,
}


def _hand(state: RoundState, name: str) -> Hand:
    return next(held.hand for held in state.hands if held.name == name)
