"""What the ledger's tests share: a clock that ticks, a short round, and hands that tamper."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import count
from pathlib import Path

import msgspec

from shoeproof.ledger.leaf.envelope import Event, payload, seal_leaf
from shoeproof.ledger.leaf.events import (
    ANCHORED,
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
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.store.transaction import SealedEvent
from shoeproof.ledger.verify.whole import VerifyResult, verify

ORIGIN = "ledger.example/bj"
ROUND = "019b7ca9-8c88-7b3e-9c55-2f6d8a1b4c5d"
OTHER_ROUND = "019b7ca9-8c88-7b3e-9c55-2f6d8a1b4c5e"


def digest_of(content: object) -> str:
    """Return the digest that content is added under, made with the standard library alone."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


def round_id(number: int) -> str:
    """Return the id of one of many rounds."""
    return f"019b7ca9-8c88-7b3e-9c55-{number:012x}"


FIRST = 5
"""The leaf index after the keys that `init` adds."""


class TickingClock:
    """Starts at a fixed moment and is a microsecond later each time it is asked."""

    def __init__(self) -> None:
        self._ticks = count()

    def __call__(self) -> datetime:
        return datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC) + timedelta(microseconds=next(self._ticks))


RULES = digest_of({"decks": 6})
"""The digest of what stands for a game's rules where no game is played."""


def opened(player: str = "p-7f", rules_digest: str = RULES) -> RoundOpened:
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


def said(data: EventData) -> EventData:
    """Return what an event says, without the tree that its signer had seen."""
    has_seen = type(data).__name__ in ANCHORED
    return msgspec.structs.replace(data, seen=None) if has_seen else data


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
    stream: str = ROUND,
) -> None:
    """Append whatever a holder of the keys could sign, checking nothing."""
    name = type(data).__name__
    event = Event(1, origin, stream, seq, name, at, prev, data)
    leaf = seal_leaf(text or payload(event), ledger.signer(role or data.signer))
    ledger.store.append([SealedEvent(stream, seq + 1, name, leaf)])


@contextmanager
def tampering(path: Path) -> Iterator[sqlite3.Connection]:
    """Give the database to someone who may write the file: no trigger stops them.

    The triggers are put back, since a store that lacks one is not opened.
    """
    with closing(sqlite3.connect(path / "events.sqlite")) as connection, connection:
        found = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        triggers = dict(found.fetchall())
        for name in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        yield connection
        for statement in triggers.values():
            connection.execute(statement)


@contextmanager
def free_of_constraints(connection: sqlite3.Connection) -> Iterator[None]:
    """Give a copy of `stored_events` as `loose`, which takes any row, and put it in its place.

    The schema says what it said before; the index that keeps rows apart knows of no new row.
    """
    connection.execute(
        "CREATE TABLE loose (event_rowid INTEGER PRIMARY KEY, originator_id, originator_version,"
        " topic, state)"
    )
    connection.execute("INSERT INTO loose SELECT * FROM stored_events")
    yield
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute(
        "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master"
        " WHERE name = 'loose') WHERE name = 'stored_events'"
    )
    connection.execute("DELETE FROM sqlite_master WHERE name = 'loose'")
    connection.execute("PRAGMA writable_schema = RESET")


def cut_tiles(connection: sqlite3.Connection, size: int) -> None:
    """Make the tiles those of the first `size` leaves, fewer than a tile has."""
    connection.execute("DELETE FROM tiles WHERE start >= ?", (size,))
    connection.execute("UPDATE tiles SET hashes = substr(hashes, 1, (? - start) * 32)", (size,))


@contextmanager
def unguarded(path: Path) -> Iterator[None]:
    """Put the guard of a new ledger in the place of a ledger's own, and its own back at the end."""
    guard = path / "guard"
    own = guard.read_bytes()
    with Ledger.open(path) as ledger:
        ledger.guard.create()
    yield
    guard.write_bytes(own)


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
