"""What the ledger's tests share: a clock that ticks, a short round, and hands that tamper."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from ledger.envelope import Event, payload, seal_leaf
from ledger.events import (
    BetSettled,
    CardDealt,
    DealRequested,
    DecisionMade,
    EventData,
    Role,
    RoundClosed,
    RoundOpened,
    ShoeCommitted,
    ShoeRevealed,
)
from ledger.ledger import Ledger
from ledger.store import SealedEvent
from ledger.verify import VerifyResult, verify

ORIGIN = "ledger.example/bj"
ROUND = "01936f3c-7a10-7b3e-9c55-2f6d8a1b4c5d"
OTHER_ROUND = "01936f3c-7a10-7b3e-9c55-2f6d8a1b4c5e"


def round_id(number: int) -> str:
    """Return the id of one of many rounds."""
    return f"01936f3c-7a10-7b3e-9c55-{number:012x}"


FIRST = 5
"""The leaf index after the keys that `init` adds."""


class TickingClock:
    """Starts at a fixed moment and is a microsecond later each time it is asked."""

    def __init__(self) -> None:
        self._ticks = count()

    def __call__(self) -> datetime:
        return datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC) + timedelta(microseconds=next(self._ticks))


def opened(player: str = "p-7f", rules_digest: str = "ab" * 32) -> RoundOpened:
    return RoundOpened(
        rules_digest=rules_digest,
        policy_digest=None,
        operator=None,
        table="t-1",
        session=None,
        channel=None,
        mode="real",
        player=player,
        currency="EUR",
        limits=None,
        build=None,
    )


def short_round() -> list[EventData]:
    """A whole round in eight events: leaves FIRST to FIRST + 7 of a new ledger."""
    return [
        opened(),
        ShoeCommitted("cd" * 32, "c2VhbGVk", None),
        DealRequested({"s1": {"main": 100}}, "", None),
        CardDealt(0, "s1", "Td"),
        DecisionMade("s1", "stand", "player", None, 0, None),
        BetSettled("s1", "s1", "main", 100, 200, "win", None),
        ShoeRevealed("ef" * 32),
        RoundClosed(100, 200),
    ]


def play(ledger: Ledger, stream: str = ROUND, length: int | None = None) -> None:
    """Append the short round, or its beginning, one event at a time."""
    for data in short_round()[:length]:
        ledger.append((stream, data))


def append_raw(
    ledger: Ledger,
    data: EventData,
    *,
    seq: int,
    prev: str | None,
    role: Role | None = None,
    at: str = "2026-01-02T03:05:00.000000Z",
    origin: str = ORIGIN,
    text: bytes | None = None,
) -> None:
    """Append whatever a holder of the keys could sign, checking nothing."""
    name = type(data).__name__
    event = Event(1, origin, ROUND, seq, name, at, prev, data)
    leaf = seal_leaf(text or payload(event), ledger.signer(role or data.signer))
    ledger.store.append([SealedEvent(ROUND, seq + 1, name, leaf)])


@contextmanager
def tampering(path: Path) -> Iterator[sqlite3.Connection]:
    """Give the database to someone who may write the file: no trigger stops them."""
    with closing(sqlite3.connect(path / "events.sqlite")) as connection, connection:
        triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in triggers.fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        yield connection


def alter(path: Path, leaf_index: int, old: bytes, new: bytes) -> None:
    """Replace bytes inside one stored leaf."""
    with tampering(path) as connection:
        condition = "event_rowid = (SELECT event_rowid FROM leaves WHERE leaf_index = ?)"
        (state,) = connection.execute(
            f"SELECT state FROM stored_events WHERE {condition}", (leaf_index,)
        ).fetchone()
        assert old in state
        connection.execute(
            f"UPDATE stored_events SET state = ? WHERE {condition}",
            (state.replace(old, new, 1), leaf_index),
        )


def codes(result: VerifyResult) -> list[tuple[int | None, str]]:
    """The findings as pairs of leaf index and code."""
    return [(finding.leaf_index, finding.code) for finding in result.findings]


def codes_at(path: Path) -> list[tuple[int | None, str]]:
    """The findings of the ledger at a path."""
    return codes(verify(path))
