"""The tables say what the engine says: every entry, sink and settlement."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from shoeproof.replay.engine import money
from shoeproof.replay.engine.cards import PACK, VALUE
from shoeproof.replay.engine.cash_out import cash_out_ratio
from shoeproof.replay.engine.dealer import EMPTY_DEALER, Dealer, dealer_draws, dealer_step
from shoeproof.replay.engine.hand import CASH_OUT, EMPTY_HAND, SPLIT, Hand, legal_acts, split, step
from shoeproof.replay.engine.outcomes import LOST
from shoeproof.replay.engine.round import Deal, Decide, RoundState
from shoeproof.replay.engine.rules import Rounding, Rules
from shoeproof.replay.engine.settlement import settle, settle_early
from shoeproof.replay.engine.side_bets import side_bet_line, side_bet_odds
from shoeproof.replay.errors import IllegalMove
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.kernel.due import Layout, layouts_of
from shoeproof.replay.kernel.money import round_minor
from shoeproof.replay.kernel.tables import (
    ABSENT,
    ACTS,
    ANSWERED,
    ASKED,
    NUMBER,
    SEEN_NATURAL,
    SEEN_NO_NATURAL,
    UNSEEN,
    RuleTables,
    act_mask,
    compile_tables,
)
from tests.replay.helpers import at_random, drawn_from, play
from tests.strategies import Setting, cards, games, randoms, settings_of_a_round

SYMBOLS = (*PACK, *ACTS)
UP_CARDS = {value: card for card, value in reversed(VALUE.items())}
"""The tables keep an up card by its value alone."""


def _state_of_hand(tables: RuleTables, hand: Hand) -> int:
    return tables.first_hand + tables.hands.index(hand)


def _state_of_dealer(tables: RuleTables, dealer: Dealer) -> int:
    seen = replace(dealer, up=UP_CARDS.get(dealer.up_value, ""))
    return tables.first_dealer + tables.dealers.index(seen)


def _broke_at(state: int) -> str | None:
    """The symbol that was not allowed, where a word ended in its sink."""
    return (
        next(each for each, number in NUMBER.items() if number == state) if state < ABSENT else None
    )


@pytest.mark.parametrize("game", GAMES)
def test_the_closure_is_small(game: str) -> None:
    tables = compile_tables(GAMES[game].rules)
    assert 2_500 < tables.states < 3_500
    assert tables.bytes < 512 * 1024
    assert compile_tables(GAMES[game].rules) is tables


def _take(rules: Rules, hand: Hand, symbol: str) -> Hand:
    return split(rules, hand)[0] if symbol == SPLIT else step(rules, hand, symbol)


@given(games, randoms)
def test_every_transition_is_the_engine_s(game: str, random: Random) -> None:
    """Words of any symbols, mostly allowed ones, up to the symbol that breaks them."""
    rules = GAMES[game].rules
    tables = compile_tables(rules)
    hand, state = EMPTY_HAND, tables.first_hand
    for _ in range(30):
        fitting = PACK if hand.owed else legal_acts(rules, hand)
        symbol = random.choice(fitting if fitting and random.random() < 0.9 else SYMBOLS)
        state = int(tables.transition[state, NUMBER[symbol]])
        try:
            hand = _take(rules, hand, symbol)
        except IllegalMove:
            assert _broke_at(state) == symbol
            after = tables.transition[state, NUMBER[random.choice(SYMBOLS)]]
            assert after == state
            return
        assert _broke_at(state) is None
        assert state == _state_of_hand(tables, hand)
        assert tables.legal[state] == act_mask(legal_acts(rules, hand))
        assert tables.doubled[state] == hand.doubled
        line = settle_early(rules, hand) if hand.over else None
        assert tables.early[state] == (-1 if line is None else rules.settlement.index(line))
        if CASH_OUT in legal_acts(rules, hand) and rules.cash_out is not None:
            for up in range(1, 11):
                terms = tables.cash_out_numerator[state, up], tables.cash_out_denominator[state, up]
                assert Fraction(*map(int, terms)) == cash_out_ratio(rules.cash_out, hand, up)


def _drawn_out(rules: Rules, random: Random) -> Dealer:
    dealer = EMPTY_DEALER
    while dealer.count < 2 or dealer_draws(rules, dealer):
        dealer = dealer_step(rules, dealer, random.choice(PACK))
    return dealer


@given(games, randoms)
def test_every_dealer_s_card_is_the_engine_s(game: str, random: Random) -> None:
    rules = GAMES[game].rules
    tables = compile_tables(rules)
    dealer, state = EMPTY_DEALER, tables.first_dealer
    while True:
        card = random.choice(PACK)
        state = int(tables.transition[state, NUMBER[card]])
        try:
            dealer = dealer_step(rules, dealer, card)
        except IllegalMove:
            assert _broke_at(state) == card
            return
        assert state == _state_of_dealer(tables, dealer)
        assert (tables.up_value[state], tables.natural[state]) == (dealer.up_value, dealer.natural)


@given(games, randoms)
def test_settlement_is_settle(game: str, random: Random) -> None:
    rules = GAMES[game].rules
    tables = compile_tables(rules)
    for _ in range(50):
        hand, dealer = random.choice(tables.hands), _drawn_out(rules, random)
        line = settle(rules, hand, dealer)
        facts = (
            tables.facts[_state_of_hand(tables, hand)],
            tables.facts[_state_of_dealer(tables, dealer)],
        )
        assert tables.pays.lines[tables.line[facts]] == line.name


@given(cards, cards, cards)
def test_side_bets_are_side_bet_line(first: str, second: str, up: str) -> None:
    rules = GAMES["nba"].rules
    for name, table in compile_tables(rules).side_bets.items():
        place = int(table.line[NUMBER[first], NUMBER[second], NUMBER[up]])
        line = side_bet_line(rules.side_bets[name], (first, second), up)
        assert table.pays.lines[place] == (line or LOST)
        if line is not None:
            odds = Fraction(int(table.pays.numerator[place]), int(table.pays.denominator[place]))
            assert odds == side_bet_odds(rules.side_bets[name], line)


ROUNDINGS: tuple[Rounding, ...] = ("half_up", "down")


@given(st.integers(0, 2**40), st.integers(1, 10**9), st.sampled_from(ROUNDINGS))
def test_rounding_is_the_engine_s(numerator: int, denominator: int, how: Rounding) -> None:
    [many] = round_minor(np.array([numerator]), np.array([denominator]), how)
    assert many == money.round_minor(Fraction(numerator, denominator), how)


def _row(layout: Layout, state: RoundState) -> list[int]:
    """A round's state as the walk would hold it."""
    tables = layout.tables
    row = [int(each) for each in layout.first]
    for number, seat in enumerate(state.seats):
        held = [each.hand for each in state.hands if each.seat == seat.name]
        row[2 * number : 2 * number + len(held)] = [_state_of_hand(tables, each) for each in held]
        natural = int(held[0].over == "natural")
        half = int(seat.stakes["main"] > 1)
        asks = seat.answer is None and tables.asked[natural, half]
        row[layout.answers + number] = ASKED if asks else ANSWERED
    row[layout.dealer] = _state_of_dealer(tables, state.dealer)
    shown = {None: UNSEEN, False: SEEN_NO_NATURAL, True: SEEN_NATURAL}
    row[layout.check] = shown[state.hole_natural]
    return row


@given(settings_of_a_round())
def test_what_is_due_is_what_turn_says(setting: Setting) -> None:
    rules = GAMES[setting.game].rules
    seats = sorted(setting.stakes)
    layout = layouts_of(rules)(len(seats))
    moves = play(
        rules,
        setting.stakes,
        drawn_from(setting.pack, setting.random),
        at_random(setting.random),
    )
    renamed = {seat: f"s{number}" for number, seat in enumerate(seats, start=1)}
    for move in moves:
        if move.after.dealt < 2 * len(seats) + 2:
            continue
        row = np.array([_row(layout, move.after)])
        [code] = layout.due(layout.situations(row))
        due = move.after.due
        if isinstance(due, Deal | Decide):
            hand = due.receiver if isinstance(due, Deal) else due.hand
            for seat, name in renamed.items():
                if hand == seat or hand.startswith(f"{seat}."):
                    field = "receiver" if isinstance(due, Deal) else "hand"
                    due = replace(due, **{field: name + hand.removeprefix(seat)})
                    break
        assert code == layout.code(due)
