"""Which act the strategies take in a round, quick enough for simulated players.

The optimal strategy is the one whose return the theory gives: it looks at the hand's own cards,
those of a split pair or a zapped one, and the up card, at no other seat's. The basic strategy looks
at totals. Both decline insurance, take even money where the theory does, and never cash out. Where
too little money bars the act they want, they take the best of what is offered.
"""

from collections.abc import Sequence
from typing import Final

from shoeproof.replay.engine.hand import CASH_OUT, DECLINE, SPLIT, ZAP, Act
from shoeproof.replay.engine.round import Decide, RoundState, SeatHand
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.theory.basic import group_of
from shoeproof.replay.theory.cache import theory
from shoeproof.replay.theory.chart import ChartRow, basic_table, chart_rows
from shoeproof.replay.theory.live import decision_values
from shoeproof.replay.theory.policy import OptimalActs
from shoeproof.replay.theory.up_card import FIRST, SubGame, game_positions
from shoeproof.replay.theory.values import VALUE_NAMES, count_cards, place

_NATURAL_CLASS: Final = "A,10"


class Strategies:
    """Both strategies of one rule set."""

    def __init__(self, rules: Rules) -> None:
        """Take them from the theory of the rules, which is computed when it is not shipped."""
        self.rules = rules
        self._theory = theory(rules)
        self._basic = basic_table(self._theory.basic)
        self._optimal: OptimalActs | None = None
        self._at_natural = {
            each.up: each.best for each in self._theory.classes if each.hand == _NATURAL_CLASS
        }

    def chart(self) -> list[ChartRow]:
        """Return the basic strategy as a chart."""
        return chart_rows(self.rules, self._basic)

    def basic(self, state: RoundState, offered: Sequence[Act] | None = None) -> Act:
        """Return the basic act at the decision that is due; see `basic_act`."""
        held, legal = _deciding(state)
        wanted = self._answer(state, legal)
        if wanted is None:
            group = group_of(self.rules, held.hand)
            wanted = self._basic[group][state.dealer.up_value - 1]
        return _or_best_offered(state, wanted, offered)

    def optimal(self, state: RoundState, offered: Sequence[Act] | None = None) -> Act:
        """Return the optimal act at the decision that is due; see `optimal_act`."""
        held, legal = _deciding(state)
        wanted = self._answer(state, legal)
        if wanted is None:
            if self._optimal is None:
                game = game_positions(self.rules)
                self._optimal = OptimalActs(game, self._theory.optimal)
            part, drawn = _part(state, held)
            counted = tuple(count_cards(drawn).tolist())
            wanted = self._optimal.act(part, held.hand, counted, place(state.dealer.up))
        return _or_best_offered(state, wanted, offered)

    def _answer(self, state: RoundState, legal: Sequence[Act]) -> Act | None:
        """Return the answer where insurance or even money is the question."""
        if DECLINE not in legal:
            return None
        best = self._at_natural[VALUE_NAMES[state.dealer.up_value - 1]]
        return best if best in legal else DECLINE


def basic_act(state: RoundState, offered: Sequence[Act] | None = None) -> Act:
    """Return the act of the basic strategy at the decision that is due.

    `offered` are the acts that can be taken, all legal ones by default. Raises ValueError when no
    decision is due.
    """
    return strategies(state.rules).basic(state, offered)


def optimal_act(state: RoundState, offered: Sequence[Act] | None = None) -> Act:
    """Return the act of the optimal strategy at the decision that is due; see `basic_act`."""
    return strategies(state.rules).optimal(state, offered)


def strategy(rules: Rules) -> list[ChartRow]:
    """Return the chart of the basic strategy: hard, soft, pairs, and what differs later."""
    return strategies(rules).chart()


_KNOWN: Final[dict[int, Strategies]] = {}


def strategies(rules: Rules) -> Strategies:
    """Return the strategies of a rule set, the same ones each time."""
    # The value kept holds the rules, so that no other rules can come to have their identity.
    found = _KNOWN.get(id(rules))
    if found is None:
        found = _KNOWN[id(rules)] = Strategies(rules)
    return found


def _deciding(state: RoundState) -> tuple[SeatHand, Sequence[Act]]:
    due = state.due
    if not isinstance(due, Decide):
        raise ValueError("no decision is due")
    return next(held for held in state.hands if held.name == due.hand), due.legal


def _part(state: RoundState, held: SeatHand) -> tuple[SubGame, Sequence[str]]:
    """Return the part of the play a hand is in, and the cards it drew there."""
    if held.hand.origin == "initial":
        return FIRST, held.cards
    if held.hand.origin == "split":
        return SubGame(SPLIT, (place(held.cards[0]),) * 2), held.cards[1:]
    seat = next(seat for seat in state.seats if seat.name == held.seat)
    return SubGame(ZAP, tuple(sorted(place(card) for card in seat.initial_cards))), held.cards


def _or_best_offered(state: RoundState, wanted: Act, offered: Sequence[Act] | None) -> Act:
    if offered is None or wanted in offered:
        return wanted
    values = decision_values(state)
    return max((act for act in offered if act != CASH_OUT), key=values.__getitem__)
