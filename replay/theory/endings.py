"""How rounds of one seat end: the exact distribution of net results, of lines and of acts.

The two halves of a split meet one dealer. Given the dealer's final hand they are taken as
independent, each with its exact distribution. Their mean needs no such step; of the spread it
leaves out only what the cards of one half change for the other beyond the dealer's hand.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping

import numpy as np

from shoeproof.replay.engine.dealer import Dealer
from shoeproof.replay.engine.hand import DOUBLE, EVEN_MONEY, PLAY_ACTS, SPLIT, Hand, step
from shoeproof.replay.engine.round import NATURAL
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.engine.settlement import settle, settle_early
from shoeproof.replay.theory.branch import Branch
from shoeproof.replay.theory.settled import net_units
from shoeproof.replay.theory.up_card import Policies, UpCard, halves, reach_parts
from shoeproof.replay.theory.values import Floats, sums


class Endings:
    """Sums over the up cards added so far; after all ten they are probabilities and means.

    `nets` is the probability of each net result of a round in initial stakes. `lines` is how many
    hands of a round each settlement line pays, `acts` how many take each act. `natural` is the
    probability of a natural.
    """

    def __init__(self) -> None:
        self.nets: defaultdict[float, float] = defaultdict(float)
        self.lines: defaultdict[str, float] = defaultdict(float)
        self.acts: defaultdict[str, float] = defaultdict(float)
        self.natural = 0.0

    def add(self, up_card: UpCard, policies: Policies) -> None:
        """Add the rounds with this up card, played by these policies."""
        self._add_starts_cut_short(up_card)
        names = [line.name for line in up_card.game.rules.settlement]
        for part, reached in reach_parts(up_card, policies).items():
            branch, hands = up_card.branches[part], halves(part)
            for act, often in zip(PLAY_ACTS, (reached @ policies[part]).tolist(), strict=True):
                self.acts[act] += hands * often
            for place, often in enumerate(_line_sums(branch, reached).tolist()):
                self.lines[names[place]] += hands * often
            nets = (
                _split_nets(branch, reached) if part.act == SPLIT else _single_nets(branch, reached)
            )
            for net, chance in nets:
                self.nets[net] += chance

    @property
    def mean(self) -> float:
        """Return the expected net result."""
        return sum(net * chance for net, chance in self.nets.items())

    @property
    def variance(self) -> float:
        """Return the variance of the net result."""
        square = sum(net * net * chance for net, chance in self.nets.items())
        return square - self.mean**2

    @property
    def average_stake(self) -> float:
        """Return the mean of all a seat stakes on its hands, in initial stakes."""
        return 1 + self.acts[DOUBLE] + self.acts[SPLIT]

    def _add_starts_cut_short(self, up_card: UpCard) -> None:
        rules, graph = up_card.game.rules, up_card.graph
        for number, start in enumerate(up_card.game.starts):
            chance, natural = float(up_card.chance[number]), float(up_card.natural[number])
            self.natural += chance * (start.hand.over == NATURAL)
            if not np.isnan(up_card.even_money[number]):
                self._add(rules, step(rules, start.hand, EVEN_MONEY), None, chance)
            elif natural and graph.natural is not None:
                self._add(rules, start.hand, graph.outcomes[graph.natural], chance * natural)

    def _add(self, rules: Rules, hand: Hand, dealer: Dealer | None, chance: float) -> None:
        line = settle_early(rules, hand) if dealer is None else settle(rules, hand, dealer)
        if line is not None:
            self.lines[line.name] += chance
            self.nets[float(net_units(line, hand))] += chance


def _line_sums(branch: Branch, reached: Floats) -> Floats:
    size = max(branch.settled.lines.max(initial=0), branch.settled.decided_lines.max(initial=0)) + 1
    decided = sums(branch.settled.decided_lines, reached[branch.positions.decided], size)
    return decided + sums(branch.settled.lines, _at_open_ends(branch, reached), size)


def _single_nets(branch: Branch, reached: Floats) -> Iterator[tuple[float, float]]:
    nets, by_dealer, decided = _net_sums(branch, reached)
    yield from zip(nets, (by_dealer.sum(axis=0) + decided).tolist(), strict=True)


def _split_nets(branch: Branch, reached: Floats) -> Iterator[tuple[float, float]]:
    """Yield the net results of two halves with their probabilities."""
    nets, half, decided = _net_sums(branch, reached)
    dealer = reached[0] * branch.dealer
    possible = dealer > 0
    if decided.any():
        # What the open ends leave of the dealer's distribution is the share of the decided ones.
        half += np.outer(dealer - half.sum(axis=1), decided / decided.sum())
    together = half[possible].T @ (half[possible] / dealer[possible, np.newaxis])
    for net, row in zip(nets, together.tolist(), strict=True):
        for other_net, chance in zip(nets, row, strict=True):
            yield net + other_net, chance


def _net_sums(branch: Branch, reached: Floats) -> tuple[list[float], Floats, Floats]:
    """Return the net results, their sums by dealer's outcome, and those of decided hands."""
    every = np.concatenate([branch.settled.nets.ravel(), branch.settled.decided_nets])
    nets, places = np.unique(every, return_inverse=True)
    outcomes, count = branch.settled.nets.shape[1], len(nets)
    open_places = places[: branch.settled.nets.size].reshape(branch.settled.nets.shape)
    at_ends = _at_open_ends(branch, reached)
    by_dealer = sums(open_places + count * np.arange(outcomes), at_ends, outcomes * count)
    decided = sums(places[branch.settled.nets.size :], reached[branch.positions.decided], count)
    return nets.tolist(), by_dealer.reshape(outcomes, count), decided


def _at_open_ends(branch: Branch, reached: Floats) -> Floats:
    return reached[branch.positions.open_ends, np.newaxis] * branch.outcomes


def win_push_loss(nets: Mapping[float, float]) -> tuple[float, float, float]:
    """Return the probabilities that a round of one seat wins, pushes and loses."""
    return (
        sum(chance for net, chance in nets.items() if net > 0),
        sum(chance for net, chance in nets.items() if net == 0),
        sum(chance for net, chance in nets.items() if net < 0),
    )
