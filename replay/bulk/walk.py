"""The walk: the moves of many rounds through the tables, one move of every round at a time.

Each round is a row of states: two hands a seat, the dealer, the check, the seats' answers. A move
names a column and a symbol; what is due must name the same. Nothing else is judged here. The
states before and after each move are kept, so that offers, stakes and payments can be held to them
afterwards, for all rounds at once. Invariant: a round whose `followed` is true was walked from its
first card to its settlement with nothing but what was due.
"""

from typing import NamedTuple

import numpy as np

from replay.bulk.due import (
    CHECK,
    SETTLE,
    SHOW,
    TO_DEALER,
    TO_DEALER_DOWN,
    TO_HAND,
    Layout,
)
from replay.bulk.tables import (
    ABSENT,
    ANSWERED,
    ASKED,
    NUMBER,
    Ints,
)
from replay.bulk.words import (
    CARD,
    CHECKED,
    DECISION,
    HALF,
    KIND,
    OFFER,
    SEAT,
    SHOWN,
    SYMBOL,
)
from replay.engine.hand import EVEN_MONEY, INSURANCE_ACTS, SPLIT

_INSURANCE_SYMBOLS = [NUMBER[act] for act in INSURANCE_ACTS]


class Events(NamedTuple):
    """The events of rounds with one rule set and one number of seats, flat, in order.

    `words` are the events, numbers of the vocabulary's rows, and `table` has a column for each of
    those. `number` is the place of each event's round, `start` the first event of each round. `pos`
    maps a seat's number to its place among those that play, -1 for others, (rounds, 10); `has_half`
    tells whether its stake has a half.
    """

    table: Ints
    words: Ints
    number: Ints
    start: Ints
    pos: Ints
    has_half: Ints

    def of(self, field: int, events: Ints | slice = slice(None)) -> Ints:
        """Return one number of the rows of some events."""
        found: Ints = self.table[field][self.words[events]]
        return found


class Walked(NamedTuple):
    """What the walk saw: per round whether it could be `followed`, and its last states.

    `move` are the events that are moves; `column`, `before` and `after` what each moved and how;
    `turn` counts the offers before each event. `natural` tells of each seat's initial cards.
    """

    followed: Ints
    states: Ints
    natural: Ints
    move: Ints
    column: Ints
    before: Ints
    after: Ints
    turn: Ints


def walk(layout: Layout, events: Events) -> Walked:
    """Follow the moves of rounds; see `Walked`."""
    tables, rounds = layout.tables, len(events.start)
    kind = events.of(KIND)
    move = np.flatnonzero(
        (kind == CARD) | ((kind >= CHECKED) & (kind <= DECISION) & (kind != OFFER))
    )
    number = events.number[move]
    symbol = events.of(SYMBOL, move)
    column, code = _aims(layout, events, move)
    counts = np.bincount(number, minlength=rounds)
    starts = np.cumsum(counts) - counts
    before, after = np.zeros((2, len(move)), np.int64)
    # Longest first, so that the rounds still under way are always the first ones.
    order = np.argsort(-counts, kind="stable")
    starts, lengths = starts[order], counts[order]
    states = np.tile(layout.first, (rounds, 1))
    flat = states.reshape(-1)
    base = np.arange(rounds) * len(layout.first)
    wrong = lengths < len(layout.plan)
    role, shift, transition = tables.role, layout.shift, tables.transition
    situation = natural = np.zeros(0, np.int64)
    for step in range(int(lengths[0]) if rounds else 0):
        under_way = int(np.searchsorted(-lengths, -step, side="left"))
        at = starts[:under_way] + step
        if step < len(layout.plan):
            wrong[:under_way] |= code[at] != layout.plan[step]
        else:
            if step == len(layout.plan):
                natural = _ask(layout, states, events.has_half[order])
                situation = layout.situations(states)
            wrong[:under_way] |= code[at] != layout.due(situation[:under_way])
        cell = base[:under_way] + column[at]
        old = flat[cell]
        new = transition[old, symbol[at]].astype(np.int64)
        flat[cell] = new
        before[at], after[at] = old, new
        if step >= len(layout.plan):
            situation[:under_way] += (role[new] - role[old]) << shift[column[at]]
            _move_besides(layout, states, situation, at, column, symbol, new)
    if not len(situation):
        natural = _ask(layout, states, events.has_half[order])
        situation = layout.situations(states)
    wrong |= layout.due(situation) != SETTLE
    wrong |= (states < ABSENT).any(axis=1)
    back = np.argsort(order)
    turn = np.cumsum(kind == OFFER)
    turn -= turn[events.start][events.number]
    return Walked(~wrong[back], states[back], natural[back], move, column, before, after, turn)


def _aims(layout: Layout, events: Events, move: Ints) -> tuple[Ints, Ints]:
    """Return which column each move moves, and the code of what must be due for it."""
    kind, seat, half, symbol = (events.of(each, move) for each in (KIND, SEAT, HALF, SYMBOL))
    pos = events.pos[events.number[move], seat]
    is_card, is_decision = kind == CARD, kind == DECISION
    to_dealer = (is_card & (seat == 0)) | (kind == SHOWN)
    answers = is_decision & (symbol >= _INSURANCE_SYMBOLS[0])
    down = symbol == NUMBER["??"]
    column = 2 * pos + (half == 2)
    code = TO_HAND + 3 * pos + half
    code[is_decision] += layout.to_decide - TO_HAND
    code[answers] = (layout.to_answer + pos)[answers]
    column[answers] = (layout.answers + pos)[answers]
    bad = (pos < 0) | (is_card & down) | (answers & (half != 0))
    code[bad], column[bad] = -1, 0
    column[to_dealer] = layout.dealer
    code[to_dealer] = np.where(down, TO_DEALER_DOWN, TO_DEALER)[to_dealer]
    code[kind == SHOWN] = SHOW
    code[kind == CHECKED] = CHECK
    column[kind == CHECKED] = layout.check
    return column, code


def _ask(layout: Layout, states: Ints, has_half: Ints) -> Ints:
    """Mark the seats that an ace up asks; return which of them hold a natural."""
    natural: Ints = layout.tables.natural[states[:, 0 : layout.hands : 2]]
    asked = layout.tables.asked[natural.astype(np.int64), has_half.astype(np.int64)] != 0
    states[:, layout.answers :] = np.where(asked, ASKED, ANSWERED)
    return natural


def _move_besides(
    layout: Layout,
    states: Ints,
    situation: Ints,
    at: Ints,
    column: Ints,
    symbol: Ints,
    new: Ints,
) -> None:
    """Make the second hand of a split, and pay even money to the hand that answered so."""
    role, shift = layout.tables.role, layout.shift
    acts = symbol[at]
    split = np.flatnonzero((acts == NUMBER[SPLIT]) & (column[at] % 2 == 0) & (new >= ABSENT))
    if len(split):
        beside = column[at[split]] + 1
        states[split, beside] = new[split]
        situation[split] += role[new[split]] << shift[beside]
    taken = np.flatnonzero((acts == NUMBER[EVEN_MONEY]) & (column[at] >= layout.answers))
    if len(taken):
        hand = 2 * (column[at[taken]] - layout.answers)
        old = states[taken, hand]
        paid = layout.tables.transition[old, NUMBER[EVEN_MONEY]].astype(np.int64)
        states[taken, hand] = paid
        situation[taken] += (role[paid] - role[old]) << shift[hand]
