"""What is due in many rounds at once, by asking the engine once for every situation met.

What `due_next` can ask of a round fits into one number: of each hand whether it is there, owes a
card, decides or is over; of the dealer the up card and whether a card is drawn; what the check
showed; and which seats are still to answer an ace. For each such number met the engine itself is
asked, with hands that stand for all of their kind, and its answer is kept. Turn order is thus
written once, in `shoeproof.replay.engine.round`.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Final, TypeAlias

import numpy as np

from shoeproof.replay.engine.dealer import EMPTY_DEALER, Dealer
from shoeproof.replay.engine.hand import DECLINE, Hand
from shoeproof.replay.engine.round import (
    DEALER,
    NATURAL,
    Check,
    Deal,
    Decide,
    Seat,
    SeatHand,
    Show,
    Turn,
    deal_plan,
    due_next,
)
from shoeproof.replay.engine.rules import Rules, canonical_rules, rules_from_json
from shoeproof.replay.kernel.tables import (
    ABSENT,
    ACE_UP,
    ANSWERED,
    DECIDES,
    DRAWS,
    IS_ABSENT,
    IS_OVER,
    NO_CARD,
    OTHER_UP,
    OWES,
    STANDS,
    TEN_UP,
    UNSEEN,
    Ints,
    RuleTables,
    compile_tables,
)

NOTHING: Final = -2
SETTLE, CHECK, SHOW, TO_DEALER, TO_DEALER_DOWN, TO_HAND = range(6)
"""Codes of what is due. From TO_HAND on they name hands, three names a seat (`s1`, `s1.1`, `s1.2`):
first cards to them, then their decisions, then the seats' answers to an ace."""

_SLOTS: Final = 1 << 16
_SPREAD: Final = 0x9E3779B97F4A7C15 - (1 << 64)

_HANDS: Final = {
    OWES: Hand(total=12, count=2, owed=1),
    DECIDES: Hand(total=12, count=2, owed=0),
    IS_OVER: Hand(total=12, count=2, owed=0, over="stood"),
}
_NATURAL: Final = Hand(total=21, soft=True, count=2, owed=0, over=NATURAL)
_DEALERS: Final = {
    NO_CARD: EMPTY_DEALER,
    ACE_UP: Dealer(total=11, soft=True, count=1, up="Ac"),
    TEN_UP: Dealer(total=10, count=1, up="Tc"),
    OTHER_UP: Dealer(total=5, count=1, up="5c"),
    DRAWS: Dealer(total=12, count=2, up="5c"),
    STANDS: Dealer(total=20, count=2, up="Tc"),
}
_SHOWN: Final = (None, False, True)

LayoutOf: TypeAlias = Callable[[int], "Layout"]
"""The layouts of one rule set by how many seats play."""


def layouts_of(rules: Rules) -> LayoutOf:
    """Return the layouts of a rule set, each made once for equal rules."""
    return _layouts(canonical_rules(rules))


@lru_cache(maxsize=64)
def _layouts(canonical: bytes) -> LayoutOf:
    return lru_cache(maxsize=None)(partial(Layout, compile_tables(rules_from_json(canonical))))


