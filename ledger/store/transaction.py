"""The transaction that writes, whatever the database is, as the units of work in it see it.

The writer's lock is held, so that what is read is the latest, also of units before it. What a unit
appends is written with all that is derived from it or not at all; the tree grows once, at the end,
by the leaves of all units.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.leaf.streams import KEYS_STREAM
from shoeproof.ledger.store import round_index as rounds
from shoeproof.ledger.store import schema
from shoeproof.ledger.store.checks import Asks, not_gone_on
from shoeproof.ledger.store.extends import must_not_shrink
from shoeproof.ledger.store.intents import mark_recorded
from shoeproof.ledger.store.round_index import Alone
from shoeproof.ledger.tree.merkle import Peaks, leaf_hash
from shoeproof.ledger.tree.tiles import WIDTH, Tree, grow, tile_of

Admit: TypeAlias = Callable[[Sequence[StoredLeaf], Callable[[int], list[StoredLeaf]]], None]
"""Told the leaves about to be committed, and how to read the stream `keys` from a version on as
the transaction sees it; raises to have all of it rolled back
(`shoeproof.ledger.keys.trust.Admission`)."""


class Conditions(NamedTuple):
    """What must hold of the ledger in the transaction of an append.

    `admit` has the last word; `alone` is what must hold of the player's open rounds; `after` maps
    streams that nothing is written to to their last `seq`, -1 for none; `records` are the
    references of the movements of money that the events record, `least` is how many leaves there
    were at least.
    """

    admit: Admit | None = None
    alone: Alone | None = None
    after: Mapping[str, int] = MappingProxyType({})
    records: Sequence[str] = ()
    least: int = 0


UNCONDITIONAL: Final = Conditions()


class Cursor(Asks, Protocol):
    """A cursor inside the transaction; placeholders are question marks."""

    def execute(self, statement: str, parameters: Sequence[Any] = (), /) -> object:
        """Run a statement."""

    def executemany(self, statement: str, rows: Sequence[Sequence[Any]], /) -> object:
        """Run a statement for each row."""

    def fetchone(self) -> Any:
        """Return the next row."""

    def fetchall(self) -> list[Any]:
        """Return the rows left."""

    def mark(self) -> None:
        """Begin what `undo` undoes or `release` keeps."""

    def undo(self, error: Exception) -> None:
        """Undo all since the mark; raise where the database undid more, the transaction itself."""

    def release(self) -> None:
        """Keep all since the mark; raise what is wrong with it, if anything."""


class SealedEvent(NamedTuple):
    """An event on its way into the store: its stream, `seq` + 1, its type, its leaf."""

    originator_id: str
    originator_version: int
    topic: str
    state: bytes


Insert: TypeAlias = Callable[[Cursor, Sequence[SealedEvent], int], None]
"""Writes events as leaves, the first at the index given; each database has its own way."""


class Frontier(NamedTuple):
    """Where a tree goes on from: the number of its leaves, and its peaks."""

    size: int = 0
    peaks: Peaks = ()


class Transaction:
    """One transaction; `execute` and the like are those of its cursor."""

    def __init__(self, cursor: Cursor, insert: Insert) -> None:
        """Write by a cursor that holds the writer's lock."""
        self.execute, self.executemany = cursor.execute, cursor.executemany
        self.fetchone, self.fetchall, self.later = cursor.fetchone, cursor.fetchall, cursor.later
        self._cursor, self._insert = cursor, insert
        self._hashes: list[bytes] = []
        self._start: int | None = None
        self._keys_read: int | None = None

    @property
    def size(self) -> int:
        """The number of leaves, with those appended here."""
        if self._start is None:
            self.execute(schema.SELECT_SIZE)
            self._start = int(self.fetchone()[0])
        return self._start + len(self._hashes)

    def head(self, stream: str) -> StoredLeaf | None:
        """Return a stream's last leaf, or None when it has none."""
        self.execute(schema.SELECT_HEAD, (stream,))
        row = self.fetchone()
        return None if row is None else StoredLeaf(*row)

    def mark(self) -> int:
        """Begin what `undo` undoes or `release` keeps, and return what `undo` asks for."""
        self._cursor.mark()
        return len(self._hashes)

    def undo(self, mark: int, error: Exception) -> None:
        """Undo all since the mark, for an error; raises where the database undid everything."""
        self._cursor.undo(error)
        del self._hashes[mark:]
        self._keys_read = None

    def release(self) -> None:
        """Keep all since the mark; raise what is wrong with it, if anything."""
        self._cursor.release()

    def append(self, events: Sequence[SealedEvent], conditions: Conditions) -> list[int]:
        """Write events and what is derived from them, and return their places.

        Raises what `admit` raises, RoundStillOpen where `alone` does not hold before these events,
        StreamConflict where a stream of `after` has gone on or a movement of `records` was given
        up, and SigningRefused where leaves have vanished.
        """
        must_not_shrink(self.size, conditions.least)
        checks = not_gone_on(self._cursor, conditions.after)
        if conditions.alone is not None:
            checks.append(rounds.refuse_second(self._cursor, conditions.alone))
        checks += mark_recorded(self._cursor, conditions.records)
        leaves = [StoredLeaf(index, *each) for index, each in enumerate(events, self.size)]
        if leaves:
            self._insert(self._cursor, events, self.size)
            rounds.index_rounds(self._cursor, leaves)
        for check in checks:
            check()
        if not leaves:
            return []
        self._hashes += [leaf_hash(leaf.state) for leaf in leaves]
        if any(leaf.stream == KEYS_STREAM for leaf in leaves):
            self._keys_read = None
        if conditions.admit is not None:
            conditions.admit(leaves, self._keys_after)
        return [leaf.leaf_index for leaf in leaves]

    def _keys_after(self, version: int) -> list[StoredLeaf]:
        """Return the leaves of the stream `keys` after a version; read once for many units."""
        if version == self._keys_read:
            return []
        self.execute(schema.SELECT_STREAM_AFTER, (KEYS_STREAM, version))
        found = [StoredLeaf(*row) for row in self.fetchall()]
        self._keys_read = version + len(found)
        return found

    def grow(self, reached: Frontier) -> Frontier:
        """Write what the leaves appended here add to the tree, and return where it goes on from.

        `reached` is where this process left it. If others have written since, it is read again.
        Raises StoreDamaged when the tiles are not those of so many leaves.
        """
        if not self._hashes or self._start is None:
            return reached
        start, peaks = self._start, reached.peaks
        if start != reached.size:
            peaks = Tree(start, self._read_tile).frontier()
        pieces, peaks = grow(start, peaks, self._hashes)
        self.executemany(schema.INSERT_PIECE, pieces)
        return Frontier(self.size, peaks)

    def _read_tile(self, level: int, index: int) -> bytes:
        first = index * WIDTH
        self.execute(schema.SELECT_TILE, (level, first, first + WIDTH))
        return tile_of(first, self.fetchall())
