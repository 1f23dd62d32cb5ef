"""The order of play in rounds that were walked: what was due, offered, and seen in the hole.

What is due follows from a round's situation (`due`), and a situation is a sum: of what it is after
the deal and of what each event since has changed. So every event of every round is held to the
engine's answer at once.
"""

import numpy as np

from shoeproof.replay.engine.hand import INSURANCE_ACTS, SPLIT
from shoeproof.replay.engine.round import NATURAL
from shoeproof.replay.kernel.due import (
    CHECK,
    SETTLE,
    SHOW,
    TO_DEALER,
    TO_DEALER_DOWN,
    TO_HAND,
    Layout,
)
from shoeproof.replay.kernel.symbols import (
    CARD,
    CHECKED,
    COLUMN,
    COLUMNS,
    DECISION,
    HALF,
    OFFER,
    OFFERED,
    SEAT,
    SHOWN,
    SYMBOL,
    WITHHELD,
)
from shoeproof.replay.kernel.tables import ABSENT, ACTS, DOWN, NUMBER, UNSEEN, Ints
from shoeproof.replay.kernel.walk import RoundBatch, Walked

_FIRST_ANSWER = NUMBER[INSURANCE_ACTS[0]]


def in_order(layout: Layout, batch: RoundBatch, walked: Walked) -> Ints:
    """Tell of each round whether every card, look and decision was what was due."""
    kind, plan = batch.kind, layout.plan
    event = np.flatnonzero(
        (kind == CARD) | (kind == CHECKED) | (kind == SHOWN) | (kind == DECISION)
    )
    number = batch.number[event]
    first = np.searchsorted(event, batch.start)
    ordinal = np.arange(len(event)) - first[number]
    change = np.zeros(len(kind), np.int64)
    change[walked.move] = _changes(layout, batch, walked)
    _change_besides(layout, batch, change)
    # What is due before an event follows from all that changed before it.
    sums = np.append(0, np.cumsum(change[event]))
    begun = layout.begun + _asked(layout, batch, walked)
    situation = (
        sums[:-1] - sums[first[number]] + np.where(ordinal < len(plan), layout.begun, begun[number])
    )
    counts = np.diff(first, append=len(event))
    due = np.where(
        ordinal < len(plan), plan[np.minimum(ordinal, len(plan) - 1)], layout.due(situation)
    )
    right = counts >= len(plan)
    right[number[_named(layout, batch, event) != due]] = False
    right[batch.number[walked.move[walked.after < ABSENT]]] = False
    ended = sums[first + counts] - sums[first] + begun
    right &= layout.due(ended) == SETTLE
    return right


def _changes(layout: Layout, batch: RoundBatch, walked: Walked) -> Ints:
    """Return by how much each move through the tables changes its round's situation."""
    role, move = layout.tables.role, walked.move
    place = batch.by_seat(batch.openings.place, move)
    half = batch.of(COLUMN, move) & 1
    column = np.where(place < 0, layout.dealer, 2 * place + half)
    change = (role[walked.after] - role[walked.before]) << layout.shift[column]
    split = (batch.of(SYMBOL, move) == NUMBER[SPLIT]) & (column < layout.dealer) & (half == 0)
    beside = layout.shift[np.minimum(column + 1, layout.dealer)]
    found: Ints = change + np.where(split, role[walked.after] << beside, 0)
    return found


def _change_besides(layout: Layout, batch: RoundBatch, change: Ints) -> None:
    """Add what answers to an ace and looks at the hole card change."""
    decision = np.flatnonzero(batch.kind == DECISION)
    answer = decision[batch.of(SYMBOL, decision) >= _FIRST_ANSWER]
    place = np.maximum(batch.by_seat(batch.openings.place, answer), 0)
    change[answer] -= 1 << layout.shift[layout.answers + place]
    check = np.flatnonzero(batch.kind == CHECKED)
    seen = layout.tables.transition[UNSEEN, batch.of(SYMBOL, check)]
    change[check] = layout.tables.role[seen] << layout.shift[layout.check]


