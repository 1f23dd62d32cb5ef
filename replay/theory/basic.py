"""The best strategy that looks at totals, not at the cards that make them.

Hands with the same legal acts, total and softness are played alike against an up card; the number
of cards counts too where a settlement line asks for it. Given how often each hand of a group comes
and what each act is then worth, the best act of the group follows; both depend on the rest of the
strategy, so this is repeated until nothing changes. Cash out is never taken.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from shoeproof.replay.engine.hand import CASH_OUT, PLAY_ACTS, Act, Hand, legal_acts
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.theory.branch import PolicyWorth
from shoeproof.replay.theory.positions import Positions
from shoeproof.replay.theory.up_card import (
    GamePositions,
    Policies,
    SubGame,
    UpCard,
    halves,
    play_parts,
    reach_parts,
)
from shoeproof.replay.theory.values import Floats, Ints

_ROUNDS = 20
_RARE = 1e-9


class HandGroup(NamedTuple):
    """Hands that are played alike, by the number of their `cards` too where that is not 0."""

    legal: tuple[Act, ...]
    total: int
    soft: bool
    cards: int


def group_of(rules: Rules, hand: Hand) -> HandGroup:
    """Return the group of a hand that has a decision to make."""
    legal = tuple(act for act in legal_acts(rules, hand) if act != CASH_OUT)
    counts = counted_cards(rules)
    counted = min(hand.count, counts[-1]) if counts and hand.count >= counts[0] else 0
    return HandGroup(legal, hand.total, hand.soft, counted)


def counted_cards(rules: Rules) -> range:
    """Return the numbers of cards that are told apart, from three up to what a line asks for.

    The last stands for more cards as well: such a hand can gain nothing by the line any more.
    """
    asked = [line.when.cards for line in rules.settlement if line.when.cards is not None]
    return range(3, max(asked) + 1) if asked else range(0)


class Grouping:
    """The groups of a game, numbered, and the number of each position's group, -1 for none."""

    def __init__(self, game: GamePositions) -> None:
        self.numbers: dict[HandGroup, int] = {}
        self.by_part = {
            part: self._numbers(game.rules, positions) for part, positions in game.parts.items()
        }
        self.groups = tuple(self.numbers)

    def _numbers(self, rules: Rules, positions: Positions) -> Ints:
        return np.array(
            [
                self.numbers.setdefault(group_of(rules, hand), len(self.numbers))
                if not hand.over and not hand.owed
                else -1
                for hand in positions.hands
            ]
        )


def basic_acts(up_card: UpCard, grouping: Grouping, best: Mapping[SubGame, PolicyWorth]) -> Ints:
    """Return the act of each group against this up card, by its place in PLAY_ACTS.

    `best` is the optimal play, from which the search starts.
    """
    rare = reach_parts(up_card, any_acts(up_card.game))
    played = best
    acts: Ints | None = None
    for _ in range(_ROUNDS):
        reached = reach_parts(up_card, {part: one.policy for part, one in played.items()})
        weights = {part: halves(part) * (reached[part] + _RARE * rare[part]) for part in reached}
        better = _best_acts(grouping, weights, played)
        if acts is not None and (better == acts).all():
            break
        acts = better
        played = play_parts(up_card, basic_policies(up_card.game, grouping, acts))
    return better


def basic_policies(game: GamePositions, grouping: Grouping, acts: Ints) -> Policies:
    """Return the policies that take a group's act in each of its positions."""
    policies: dict[SubGame, Floats] = {}
    for part, positions in game.parts.items():
        policies[part] = np.zeros(positions.legal.shape)
        deciding = np.flatnonzero(grouping.by_part[part] >= 0)
        policies[part][deciding, acts[grouping.by_part[part][deciding]]] = 1.0
    return policies


def _best_acts(
    grouping: Grouping, weights: Mapping[SubGame, Floats], played: Mapping[SubGame, PolicyWorth]
) -> Ints:
    legal = [[act in group.legal for act in PLAY_ACTS] for group in grouping.groups]
    worth = np.where(legal, 0.0, -np.inf)
    for part, numbers in grouping.by_part.items():
        deciding = np.flatnonzero(numbers >= 0)
        act_values = played[part].act_values[deciding]
        act_values[np.isinf(act_values)] = 0.0
        np.add.at(worth, numbers[deciding], weights[part][deciding, np.newaxis] * act_values)
    best: Ints = worth.argmax(axis=1)
    return best


def any_acts(game: GamePositions) -> Policies:
    """Return the policies that take every legal act equally often: they reach every position."""
    return {
        part: positions.legal / np.maximum(positions.legal.sum(axis=1, keepdims=True), 1)
        for part, positions in game.parts.items()
    }
