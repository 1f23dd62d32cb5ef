"""Luck, skill and error of a ledger's rounds: rows by round and bet, and sums for statistics.

A row says what a bet of one round was paid and the parts that payment falls into; `replay.luck`
defines them. Rounds count once they are closed; voided and open ones have no rows. The sums are
over rounds, not hands, since hands of one round share the dealer's cards.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt
from typing import Any, Final, NamedTuple

import duckdb
import msgspec
import numpy as np
import pyarrow as pa

from audit_reports import sql
from ledger import StoredLeaf
from ledger.errors import EventUnreadable
from ledger.events import CLOSING, RoundClosed, RoundOpened
from ledger.ledger import read_leaf
from ledger.rounds import is_round
from replay.bulk.reading import Reader, RoundsBuilder
from replay.bulk.words import Own, Vocabulary
from replay.engine.rules import Rules
from replay.luck import Decomposition, decompose_replay
from replay.luck.bulk import RoundParts, decompose_batch
from replay.luck.kinds import LUCK, LUCK_KINDS, SKILL, SKILL_KINDS
from replay.replayer import replay_round
from replay.theory.values import Floats

ROUNDS_A_BATCH: Final = 8_192
"""Rounds taken apart together; more save no time."""

ALL: Final = "all"
ERROR: Final = "error"
_DAY: Final = len("2026-01-02")

PARTS: Final = (
    *((LUCK, kind) for kind in LUCK_KINDS),
    *((SKILL, kind) for kind in SKILL_KINDS),
)
"""Every term and kind; `luck_hit` is the column of one."""

_SUMMED: Final = (*PARTS, (LUCK, ALL), (SKILL, ALL), (ERROR, ALL))

GROUPS: Final = ("game", "rules_digest", "currency", "player", "table_name", "channel", "day")
"""What sums can be made by; rules and currencies are always kept apart."""


class TakenApart(NamedTuple):
    """Rounds taken apart: a row for each round and bet, and the rounds that could not be.

    The columns of `rows`: first_leaf, round, game, rules_digest, currency, mode, player,
    table_name, channel, day (UTC, when the round closed), bet, stake_minor (initial),
    returned_minor, start_minor, one for each of PARTS, error_minor, wrong_hands (not paid as
    the rules say). An amount that is no whole number is a mean and is in minor units too.
    """

    rows: pa.Table
    unfollowed: tuple[str, ...]


class LuckTotal(msgspec.Struct, frozen=True, kw_only=True):
    """Sums of one part of a bet over the rounds of a group that had the bet, in minor units.

    `group` has the values the sums were made by. `term` is luck, skill or error and `kind` the
    part, `all` for the whole term. `moved` counts the rounds in which the part was not nil.
    `total`, `squares` and `fourths` are Σx, Σx² and Σx⁴ of the rounds' sums x; `stake_minor`,
    `start_minor` and `returned_minor` are of the rounds, whatever the part.
    """

    group: dict[str, str | None]
    bet: str
    term: str
    kind: str
    rounds: int
    moved: int
    stake_minor: int
    start_minor: float
    returned_minor: int
    total: float
    squares: float
    fourths: float

    @property
    def z(self) -> float | None:
        """Return Σx / √Σx², for luck its standard errors from zero; None where x was always 0."""
        return self.total / sqrt(self.squares) if self.squares else None

    @property
    def per_stake(self) -> float | None:
        """Return the part's share of the return on initial stakes."""
        return self.total / self.stake_minor if self.stake_minor else None


class ClosedRound(msgspec.Struct):
    """A round with its leaves: the type and the text of the data of each, and when it closed.

    While it is gathered `closed_at`, ISO 8601, is empty.
    """

    stream: str
    opened: RoundOpened
    closed_at: str = ""
    said: list[tuple[str, bytes]] = []
    leaves: list[StoredLeaf] = []


class Apart:
    """Takes rounds apart; remembers what their events say, of which few are distinct."""

    def __init__(self) -> None:
        """Begin with nothing met."""
        self._vocabulary = Vocabulary()

    def take(
        self, rounds: Sequence[ClosedRound], rules_by_digest: Mapping[str, Rules]
    ) -> TakenApart:
        """Return what closed rounds fall apart into, best ROUNDS_A_BATCH of them together.

        Raises EventUnreadable.
        """
        if self._vocabulary.is_full:
            self._vocabulary = Vocabulary()
        return _taken_apart(rounds, self._vocabulary, rules_by_digest)


def take_apart(
    leaves: Iterable[StoredLeaf], rules_by_digest: Mapping[str, Rules]
) -> Iterator[TakenApart]:
    """Yield what the closed rounds among leaves, which are verified and in order, fall apart into.

    Rounds that began before the first leaf have no rows. Raises EventUnreadable.
    """
    apart = Apart()
    for rounds in _batches(leaves):
        yield apart.take(rounds, rules_by_digest)


