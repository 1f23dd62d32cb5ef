"""What an append writes beside its events, in their transaction, whatever the database is.

By the time this runs the events are inserted and the writer's lock is held, so that the size read
is the latest. Everything here is written with the events or not at all.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from eventsourcing.persistence import StoredEvent

from ledger import rounds, schema, tree
from ledger.errors import StreamConflict
from ledger.events import KEYS_STREAM
from ledger.merkle import HASH_SIZE, leaf_hash
from ledger.rounds import Alone
from ledger.schema import StoredLeaf

Admit: TypeAlias = Callable[[Sequence[StoredLeaf], Callable[[int], list[StoredLeaf]]], None]
"""Told the leaves about to be committed, and how to read the stream `keys` from a version on as
the transaction sees it; raises to have all of it rolled back (`ledger.trust.Admission`)."""


class Cursor(Protocol):
    """A cursor inside the transaction; placeholders are question marks."""

    def execute(self, statement: str, parameters: Sequence[Any] = (), /) -> object:
        """Run a statement."""

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> object:
        """Run a statement for each row."""

    def fetchone(self) -> Any:
        """Return the next row."""

    def fetchall(self) -> list[Any]:
        """Return the rows left."""


def index_events(
    cursor: Cursor,
    row_ids: Sequence[int],
    events: Sequence[StoredEvent],
    admit: Admit | None,
    alone: Alone | None,
    after: Mapping[str, int] | None,
) -> list[int]:
    """Give inserted events their places and write what is derived from them; return the places.

    `row_ids` are the events' rows; `after` maps streams that nothing is written to here to their
    last `seq`. Raises what `admit` raises, RoundStillOpen where `alone` does not hold before these
    events, and StreamConflict where a stream of `after` has gone on.
    """
    for stream, seq in (after or {}).items():
        cursor.execute(schema.SELECT_LAST_SEQ, (stream,))
        if cursor.fetchone()[0] != seq:
            raise StreamConflict(f"{stream} went on elsewhere: read it again, then decide")
    if alone is not None:
        rounds.refuse_second(cursor, alone)
    cursor.execute(schema.SELECT_SIZE)
    start: int = cursor.fetchone()[0]
    leaves = [
        StoredLeaf(index, str(e.originator_id), e.originator_version, e.topic, e.state)
        for index, e in enumerate(events, start)
    ]
    leaf_indices = [leaf.leaf_index for leaf in leaves]
    cursor.executemany(schema.INSERT_LEAF, zip(leaf_indices, row_ids, strict=True))
    rounds.index_rounds(cursor, leaves)
    _grow_tree(cursor, leaves)
    if admit is not None:

        def keys_after(version: int) -> list[StoredLeaf]:
            cursor.execute(schema.SELECT_STREAM_AFTER, (KEYS_STREAM, version))
            return [StoredLeaf(*row) for row in cursor.fetchall()]

        admit(leaves, keys_after)
    return leaf_indices


def _grow_tree(cursor: Cursor, leaves: Sequence[StoredLeaf]) -> None:
    def read(level: int, index: int) -> bytes:
        cursor.execute(schema.SELECT_TILE, (level, index))
        row = cursor.fetchone()
        return b"" if row is None else bytes(row[0])

    if not leaves:
        return
    start = leaves[0].leaf_index
    hashes = [leaf_hash(leaf.state) for leaf in leaves]
    index, width = divmod(start, tree.WIDTH)
    if width and width + len(hashes) < tree.WIDTH:
        # Nearly every append only makes one tile longer, which need not be read for that.
        cursor.execute(schema.GROW_TILE, (b"".join(hashes), index, width * HASH_SIZE))
        if cursor.fetchall():
            return
    cursor.executemany(schema.PUT_TILE, tree.grow(start, hashes, read))
