"""Recorded rounds taken apart in bulk: sound ones by the tables, all others one by one.

A sound round has no error, and its moves are those that were walked. What the kernel cannot prove,
a wrongly settled round above all, is replayed and taken apart by `one_round`. A round whose every
settlement is wrong therefore costs time, and is never counted otherwise than by the replayer.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from replay.bulk.batch import Columns, Judged, judged
from replay.bulk.tables import NUMBER, Ints
from replay.bulk.words import PAID, SYMBOL
from replay.engine.hand import CASH_OUT
from replay.engine.rules import Rules
from replay.luck.batch import Moves, decompose_moves
from replay.luck.kinds import LUCK, LUCK_KINDS, ROUNDING, SKILL, SKILL_KINDS
from replay.luck.one_round import Decomposition
from replay.luck.values import values_of
from replay.theory.values import Floats


class RoundParts(NamedTuple):
    """Bets of rounds taken apart, a row for each round and bet, summed over the bet's seats.

    `place` is the round's place among the columns, `bet` the bet's name by row. All others are in
    minor units: `luck` and `skill` have a column for each of LUCK_KINDS and SKILL_KINDS, `start`
    is the mean before the first card with the stake in it, `returned` what was paid less the stakes
    added, and start + Σ luck + Σ skill + error = returned.
    """

    place: Ints
    bet: list[str]
    stake: Ints
    returned: Ints
    start: Floats
    luck: Floats
    skill: Floats
    error: Ints


def decompose_batch(
    columns: Columns,
    rules_by_digest: Mapping[str, Rules],
    one_by_one: Callable[[int], Decomposition | None],
) -> tuple[RoundParts, list[int]]:
    """Take rounds apart; return their bets and the places of the rounds that cannot be.

    `one_by_one` is asked for the rounds that are not proved sound, by their place, and answers as
    `decompose_replay` does. The shoes are not looked at: luck is about the cards that were dealt.
    """
    found: list[RoundParts] = []
    left = np.ones(len(columns.own), np.bool_)
    for group in judged(columns, rules_by_digest, with_shoes=False):
        left[group.places[group.sound]] = False
        if group.sound.any():
            found.append(_sound_parts(group))
    unfollowed = []
    for place in np.flatnonzero(left).tolist():
        taken_apart = one_by_one(place)
        if taken_apart is None:
            unfollowed.append(place)
        else:
            found.append(_one_round(place, taken_apart))
    return _joined(found), unfollowed


def moves_of(group: Judged) -> tuple[Moves, Ints]:
    """Return the moves of a group's sound rounds, and which rounds of the group those are."""
    events, walked = group.events, group.walked
    chosen = np.flatnonzero(group.sound)
    of_round = np.cumsum(group.sound) - 1
    number = events.number[walked.move]
    kept = np.flatnonzero(group.sound[number])
    move = walked.move[kept]
    symbol = events.of(SYMBOL, move)
    shown = np.where(symbol == NUMBER[CASH_OUT], events.of(PAID, move - 1), 0)
    columns = (walked.column[kept], symbol, walked.before[kept], walked.after[kept], shown)
    return Moves(of_round[number[kept]], *columns), chosen


def _sound_parts(group: Judged) -> RoundParts:
    moves, chosen = moves_of(group)
    laid = group.laid._replace(
        main=group.laid.main[chosen],
        insurance=group.laid.insurance[chosen],
        side={bet: stake[chosen] for bet, stake in group.laid.side.items()},
    )
    values = values_of(group.layout.tables.rules)
    parts = decompose_moves(values, moves, laid, group.walked.states[chosen])
    won = _won(group, chosen)
    parts.skill[:, :, SKILL_KINDS.index(ROUNDING)] = won - parts.worth
    there = parts.stake > 0
    rows, bets = np.nonzero(there)
    names = values.bets
    return RoundParts(
        place=group.places[chosen][rows],
        bet=[names[bet] for bet in bets.tolist()],
        stake=parts.stake[there],
        returned=(won + parts.stake)[there],
        start=(parts.start + parts.stake)[there],
        luck=parts.luck[there],
        skill=parts.skill[there],
        error=np.zeros(len(rows), np.int64),
    )


def _won(group: Judged, chosen: Ints) -> Ints:
    """Return what the rounds' bets won, (rounds, bets), summed over seats and hands."""
    layout, bets = group.layout, group.bets
    net = np.where(bets.there, bets.paid - bets.stake, 0)[chosen]
    first = [0, *range(layout.hands, net.shape[1], layout.seats)]
    won: Ints = np.add.reduceat(net, first, axis=1)
    return won


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
    )


def _joined(found: list[RoundParts]) -> RoundParts:
    none = RoundParts(
        *(np.zeros(0, np.int64), [], np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)),
        *(np.zeros((0, len(LUCK_KINDS))), np.zeros((0, len(SKILL_KINDS))), np.zeros(0, np.int64)),
    )
    columns = zip(none, *found, strict=True)
    place, _, *amounts = (np.concatenate(column) for column in columns)
    return RoundParts(place, [name for each in found for name in each.bet], *amounts)
