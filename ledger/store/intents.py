"""Intents: what money was asked for, written durably before anybody is asked for it.

An intent stands in a table of the store, not among the leaves: it says what is still owed to or by
the wallet, and nothing about the round. It ends in one of two ways, and the store's transactions
see to it that it is one only. The transaction that writes the event with the wallet's answer marks
it `recorded`. To cancel the movement, one marks it `dropped` first; from then on that
event cannot be written any more, whatever becomes of a commit whose answer was lost. What was
dropped is owed a cancellation until the wallet confirmed one: `cancelled`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from secrets import token_hex
from typing import Any, Final, Literal, Protocol, TypeAlias, TypeVar

import msgspec

from shoeproof.ledger.errors import IntentOpen, StoreDamaged, StoreUnavailable, StreamConflict
from shoeproof.ledger.store.checks import Asks, Check, not_gone_on
from shoeproof.ledger.store.extends import Growth, must_not_shrink

Direction: TypeAlias = Literal["debit", "credit"]
IntentState: TypeAlias = Literal["asked", "recorded", "dropped", "cancelled"]

_COLUMNS: Final = "scope, attempt, stream, player, direction, amount_minor, asked_at, state"
_INSERT: Final = f"""INSERT INTO intents ({_COLUMNS}, asker)
    SELECT ?, COALESCE(MAX(attempt), -1) + 1, ?, ?, ?, ?, ?, 'asked', ?
    FROM intents WHERE scope = ? RETURNING attempt"""
_IS_MINE: Final = """SELECT 1 FROM intents
    WHERE scope = ? AND attempt = ? AND asker = ? AND state = 'asked'"""
_MOVE: Final = """UPDATE intents SET state = ? WHERE scope = ? AND attempt = ? AND state = ?
    RETURNING attempt"""
_STATE: Final = "SELECT state FROM intents WHERE scope = ? AND attempt = ?"
_ALL: Final = f"SELECT {_COLUMNS} FROM intents"
_OPEN: Final = f"{_ALL} WHERE state IN ('asked', 'dropped')"
_UNRECORDED: Final = """
    SELECT 1 FROM intents WHERE stream = ? AND state IN ('asked', 'dropped')
    UNION ALL SELECT 1 FROM intents WHERE stream = ? AND state = 'cancelled'"""
_STAKE: Final = f"{_OPEN} AND direction = 'debit' AND player = ?"


class Intent(msgspec.Struct, frozen=True):
    """One movement of money that was asked for; `scope` is the step of a round that it is for."""

    scope: str
    attempt: int
    stream: str
    player: str
    direction: Direction
    amount_minor: int
    asked_at: str
    state: IntentState

    @property
    def reference(self) -> str:
        """What the wallet knows the movement by; never used again after a cancellation."""
        return f"{self.scope}.{self.attempt}"


_Answer = TypeVar("_Answer")


class _Cursor(Asks, Protocol):
    @property
    def size(self) -> int: ...


class _Store(Protocol):
    def write(self, work: Callable[[Any], _Answer]) -> _Answer: ...

    def query(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]: ...


class Intents:
    """The intents of one store; what a method writes is durable on return."""

    def __init__(self, store: _Store, now: Callable[[], str], growth: Growth) -> None:
        """Keep them in `store`, dated by `now`.

        They are those of a ledger that extends what was signed, by its `growth`: the rows of a
        restored copy say open what may be settled.
        """
        self._store, self._now, self._growth = store, now, growth

    def must_stand(self) -> None:
        """Raise SigningRefused for a ledger that does not extend what was signed."""
        self._growth.check_size()

    def _write(self, work: Callable[[_Cursor], _Answer]) -> _Answer:
        self._growth.check_if_signed()
        least = self._growth.least

        def write(cursor: _Cursor) -> _Answer:
            must_not_shrink(cursor.size, least)
            return work(cursor)

        return self._store.write(write)

    def ask(
        self,
        scope: str,
        stream: str,
        player: str,
        direction: Direction,
        amount_minor: int,
        after: Mapping[str, int] | None = None,
    ) -> Intent:
        """Write that money is about to be asked for, under a reference never used before.

        `after` maps streams to the last `seq` the asker has seen there. Stakes of a player are
        taken one at a time: raises IntentOpen where another was asked for and nobody knows yet what
        became of it, or its cancellation is owed. Raises StreamConflict where one of those streams
        went on, SigningRefused for a restored copy, and the store's errors: nobody is to be asked
        then.
        """
        asker = token_hex(8)
        asked: list[Intent] = []

        def write(cursor: _Cursor) -> Intent:
            checks = not_gone_on(cursor, after or {})
            if direction == "debit":
                checks.append(_alone(cursor, player))
            of = stream, player, direction, amount_minor, self._now()
            attempt = cursor.later(_INSERT, (scope, *of, asker, scope))
            for check in checks:
                check()
            asked.append(Intent(scope, attempt()[0], *of, "asked"))
            return asked[-1]

        try:
            return self._write(write)
        except (StoreUnavailable, StoreDamaged):
            # The answer to the commit may be what was lost.
            if not asked or not self._stands(asked[-1], asker):
                raise
            return asked[-1]

    def _stands(self, intent: Intent, asker: str) -> bool:
        def is_mine(cursor: _Cursor) -> bool:
            return cursor.later(_IS_MINE, (intent.scope, intent.attempt, asker))() is not None

        return self._store.write(is_mine)

    def drop(self, reference: str) -> IntentState:
        """Rule out that an event will ever record a movement, and return what it is now.

        It is `recorded` where the event stands already: the movement is not to be cancelled then.
        """
        return self._move(reference, "asked", "dropped")

    def record(self, reference: str) -> IntentState:
        """Note that an event records a movement, where its writer did not."""
        return self._move(reference, "asked", "recorded")

    def confirm(self, reference: str) -> IntentState:
        """Note that the wallet cancelled a movement that was dropped."""
        return self._move(reference, "dropped", "cancelled")

    def _move(self, reference: str, old: IntentState, new: IntentState) -> IntentState:
        scope, attempt = _split(reference)

        def move(cursor: _Cursor) -> IntentState:
            cursor.later(_MOVE, (new, scope, attempt, old))
            state: IntentState = cursor.later(_STATE, (scope, attempt))()[0]
            return state

        return self._write(move)

    def open(self, stream: str | None = None) -> list[Intent]:
        """Return what is not settled with the wallet, of one stream or of all, as it was asked."""
        if stream is None:
            rows = self._store.query(f"{_OPEN} ORDER BY asked_at, scope, attempt")
        else:
            rows = self._store.query(f"{_OPEN} AND stream = ? ORDER BY scope, attempt", (stream,))
        return [Intent(*row) for row in rows]

    def all_recorded(self, stream: str) -> bool:
        """Tell whether an event records each movement that was asked for in a stream."""
        return not self._store.query(_UNRECORDED, (stream, stream))

    def all(self) -> list[Intent]:
        """Return every intent there ever was."""
        return [Intent(*row) for row in self._store.query(_ALL)]


def _alone(cursor: Asks, player: str) -> Check:
    stake = cursor.later(_STAKE, (player,))

    def check() -> None:
        row = stake()
        if row is not None:
            before = Intent(*row).reference
            raise IntentOpen(f"the earlier movement {before} of {player} is not settled yet")

    return check


def mark_recorded(cursor: Asks, references: Iterable[str]) -> list[Check]:
    """Mark what an append records, in its transaction.

    Returns what raises StreamConflict for a movement that was dropped.
    """
    return [_mark(cursor, reference) for reference in references]


def _mark(cursor: Asks, reference: str) -> Check:
    moved = cursor.later(_MOVE, ("recorded", *_split(reference), "asked"))

    def check() -> None:
        if moved() is None:
            raise StreamConflict(
                f"the movement {reference} was dropped elsewhere, so it will be cancelled"
            )

    return check


def _split(reference: str) -> tuple[str, int]:
    scope, _, attempt = reference.rpartition(".")
    return scope, int(attempt)
