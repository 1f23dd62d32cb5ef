"""No figure is written down: every clause that changes play or payment moves the return."""

from collections.abc import Callable

import pytest

from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.theory.readings import main_return
from shoeproof.replay.theory.side_bets import insurance, side_bet
from shoeproof.replay.theory.solve import solve
from tests.theory.helpers import changed, computed, with_clause

NBA = GAMES["nba"].rules

WORSE: dict[str, Callable[[Rules], Rules]] = {
    "the dealer hits soft 17": lambda rules: changed(rules, dealer_hits_soft_17=True),
    "the dealer never checks": lambda rules: changed(rules, dealer_checks=()),
    "no double on soft hands or other totals": lambda rules: with_clause(
        rules, "double", totals=(10, 11)
    ),
    "pairs by rank": lambda rules: with_clause(rules, "split", pair_by="rank"),
    "no split aces": lambda rules: with_clause(rules, "split", aces=False),
    "a hand of three cards stands": lambda rules: changed(rules, max_cards=3),
    "a natural pays 6 to 5": lambda rules: _paying(rules, "natural", "6/5"),
    "the dealer's bust pushes": lambda rules: _paying(rules, "dealer_bust", "push"),
}


def _paying(rules: Rules, name: str, pays: str) -> Rules:
    lines = tuple(
        type(line)(name=line.name, when=line.when, pays=pays if line.name == name else line.pays)
        for line in rules.settlement
    )
    return changed(rules, settlement=lines)


@pytest.mark.parametrize("change", sorted(WORSE))
def test_a_clause_against_the_player_costs(change: str) -> None:
    main = computed("nba").bet("main").returned
    lower = main_return(WORSE[change](NBA))
    if change == "pairs by rank":
        assert lower == pytest.approx(main, abs=1e-12), "tens are never split here anyway"
    else:
        assert lower < main - 1e-5


def test_fewer_decks_return_more() -> None:
    returns = [main_return(changed(NBA, decks=decks)) for decks in (8, 6, 2, 1)]
    assert returns == sorted(returns)
    assert returns[1] - returns[0] > 1e-4


def test_side_bets_and_insurance_move_with_the_decks() -> None:
    six = changed(NBA, decks=6)
    assert side_bet(six, "perfect_pairs").fraction != side_bet(NBA, "perfect_pairs").fraction
    assert insurance(six)[0].fraction != insurance(NBA)[0].fraction


def test_even_money_is_taken_where_a_natural_pays_no_more() -> None:
    rules = changed(GAMES["zero"].rules, decks=1)
    lines = tuple(line for line in rules.settlement if line.name != "suited_natural")
    even = solve(_paying(changed(rules, settlement=lines), "natural", "1/1"))
    natural = next(each for each in even.classes if (each.hand, each.up) == ("A,10", "A"))
    assert (natural.best, natural.net) == ("even-money", 1.0)
    assert even.outcomes.lines["even_money"] == pytest.approx(natural.probability)
    assert sum(even.outcomes.nets.values()) == pytest.approx(1)
