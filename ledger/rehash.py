"""The tree derived anew from the leaves on the disk, and held to checkpoints.

Nothing the store says of hashes is read here: every leaf's bytes are hashed again.
"""

from collections.abc import Iterable, Sequence

from ledger import findings as codes
from ledger.checkpoint import Checkpoint, log_keys, parse_checkpoint, verify_checkpoint
from ledger.findings import Finding
from ledger.keyring import KeyRing
from ledger.merkle import Peaks, add_to_peaks, leaf_hashes, peaks_of, root_of_peaks
from ledger.schema import StoredLeaf
from ledger.sharing import Fetch, Progress, over_leaves
from ledger.store import Store

BLOCK = 1 << 15
"""How many leaves are hashed at a time: a power of two, so that each block is a subtree."""


SHARED_FROM = 200_000
"""From how many leaves on worker processes hash sooner than this one alone (measured)."""


def root_on_disk(store: Store, size: int, workers: int, progress: Progress | None = None) -> bytes:
    """Return the 32-byte root over the first `size` leaves as they are on the disk."""
    peaks: Peaks = ()
    workers = workers if size >= SHARED_FROM else 1
    blocks = over_leaves(
        _peaks_of_block, store.fetch_states, store.states_fetcher(), 0, size, BLOCK, workers
    )
    for number, of_block in enumerate(blocks):
        done = min((number + 1) * BLOCK, size)
        # A whole block is one complete subtree, and so a leaf of a tree of blocks.
        is_whole = done == (number + 1) * BLOCK
        peaks = add_to_peaks(peaks, number, of_block) if is_whole else peaks + of_block
        if progress is not None:
            progress(done, size)
    return root_of_peaks(peaks)


def _peaks_of_block(fetch: Fetch[bytes], start: int, stop: int) -> Peaks:
    hashes = leaf_hashes(fetch(start, stop))
    # Where leaves are missing the root must come out wrong, not the number of subtrees.
    return peaks_of(hashes + [b""] * (stop - start - len(hashes)))


def roots_at(sizes: Iterable[int], pages: Iterable[Sequence[StoredLeaf]]) -> dict[int, bytes]:
    """Return the roots of the trees of these sizes, for as many as there are leaves.

    `pages` are all leaves in order, some at a time.
    """
    wanted = sorted(set(sizes))
    roots: dict[int, bytes] = {}
    peaks: Peaks = ()
    count = 0
    for page in pages:
        hashes = leaf_hashes(leaf.state for leaf in page)
        while wanted and wanted[0] <= count + len(hashes):
            size = wanted.pop(0)
            roots[size] = root_of_peaks(add_to_peaks(peaks, count, hashes[: size - count]))
        peaks, count = add_to_peaks(peaks, count, hashes), count + len(hashes)
    return roots


def check_kept(
    note: bytes, store: Store, origin: str, ring: KeyRing, workers: int, progress: Progress | None
) -> tuple[Checkpoint, list[Finding]]:
    """Hold a ledger to a checkpoint somebody kept; return what it says and what contradicts it.

    Raises NoteRefused when it is no checkpoint, is of another log, or is signed by no key for
    checkpoints that this ledger has added.
    """
    said = parse_checkpoint(note)
    kept = verify_checkpoint(note, log_keys(ring, origin, said.size), origin).checkpoint
    size = store.size()
    if size < kept.size:
        text = f"the checkpoint is of {kept.size} leaves, the ledger has {size}: its tail is gone"
        return kept, [Finding(codes.CHECKPOINT_MISMATCH, text)]
    if root_on_disk(store, kept.size, workers, progress) != kept.root:
        text = f"the first {kept.size} leaves are not those the checkpoint was signed for"
        return kept, [Finding(codes.CHECKPOINT_MISMATCH, text)]
    return kept, []
