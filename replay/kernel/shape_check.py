"""The course of a round: what happened in it, whichever cards and amounts it happened with.

Turn order, offers, and when each bet is settled ask of an event only its letter, and of the hand
that it moved only how that stands afterwards. A course is the sequence of these, after the form of
the opening. Of many rounds few courses are distinct, so that each is judged once, by one round that
takes it, and remembered in the vocabulary. What a course leaves open, amounts and settlement lines,
is held to the tables for each round (`money`).
"""

from itertools import pairwise

import numpy as np

from shoeproof.replay.engine.hand import INSURANCE
from shoeproof.replay.kernel.due import Layout, LayoutOf
from shoeproof.replay.kernel.symbols import (
    BET,
    CARD,
    CHECKED,
    CLEAN,
    CLOSED,
    COLUMN,
    COLUMNS,
    COMMITTED,
    DECISION,
    HALF,
    INSURANCE_BET,
    LETTER,
    MAIN,
    OFFER,
    OPENED,
    OTHER,
    PLACED,
    REQUESTED,
    REVEALED,
    SETTLED,
    SYMBOL,
    Vocabulary,
)
from shoeproof.replay.kernel.tables import ABSENT, NUMBER, Ints
from shoeproof.replay.kernel.turn_order_check import in_order, looks_hold, offers_hold
from shoeproof.replay.kernel.walk import RoundBatch, Walked, walk

_SHORTEST = 5
"""Opened, committed, requested, revealed, closed."""

_RANK = np.zeros(OTHER + 1, np.int8)
_RANK[[OPENED, COMMITTED, PLACED, REQUESTED, REVEALED, CLOSED]] = 0, 1, 2, 3, 5, 6
_RANK[CARD:REVEALED] = 4
_ONCE = np.zeros(OTHER + 1, np.bool_)
_ONCE[[OPENED, COMMITTED, REQUESTED, REVEALED, CLOSED]] = True


def courses_hold(
    layout_of: LayoutOf, batch: RoundBatch, walked: Walked, vocabulary: Vocabulary
) -> Ints:
    """Tell of each round whether its course is right."""
    taken = _courses(layout_of(1).tables.standing, batch, walked)
    known = vocabulary.courses
    verdicts = list(map(known.get, taken))
    if None in verdicts:
        new = {course: number for number, course in enumerate(taken) if course not in known}
        chosen = np.zeros(len(taken), np.bool_)
        chosen[list(new.values())] = True
        judged = _judged(layout_of, batch.only(chosen))
        known.update(zip((taken[n] for n in np.flatnonzero(chosen)), judged.tolist(), strict=True))
        verdicts = list(map(known.get, taken))
    return np.array(verdicts, np.bool_)


def _courses(standing: Ints, batch: RoundBatch, walked: Walked) -> list[bytes]:
    kinds = int(standing.max()) + 1
    codes = (batch.table[LETTER] * kinds).astype(np.int32).take(batch.words)
    codes[walked.move] += standing.astype(np.int32).take(walked.after)
    codes[batch.start] = batch.openings.form.take(batch.opening)
    text, width = codes.tobytes(), codes.itemsize
    bounds = (np.append(batch.start, len(codes)) * width).tolist()
    return [text[start:stop] for start, stop in pairwise(bounds)]


def _judged(layout_of: LayoutOf, batch: RoundBatch) -> Ints:
    right = _well_formed(batch)
    seats = (batch.openings.place >= 0).sum(axis=1)[batch.opening]
    for count in np.unique(seats[right]).tolist():
        chosen = right & (seats == count)
        rounds = batch.only(chosen)
        layout = layout_of(count)
        walked = walk(layout.tables, rounds)
        right[chosen] = (
            in_order(layout, rounds, walked)
            & offers_hold(layout, rounds, walked)
            & _settled_in_turn(layout, rounds, walked)
            & looks_hold(layout, rounds, walked)
        )
    return right


