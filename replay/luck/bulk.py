"""Recorded rounds decomposed in bulk: sound ones with the tables, all others one by one.

A sound round has no error, and all of its moves are as the rules say. What the kernel cannot prove,
a wrongly settled round above all, is replayed and decomposed by `one_round`. A round whose every
settlement is wrong therefore costs time, and is only ever counted as the replayer counts it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from shoeproof.replay.engine.hand import CASH_OUT, INSURANCE, INSURANCE_ACTS
from shoeproof.replay.engine.outcomes import INSURANCE_BET, MAIN
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.kernel.batch import Columns, sound
from shoeproof.replay.kernel.symbols import (
    BET,
    CARD,
    CHECKED,
    DECISION,
    HALF,
    IGNORED,
    KIND,
    LARGEST,
    PAID,
    REQUESTED,
    SEAT,
    SETTLED,
    SHOWN,
    STAKE,
    SYMBOL,
)
from shoeproof.replay.kernel.tables import NUMBER, Ints
from shoeproof.replay.luck.batch import Moves, Stakes, decompose_moves
from shoeproof.replay.luck.counts import COUNT_KINDS, COUNT_SUMS, tallied
from shoeproof.replay.luck.kinds import LUCK, LUCK_KINDS, ROUNDING, SKILL, SKILL_KINDS
from shoeproof.replay.luck.one_round import Decomposition
from shoeproof.replay.luck.values import Values, values_of
from shoeproof.replay.theory.values import Floats


class RoundParts(NamedTuple):
    """Bets of rounds taken apart, a row for each round and bet, summed over the bet's seats.

    `place` is the round's place among the columns, `bet` the bet's name by row. All others are in
    minor units: `luck` and `skill` have a column for each of LUCK_KINDS and SKILL_KINDS, `start`
    is the mean before the first card with the stake in it, `returned` what was paid less the stakes
    added, and start + Σ luck + Σ skill + error = returned. `wrong` counts the hands that were not
    paid as the rules say, whose errors may cancel, and `underpaid` is what hands were paid too
    little in all. `counts` are those of the round, (rows, COUNT_KINDS, COUNT_SUMS), in the row of
    its main bet; other rows have none.
    """

    place: Ints
    bet: list[str]
    stake: Ints
    returned: Ints
    start: Floats
    luck: Floats
    skill: Floats
    error: Ints
    underpaid: Ints
    wrong: Ints
    counts: Ints


def decompose_batch(
    columns: Columns,
    rules_by_digest: Mapping[str, Rules],
    one_by_one: Callable[[int], Decomposition | None],
) -> tuple[RoundParts, list[int]]:
    """Decompose rounds; return their bets and the places of those that cannot be decomposed.

    `one_by_one` is asked for the rounds that are not proved sound, by their place, and answers as
    `decompose_replay` does. Amounts that no event can record cannot be summed either. The shoes are
    not looked at: luck is about the cards that were dealt.
    """
    proved = sound(columns, rules_by_digest, with_shoes=False)
    found = [group.parts() for group in _groups(columns, rules_by_digest, proved)]
    unfollowed = []
    for place in np.flatnonzero(~proved).tolist():
        taken_apart = one_by_one(place)
        if taken_apart is None or not _fits(taken_apart):
            unfollowed.append(place)
        else:
            found.append(_one_round(place, taken_apart))
    return _joined(found), unfollowed


class _Group(NamedTuple):
    """Sound rounds of one rule set with one number of seats, at some places among the columns'.

    `events` are the numbers of their events' rows, a row of the array for each number, and `number`
    is the place of each event's round here. `stakes` are the distinct stakes, by seat and bet, and
    `staked` which of them each round has.
    """

    values: Values
    places: Ints
    events: Ints
    number: Ints
    stakes: list[Mapping[str, Mapping[str, int]]]
    staked: Ints
    names: Sequence[str]

    def parts(self) -> RoundParts:
        """Return the decomposed rounds."""
        values = self.values
        parts = decompose_moves(values, self._moves(), self._laid())
        won = self._won()
        parts.skill[:, :, SKILL_KINDS.index(ROUNDING)] = won - parts.worth
        there = parts.stake > 0
        rows, bets = np.nonzero(there)
        return RoundParts(
            place=self.places[rows],
            bet=[values.bets[bet] for bet in bets.tolist()],
            stake=parts.stake[there],
            returned=(won + parts.stake)[there],
            start=(parts.start + parts.stake)[there],
            luck=parts.luck[there],
            skill=parts.skill[there],
            error=np.zeros(len(rows), np.int64),
            underpaid=np.zeros(len(rows), np.int64),
            wrong=np.zeros(len(rows), np.int64),
            counts=parts.counts[rows] * (bets == values.bets.index(MAIN))[:, None, None],
        )

    def _moves(self) -> Moves:
        kind, symbol = self.events[KIND], self.events[SYMBOL]
        move = np.flatnonzero(np.isin(kind, (CARD, CHECKED, SHOWN, DECISION)))
        kind, symbol, number = kind[move], symbol[move], self.number[move]
        seat = self._seats()[self.staked[number], self.events[SEAT, move]]
        dealer = 2 * len(self.stakes[0])
        column = 2 * seat + (self.events[HALF, move] == 2)
        answers = (kind == DECISION) & (symbol >= NUMBER[INSURANCE_ACTS[0]])
        column[answers] = dealer + 2 + seat[answers]
        column[(seat < 0) | (kind == SHOWN)] = dealer
        column[kind == CHECKED] = dealer + 1
        # A decision follows its offer, which told the value.
        shown = np.where(symbol == NUMBER[CASH_OUT], self.events[PAID, move - 1], 0)
        return Moves(number, column, symbol, shown)

    def _seats(self) -> Ints:
        """Return the place of each seat's number among those that play, -1 for others'."""
        seats = np.full((len(self.stakes), 10), -1)
        for row, stakes in zip(seats, self.stakes, strict=True):
            row[[int(name[1:]) for name in sorted(stakes)]] = np.arange(len(stakes))
        return seats

    def _laid(self) -> Stakes:
        bets = [bet for bet in self.values.bets if bet != INSURANCE_BET]
        by_bet = [
            [[stakes[seat].get(bet, 0) for seat in sorted(stakes)] for stakes in self.stakes]
            for bet in bets
        ]
        main, *side = (np.array(each, np.int64)[self.staked] for each in by_bet)
        insured = np.flatnonzero(
            (self.events[KIND] == DECISION) & (self.events[SYMBOL] == NUMBER[INSURANCE])
        )
        number = self.number[insured]
        insurance = np.zeros_like(main)
        seat = self._seats()[self.staked[number], self.events[SEAT, insured]]
        insurance[number, seat] = self.events[STAKE, insured]
        return Stakes(main, insurance, dict(zip(bets[1:], side, strict=True)))

    def _won(self) -> Ints:
        """Return what the rounds' bets won as they were settled, (rounds, bets)."""
        settled = np.flatnonzero(self.events[KIND] == SETTLED)
        place = np.array([self.values.bets.index(name) if name in self.values.bets else -1
                          for name in self.names])  # fmt: skip
        won = np.zeros((len(self.places), len(self.values.bets)), np.int64)
        cell = self.number[settled], place[self.events[BET, settled]]
        np.add.at(won, cell, self.events[PAID, settled] - self.events[STAKE, settled])
        return won


