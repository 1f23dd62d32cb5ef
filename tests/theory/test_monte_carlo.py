"""Rounds played through the engine from real shoes agree with the theory.

Few here; `tests/bench/theory_monte_carlo.py` plays millions.
"""

from math import sqrt

import pytest

from shoeproof.replay.games.published import GAMES
from shoeproof.replay.theory.strategies import basic_act, optimal_act
from tests.theory.helpers import Choose, computed, net_units, play, shoe_cards

ROUNDS = 10_000


@pytest.mark.parametrize("game", sorted(GAMES))
@pytest.mark.parametrize(("bet", "choose"), [("main", optimal_act), ("main_basic", basic_act)])
def test_the_mean_lies_within_four_standard_errors(game: str, bet: str, choose: Choose) -> None:
    rules, expected = GAMES[game].rules, computed(game).bet(bet)
    total = sum(
        net_units(play(rules, shoe_cards(rules, number), choose)) for number in range(ROUNDS)
    )
    assert expected.sd is not None
    assert abs(1 + total / ROUNDS - expected.returned) < 4 * expected.sd / sqrt(ROUNDS)
