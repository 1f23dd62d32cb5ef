"""What one hand is worth, given exactly which cards are left: theory for any shoe, full or not."""

from functools import lru_cache
from math import isfinite
from typing import Final, NamedTuple

import numpy as np

from shoeproof.replay.engine.hand import PLAY_ACTS, SPLIT, ZAP, Act, Hand, legal_acts, split, step
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.engine.settlement import settle
from shoeproof.replay.theory.branch import make_branch, play
from shoeproof.replay.theory.dealer import dealer_graphs, natural_probability
from shoeproof.replay.theory.positions import Positions, close_positions
from shoeproof.replay.theory.settled import Settled, net_units, settle_ends
from shoeproof.replay.theory.up_card import checks, offers
from shoeproof.replay.theory.values import Floats

_NOTHING_DRAWN: Final = (0,) * 10
_KEPT: Final = 2048
"""How many hands and answers are remembered, the latest used."""


class Situation(NamedTuple):
    """What a hand's worth depends on besides itself.

    `up` is the up card's place, `unseen` counts the cards that may still come, the hole card among
    them; `checked` tells that the dealer looked and has no natural.
    """

    up: int
    unseen: tuple[int, ...]
    checked: bool


class HandSolver:
    """Values of hands under one set of rules, net, in units of the initial stake.

    Play is optimal, cash out taken where it is better. What was worked out is remembered.
    """

    def __init__(self, rules: Rules) -> None:
        """Solve for these rules."""
        self._rules = rules
        self.graphs = dealer_graphs(rules)
        self._worth = lru_cache(maxsize=_KEPT)(self._solve)
        self._positions = lru_cache(maxsize=_KEPT)(self._close)

    def value(self, hand: Hand, situation: Situation) -> float:
        """Return what a hand is worth, ended or not; one that a check may yet cut short, too.

        Two first cards must lie: before them ranks and suits still count.
        """
        unseen, graph = np.array(situation.unseen), self.graphs[situation.up]
        if situation.checked or not checks(self._rules, situation.up) or graph.natural is None:
            return self._worth(hand, situation)[0]
        natural = natural_probability(graph, unseen)
        line = settle(self._rules, hand, graph.outcomes[graph.natural])
        after = self._worth(hand, situation._replace(checked=True))[0]
        return natural * float(net_units(line, hand)) + (1 - natural) * after

    def act_values(self, hand: Hand, situation: Situation) -> dict[Act, float]:
        """Return what each legal act of a hand with a decision is worth."""
        _, acts = self._worth(hand, situation)
        return {act: worth for act, worth in zip(PLAY_ACTS, acts, strict=True) if isfinite(worth)}

    def _solve(self, hand: Hand, situation: Situation) -> tuple[float, tuple[float, ...]]:
        positions, settled = self._positions(hand)
        branch = make_branch(
            positions,
            settled,
            self.graphs[situation.up],
            np.array(situation.unseen),
            no_natural=situation.checked,
        )
        outside = offers(self._rules, positions, situation.up)
        legal = legal_acts(self._rules, hand)
        if SPLIT in legal:
            outside[SPLIT] = 2 * self._new_hand(split(self._rules, hand)[0], situation)
        if ZAP in legal:
            outside[ZAP] = self._new_hand(step(self._rules, hand, ZAP), situation)
        played = play(branch, outside)
        return float(played.values[0]), tuple(played.act_values[0].tolist())

    def _new_hand(self, hand: Hand, situation: Situation) -> Floats:
        return np.array(self._worth(hand, situation)[0])

    def _close(self, hand: Hand) -> tuple[Positions, Settled]:
        positions = close_positions(self._rules, [(hand, _NOTHING_DRAWN)])
        return positions, settle_ends(self._rules, positions, self.graphs[0].outcomes)