def _groups(
    columns: Columns, rules_by_digest: Mapping[str, Rules], proved: Ints
) -> Iterator[_Group]:
    vocabulary = columns.vocabulary
    rows = vocabulary.table()
    number = np.repeat(
        np.arange(len(columns.own)), np.diff(columns.starts, append=len(columns.words))
    )
    kept = proved[number] & (rows[KIND] != IGNORED)[columns.words]
    words, number = columns.words[kept], number[kept]
    requested = np.flatnonzero(rows[KIND][words] == REQUESTED)
    staked = np.full(len(proved), -1)
    staked[number[requested]] = rows[STAKE][words[requested]]
    members: dict[tuple[str, int], list[int]] = {}
    for place in np.flatnonzero(proved).tolist():
        seats = len(vocabulary.stakes[staked[place]])
        members.setdefault((columns.own[place].rules_digest or "", seats), []).append(place)
    for (digest, _), mine in members.items():
        places = np.array(mine)
        of_place = np.full(len(proved), -1)
        of_place[places] = np.arange(len(places))
        inside = of_place[number] >= 0
        distinct, which = np.unique(staked[places], return_inverse=True)
        yield _Group(
            values=values_of(rules_by_digest[digest]),
            places=places,
            events=rows[:, words[inside]],
            number=of_place[number[inside]],
            stakes=[vocabulary.stakes[each] for each in distinct.tolist()],
            staked=which,
            names=vocabulary.names.items,
        )


def _fits(taken_apart: Decomposition) -> bool:
    amounts = [
        amount
        for bet in taken_apart.bets
        for amount in (bet.initial_stake_minor, bet.staked_minor, bet.paid_minor, bet.error_minor)
    ]
    return all(abs(amount) < LARGEST for amount in amounts)


def _one_round(place: int, taken_apart: Decomposition) -> RoundParts:
    names = sorted({bet.bet for bet in taken_apart.bets})
    sums = taken_apart.sums()

    def of(field: str, kind: type) -> Ints:
        totals = [
            sum(getattr(bet, field) for bet in taken_apart.bets if bet.bet == name)
            for name in names
        ]
        return np.array(totals, kind)

    def kinds(term: str, of_term: tuple[str, ...]) -> Floats:
        return np.array([[sums.get((name, term, kind), 0.0) for kind in of_term] for name in names])

    return RoundParts(
        place=np.full(len(names), place),
        bet=names,
        stake=of("initial_stake_minor", np.int64),
        returned=of("returned_minor", np.int64),
        start=of("start_minor", np.float64),
        luck=kinds(LUCK, LUCK_KINDS),
        skill=kinds(SKILL, SKILL_KINDS),
        error=of("error_minor", np.int64),
        underpaid=of("underpaid_minor", np.int64),
        wrong=of("wrong_hands", np.int64),
        counts=np.array([tallied(taken_apart.counts) * (name == MAIN) for name in names]),
    )


def _joined(found: list[RoundParts]) -> RoundParts:
    none = RoundParts(
        *(np.zeros(0, np.int64), [], np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)),
        *(np.zeros((0, len(LUCK_KINDS))), np.zeros((0, len(SKILL_KINDS)))),
        *(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)),
        np.zeros((0, len(COUNT_KINDS), len(COUNT_SUMS)), np.int64),
    )
    columns = zip(none, *found, strict=True)
    place, _, *amounts = (np.concatenate(column) for column in columns)
    return RoundParts(place, [name for each in found for name in each.bet], *amounts)
