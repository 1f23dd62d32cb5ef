"""Where a ledger is not what a checkpoint was signed for, as narrowly as can be told.

Where the stored tiles still give the checkpoint's root, they are what was signed, and each leaf is
held to its own hash. Where they do not, as after a careful forgery, the ledger's other checkpoints
tell up to where it still is what it was.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

from ledger import findings as codes
from ledger.checkpoint import parse_checkpoint
from ledger.errors import NoteRefused, StoreDamaged
from ledger.findings import Finding
from ledger.held import Held
from ledger.ledger import Ledger
from ledger.rehash import roots_at
from ledger.signing import kept_checkpoints
from ledger.tile_check import bundles, check_tiles

_MOST = 100
"""How many places are named one by one."""


def narrowed(ledger: Ledger, broken: Held, others: Iterable[Held]) -> list[Finding]:
    """Return findings that say where the leaves are not those a checkpoint was signed for."""
    size = broken.size
    text = f"the first {size} leaves are not those the checkpoint was signed for"
    if tiles_give(ledger, size, bytes.fromhex(broken.root)):
        places = list(islice(_altered(ledger, size), _MOST + 1))
        more = f", {_MOST} of them named here" if len(places) > _MOST else ""
        if places:
            text += f": the tree is, and where leaves differ from it is named{more}"
        return [Finding(codes.CHECKPOINT_MISMATCH, text), *places[:_MOST]]
    promised = {held.size: held.root for held in others if held.size < size}
    promised.update(_kept_before(ledger, size))
    roots = roots_at(promised, bundles(ledger.store.fetch, size))
    holds = [each for each in promised if roots.get(each, b"").hex() == promised[each]]
    first = max(holds, default=0)
    text += f": what differs stands between leaf {first} and leaf {size - 1}"
    return [Finding(codes.CHECKPOINT_MISMATCH, text, None, first)]


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
