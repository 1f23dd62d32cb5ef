"""Where a ledger is not what a checkpoint was signed for, as narrowly as can be told.

Where the stored tiles still give the checkpoint's root, they are what was signed, and each leaf is
held to its own hash. Where they do not, as after a careful forgery, the ledger's other checkpoints
tell up to where it still is what it was.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

from shoeproof.ledger import findings as codes
from shoeproof.ledger.checkpoint.signed import parse_checkpoint
from shoeproof.ledger.errors import NoteRefused, StoreDamaged
from shoeproof.ledger.findings import Finding
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.store.kept_checkpoints import kept_checkpoints
from shoeproof.ledger.verify.anchors import AnchorNotes
from shoeproof.ledger.verify.known_checkpoints import KnownCheckpoint
from shoeproof.ledger.verify.rebuild_tree import roots_at
from shoeproof.ledger.verify.tile_check import bundles, check_tiles

_MOST = 100
"""How many places are named one by one."""


def narrowed(
    ledger: Ledger, broken: KnownCheckpoint, others: Iterable[KnownCheckpoint]
) -> list[Finding]:
    """Return findings that say where the leaves are not those a checkpoint was signed for."""
    first, more, places = _where(ledger, broken, others)
    text = f"the first {broken.size} leaves are not those the checkpoint was signed for{more}"
    return [Finding(codes.CHECKPOINT_MISMATCH, text, None, first), *places]


def contradicted(
    ledger: Ledger, anchors: AnchorNotes, known: Iterable[KnownCheckpoint]
) -> list[Finding]:
    """Return findings that say where leaves are not what signers of later events had seen.

    Where larger trees were rightly seen, signers disagree, and nothing here tells who is right.
    """
    anchor = anchors.broken
    if anchor is None:
        return []
    size, leaf, stream = anchor.seen.size, anchor.leaf_index, anchor.stream
    if size > leaf:
        text = f"its signer names a tree of {size} leaves when there were only {leaf}"
        return [Finding(codes.ANCHOR_MISMATCH, text, stream, leaf)]
    if anchors.agreeing >= size:
        text = (
            f"its signer had seen a different tree of {size} leaves, while other signers saw this "
            "one: this event, or one before it, was signed on another copy of the ledger"
        )
        return [Finding(codes.ANCHOR_MISMATCH, text, stream, leaf)]
    broken = KnownCheckpoint(size, anchor.seen.root, "own", agrees=False)
    seen = KnownCheckpoint(anchors.agreeing, "", "own", agrees=True)
    first, more, places = _where(ledger, broken, [seen, *known])
    others = anchors.count - 1
    also = f" and of {others} more" if others else ""
    text = (
        f"the first {size} leaves are not those that the signers of leaf {leaf}{also} had "
        f"seen{more}"
    )
    at = places[0].leaf_index if places else first
    return [Finding(codes.ANCHOR_MISMATCH, text, None, at), *places]


def _where(
    ledger: Ledger, broken: KnownCheckpoint, others: Iterable[KnownCheckpoint]
) -> tuple[int | None, str, list[Finding]]:
    """Return from which leaf on leaves differ, that in words, and those that are known to."""
    size = broken.size
    if tiles_give(ledger, size, bytes.fromhex(broken.root)):
        places = list(islice(_altered(ledger, size), _MOST + 1))
        more = f", {_MOST} of them named here" if len(places) > _MOST else ""
        text = (
            f": the stored tree does match, and the leaves that differ from it are named{more}"
            if places
            else ""
        )
        return None, text, places[:_MOST]
    smaller = [each for each in others if each.size < size]
    promised = {each.size: each.root for each in smaller if each.agrees is None}
    promised.update(_kept_before(ledger, size))
    roots = roots_at(promised, bundles(ledger.store.fetch, ledger.store.bounded(size)))
    holds = [each for each in promised if roots.get(each, b"").hex() == promised[each]]
    holds += [each.size for each in smaller if each.agrees]
    first = max(holds, default=0)
    return first, f": the difference lies between leaf {first} and leaf {size - 1}", []


def tiles_give(ledger: Ledger, size: int, root: bytes) -> bool:
    """Tell whether the stored tiles give a root for a tree of so many leaves."""
    try:
        return ledger.tree(size).root() == root
    except StoreDamaged:
        return False


def _kept_before(ledger: Ledger, size: int) -> Iterator[tuple[int, str]]:
    # What they are worth is seen when the leaves give their roots, whoever signed them.
    for note in [] if ledger.path is None else kept_checkpoints(ledger.path):
        try:
            said = parse_checkpoint(note)
        except NoteRefused:
            continue
        if said.size < size:
            yield said.size, said.root.hex()


def _altered(ledger: Ledger, size: int) -> Iterator[Finding]:
    """Yield one finding for each run of neighbouring leaves that differ from their tiles."""
    first = last = None
    size = ledger.store.bounded(size)
    for found in check_tiles(bundles(ledger.store.fetch, size), size, ledger.store.read_tile):
        leaf = found.leaf_index
        if found.stream is None or leaf is None:
            yield found
        elif last is not None and leaf == last + 1:
            last = leaf
        else:
            if first is not None:
                yield _run(first, last)
            first = last = leaf
    if first is not None:
        yield _run(first, last)


def _run(first: int, last: int | None) -> Finding:
    which = f"leaf {first} is" if first == last else f"leaves {first} to {last} are"
    text = f"{which} not what the checkpoint was signed for"
    return Finding(codes.TILE_MISMATCH, text, None, first)
