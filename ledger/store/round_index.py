"""The look-up index of rounds: derived from leaves as they are appended, for finding rounds.

It holds nothing that the leaves do not say and proves nothing: what verifies reads the leaves.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import msgspec

from shoeproof.ledger.errors import EventUnreadable, RoundStillOpen
from shoeproof.ledger.leaf import events, streams
from shoeproof.ledger.leaf.clock import format_time
from shoeproof.ledger.leaf.envelope import read_event, split_leaf
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.store.checks import Asks, Check

RoundState: TypeAlias = Literal["open", "closed", "void"]

_INSERT = """INSERT INTO rounds VALUES (?, ?, ?, ?, ?, ?, ?, NULL, 'open', ?, ?)
    ON CONFLICT DO NOTHING"""
_UPDATE = """UPDATE rounds SET last_leaf = ?, state = COALESCE(?, state),
    closed_at = COALESCE(?, closed_at) WHERE round = ?"""


class IndexedRound(msgspec.Struct, frozen=True):
    """A round as the look-up index has it; leaf indices are 0-based and inclusive, times UTC."""

    round: str
    rules_digest: str
    player: str
    table: str | None
    currency: str
    mode: events.Mode
    opened_at: str
    closed_at: str | None
    state: RoundState
    first_leaf: int
    last_leaf: int


class Alone(NamedTuple):
    """A condition on an append: this player has no round open under any of these rules."""

    player: str
    rules_digests: tuple[str, ...]


class Executes(Protocol):
    """What runs a statement many times; a cursor."""

    def executemany(self, statement: str, rows: Sequence[tuple[Any, ...]], /) -> object:
        """Run a statement for each row."""


def is_round(stream: str) -> bool:
    """Say whether a stream's name is that of a round rather than one of the fixed or prefixed."""
    return "/" not in stream and stream not in _FIXED_STREAMS


_FIXED_STREAMS = {
    streams.KEYS_STREAM,
    streams.RULES_STREAM,
    streams.POLICIES_STREAM,
    streams.OPERATIONS_STREAM,
}


def refuse_second(cursor: Asks, alone: Alone) -> Check:
    """Return what raises RoundStillOpen where the player has such a round open by now.

    It holds in the caller's transaction. The writer's lock is held by then, so that of two openings
    at once the second sees the first.
    """
    marks = ", ".join("?" * len(alone.rules_digests))
    open_one = cursor.later(
        f"""SELECT round FROM rounds WHERE state = 'open' AND player = ?
            AND rules_digest IN ({marks}) LIMIT 1""",
        (alone.player, *alone.rules_digests),
    )

    def check() -> None:
        row = open_one()
        if row is not None:
            raise RoundStillOpen(row[0])

    return check


def index_rounds(cursor: Executes, leaves: Iterable[StoredLeaf]) -> None:
    """Write what leaves say of rounds into the look-up index, inside the caller's transaction.

    Raises EventUnreadable for the first or last leaf of a round that cannot be read.
    """
    opened: list[tuple[Any, ...]] = []
    touched: dict[str, tuple[Any, ...]] = {}
    for leaf in leaves:
        if not is_round(leaf.stream):
            continue
        state, closed_at = touched.get(leaf.stream, (None, None, None))[1:3]
        if leaf.topic == events.RoundOpened.__name__:
            event = read_event(split_leaf(leaf.state).payload)
            data = event.data
            if not isinstance(data, events.RoundOpened):
                raise EventUnreadable(f"leaf {leaf.leaf_index} is not the event its topic says")
            opened.append(
                (
                    leaf.stream,
                    data.rules_digest,
                    data.player,
                    data.table,
                    data.currency,
                    data.mode,
                    event.at,
                    leaf.leaf_index,
                    leaf.leaf_index,
                )
            )
        elif leaf.topic in events.CLOSING:
            state = "void" if leaf.topic == events.RoundVoided.__name__ else "closed"
            closed_at = read_event(split_leaf(leaf.state).payload).at
        touched[leaf.stream] = (leaf.leaf_index, state, closed_at, leaf.stream)
    cursor.executemany(_INSERT, opened)
    cursor.executemany(_UPDATE, list(touched.values()))


SELECT_ROUND = "SELECT * FROM rounds WHERE round = ?"


def selection(
    *,
    rules_digests: Collection[str] | None,
    player: str | None,
    state: RoundState | None,
    opened_from: datetime | None,
    opened_to: datetime | None,
    limit: int | None,
    newest_first: bool,
) -> tuple[str, list[Any]]:
    """Return the query, and its parameters, for the rounds that satisfy every condition given.

    `opened_from` is inclusive, `opened_to` exclusive, both aware. Rounds come as they were opened,
    or the other way round.
    """
    conditions: list[str] = []
    parameters: list[Any] = []
    if rules_digests is not None:
        # NULL equals nothing, and keeps the list from being empty, which PostgreSQL refuses.
        conditions.append(f"rules_digest IN (NULL{', ?' * len(rules_digests)})")
        parameters += rules_digests
    if state is not None:
        # Written out, since an index of open rounds alone serves no parameter.
        conditions.append({"open": "state = 'open'", "closed": "state = 'closed'",
                           "void": "state = 'void'"}[state])  # fmt: skip
    for condition, value in (
        ("player = ?", player),
        ("opened_at >= ?", opened_from and format_time(opened_from)),
        ("opened_at < ?", opened_to and format_time(opened_to)),
    ):
        if value is not None:
            conditions.append(condition)
            parameters.append(value)
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    order = "opened_at DESC, first_leaf DESC" if newest_first else "opened_at, first_leaf"
    statement = f"SELECT * FROM rounds {where} ORDER BY {order}"
    if limit is not None:
        statement += " LIMIT ?"
        parameters.append(limit)
    return statement, parameters
