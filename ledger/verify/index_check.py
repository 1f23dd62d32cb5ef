"""What the store's columns and indexes hold beside the leaves, held to the leaves."""

from collections.abc import Iterator

from shoeproof.ledger import findings as codes
from shoeproof.ledger.findings import Finding
from shoeproof.ledger.store import schema
from shoeproof.ledger.store.sqlite import Store
from shoeproof.ledger.verify.trusted import Trust


def lying_index(store: Store, trust: Trust) -> Iterator[Finding]:
    """Yield the leaves of no round that the store's index does not show in their streams."""
    for stream, places in trust.beside.items():
        shown = {leaf.leaf_index for leaf in store.stream(stream)}
        for place in places:
            if place not in shown:
                text = "the store's index hides this leaf from its stream: run fsck"
                yield Finding(codes.INDEX_MISMATCH, text, stream, place)


def rows_out_of_place(store: Store, covered: int) -> list[Finding]:
    """Return what the columns hold beside the leaves: events without a place, or with two.

    Where `covered` is not 0, a checkpoint agrees with so many leaves. Of streams that begin twice
    see `twice_begun`.
    """
    events, leaves = store.query(schema.SELECT_COUNTS)[0]
    if covered and events == leaves:
        # What stands before the checkpoint stood so when it was signed.
        return []
    return [
        Finding(codes.LEAF_INDEX_GAP, "an event is stored without a place", stream, None, seq)
        for stream, seq in store.query(schema.SELECT_UNINDEXED)
    ]


def twice_begun(store: Store) -> list[Finding]:
    """Return the streams that begin more than once by the columns.

    Where the leaves of a closed round are stored a second time, each signature and each link to
    the leaf before holds: nothing else tells that they are not another round.
    """
    return [
        Finding(codes.SEQ_GAP, "the stream begins more than once", stream, None, 0)
        for (stream,) in store.query(schema.SELECT_TWICE_BEGUN)
    ]