def _asked(layout: Layout, batch: RoundBatch, walked: Walked) -> Ints:
    """Return the part of each round's situation that says which seats an ace up asks."""
    asked = _may_answer(layout, batch, walked) != 0
    place = batch.openings.place[batch.opening]
    bits = 1 << layout.shift[layout.answers + np.maximum(place, 0)]
    found: Ints = np.where(asked & (place >= 0), bits, 0).sum(axis=1)
    return found


def _may_answer(layout: Layout, batch: RoundBatch, walked: Walked) -> Ints:
    """Return the acts by which each seat may answer an ace, as ACT_BITs, (rounds, seats)."""
    tables, number = layout.tables, batch.number[walked.move]
    dealt = np.flatnonzero(np.arange(len(number)) - walked.first[number] < len(layout.plan))
    natural = np.zeros((len(batch.start), COLUMNS), np.int64)
    # Of a column's cards in the deal the last one counts.
    natural[number[dealt], batch.of(COLUMN, walked.move[dealt])] = tables.natural[
        walked.after[dealt]
    ]
    has_half = (batch.openings.insurance > 0)[batch.opening].astype(np.int64)
    found: Ints = tables.asked[natural[:, ::2], has_half]
    return found


def _named(layout: Layout, batch: RoundBatch, event: Ints) -> Ints:
    """Return the code of what each event says was due."""
    kind, symbol = batch.kind[event], batch.of(SYMBOL, event)
    half, place = batch.of(HALF, event), batch.by_seat(batch.openings.place, event)
    is_card, is_decision = kind == CARD, kind == DECISION
    answers = is_decision & (symbol >= _FIRST_ANSWER)
    down = symbol == NUMBER[DOWN]
    code = TO_HAND + 3 * place + half
    code[is_decision] += layout.to_decide - TO_HAND
    code[answers] = (layout.to_answer + place)[answers]
    code[(place < 0) | (is_card & down) | (answers & (half != 0))] = -1
    to_dealer = is_card & (batch.of(SEAT, event) == 0)
    code[to_dealer] = np.where(down, TO_DEALER_DOWN, TO_DEALER)[to_dealer]
    code[kind == SHOWN] = SHOW
    code[kind == CHECKED] = CHECK
    return code


def offers_hold(layout: Layout, batch: RoundBatch, walked: Walked) -> Ints:
    """Tell of each round whether each decision was offered, and the offer what the rules allow."""
    kind, letter_of = batch.kind, batch.of
    right = np.ones(len(batch.start), np.bool_)
    offers = np.flatnonzero(kind == OFFER)
    right[batch.number[offers[kind[offers + 1] != DECISION]]] = False
    decision = np.flatnonzero(kind == DECISION)
    offer = decision - 1
    same = (kind[offer] == OFFER) & (letter_of(SEAT, offer) == letter_of(SEAT, decision))
    same &= letter_of(HALF, offer) == letter_of(HALF, decision)
    symbol = letter_of(SYMBOL, decision)
    before = np.zeros(len(kind), walked.before.dtype)
    before[walked.move] = walked.before
    number, seat = batch.number[decision], letter_of(SEAT, decision)
    legal = np.where(
        symbol >= _FIRST_ANSWER,
        _may_answer(layout, batch, walked)[number, seat],
        layout.tables.legal[before[decision]],
    )
    offered, withheld = letter_of(OFFERED, offer), letter_of(WITHHELD, offer)
    act = 1 << (symbol - NUMBER[ACTS[0]])
    allowed = (offered & ~legal == 0) & (legal & ~offered & ~withheld == 0) & (offered & act != 0)
    right[number[~(same & allowed)]] = False
    return right


def looks_hold(layout: Layout, batch: RoundBatch, walked: Walked) -> Ints:
    """Tell of each round whether the look for a natural, if there was one, told the truth."""
    natural = np.zeros(len(batch.start), np.bool_)
    shown = batch.kind[walked.move] == SHOWN
    natural[batch.number[walked.move[shown]]] = layout.tables.natural[walked.after[shown]]
    look = np.flatnonzero(batch.kind == CHECKED)
    said, number = batch.of(SYMBOL, look) == NUMBER[NATURAL], batch.number[look]
    right = np.ones(len(batch.start), np.bool_)
    right[number[said != natural[number]]] = False
    return right
