"""The walk: cards and acts of many rounds through the tables, one move of every round at a time.

Each round is a row of states, two hands for each seat and the dealer. A move names a column and a
symbol and puts the state after them in the place of the state before; whether it was due is asked
later (`courses`), of these states. A move that is not allowed ends in a sink.
"""

from typing import NamedTuple

import numpy as np

from shoeproof.replay.engine.hand import SPLIT
from shoeproof.replay.kernel.symbols import COLUMN, COLUMNS, KIND, MOVES, SYMBOL
from shoeproof.replay.kernel.tables import ABSENT, NUMBER, SYMBOLS, Ints, RuleTables


class Openings(NamedTuple):
    """How rounds begin, a row for each distinct way and a column for each seat's number.

    `place` is a seat's place among those that play, -1 for others. `main`, `insurance` and `side`,
    by the number of a side bet's name, are stakes in minor units. `form` numbers what the course
    of a round asks of its opening.
    """

    place: Ints
    main: Ints
    insurance: Ints
    side: dict[int, Ints]
    form: Ints


class RoundBatch(NamedTuple):
    """Rounds of one rule set: their events, flat and in order.

    `words` are the events, numbers of the vocabulary's rows, and `table` has a row for each of the
    numbers of those. `number` is the place of each event's round, `start` the first event of each
    round; `opening` is each round's place in `openings`.
    """

    table: Ints
    words: Ints
    kind: Ints
    number: Ints
    start: Ints
    openings: Openings
    opening: Ints

    @classmethod
    def of_rounds(
        cls, table: Ints, words: Ints, lengths: Ints, openings: Openings, opening: Ints
    ) -> "RoundBatch":
        """Return a batch of rounds that have so many events each."""
        return cls(
            table,
            words,
            table[KIND].astype(np.int8).take(words),
            np.repeat(np.arange(len(lengths)), lengths),
            np.cumsum(lengths) - lengths,
            openings,
            opening,
        )

    @property
    def lengths(self) -> Ints:
        """Return how many events each round has."""
        return np.diff(self.start, append=len(self.words))

    def of(self, field: int, events: Ints | slice = slice(None)) -> Ints:
        """Return one number of the rows of some events."""
        found: Ints = self.table[field].take(self.words[events])
        return found

    def only(self, chosen: Ints) -> "RoundBatch":
        """Return the chosen rounds, told by a mask."""
        if chosen.all():
            return self
        return RoundBatch.of_rounds(
            self.table,
            self.words[chosen[self.number]],
            self.lengths[chosen],
            self.openings,
            self.opening[chosen],
        )

    def by_seat(self, of_openings: Ints, events: Ints) -> Ints:
        """Return a number of the openings for the round and seat of each of some events."""
        cells = self.opening.take(self.number.take(events)) * of_openings.shape[1]
        found: Ints = of_openings.reshape(-1).take(cells + (self.of(COLUMN, events) >> 1))
        return found


class Walked(NamedTuple):
    """The events that are moves, the states before and after each, and each round's last states.

    `first` is each round's first place among the moves; `states` is (rounds, COLUMNS).
    """

    move: Ints
    first: Ints
    before: Ints
    after: Ints
    states: Ints


def walk(tables: RuleTables, batch: RoundBatch) -> Walked:
    """Follow the moves of rounds; see `Walked`."""
    move = np.flatnonzero(batch.table[MOVES].astype(np.bool_).take(batch.words))
    words, rounds = batch.words.take(move), len(batch.start)
    column, symbol = batch.table[COLUMN].take(words), batch.table[SYMBOL].take(words)
    first = np.searchsorted(move, batch.start)
    counts = np.diff(first, append=len(move))
    # Longest first, so that the rounds still under way are always the first ones.
    order = np.argsort(-counts.astype(np.int16), kind="stable")
    starts, ends = first[order], -counts[order]
    states = np.empty((rounds, COLUMNS), tables.transition.dtype)
    states[:] = ABSENT
    states[:, ::2] = tables.first_hand
    states[:, 0] = tables.first_dealer
    flat, transition = states.reshape(-1), tables.transition.reshape(-1)
    base = order * COLUMNS
    before, after = np.empty((2, len(move)), flat.dtype)
    for step in range(-int(ends[0]) if rounds else 0):
        under_way = int(np.searchsorted(ends, -step, side="left"))
        at = starts[:under_way] + step
        said = symbol.take(at)
        cell = column.take(at)
        cell += base[:under_way]
        old = flat.take(cell)
        new = transition.take(np.multiply(old, len(SYMBOLS), dtype=np.int64) + said)
        flat[cell] = new
        before[at], after[at] = old, new
        split = np.flatnonzero(said == NUMBER[SPLIT])
        if len(split):
            # The second hand of a split is as the first; what is no split ended in a sink.
            beside = cell[split] | 1
            flat[beside] = new[split]
    return Walked(move, first, before, after, states)
