"""The counted fractions agree with dealing out every card of a small shoe, one by one."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations

import pytest

from shoeproof.replay.engine.cards import PACK, VALUE
from shoeproof.replay.engine.side_bets import side_bet_line, side_bet_odds
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.theory.side_bets import insurance, side_bet
from tests.theory.helpers import changed, with_clause

NBA = GAMES["nba"].rules


@pytest.mark.parametrize("decks", [1, 2, 8])
def test_every_pair_of_cards(decks: int) -> None:
    _check("perfect_pairs", decks, 2)


@pytest.mark.parametrize("decks", [1, 2])
def test_every_two_cards_and_up_card(decks: int) -> None:
    _check("twenty_one_plus_three", decks, 3)


def _check(name: str, decks: int, cards: int) -> None:
    rules = changed(NBA, decks=decks)
    table = rules.side_bets[name]
    ways: Counter[str] = Counter()
    for deal in combinations(PACK * decks, cards):
        ways[side_bet_line(table, deal[:2], deal[-1]) or "lost"] += 1
    bet, deals = side_bet(rules, name), ways.total()
    won = sum(
        (1 + side_bet_odds(table, line)) * count for line, count in ways.items() if line != "lost"
    )
    assert Counter(bet.ways) == ways + Counter(deals=deals)
    assert bet.fraction == Fraction(won, deals)


@pytest.mark.parametrize("to_naturals", [True, False])
def test_every_hole_card_and_hand_that_insurance_is_offered(to_naturals: bool) -> None:
    rules = with_clause(changed(NBA, decks=1), "insurance", to_naturals=to_naturals)
    unseen = [VALUE[card] for card in PACK if card != "Ac"]
    offered = [
        hole == 10
        for hole, first, second in permutations(unseen, 3)
        if to_naturals or sorted((first, second)) != [1, 10]
    ]
    assert insurance(rules)[0].fraction == 3 * Fraction(sum(offered), len(offered))