def _well_formed(batch: RoundBatch) -> Ints:
    """Tell of each round whether its events are clean and each is where its kind belongs."""
    kind, number, rank = batch.kind, batch.number, _RANK[batch.kind]
    bad = (batch.of(CLEAN) == 0) | (kind == OTHER)
    same = number[1:] == number[:-1]
    bad[1:] |= same & ((rank[1:] < rank[:-1]) | ((kind[1:] == kind[:-1]) & _ONCE[kind[1:]]))
    right = batch.lengths >= _SHORTEST
    right[number[bad]] = False
    right &= np.bincount(number[kind == REQUESTED], minlength=len(right)) == 1
    for place, expected in ((0, OPENED), (1, COMMITTED), (-2, REVEALED), (-1, CLOSED)):
        bound = batch.start if place >= 0 else batch.start + batch.lengths
        right[right] = kind[(bound + place)[right]] == expected
    return right


def _settled_in_turn(layout: Layout, batch: RoundBatch, walked: Walked) -> Ints:
    """Tell of each round whether each of its bets, and no other, was settled once in its turn."""
    turn = np.cumsum(batch.kind == OFFER)
    turn -= turn[batch.start][batch.number]
    numbers = [MAIN, INSURANCE_BET, *batch.openings.side]
    is_there, due = _bets(layout, batch, walked, turn)
    settled = np.flatnonzero(batch.kind == SETTLED)
    number, column, bet = (
        batch.number[settled], batch.of(COLUMN, settled), batch.of(BET, settled)
    )  # fmt: skip
    split = is_there[number, 0, column | 1]
    after = batch.kind[settled + 1]
    holds = np.isin(bet, numbers) & ((batch.of(HALF, settled) > 0) == (split & (bet == MAIN)))
    # Within a turn payments come last, so that what they were paid on is what it ended with.
    holds &= (after == SETTLED) | (after == OFFER) | (after == REVEALED)
    place = np.zeros(max(numbers) + 1, np.int64)
    place[numbers] = np.arange(len(numbers))
    cell = (number[holds], place[bet[holds]], column[holds])
    times = np.zeros(is_there.shape, np.int64)
    np.add.at(times, cell, 1)
    right: Ints = (times == is_there).all(axis=(1, 2))
    right[number[~holds]] = False
    right[cell[0][due[cell] != turn[settled[holds]]]] = False
    return right


def _bets(layout: Layout, batch: RoundBatch, walked: Walked, turn: Ints) -> tuple[Ints, Ints]:
    """Return which bets each round has and in which turn each is settled.

    Both are (rounds, bets, COLUMNS), with the main bets, the insurance and the side bets in order;
    a bet that is the seat's and no hand's stands in the column of its first hand.
    """
    openings, rounds = batch.openings, len(batch.start)
    is_there = np.zeros((rounds, 2 + len(openings.side), COLUMNS), np.bool_)
    due = np.zeros(is_there.shape, np.int64)
    due[:, :2] = turn[batch.start + batch.lengths - 1][:, None, None]
    is_there[:, 0, ::2] = (openings.place >= 0)[batch.opening]
    is_there[:, 0, 1::2] = walked.states[:, 1::2] != ABSENT
    for place, stakes in enumerate(openings.side.values(), start=2):
        is_there[:, place, ::2] = (stakes > 0)[batch.opening]
    decision = np.flatnonzero(batch.kind == DECISION)
    insured = decision[batch.of(SYMBOL, decision) == NUMBER[INSURANCE]]
    is_there[batch.number[insured], 1, batch.of(COLUMN, insured)] = True
    check = np.flatnonzero(batch.kind == CHECKED)
    due[batch.number[check], 1] = turn[check][:, None]
    # A hand that ends so that the dealer no longer matters is decided in that turn.
    ended = walked.move[layout.tables.early[walked.after] >= 0]
    due[batch.number[ended], 0, batch.of(COLUMN, ended)] = turn[ended]
    return is_there, due
