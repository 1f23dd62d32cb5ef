"""The worth of every act in a round that is being played, knowing every card seen.

The cards of the other seats, of a split's other half and of a zapped pair are known to be gone.
Each hand is valued as if it alone drew from what is left, which is exact: cards that nobody has
seen are alike to it, wherever they lie. Only a split still to be made is valued as in the theory of
the whole game, each half without its sister's later cards.
"""

from typing import Final

from shoeproof.replay.engine.hand import CASH_OUT, DECLINE, EVEN_MONEY, INSURANCE, Act, step
from shoeproof.replay.engine.round import Decide, RoundState, SeatHand
from shoeproof.replay.engine.rules import Rules, rules_digest
from shoeproof.replay.engine.settlement import settle_early
from shoeproof.replay.theory.dealer import natural_probability
from shoeproof.replay.theory.hand_solver import HandSolver, Situation
from shoeproof.replay.theory.settled import net_units
from shoeproof.replay.theory.values import Ints, count_cards, full_shoe, place

_SOLVERS: Final[dict[str, HandSolver]] = {}


def decision_values(state: RoundState) -> dict[Act, float]:
    """Return what each legal act is worth at the decision that is due, net, per initial stake.

    For an act of play that is the hand's worth, both halves' together after a split. Insurance is
    valued alone, per unit of the main stake, with declining at 0; where even money is offered,
    declining is what the natural is then worth. Raises ValueError when no decision is due.
    """
    due = state.due
    if not isinstance(due, Decide):
        raise ValueError("no decision is due")
    held = next(held for held in state.hands if held.name == due.hand)
    if EVEN_MONEY in due.legal:
        taken = step(state.rules, held.hand, EVEN_MONEY)
        line = settle_early(state.rules, taken)
        worth = 0.0 if line is None else float(net_units(line, taken))
        return {EVEN_MONEY: worth, DECLINE: hand_value(state, held)}
    if INSURANCE in due.legal:
        return {INSURANCE: _insurance_value(state), DECLINE: 0.0}
    values = _solver(state.rules).act_values(held.hand, _situation(state))
    if due.cash_out_minor is not None:
        values[CASH_OUT] = due.cash_out_minor / held.stake_minor - 1
    return {act: values[act] for act in due.legal}


def hand_value(state: RoundState, held: SeatHand) -> float:
    """Return what a hand is worth from here under optimal play, net, per initial stake.

    The initial deal must be over and the hole card not yet shown.
    """
    return _solver(state.rules).value(held.hand, _situation(state))


def unseen_cards(state: RoundState) -> Ints:
    """Return the count of cards that nobody has seen, the hole card's among them."""
    zapped = {held.seat for held in state.hands if held.hand.origin == "zapped"}
    seen = [card for held in state.hands for card in held.cards]
    seen += [card for seat in state.seats if seat.name in zapped for card in seat.initial_cards]
    return full_shoe(state.rules.decks) - count_cards([*seen, *state.dealer_cards])


def _insurance_value(state: RoundState) -> float:
    rules = state.rules
    assert rules.insurance is not None
    graph = _solver(rules).graphs[place(state.dealer.up)]
    natural = natural_probability(graph, unseen_cards(state))
    return (natural * float(rules.insurance.odds) - (1 - natural)) / 2


def _situation(state: RoundState) -> Situation:
    unseen = tuple(unseen_cards(state).tolist())
    return Situation(place(state.dealer.up), unseen, state.hole_natural is False)


def _solver(rules: Rules) -> HandSolver:
    digest = rules_digest(rules)
    if digest not in _SOLVERS:
        _SOLVERS[digest] = HandSolver(rules)
    return _SOLVERS[digest]