def luck_totals(
    tables: Iterable[pa.Table], by: Sequence[str] = (), *, mode: str = "real"
) -> list[LuckTotal]:
    """Return the sums of every part over rows such as `take_apart` yields, a table at a time.

    They are made by rules, currency, bet and those of GROUPS that `by` names, in that order, for
    real money or for fun. Raises ValueError for a name that is none of GROUPS.
    """
    unknown = sorted(set(by) - set(GROUPS))
    if unknown:
        raise ValueError(f"there is no group {unknown[0]!r}; there are {', '.join(GROUPS)}")
    names = list(dict.fromkeys(("rules_digest", "currency", *by)))
    sums: dict[tuple[Any, ...], Floats] = {}
    # One thread, since sums of fractions depend on their order in the last places.
    with duckdb.connect(":memory:", config={"threads": 1}) as tool:
        for table in tables:
            columns = [table[name].combine_chunks() for name in names]
            grouped = table.append_column("groups", pa.StructArray.from_arrays(columns, names))
            tool.register("luck", grouped)
            for groups, bet, *row in tool.execute(sql.query("luck_totals"), [mode]).fetchall():
                key, found = (*groups.values(), bet), np.array(row, np.float64)
                sums[key] = sums[key] + found if key in sums else found
    keys = sorted(sums, key=lambda key: tuple(str(each) for each in key))
    return [total for key in keys for total in _totals(names, key, sums[key])]


def _totals(names: list[str], key: tuple[Any, ...], sums: Floats) -> Iterator[LuckTotal]:
    rounds, stake, start, returned = sums[:4].tolist()
    group = dict(zip(names, key[:-1], strict=True))
    # Of each part the query gives four sums in turn, all parts' first.
    of_parts = sums[4:].reshape(4, -1).T.tolist()
    for (term, kind), (moved, total, squares, fourths) in zip(_SUMMED, of_parts, strict=True):
        yield LuckTotal(
            group=group,
            bet=key[-1],
            term=term,
            kind=kind,
            rounds=int(rounds),
            moved=int(moved),
            stake_minor=int(stake),
            start_minor=start,
            returned_minor=int(returned),
            total=total,
            squares=squares,
            fourths=fourths,
        )


def _batches(leaves: Iterable[StoredLeaf]) -> Iterator[list[ClosedRound]]:
    """Yield the rounds that leaves close, many together."""
    gathered: dict[str, ClosedRound] = {}
    ended: list[ClosedRound] = []
    read = Reader().head
    for leaf in leaves:
        try:
            head = read(leaf.state)
            kind, stream, at, data = head.type, head.stream, head.at, bytes(head.data)
        except (EventUnreadable, ValueError, RecursionError):
            # The one reader that counts has the word.
            event = read_leaf(leaf).event
            kind, stream, at = event.type, event.stream, event.at
            data = msgspec.json.encode(event.data)
        if kind == RoundOpened.__name__ and is_round(stream) and stream not in gathered:
            gathered[stream] = ClosedRound(stream, msgspec.json.decode(data, type=RoundOpened))
        round_ = gathered.get(stream)
        if round_ is None:
            continue
        round_.leaves.append(leaf)
        round_.said.append((kind, data))
        if kind in CLOSING:
            del gathered[stream]
            round_.closed_at = at
            if kind == RoundClosed.__name__:
                ended.append(round_)
        if len(ended) == ROUNDS_A_BATCH:
            yield ended
            ended = []
    if ended:
        yield ended


def _taken_apart(
    rounds: Sequence[ClosedRound], vocabulary: Vocabulary, rules_by_digest: Mapping[str, Rules]
) -> TakenApart:
    builder = RoundsBuilder(vocabulary)
    for each in rounds:
        own = Own(each.stream)
        builder.add(own, [_word(vocabulary, kind, data, own) for kind, data in each.said])

    def alone(place: int) -> Decomposition | None:
        events = [read_leaf(leaf) for leaf in rounds[place].leaves]
        return decompose_replay(replay_round(events, rules_by_digest))

    parts, unfollowed = decompose_batch(builder.columns(), rules_by_digest, alone)
    rows = _rows([rounds[place] for place in parts.place.tolist()], parts, rules_by_digest)
    return TakenApart(rows, tuple(rounds[place].stream for place in unfollowed))


def _word(vocabulary: Vocabulary, kind: str, data: bytes, own: Own) -> int:
    try:
        return vocabulary.read(kind, data, own)
    except (ValueError, RecursionError):
        return vocabulary.other()


def _rows(
    rounds: Sequence[ClosedRound], parts: RoundParts, rules_by_digest: Mapping[str, Rules]
) -> pa.Table:
    games = {digest: rules.id for digest, rules in rules_by_digest.items()}
    opened = [each.opened for each in rounds]
    columns: dict[str, Any] = {
        "first_leaf": pa.array([each.leaves[0].leaf_index for each in rounds], pa.int64()),
        "round": pa.array([each.stream for each in rounds], pa.string()),
        "game": _names(games.get(each.rules_digest) for each in opened),
        "rules_digest": _names(each.rules_digest for each in opened),
        "currency": _names(each.currency for each in opened),
        "mode": _names(each.mode for each in opened),
        "player": _names(each.player for each in opened),
        "table_name": _names(each.table for each in opened),
        "channel": _names(each.channel for each in opened),
        "day": _names(each.closed_at[:_DAY] for each in rounds),
        "bet": _names(parts.bet),
        "stake_minor": parts.stake,
        "returned_minor": parts.returned,
        "start_minor": parts.start,
    }
    amounts = np.hstack([parts.luck, parts.skill])
    columns |= {f"{term}_{kind}": amounts[:, n] for n, (term, kind) in enumerate(PARTS)}
    return pa.table(columns | {"error_minor": parts.error, "wrong_hands": parts.wrong})


def _names(values: Iterable[str | None]) -> pa.Array:
    return pa.array(list(values), pa.string())
