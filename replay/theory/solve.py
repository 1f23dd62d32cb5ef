"""The theory of a game, computed from its rules and nothing else."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import sqrt

import numpy as np

from shoeproof.replay.engine.hand import (
    DECLINE,
    DOUBLE,
    EVEN_MONEY,
    PLAY_ACTS,
    SPLIT,
    STAND,
    ZAP,
    Act,
)
from shoeproof.replay.engine.round import NATURAL
from shoeproof.replay.engine.rules import Rules, rules_digest
from shoeproof.replay.theory.basic import Grouping, basic_acts, basic_policies
from shoeproof.replay.theory.branch import PolicyWorth
from shoeproof.replay.theory.cash_out import first_offer, offer_range
from shoeproof.replay.theory.endings import Endings, win_push_loss
from shoeproof.replay.theory.policy import pack
from shoeproof.replay.theory.results import BasicRow, Bet, Outcomes, StartClass, Theory
from shoeproof.replay.theory.side_bets import even_money, insurance, side_bet
from shoeproof.replay.theory.up_card import (
    Policies,
    SubGame,
    UpCard,
    against,
    game_positions,
    play_parts,
    start_values,
)
from shoeproof.replay.theory.values import ACE, VALUE_NAMES, VALUES, Floats, Ints

Progress = Callable[[int, int], None]
"""Called with how many steps are done, and of how many."""


def solve(rules: Rules, progress: Progress | None = None) -> Theory:
    """Return everything the rules say about a game's returns.

    A round of one seat from a full shoe, no other seat's cards seen. Takes a few seconds;
    `progress` is called between up cards.
    """
    solver = _Solver(rules)
    for up in VALUES:
        if progress is not None:
            progress(up, len(VALUES))
        solver.add(up)
    if progress is not None:
        progress(len(VALUES), len(VALUES))
    return solver.theory()


class _Solver:
    """What is summed over the up cards, one at a time so that only one is held in memory."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.game = game_positions(rules)
        self.grouping = Grouping(self.game)
        self.optimal, self.basic = Endings(), Endings()
        self.policies: list[Policies] = []
        self.acts: list[Ints] = []
        self.classes: list[StartClass] = []
        self.first_offer = (0.0, 0.0)
        self.with_offers = 0.0

    def add(self, up: int) -> None:
        """Add the rounds against one up card."""
        up_card = against(self.game, up)
        best = play_parts(up_card)
        policies = {part: played.policy for part, played in best.items()}
        self.policies.append(policies)
        self.optimal.add(up_card, policies)
        self.acts.append(basic_acts(up_card, self.grouping, best))
        self.basic.add(up_card, basic_policies(self.game, self.grouping, self.acts[-1]))
        self.classes.extend(_classes(up_card, best))
        if self.rules.cash_out is not None:
            mean, square = first_offer(up_card)
            self.first_offer = (self.first_offer[0] + mean, self.first_offer[1] + square)
            values, _ = start_values(up_card, play_parts(up_card, cash_out=True))
            self.with_offers += float(up_card.chance @ values)

    def theory(self) -> Theory:
        """Return the sums as the theory."""
        return Theory(
            game=self.rules.id,
            rules_digest=rules_digest(self.rules),
            bets=tuple(self._bets()),
            outcomes=_outcomes(self.optimal),
            classes=tuple(self.classes),
            basic=self._basic_rows(),
            cash_out=offer_range(self.game),
            optimal=pack(self.game, self.policies),
        )

    def _bets(self) -> list[Bet]:
        bets = [_main("main", self.optimal), _main("main_basic", self.basic)]
        if self.rules.cash_out is not None:
            mean, square = self.first_offer
            bets.append(Bet("cash_out_always", 1 + mean, sqrt(square - mean * mean)))
            bets.append(Bet("cash_out_optional", 1 + self.with_offers))
        bets += insurance(self.rules) + even_money(self.rules)
        return bets + [side_bet(self.rules, name) for name in self.rules.side_bets]

    def _basic_rows(self) -> tuple[BasicRow, ...]:
        return tuple(
            BasicRow(*group, acts=tuple(PLAY_ACTS[acts[number]] for acts in self.acts))
            for number, group in enumerate(self.grouping.groups)
        )


def _main(name: str, endings: Endings) -> Bet:
    return Bet(name, 1 + endings.mean, sqrt(endings.variance))


def _outcomes(endings: Endings) -> Outcomes:
    win, push, loss = win_push_loss(endings.nets)
    return Outcomes(
        win=win,
        push=push,
        loss=loss,
        natural=endings.natural,
        double=endings.acts[DOUBLE],
        split=endings.acts[SPLIT],
        zap=endings.acts[ZAP],
        average_stake=endings.average_stake,
        lines={name: often for name, often in endings.lines.items() if often},
        nets={
            str(Fraction(net).limit_denominator(1000)): chance
            for net, chance in sorted(endings.nets.items())
            if chance
        },
    )


def _classes(up_card: UpCard, best: Mapping[SubGame, PolicyWorth]) -> list[StartClass]:
    """Return the starts against one up card; those of equal values are one class."""
    values, acts = start_values(up_card, best)
    alike: dict[tuple[int, int], list[int]] = {}
    for number, start in enumerate(up_card.game.starts):
        alike.setdefault(start.places, []).append(number)
    return [_class(up_card, numbers, values, acts) for numbers in alike.values()]


def _class(up_card: UpCard, numbers: list[int], values: Floats, acts: Floats) -> StartClass:
    chances = up_card.chance[numbers]
    likeliest = numbers[int(chances.argmax())]
    start = up_card.game.starts[likeliest]
    high, low = sorted(start.places, key=lambda place: (place != ACE, -place))
    return StartClass(
        hand=f"{VALUE_NAMES[high]},{VALUE_NAMES[low]}",
        up=VALUE_NAMES[up_card.up],
        probability=float(chances.sum()),
        net=float(chances @ values[numbers] / chances.sum()),
        best=_best(up_card, likeliest, acts[likeliest]),
        acts={
            act: float(worth)
            for act, worth in zip(PLAY_ACTS, acts[numbers].max(axis=0), strict=True)
            if np.isfinite(worth)
        },
    )


def _best(up_card: UpCard, number: int, acts: Floats) -> Act:
    if up_card.game.starts[number].hand.over != NATURAL:
        return PLAY_ACTS[int(acts.argmax())]
    if not up_card.game.rules.even_money or up_card.up != ACE:
        return STAND
    return DECLINE if np.isnan(up_card.even_money[number]) else EVEN_MONEY
