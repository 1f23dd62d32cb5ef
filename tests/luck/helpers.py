"""What the tests of luck and skill share: rounds taken apart, and the identity they must keep."""

from collections.abc import Iterator, Sequence
from random import Random

import pytest

from shoeproof.replay.engine.cards import FACE_DOWN
from shoeproof.replay.engine.dealer import makes_natural
from shoeproof.replay.engine.round import NATURAL, NO_NATURAL, Check, Show, apply, open_round
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.luck.one_round import Decomposition, Symbol
from shoeproof.replay.written.round_text import ActMove, DealMove, RoundText
from tests.replay.helpers import Played

EXACT = 1e-9


def symbols(moves: Sequence[Played]) -> list[Symbol]:
    """The moves of a round played by the engine alone."""
    return [(move.symbol, None) for move in moves]


def symbols_of_text(text: RoundText, rules: Rules) -> Iterator[Symbol]:
    """The moves of a written round, and what the dealer sees or shows besides."""
    state = open_round(rules, text.stakes)
    left = [move for move in text.moves if isinstance(move, DealMove | ActMove)]
    hole = next(move.card for move in left if isinstance(move, DealMove) and move.down)
    while True:
        if isinstance(state.due, Check):
            symbol: Symbol = (NATURAL if makes_natural(state.dealer, hole) else NO_NATURAL, None)
        elif isinstance(state.due, Show):
            symbol = hole, None
        elif not left:
            return
        else:
            move = left.pop(0)
            if isinstance(move, ActMove):
                symbol = move.act, move.shown_minor
            else:
                symbol = FACE_DOWN if move.down else move.card, None
        state = apply(state, *symbol)
        yield symbol


def assert_adds_up(taken_apart: Decomposition) -> None:
    """Hold each bet's parts to what it was paid."""
    for bet in taken_apart.bets:
        mine = [p for p in taken_apart.parts if (p.seat, p.bet) == (bet.seat, bet.bet)]
        total = bet.start_minor + sum(part.amount_minor for part in mine) + bet.error_minor
        assert total == pytest.approx(bet.returned_minor, abs=EXACT * (1 + bet.initial_stake_minor))


def full_shoe_cards(rules: Rules, random: Random, pack: Sequence[str]) -> Iterator[str]:
    """The cards of a whole shuffled shoe of these rules' decks."""
    shoe = list(pack) * rules.decks
    random.shuffle(shoe)
    return iter(shoe)
