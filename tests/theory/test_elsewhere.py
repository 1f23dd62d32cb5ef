"""Figures that others published for other rules, reproduced from `Rules` values.

Wizard of Odds: appendix 9 for single hands, appendix 2B for the dealer's final totals, and the
house edge calculator.
"""

import numpy as np
import pytest

from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.theory.dealer import dealer_distribution, dealer_graphs
from shoeproof.replay.theory.readings import main_return
from shoeproof.replay.theory.solve import solve
from shoeproof.replay.theory.values import ACE, count_places, full_shoe
from tests.theory.helpers import changed, with_clause

PLAIN = changed(GAMES["nba"].rules, cash_out=None, side_bets={}, decks=8)
"""Eight decks, soft 17 stood on, any two cards doubled but not after a split, one split."""


def test_ace_two_against_an_ace_without_a_hole_card() -> None:
    rules = changed(PLAIN, dealer_hits_soft_17=True, dealer_checks=())
    found = next(each for each in solve(rules).classes if (each.hand, each.up) == ("A,2", "A"))
    assert found.acts["stand"] == pytest.approx(-0.722307, abs=5e-7)
    assert found.acts["hit"] == pytest.approx(-0.378980, abs=5e-7)
    assert found.acts["double"] == pytest.approx(-1.024082, abs=5e-7)
    assert found.best == "hit"


@pytest.mark.parametrize(("after_split", "edge"), [(False, 0.607), (True, 0.486)])
def test_the_house_edge_of_the_common_american_game(after_split: bool, edge: float) -> None:
    american = changed(PLAIN, dealer_checks=("ace", "ten"))
    rules = with_clause(american, "double", after_split=after_split)
    assert 100 * (1 - main_return(rules)) == pytest.approx(edge, abs=5e-4)


def test_the_dealers_ace_from_one_deck() -> None:
    rules = changed(PLAIN, decks=1)
    chances = _dealer(rules, ACE)
    finals = [(17, False), (18, False), (19, False), (20, False), (21, False), (21, True)]
    expected = [0.126128, 0.131003, 0.129486, 0.131553, 0.0515646, 0.313726]
    # Sixteen tens of 51 unseen are 0.3137255: the page's last digit is not always rounded right.
    assert [chances[each] for each in finals] == pytest.approx(expected, abs=1e-6)
    bust = sum(chance for (total, _), chance in chances.items() if total > 21)
    assert bust == pytest.approx(0.11654, abs=5e-6)


def _dealer(rules: Rules, up: int) -> dict[tuple[int, bool], float]:
    graph = dealer_graphs(rules)[up]
    unseen = np.array([full_shoe(rules.decks) - count_places([up])])
    (chances,) = dealer_distribution(graph, unseen, no_natural=False).tolist()
    finals = [(dealer.total, dealer.natural) for dealer in graph.outcomes]
    return dict(zip(finals, chances, strict=True))
