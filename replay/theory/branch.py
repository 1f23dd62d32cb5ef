"""Some positions under one up card: what every decision is worth, and what then happens.

A branch fixes the unseen cards at the roots of some positions. Its expectations are exact: the hand
draws without replacement, and the dealer plays from what is left after it. Where the dealer was
seen to have no natural, both are conditioned on that. Values are net, in units of the initial main
stake. A policy has shape (positions, acts): how often each act is chosen, adding up to 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from shoeproof.replay.engine.hand import Act
from shoeproof.replay.theory.dealer import DealerGraph, dealer_distribution
from shoeproof.replay.theory.positions import ACT_NUMBER, Positions
from shoeproof.replay.theory.settled import Settled
from shoeproof.replay.theory.values import Floats, Ints, sums

Outside = Mapping[Act, Floats]
"""The worth of an act that leaves the positions, by position."""


@dataclass(frozen=True)
class Branch:
    """Positions with the probability of each card at each, and how each end is settled.

    `draws` has shape (positions, 10), `outcomes` shape (open ends, dealer's outcomes); `dealer` is
    the dealer's distribution at the roots.
    """

    positions: Positions
    draws: Floats
    dealer: Floats
    outcomes: Floats
    settled: Settled


@dataclass(frozen=True)
class PolicyWorth:
    """A policy and its worth: by position, and by position and act (-inf where illegal)."""

    policy: Floats
    values: Floats
    act_values: Floats


def make_branch(
    positions: Positions, settled: Settled, graph: DealerGraph, unseen: Ints, *, no_natural: bool
) -> Branch:
    """Return the branch whose roots leave `unseen` cards, a count that includes the hole card.

    Cards the roots hold count as drawn and are still in `unseen`.
    """
    dealing = np.concatenate([level.dealing for level in positions.levels])
    draws = np.zeros(positions.card.shape)
    draws[dealing] = draw_probabilities(
        unseen - positions.drawn[dealing], graph.natural_value if no_natural else None
    )
    gone = np.vstack([np.zeros(10, dtype=np.int64), positions.end_draws])
    distribution = dealer_distribution(graph, unseen - gone, no_natural=no_natural)
    return Branch(
        positions=positions,
        draws=draws,
        dealer=distribution[0],
        outcomes=distribution[1:][positions.end_draw],
        settled=settled,
    )


def draw_probabilities(unseen: Ints, hidden: int | None) -> Floats:
    """Return the probability of each value as the next card, by rows of unseen cards.

    `hidden` is the value that the hole card, one of the unseen, was seen not to have.
    """
    cards = np.maximum(unseen.astype(np.float64), 0)
    total = np.maximum(cards.sum(axis=1, keepdims=True), 1)
    if hidden is None:
        chances: Floats = cards / total
        return chances
    others = total - cards[:, hidden : hidden + 1]
    left = np.repeat(others - 1, cards.shape[1], axis=1)
    left[:, hidden] += 1
    given: Floats = cards * left / np.maximum(others * (total - 1), 1)
    return given


def end_values(branch: Branch) -> Floats:
    """Return what each position that ended is worth, 0 for the others."""
    values = np.zeros(len(branch.positions.hands))
    values[branch.positions.open_ends] = (branch.outcomes * branch.settled.nets).sum(axis=1)
    values[branch.positions.decided] = branch.settled.decided_nets
    return values


def play(branch: Branch, outside: Outside, policy: Floats | None = None) -> PolicyWorth:
    """Return what a policy is worth, or what the best one is."""
    positions = branch.positions
    values = end_values(branch)
    act_values = np.full(positions.act.shape, -np.inf)
    for act, worth in outside.items():
        act_values[:, ACT_NUMBER[act]] = worth
    chosen = np.zeros(positions.act.shape) if policy is None else policy
    for level in reversed(positions.levels):
        dealing, deciding = level.dealing, level.deciding
        values[dealing] = (branch.draws[dealing] * values[positions.card[dealing]]).sum(axis=1)
        if not len(deciding):
            continue
        leads_to = positions.act[deciding]
        here = np.where(leads_to >= 0, values[leads_to], act_values[deciding])
        here[~positions.legal[deciding]] = -np.inf
        act_values[deciding] = here
        if policy is None:
            chosen[deciding, here.argmax(axis=1)] = 1.0
        weights = chosen[deciding]
        values[deciding] = (weights * np.where(weights > 0, here, 0.0)).sum(axis=1)
    return PolicyWorth(chosen, values, act_values)


def reach(branch: Branch, begun: Floats, policy: Floats) -> Floats:
    """Return the probability of coming to each position, given that of beginning at each."""
    positions = branch.positions
    reached = begun.copy()
    for level in positions.levels:
        dealing, deciding = level.dealing, level.deciding
        chosen = reached[deciding, np.newaxis] * policy[deciding]
        _flow(reached, chosen, positions.act[deciding])
        drawn = reached[dealing, np.newaxis] * branch.draws[dealing]
        _flow(reached, drawn, positions.card[dealing])
    return reached


def _flow(reached: Floats, amounts: Floats, targets: Ints) -> None:
    inside = targets >= 0
    reached += sums(targets[inside], amounts[inside], len(reached))
