"""Rounds by the hundred thousand, played by the tables, from honest shoes and from crooked ones.

What is due comes from `Layout.due`, what a card or an act does from the tables. A crooked
dealer changes the chance of a card and nothing else.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from shoeproof.replay.engine.cards import PACK, VALUE
from shoeproof.replay.engine.hand import (
    CASH_OUT,
    DECLINE,
    DOUBLE,
    EVEN_MONEY,
    HIT,
    INSURANCE,
    INSURANCE_ACTS,
    PLAY_ACTS,
    SPLIT,
    STAND,
    ZAP,
)
from shoeproof.replay.engine.round import NATURAL, NO_NATURAL
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.kernel.due import (
    CHECK,
    SETTLE,
    SHOW,
    TO_DEALER,
    TO_DEALER_DOWN,
    TO_HAND,
    Layout,
)
from shoeproof.replay.kernel.money import round_minor
from shoeproof.replay.kernel.tables import ACT_BIT, ACTS, ASKED, DOWN, NUMBER, Ints, compile_tables
from shoeproof.replay.luck.batch import Moves, Stakes
from shoeproof.replay.theory.basic import group_of
from shoeproof.replay.theory.cache import theory
from shoeproof.replay.theory.chart import basic_table

Floats = npt.NDArray[np.float64]
Random = np.random.Generator

STAKE_MINOR: Final = 1000
_VALUE: Final = np.array([VALUE[card] for card in PACK])
_STANDS_AT: Final = 19


class Crooked(NamedTuple):
    """How a dealer cheats.

    `tens` is the weight of tens among the dealer's own cards, `naturals_taken` the share of the
    players' naturals whose second card is drawn again, `busts_taken` that of the cards which bust
    the dealer.
    """

    tens: float = 1.0
    naturals_taken: float = 0.0
    busts_taken: float = 0.0


HONEST: Final = Crooked()

Player = Callable[[Ints, Ints, Ints, Random], Ints]
"""States of the hands that decide, up cards' places, legal acts as ACT_BITs: places in ACTS."""


class Simulated(NamedTuple):
    """Rounds as `decompose_moves` takes them."""

    moves: Moves
    stakes: Stakes


def simulate(
    rules: Rules,
    player: Player,
    rounds: int,
    random: Random,
    *,
    seats: int = 1,
    crooked: Crooked = HONEST,
    cards: str = "A23456789TJQK",
) -> Simulated:
    """Play rounds of `seats` seats; `cards` are the ranks that can come, all of them by default."""
    layout = Layout(compile_tables(rules), seats)
    play = _Play(layout, player, rounds, random, crooked)
    play.left *= np.array([card[0] in cards for card in PACK])
    while play.step():
        pass
    return play.result()


