"""`fsck`: everything derived again from the stored bytes, and all that disagrees named.

It repairs nothing. Leaves are verified, the tree is rebuilt from them and held to the stored
tiles, to the guard and to every checkpoint the directory keeps, and the look-up index is derived
again. The largest checkpoint that still holds says how far the ledger is what was signed.
"""

import sqlite3
from contextlib import closing

import msgspec

from shoeproof.ledger import findings as codes
from shoeproof.ledger.checkpoint.signed import Checkpoint
from shoeproof.ledger.errors import EventUnreadable
from shoeproof.ledger.findings import Finding, sort_findings
from shoeproof.ledger.leaf.recorded import read_leaf
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.store import round_index as rounds
from shoeproof.ledger.store import schema
from shoeproof.ledger.verify.locate_damage import tiles_give
from shoeproof.ledger.verify.tile_check import bundles, check_end, check_tiles
from shoeproof.ledger.verify.whole import verify
from shoeproof.ledger.verify.workers import Progress

_OF_THE_LEAF_ITSELF = {
    codes.SIGNATURE_INVALID,
    codes.EVENT_UNREADABLE,
    codes.LEAF_INDEX_GAP,
    codes.TILE_MISMATCH,
}


class Checkup(msgspec.Struct, frozen=True):
    """What was found, in the order of the leaves.

    `last_good` is the largest tree the guard or a kept checkpoint promised whose root the leaves on
    the disk still give: all of its leaves are exactly those that were signed. `damaged` are leaves
    that are missing or not what they were; `proven` is the size of the largest tree promised whose
    root the tiles still give, so that its leaves, but for the damaged, are those that were signed.
    """

    origin: str
    size: int
    findings: list[Finding]
    last_good: Checkpoint | None
    damaged: list[int]
    proven: int


def fsck(
    ledger: Ledger, *, public_key: str | None = None, progress: Progress | None = None
) -> Checkup:
    """Check a ledger's directory, all of it.

    `public_key` is the operator's as handed over outside. Raises KeyUnusable when it is none,
    StoreUnavailable, and StoreDamaged when the database cannot be read at all.
    """
    size = ledger.size()
    found = [
        Finding(codes.DATABASE_DAMAGED, f"the database reports: {line}")
        for line in ledger.store.complaints()
    ]
    verified = verify(ledger, public_key=public_key, progress=progress)
    found += verified.findings
    bounded = ledger.store.bounded(size)
    found += check_tiles(bundles(ledger.store.fetch, bounded), bounded, ledger.store.read_tile)
    too_many = list(check_end(size, ledger.store.read_tile))
    found += too_many if ledger.size() == size else []
    promises = [
        (each.agrees, Checkpoint(ledger.origin, each.size, bytes.fromhex(each.root)))
        for each in verified.held
    ]
    found += _check_look_up(ledger, size)
    return Checkup(
        ledger.origin,
        size,
        sort_findings(found),
        max((each for agrees, each in promises if agrees), key=_size, default=None),
        sorted(
            {
                each.leaf_index
                for each in found
                if each.leaf_index is not None and each.code in _OF_THE_LEAF_ITSELF
            }
        ),
        max(
            (
                each.size
                for _, each in promises
                if each.size <= size and tiles_give(ledger, each.size, each.root)
            ),
            default=0,
        ),
    )


def _size(checkpoint: Checkpoint) -> int:
    return checkpoint.size


def _check_look_up(ledger: Ledger, size: int) -> list[Finding]:
    """Derive the look-up index of rounds again and compare."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(schema.CREATE_ROUNDS)
        for leaves in bundles(ledger.store.fetch, ledger.store.bounded(size)):
            rounds.index_rounds(connection, filter(_is_readable, leaves))
        everything = "SELECT * FROM rounds ORDER BY round"
        derived = {row[0]: row for row in connection.execute(everything)}
        stored = {row[0]: row for row in ledger.store.query(everything)}
    return [
        Finding(
            codes.LOOK_UP_MISMATCH,
            "the look-up index does not agree with the leaves of this round",
            round_id,
        )
        for round_id in sorted(derived.keys() | stored.keys())
        if derived.get(round_id) != stored.get(round_id)
    ]


def _is_readable(leaf: StoredLeaf) -> bool:
    try:
        return read_leaf(leaf).event.type == leaf.topic
    except EventUnreadable:
        return False
