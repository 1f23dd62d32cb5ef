"""Luck, skill and error of a ledger's rounds, a row for each round and bet.

A row says what a bet of one round was paid and the parts that payment falls into;
`shoeproof.replay.luck` defines them. Hands and seats of a round are summed, since they share the
dealer's cards. Rounds count once they are closed; voided and open ones have no rows, and those that
the rules cannot explain neither.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

import numpy as np
import pyarrow as pa

from shoeproof.audit_reports.rows.round_leaves import Gathered
from shoeproof.ledger.leaf.recorded import read_leaf
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.kernel.reading import RoundsBuilder
from shoeproof.replay.kernel.symbols import RoundColumns, Vocabulary
from shoeproof.replay.luck.bulk import RoundParts, decompose_batch
from shoeproof.replay.luck.counts import COUNT_KINDS, COUNT_SUMS
from shoeproof.replay.luck.kinds import LUCK, LUCK_KINDS, SKILL, SKILL_KINDS
from shoeproof.replay.luck.one_round import Decomposition
from shoeproof.replay.luck.recorded import decompose_replay
from shoeproof.replay.rounds.replayer import Replay, replay_round

ROUNDS_A_BATCH: Final = 8_192
"""How many rounds are decomposed together; more save no time."""

PART_COLUMNS: Final = (
    *(f"{LUCK}_{kind}" for kind in LUCK_KINDS),
    *(f"{SKILL}_{kind}" for kind in SKILL_KINDS),
)
"""The columns of every part, such as `luck_hit`."""

ALL_LUCK: Final = f"{LUCK}_all"
"""All kinds of luck together, as `sums.sql` names them."""

UNIT: Final = "unit"
ALL_UNITS: Final = f"{UNIT}_all"
UNIT_COLUMNS: Final = (*(f"{UNIT}_{kind}" for kind in LUCK_KINDS), ALL_UNITS)
"""Each kind of luck for a unit of initial stake, and all of them, as `sums.sql` names them."""

COUNT_COLUMNS: Final = tuple(f"{name}_{kind}" for kind in COUNT_KINDS for name in COUNT_SUMS)
"""The columns of every count, such as `came_dealer_bust`."""


def luck_rows(
    rounds: Iterable[Gathered],
    rules_by_digest: Mapping[str, Rules],
    schema: pa.Schema,
    replayed: Callable[[Replay], object],
) -> pa.Table:
    """Decompose the closed rounds among verified ones, by rules that the ledger held before each.

    The columns are first_leaf, bet, returned_minor, start_minor, those of PART_COLUMNS,
    error_minor, underpaid_minor (by hands paid too little), wrong_hands (not paid as the rules say)
    and those of COUNT_COLUMNS, in the order and the types of `schema`. `replayed` is handed each
    round that is not proved sound, as the replayer rebuilt it. An amount that is not a whole number
    is a mean and is in minor units too. Raises EventUnreadable.
    """
    closed = [each for each in rounds if each.is_closed]
    batches = [
        _taken_apart(closed[first : first + ROUNDS_A_BATCH], rules_by_digest, replayed)
        for first in range(0, len(closed), ROUNDS_A_BATCH)
    ]
    in_order = [each.select(schema.names).cast(schema) for each in batches]
    return pa.concat_tables([schema.empty_table(), *in_order])


def _taken_apart(
    rounds: Sequence[Gathered],
    rules_by_digest: Mapping[str, Rules],
    replayed: Callable[[Replay], object],
) -> pa.Table:
    vocabulary = _vocabulary()
    builder = RoundsBuilder(vocabulary)
    for each in rounds:
        own = RoundColumns(each.stream)
        words = [
            _word(vocabulary, leaf.topic, text, own)
            for leaf, text in zip(each.leaves, each.texts, strict=True)
        ]
        builder.add(own, words)

    def alone(place: int) -> Decomposition | None:
        events = [read_leaf(leaf) for leaf in rounds[place].leaves]
        replay = replay_round(events, rules_by_digest)
        replayed(replay)
        return decompose_replay(replay)

    parts, _ = decompose_batch(builder.columns(), rules_by_digest, alone)
    first_leaves = np.array([each.leaves[0].leaf_index for each in rounds], np.int64)
    return _columns(first_leaves[parts.place], parts)


def _vocabulary() -> Vocabulary:
    """Return values this process has met in events; few are distinct."""
    if _kept().is_full:
        _kept.cache_clear()
    return _kept()


@cache
def _kept() -> Vocabulary:
    return Vocabulary()


def _word(vocabulary: Vocabulary, kind: str, data: bytes, own: RoundColumns) -> int:
    try:
        return vocabulary.read(kind, data, own)
    except (ValueError, RecursionError):
        return vocabulary.other()


def _columns(first_leaf: Any, parts: RoundParts) -> pa.Table:
    amounts = np.hstack([parts.luck, parts.skill])
    columns: dict[str, Any] = {
        "first_leaf": first_leaf,
        "bet": pa.array(parts.bet, pa.string()),
        "returned_minor": parts.returned,
        "start_minor": parts.start,
    }
    columns |= {name: amounts[:, place] for place, name in enumerate(PART_COLUMNS)}
    columns |= {"error_minor": parts.error, "underpaid_minor": parts.underpaid}
    columns["wrong_hands"] = parts.wrong
    counts = parts.counts.reshape(len(parts.counts), len(COUNT_COLUMNS))
    columns |= {name: counts[:, place] for place, name in enumerate(COUNT_COLUMNS)}
    return pa.table(columns)
