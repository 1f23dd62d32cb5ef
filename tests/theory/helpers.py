"""What the theory tests share: theories computed once, changed rules, rounds from real shoes."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import msgspec

from shoeproof.replay.engine.cards import FACE_DOWN, VALUE
from shoeproof.replay.engine.outcomes import outcomes
from shoeproof.replay.engine.round import (
    NATURAL,
    NO_NATURAL,
    Check,
    Deal,
    Decide,
    RoundState,
    Settle,
    apply,
    open_round,
)
from shoeproof.replay.engine.rules import Rules, rules_digest
from shoeproof.replay.engine.shoe import Shoe
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.theory.results import Theory
from shoeproof.replay.theory.solve import solve

STAKE_MINOR = 1000

Choose = Callable[[RoundState], str]


@lru_cache(maxsize=3)
def computed(game: str) -> Theory:
    """The theory of a published game, computed here and now, never read from the package."""
    return solve(GAMES[game].rules)


def changed(rules: Rules, **changes: Any) -> Rules:
    """The rules with whole clauses changed."""
    return msgspec.structs.replace(rules, **changes)


def with_clause(rules: Rules, clause: str, **changes: Any) -> Rules:
    """The rules with fields of one clause changed."""
    return changed(rules, **{clause: msgspec.structs.replace(getattr(rules, clause), **changes)})


def shoe_cards(rules: Rules, number: int) -> Iterator[str]:
    """The cards of a real shoe; the number makes its seed."""
    digest = _digest(rules.id)
    return iter(Shoe(number.to_bytes(32, "big"), "theory", digest, b"", rules.decks))


@lru_cache(maxsize=3)
def _digest(game: str) -> str:
    return rules_digest(GAMES[game].rules)


def play(rules: Rules, cards: Iterator[str], choose: Choose, seats: int = 1) -> RoundState:
    """Play a round through the engine to its settlement."""
    state = open_round(rules, {f"s{n}": {"main": STAKE_MINOR} for n in range(1, seats + 1)})
    hole = ""
    while not isinstance(state.due, Settle):
        due = state.due
        if isinstance(due, Deal):
            card = next(cards)
            if due.down:
                hole, card = card, FACE_DOWN
            state = apply(state, card)
        elif isinstance(due, Decide):
            state = apply(state, choose(state))
        elif isinstance(due, Check):
            natural = sorted((VALUE[hole], state.dealer.up_value)) == [1, 10]
            state = apply(state, NATURAL if natural else NO_NATURAL)
        else:
            state = apply(state, hole)
    return state


def net_units(state: RoundState) -> float:
    """What a settled round won, in stakes of one seat."""
    bets = outcomes(state)
    return sum((bet.paid_minor or 0) - bet.stake_minor for bet in bets) / STAKE_MINOR
