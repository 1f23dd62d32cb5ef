"""What must hold in a transaction: asked of the database at once, looked at when all else is sent.

An answer of PostgreSQL's costs a round trip, and one round trip brings all that was asked before.
What does not hold undoes what was sent meanwhile.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

from shoeproof.ledger.errors import StreamConflict
from shoeproof.ledger.store.schema import SELECT_LAST_SEQ

Check: TypeAlias = Callable[[], None]
"""Waits for what was asked, and raises where it does not hold."""


class Asks(Protocol):
    """What asks the database inside a transaction; a cursor."""

    def later(self, query: str, parameters: tuple[Any, ...] = (), /) -> Callable[[], Any]:
        """Send a query, and return what waits for its first row and gives it, None for no row."""


def not_gone_on(cursor: Asks, after: Mapping[str, int]) -> list[Check]:
    """Return what raises StreamConflict where a stream has not the last `seq` it is mapped to."""
    return [_ends_at(cursor, stream, seq) for stream, seq in after.items()]


def _ends_at(cursor: Asks, stream: str, seq: int) -> Check:
    last = cursor.later(SELECT_LAST_SEQ, (stream,))

    def check() -> None:
        if last()[0] != seq:
            raise StreamConflict(f"another writer appended to {stream}: read it again, then decide")

    return check