class Layout:
    """The columns of a round with `seats` seats: two hands a seat, the dealer, the check, answers.

    `first[column]` is the state each begins in, `begun` the situation they make; a situation is the
    sum of each column's role shifted by `shift[column]`. `plan` are the codes of the initial deal;
    `dealt[n, seat]` is the place in it of a seat's n-th card, `dealt_up` that of the up card.
    """

    def __init__(self, tables: RuleTables, seats: int) -> None:
        """Lay out rounds of a rule set with a number of seats that play."""
        self.tables, self.seats = tables, seats
        self.hands = 2 * seats
        self.dealer, self.check, self.answers = self.hands, self.hands + 1, self.hands + 2
        self.first = np.array(
            [tables.first_hand, ABSENT] * seats
            + [tables.first_dealer, UNSEEN]
            + [ANSWERED] * seats,
            np.int64,
        )
        widths = [2] * self.hands + [3, 2] + [1] * seats
        self.shift = np.cumsum([0, *widths[:-1]])
        self.begun = int(self.situations(self.first[None])[0])
        self.to_decide = TO_HAND + 3 * seats
        self.to_answer = TO_HAND + 6 * seats
        self._names = [f"s{number}" for number in range(1, seats + 1)]
        plan = deal_plan(tables.rules.deal_order, tuple(self._names))
        self.plan = np.array([self.code(due) for due in plan])
        self.dealt = np.array(
            [np.flatnonzero(self.plan == TO_HAND + 3 * seat) for seat in range(seats)]
        ).T
        self.dealt_up = int(np.flatnonzero(self.plan == TO_DEALER)[0])
        self._known: dict[int, int] = {}
        self._keys = np.full(_SLOTS, -1, np.int64)
        self._codes = np.zeros(_SLOTS, np.int64)

    def due(self, situations: Ints) -> Ints:
        """Return the code of what is due in each situation, after the initial deal."""
        slots = (situations * _SPREAD >> 17) & (_SLOTS - 1)
        codes: Ints = self._codes[slots]
        unknown = np.flatnonzero(self._keys[slots] != situations)
        if len(unknown):
            # Situations that share a slot push each other out, and are asked for again.
            keys, back = np.unique(situations[unknown], return_inverse=True)
            answers = np.array([self._answer(int(key)) for key in keys])
            places = (keys * _SPREAD >> 17) & (_SLOTS - 1)
            self._keys[places], self._codes[places] = keys, answers
            codes[unknown] = answers[back]
        return codes

    def situations(self, states: Ints) -> Ints:
        """Return the situation of each row of states, (rounds, columns)."""
        found: Ints = (self.tables.role[states] << self.shift).sum(axis=1)
        return found

    def _answer(self, situation: int) -> int:
        if situation not in self._known:
            try:
                self._known[situation] = self.code(self._ask(situation))
            except LookupError:
                # Only a round that broke before can be where no round can be.
                self._known[situation] = NOTHING
        return self._known[situation]

    def _ask(self, situation: int) -> Turn:
        def part(column: int, width: int) -> int:
            return situation >> int(self.shift[column]) & ((1 << width) - 1)

        seats: list[Seat] = []
        hands: list[SeatHand] = []
        for number, name in enumerate(self._names):
            asked = bool(part(self.answers + number, 1))
            seats.append(Seat(name, {"main": 2}, None if asked else DECLINE))
            roles = [part(2 * number, 2), part(2 * number + 1, 2)]
            split = roles[1] != IS_ABSENT
            for half, role in enumerate(roles if split else roles[:1], start=1):
                # Only a natural is over when an ace is to be answered.
                hand = _NATURAL if asked and role == IS_OVER else _HANDS[role]
                hands.append(SeatHand(f"{name}.{half}" if split else name, name, hand, (), 2))
        rules, dealer = self.tables.rules, _DEALERS[part(self.dealer, 3)]
        shown = _SHOWN[part(self.check, 2)]
        return due_next(rules, tuple(seats), tuple(hands), dealer, len(self.plan), shown)

    def code(self, due: Turn) -> int:
        """Return the code of what is due; seats are named by their place among those that play."""
        match due:
            case Check():
                return CHECK
            case Show():
                return SHOW
            case Deal(receiver=receiver, down=down):
                if receiver == DEALER:
                    return TO_DEALER_DOWN if down else TO_DEALER
                return TO_HAND + self._name(receiver)
            case Decide(hand=hand, legal=legal):
                if DECLINE in legal:
                    return self.to_answer + self._name(hand) // 3
                return self.to_decide + self._name(hand)
        return SETTLE

    def _name(self, hand: str) -> int:
        seat, _, half = hand.partition(".")
        return 3 * self._names.index(seat) + int(half or 0)
