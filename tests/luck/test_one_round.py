"""One round taken apart: the parts add up, luck is nil in the mean, an error is seen whole."""

import re
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoeproof.replay.engine.cards import PACK
from shoeproof.replay.engine.outcomes import outcomes
from shoeproof.replay.engine.round import Check, Deal, Show, open_round
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.luck.kinds import LUCK, LUCK_KINDS, SKILL, SKILL_KINDS
from shoeproof.replay.luck.one_round import RoundWalk, chances, decompose
from shoeproof.replay.theory.values import full_shoe, place
from shoeproof.replay.written.adjudicate import adjudicate
from shoeproof.replay.written.round_text import read_round
from tests.luck.helpers import assert_adds_up, full_shoe_cards, symbols, symbols_of_text
from tests.replay.helpers import CASES, at_random, play
from tests.strategies import games, randoms, stakes

_CASES = sorted(
    path
    for game in GAMES
    for path in (CASES / game).rglob("*.round")
    if path.parent.name not in ("findings", "incomplete", "malformed")
    and not re.search(rb"\?\?|dealer stops", path.read_bytes())
)


@pytest.mark.parametrize("path", _CASES, ids=lambda path: str(path.relative_to(CASES)))
def test_the_parts_of_every_case_add_up(path: Path) -> None:
    text = read_round(path.read_bytes())
    rules = GAMES[text.game].rules
    taken_apart = decompose(
        open_round(rules, text.stakes), symbols_of_text(text, rules), text.expect
    )
    assert_adds_up(taken_apart)
    judged = adjudicate(text, rules, GAMES[text.game].limits)
    assert sum(bet.paid_minor for bet in taken_apart.bets) == judged.total_paid_minor
    assert sum(bet.staked_minor for bet in taken_apart.bets) == judged.total_staked_minor
    assert not any(bet.error_minor for bet in taken_apart.bets)


@given(st.data())
@settings(max_examples=60)
def test_the_parts_of_any_round_add_up_and_what_is_wrongly_paid_is_its_error(
    data: st.DataObject,
) -> None:
    game, random = data.draw(games), data.draw(randoms)
    rules, laid = GAMES[game].rules, data.draw(stakes(game))
    moves = list(play(rules, laid, full_shoe_cards(rules, random, PACK), at_random(random)))
    owed = {(bet.hand, bet.bet): bet.paid_minor or 0 for bet in outcomes(moves[-1].after)}
    wrong = data.draw(st.dictionaries(st.sampled_from(sorted(owed)), st.integers(-9, 9)))
    paid = {name: amount + wrong.get(name, 0) for name, amount in owed.items()}
    taken_apart = decompose(moves[0].before, symbols(moves), paid)
    assert_adds_up(taken_apart)
    errors = {(bet.seat, bet.bet): bet.error_minor for bet in taken_apart.bets}
    for (seat, bet), error in errors.items():
        assert error == sum(
            amount
            for (hand, name), amount in wrong.items()
            if (hand.partition(".")[0], name) == (seat, bet)
        )
    for part in taken_apart.parts:
        assert part.kind in {LUCK: LUCK_KINDS, SKILL: SKILL_KINDS}[part.term]


@given(games, randoms)
@settings(max_examples=40)
def test_whatever_can_come_at_a_chance_move_its_mean_luck_is_nil(game: str, random: Random) -> None:
    """The same round with every card that could have come instead, weighed by its chance."""
    rules = GAMES[game].rules
    laid = {f"s{seat}": {"main": 100} for seat in range(1, random.randint(1, rules.seats) + 1)}
    moves = list(play(rules, laid, full_shoe_cards(rules, random, PACK), at_random(random)))
    after_deal = 2 * len(laid) + 2
    chance_moves = [
        number
        for number in range(after_deal, len(moves))
        if isinstance(moves[number].before.due, Deal | Check | Show)
    ]
    chosen = random.choice(chance_moves)
    unseen = full_shoe(rules.decks)
    for move in moves[:chosen]:
        if move.symbol in PACK:
            unseen[place(move.symbol)] -= 1
    for seat in laid:
        mean = 0.0
        for symbol, chance in chances(moves[chosen].before, unseen):
            walk = RoundWalk(moves[0].before)
            for number, each in enumerate([*symbols(moves[:chosen]), (symbol, None)]):
                walk.take(number, *each)
            mean += chance * sum(
                part.amount_minor
                for part in walk.parts
                if part.move == chosen and part.term == LUCK and part.seat == seat
            )
        assert mean == pytest.approx(0, abs=1e-9)
