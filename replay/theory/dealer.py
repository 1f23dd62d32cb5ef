"""The dealer's exact distribution, for many compositions of the unseen cards at once.

The dealer has no choices, so a hand is a multiset of draws, and every order in which the rules let
it come is equally likely. The graph of multisets is generated for each up card by closing
`dealer_step`, counting the orders. The probability of one order is a product of falling
factorials: it grows by one factor a draw as the graph is walked, for a whole batch of compositions
together.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from shoeproof.replay.engine.dealer import EMPTY_DEALER, Dealer, dealer_draws, dealer_step
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.theory.values import CARD_OF_VALUE, VALUES, Floats, Ints

Draws = tuple[int, ...]
FinalFacts = tuple[bool, int]


@dataclass(frozen=True)
class OutcomeRun:
    """Neighbouring values that end the dealer's hand in neighbouring outcomes."""

    values: slice
    outcomes: slice


@dataclass(frozen=True)
class Node:
    """A dealer's hand that must draw, by its draws after the up card as a count.

    It is node `parent` and one more card of `value` (-1 for the up card alone); `orders` ways lead
    here, `runs` lead out.
    """

    draws: Draws
    parent: int
    value: int
    orders: int
    runs: tuple[OutcomeRun, ...]


@dataclass(frozen=True)
class DealerGraph:
    """Every hand of the dealer from one up card.

    `outcomes`, the same from every up card, holds one final hand for each total, a natural apart:
    all that settlement can tell. `natural` is its place among them and `natural_value` the hole
    card's, None where no hole card makes one.
    """

    nodes: tuple[Node, ...]
    outcomes: tuple[Dealer, ...]
    natural: int | None
    natural_value: int | None


def dealer_graphs(rules: Rules) -> tuple[DealerGraph, ...]:
    """Return the graphs from the ten up cards, by their places."""
    found = [_Walk(rules, up) for up in VALUES]
    finals = {facts: dealer for walk in found for facts, dealer in walk.finals.items()}
    outcomes = {facts: finals[facts] for facts in sorted(finals)}
    return tuple(walk.graph(outcomes) for walk in found)


class _Walk:
    """Every hand of the dealer from one up card, as they are found."""

    def __init__(self, rules: Rules, up: int) -> None:
        first = dealer_step(rules, EMPTY_DEALER, CARD_OF_VALUE[up])
        self.drawing: list[tuple[Draws, Dealer, int, int]] = [((0,) * 10, first, -1, -1)]
        self.orders: dict[Draws, int] = {(0,) * 10: 1}
        self.ends: list[dict[int, FinalFacts]] = []
        self.finals: dict[FinalFacts, Dealer] = {}
        while len(self.ends) < len(self.drawing):
            self._draw(rules, *self.drawing[len(self.ends)][:2])

    def _draw(self, rules: Rules, draws: Draws, dealer: Dealer) -> None:
        ends: dict[int, FinalFacts] = {}
        for value in VALUES:
            after = dealer_step(rules, dealer, CARD_OF_VALUE[value])
            if after.count >= 2 and not dealer_draws(rules, after):
                ends[value] = (after.natural, after.total)
                self.finals.setdefault(ends[value], after)
                continue
            longer = (*draws[:value], draws[value] + 1, *draws[value + 1 :])
            if longer not in self.orders:
                self.drawing.append((longer, after, len(self.ends), value))
            self.orders[longer] = self.orders.get(longer, 0) + self.orders[draws]
        self.ends.append(ends)

    def graph(self, outcomes: dict[FinalFacts, Dealer]) -> DealerGraph:
        """Return the graph, the outcomes numbered as in `outcomes`."""
        places = {facts: place for place, facts in enumerate(outcomes)}
        nodes = tuple(
            Node(draws, parent, value, self.orders[draws], tuple(_runs(ends, places)))
            for (draws, _, parent, value), ends in zip(self.drawing, self.ends, strict=True)
        )
        natural = next((value for value, (natural, _) in self.ends[0].items() if natural), None)
        place = None if natural is None else places[self.ends[0][natural]]
        return DealerGraph(nodes, tuple(outcomes.values()), place, natural)


def dealer_distribution(graph: DealerGraph, unseen: Ints, *, no_natural: bool) -> Floats:
    """Return the probability of each outcome, shape (compositions, outcomes).

    `unseen`, shape (compositions, 10), counts the cards that can still come, the hole card among
    them. With `no_natural` the distribution is the one given that the dealer has none.
    """
    # A count below zero is a hand that cannot come: it needs a finite value, any will do.
    cards = np.maximum(np.ascontiguousarray(unseen.T, dtype=np.float64), 0)
    total = cards.sum(axis=0)
    longest = max(sum(node.draws) for node in graph.nodes) + 1
    by_length = np.zeros((longest, len(graph.outcomes), cards.shape[1]))
    reached: list[Floats] = []
    for node in graph.nodes:
        here = np.ones_like(total)
        if node.parent >= 0:
            already = graph.nodes[node.parent].draws[node.value]
            here = reached[node.parent] * (cards[node.value] - already)
        reached.append(here)
        for run in node.runs:
            drawn = np.array(node.draws[run.values], dtype=np.float64)[:, np.newaxis]
            by_length[sum(node.draws), run.outcomes] += (cards[run.values] - drawn) * (
                here * node.orders
            )
    distribution = np.zeros(by_length.shape[1:])
    ways = np.ones_like(total)
    for length, reaching in enumerate(by_length):
        ways = ways * np.maximum(total - length, 1)
        distribution += reaching / ways
    if no_natural and graph.natural is not None:
        distribution[graph.natural] = 0.0
        distribution /= np.maximum(distribution.sum(axis=0), np.finfo(np.float64).tiny)
    return np.ascontiguousarray(distribution.T)


def natural_probability(graph: DealerGraph, unseen: Ints) -> float:
    """Return the probability that the hole card makes a natural; `unseen` is one count."""
    if graph.natural_value is None:
        return 0.0
    return float(unseen[graph.natural_value] / unseen.sum())


def _runs(ends: dict[int, FinalFacts], places: dict[FinalFacts, int]) -> Iterator[OutcomeRun]:
    pairs = [(value, places[facts]) for value, facts in ends.items()]
    start = 0
    for stop in range(1, len(pairs) + 1):
        following = (pairs[stop - 1][0] + 1, pairs[stop - 1][1] + 1)
        if stop == len(pairs) or pairs[stop] != following:
            (first, outcome), length = pairs[start], stop - start
            yield OutcomeRun(slice(first, first + length), slice(outcome, outcome + length))
            start = stop
