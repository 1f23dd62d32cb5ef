"""What has been counted of a ledger's shuffles, kept beside it, so that the next tests go on there.

A shoe takes some eighty microseconds to derive and count; of a ledger that grows only the new ones
are. What is kept is a read model like the projection, and trusted like it.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from shoeproof.audit_reports.rows.round_leaves import RuleSet, SoundLeaf, rule_sets_of
from shoeproof.audit_reports.rows.verified import made_of_verified, verified_stream
from shoeproof.audit_reports.shuffle_tests.counting import ComparedRound, Counts, Noted
from shoeproof.audit_reports.shuffle_tests.order import BeginningOrder
from shoeproof.audit_reports.shuffle_tests.reading import UnfinishedRounds, part_dealt
from shoeproof.audit_reports.shuffle_tests.state_check import are_whole
from shoeproof.audit_reports.tables import sql
from shoeproof.audit_reports.tables.read_model import NOTHING, Reach, ReadModel, translated_errors
from shoeproof.ledger import StoredLeaf
from shoeproof.ledger.leaf.streams import RULES_STREAM
from shoeproof.ledger.verify.workers import Progress
from shoeproof.replay.bulk.pool import uncollected

FILE: Final = "shuffle.duckdb"

VERSION: Final = 2
"""The version of what is kept; counts of another version are made again."""

KEEP_LEAVES: Final = 1 << 20
"""After how many leaves counts are kept, and what is lost at most when counting is stopped."""


class _State(msgspec.Struct):
    """What is kept; rounds that have begun and not ended are counted in nothing yet."""

    counts: Counts = msgspec.field(default_factory=Counts)
    order: BeginningOrder = msgspec.field(default_factory=BeginningOrder)
    open_rounds: UnfinishedRounds = msgspec.field(default_factory=UnfinishedRounds)


class CountedRange(NamedTuple):
    """What a range of leaves comes to: its whole rounds counted, and pieces of others."""

    counts: Counts
    ended: list[ComparedRound]
    begun: list[int]
    pieces: list[SoundLeaf]


def count_range(
    rule_sets: Mapping[str, RuleSet],
    leaves: Iterable[StoredLeaf],
    texts: Iterable[bytes | None],
) -> CountedRange:
    """Count the rounds that lie whole in a range of verified leaves, which are in order.

    `texts` are those of the leaves' data where it is sound. Raises EventUnreadable.
    """
    with uncollected():
        parted = part_dealt(zip(leaves, texts, strict=True))
        counts = Counts()
        ended = counts.add(parted.whole, rule_sets)
        return CountedRange(counts, ended, parted.begun, parted.pieces)


def counts_of(model: ReadModel, size: int, progress: Progress | None = None) -> Counts:
    """Return the counts of a ledger's first `size` leaves, and keep them up to there.

    Counts that reach further, as another process may have kept meanwhile, stay as they are, and all
    is counted for this time alone. Raises LeafRefused for the first leaf that fails verification,
    EventUnreadable, the ledger's errors, ProjectionUnavailable and MemoryError.
    """
    ledger = model.ledger
    rule_sets = rule_sets_of(verified_stream(ledger, RULES_STREAM, size))
    reach = model.reach(ledger.size())
    is_kept = reach is None or reach.size <= size
    if reach is not None and reach.size and is_kept:
        state, kept = _read(model, reach, rule_sets)
    else:
        reach, state, kept = NOTHING, _State(), Noted()
        if is_kept:
            model.begin(sql.statements("shuffle"))
    start = reach.size
    make = partial(count_range, rule_sets)
    for run in made_of_verified(ledger, start, size, reach.tree, make):
        state.counts.merge(run.made.counts)
        ended = state.counts.add(state.open_rounds.take(run.made.pieces), rule_sets)
        turn = state.order.take(run.made.begun, [*run.made.ended, *ended])
        state.counts.follow(turn)
        if is_kept and (run.stop == size or run.stop - reach.size >= KEEP_LEAVES):
            reach = Reach.of(run, start, reach.covered)
            _keep(model, state, reach)
            kept.merge(state.counts.noted)
            state.counts.noted = Noted()
        if progress is not None:
            progress(run.stop, size)
    # What goes beyond, of rounds that are open, is counted again the next time.
    kept.merge(state.counts.noted)
    state.counts.noted = kept
    state.counts.add(state.open_rounds.rounds(), rule_sets)
    state.counts.follow(state.order.rest())
    return state.counts


def _read(model: ReadModel, reach: Reach, rule_sets: Mapping[str, RuleSet]) -> tuple[_State, Noted]:
    """Return what is kept, and all that is noted of rounds."""
    noted = Noted()
    try:
        with translated_errors():
            ((data,),) = model.database.execute("SELECT counts FROM counts").fetchall()
            rows = model.database.execute("SELECT noted FROM noted")
            # One by one, since of many rounds they are large.
            while row := rows.fetchone():
                noted.merge(msgspec.msgpack.decode(row[0], type=Noted))
        state = msgspec.msgpack.decode(data, type=_State, dec_hook=_array)
    except (ValueError, TypeError, msgspec.DecodeError) as error:
        raise model.damaged(str(error)) from error
    if not are_whole(state.counts, state.order, noted, rule_sets) or not _are_of(state, reach):
        raise model.damaged("its counts do not add up")
    return state, noted


def _are_of(state: _State, reach: Reach) -> bool:
    """Tell whether the rounds that are kept may have begun in the leaves that counts reach to."""
    rounds = state.open_rounds.rounds()
    return state.order.begun == state.counts.rounds + len(rounds) and all(
        0 <= each.first_leaf < reach.size for each in rounds
    )


def _keep(model: ReadModel, state: _State, reach: Reach) -> None:
    noted = msgspec.msgpack.encode(state.counts.noted)
    counts = msgspec.structs.replace(state.counts, noted=Noted())
    kept = msgspec.structs.replace(state, counts=counts)
    text = msgspec.msgpack.encode(kept, enc_hook=_array_data)
    with model.transaction():
        model.database.execute("DELETE FROM counts")
        model.database.execute("INSERT INTO counts VALUES (?)", [text])
        model.database.execute("INSERT INTO noted VALUES (?)", [noted])
        model.write_reach(reach)


def _array_data(array: Any) -> tuple[str, tuple[int, ...], bytes]:
    return array.dtype.str, array.shape, array.tobytes()


def _array(_: type, data: Any) -> Any:
    dtype, shape, values = data
    return np.frombuffer(values, dtype).reshape(shape).copy()