class _Play:
    """All rounds under way; `left` counts the cards that are left of each shoe."""

    def __init__(
        self, layout: Layout, player: Player, rounds: int, random: Random, crooked: Crooked
    ) -> None:
        self.layout, self.tables, self.player = layout, layout.tables, player
        self.random, self.crooked = random, crooked
        self.states = np.tile(layout.first, (rounds, 1))
        self.left = np.full((rounds, len(PACK)), float(layout.tables.rules.decks))
        self.hole = np.zeros(rounds, np.int64)
        self._bust = np.array([dealer.total > 21 for dealer in layout.tables.dealers])
        self.steps = 0
        self.made: list[tuple[Ints, ...]] = []
        side = {bet: np.full((rounds, layout.seats), STAKE_MINOR) for bet in
                layout.tables.rules.side_bets}  # fmt: skip
        main = np.full((rounds, layout.seats), STAKE_MINOR)
        self.stakes = Stakes(main, main // 2, side)

    def step(self) -> bool:
        """Make one move in every round; False when all are settled."""
        layout, tables = self.layout, self.tables
        if self.steps < len(layout.plan):
            code = np.full(len(self.states), layout.plan[self.steps])
        else:
            if self.steps == len(layout.plan):
                natural = tables.natural[self.states[:, 0 : layout.hands : 2]]
                asked = tables.asked[natural.astype(np.int64), 1] != 0
                self.states[:, layout.answers :][asked] = ASKED
            code = layout.due(layout.situations(self.states))
        self.steps += 1
        rounds = np.flatnonzero(code != SETTLE)
        if not len(rounds):
            return False
        code = code[rounds]
        column, symbol = np.zeros((2, len(rounds)), np.int64)
        shown = np.zeros(len(rounds), np.int64)
        for chosen, act in (
            (code == CHECK, self._check),
            (code == SHOW, self._show),
            ((code == TO_DEALER) | (code == TO_DEALER_DOWN), self._to_dealer),
            ((code >= TO_HAND) & (code < layout.to_decide), self._to_hand),
            ((code >= layout.to_decide) & (code < layout.to_answer), self._decide),
            (code >= layout.to_answer, self._answer),
        ):
            if chosen.any():
                column[chosen], symbol[chosen] = act(rounds[chosen], code[chosen])
        before = self.states[rounds, column]
        after = tables.transition[before, symbol].astype(np.int64)
        self.states[rounds, column] = after
        sold = symbol == NUMBER[CASH_OUT]
        shown[sold] = self._offered(rounds[sold], before[sold])
        split = (symbol == NUMBER[SPLIT]) & (column < layout.hands)
        self.states[rounds[split], column[split] + 1] = after[split]
        paid = np.flatnonzero((symbol == NUMBER[EVEN_MONEY]) & (column >= layout.answers))
        hand = 2 * (column[paid] - layout.answers)
        natural = self.states[rounds[paid], hand]
        self.states[rounds[paid], hand] = tables.transition[natural, NUMBER[EVEN_MONEY]]
        self.made.append((rounds, column, symbol, shown))
        return True

    def result(self) -> Simulated:
        flat = [np.concatenate(column) for column in zip(*self.made, strict=True)]
        order = np.argsort(flat[0], kind="stable")
        return Simulated(Moves(*(column[order] for column in flat)), self.stakes)

    def _check(self, rounds: Ints, code: Ints) -> tuple[Ints, Ints]:
        natural = self._naturals(_VALUE[self.hole[rounds]], self._up(rounds))
        symbol = np.where(natural, NUMBER[NATURAL], NUMBER[NO_NATURAL])
        return np.full(len(rounds), self.layout.check), symbol

    def _show(self, rounds: Ints, code: Ints) -> tuple[Ints, Ints]:
        return np.full(len(rounds), self.layout.dealer), self.hole[rounds]

    def _to_dealer(self, rounds: Ints, code: Ints) -> tuple[Ints, Ints]:
        drawn = self._draw(rounds, self.crooked.tens)
        if self.crooked.busts_taken:
            before = self.states[rounds, self.layout.dealer]
            bust = self._bust[self.tables.transition[before, drawn] - self.tables.first_dealer]
            self._draw_again(rounds, drawn, bust & self._happens(rounds, self.crooked.busts_taken))
        down = code == TO_DEALER_DOWN
        self.hole[rounds[down]] = drawn[down]
        symbol = np.where(down, NUMBER[DOWN], drawn)
        return np.full(len(rounds), self.layout.dealer), symbol

    def _to_hand(self, rounds: Ints, code: Ints) -> tuple[Ints, Ints]:
        column = self._hand(code - TO_HAND)
        drawn = self._draw(rounds, 1.0)
        dealing = self.steps <= len(self.layout.plan)
        if dealing and self.crooked.naturals_taken:
            after = self.tables.transition[self.states[rounds, column], drawn]
            taken = self._happens(rounds, self.crooked.naturals_taken)
            self._draw_again(rounds, drawn, self.tables.natural[after] & taken)
        return column, drawn

    def _happens(self, rounds: Ints, share: float) -> Ints:
        happens: Ints = self.random.random(len(rounds)) < share
        return happens

    def _draw_again(self, rounds: Ints, drawn: Ints, taken: Ints) -> None:
        self.left[rounds[taken], drawn[taken]] += 1
        drawn[taken] = self._draw(rounds[taken], 1.0)

    def _decide(self, rounds: Ints, code: Ints) -> tuple[Ints, Ints]:
        column = self._hand(code - self.layout.to_decide)
        state = self.states[rounds, column]
        act = self.player(state, self._up(rounds) - 1, self.tables.legal[state], self.random)
        return column, act + NUMBER[ACTS[0]]

    def _answer(self, rounds: Ints, code: Ints) -> tuple[Ints, Ints]:
        seat = code - self.layout.to_answer
        state = self.states[rounds, 2 * seat]
        legal = self.tables.asked[self.tables.natural[state].astype(np.int64), 1]
        act = self.player(state, self._up(rounds) - 1, legal, self.random)
        return self.layout.answers + seat, act + NUMBER[ACTS[0]]

    def _hand(self, name: Ints) -> Ints:
        column: Ints = 2 * (name // 3) + (name % 3 == 2)
        return column

    def _draw(self, rounds: Ints, tens: float) -> Ints:
        weights = self.left[rounds]
        if tens != 1.0:
            weights = weights * np.where(_VALUE == 10, tens, 1.0)
        cumulated = weights.cumsum(axis=1)
        at = self.random.random(len(rounds)) * cumulated[:, -1]
        drawn: Ints = (cumulated <= at[:, np.newaxis]).sum(axis=1)
        self.left[rounds, drawn] -= 1
        return drawn

    def _offered(self, rounds: Ints, state: Ints) -> Ints:
        up, tables = self._up(rounds), self.tables
        ratio = tables.cash_out_numerator[state, up], tables.cash_out_denominator[state, up]
        return round_minor(ratio[0] * STAKE_MINOR, ratio[1], tables.rules.rounding)

    def _up(self, rounds: Ints) -> Ints:
        up: Ints = self.tables.up_value[self.states[rounds, self.layout.dealer]].astype(np.int64)
        return up

    def _naturals(self, hole: Ints, up: Ints) -> Ints:
        found: Ints = (np.minimum(hole, up) == 1) & (np.maximum(hole, up) == 10)
        return found


def random_player(state: Ints, up: Ints, legal: Ints, random: Random) -> Ints:
    """Takes any act that is allowed."""
    bits = legal[:, np.newaxis] >> np.arange(len(ACTS)) & 1
    chosen: Ints = (bits * random.random(bits.shape)).argmax(axis=1)
    return chosen


def greedy_player(rules: Rules) -> Player:
    """A player who always does the most: insures, sells, splits, zaps, doubles, hits below 19."""
    tables = compile_tables(rules)
    total = np.zeros(len(tables.transition), np.int64)
    total[tables.first_hand : tables.first_dealer] = [hand.total for hand in tables.hands]
    wishes = (EVEN_MONEY, INSURANCE, SPLIT, ZAP, DOUBLE, HIT)

    def choose(state: Ints, up: Ints, legal: Ints, random: Random) -> Ints:
        act = np.full(len(state), ACTS.index(STAND))
        for wish in reversed(wishes):
            allowed = legal & ACT_BIT[wish] != 0
            if wish == HIT:
                allowed &= total[state] < _STANDS_AT
            act[allowed] = ACTS.index(wish)
        # Of those who would stand, half sell where they can.
        sells = (legal & ACT_BIT[CASH_OUT] != 0) & (act == ACTS.index(STAND))
        act[sells & (random.random(len(state)) < 0.5)] = ACTS.index(CASH_OUT)
        return act

    return choose


def basic_player(rules: Rules) -> Player:
    """The player of the exact basic strategy, who never insures."""
    tables = compile_tables(rules)
    known = theory(rules)
    table = basic_table(known.basic)
    acts = np.zeros((len(tables.transition), 10), np.int64)
    for state, hand in enumerate(tables.hands, tables.first_hand):
        if not hand.owed and not hand.over:
            acts[state] = [PLAY_ACTS.index(act) for act in table[group_of(rules, hand)]]
    asked = sum(ACT_BIT[act] for act in INSURANCE_ACTS)

    def choose(state: Ints, up: Ints, legal: Ints, random: Random) -> Ints:
        act: Ints = np.where(legal & asked != 0, ACTS.index(DECLINE), acts[state, up])
        return act

    return choose


def players(rules: Rules) -> dict[str, Player]:
    """Three very different players, by name."""
    return {
        "basic": basic_player(rules),
        "random": random_player,
        "greedy": greedy_player(rules),
    }
