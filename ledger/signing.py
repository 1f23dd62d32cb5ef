"""Signing checkpoints: the only way to one, past the guard and a second look at the disk.

Before a signature is made, the leaves since the last one are read from the disk again and the new
root is derived from them and the guard's peaks. The tiles, written as the leaves came in, must
give the same root. A note is handed out only when the guard remembers it, durably. Every note is
kept in the ledger's directory, named by its size.
"""

from shoeproof.ledger.checkpoint.note import sign_note
from shoeproof.ledger.checkpoint.signed import Checkpoint
from shoeproof.ledger.errors import SigningRefused, StoreDamaged
from shoeproof.ledger.files.durable import write_durably
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.store import directory
from shoeproof.ledger.store.errors import translated_errors
from shoeproof.ledger.store.extends import GO_ON, must_extend
from shoeproof.ledger.store.guard import Signed
from shoeproof.ledger.tree.merkle import Peaks, add_to_peaks, leaf_hashes, root_of_peaks

_AT_A_TIME = 8192
"""How many leaves are read again at a time."""


def sign_checkpoint(ledger: Ledger) -> bytes:
    """Return a signed checkpoint of a ledger as it stands now: a note, to be published verbatim.

    Signing the same tree again returns the same bytes. Raises SigningRefused when the ledger does
    not extend what it last signed, or its disk holds something else than was appended,
    KeyUnusable, StoreUnavailable, StoreDamaged and OSError.
    """
    with ledger.guard.locked() as last:
        size = ledger.size()
        tree = ledger.tree(size)
        must_extend(last, tree)
        peaks = _peaks_from_disk(ledger, last, size)
        root = root_of_peaks(peaks)
        try:
            agrees = root == tree.root()
        except StoreDamaged:
            agrees = False
        if not agrees:
            raise SigningRefused(
                f"leaves {last.size} to {size - 1} on the disk are not what was appended: run "
                f"`shoeproof fsck`, which names the damage; to go on, {GO_ON}"
            )
        note = sign_note(Checkpoint(ledger.origin, size, root).text, *ledger.signers("log"))
        ledger.guard.set(Signed.of(ledger.origin, size, peaks))
        if ledger.path is not None:
            folder = ledger.path / directory.CHECKPOINTS
            folder.mkdir(exist_ok=True)
            # One that is kept already may bear cosignatures by now.
            if not (folder / str(size)).exists():
                write_durably(folder / str(size), note)
    return note


def _peaks_from_disk(ledger: Ledger, last: Signed, size: int) -> Peaks:
    store, peaks, reached = ledger.store, last.raw_peaks, last.size
    # A connection of its own shares no cache with whoever wrote the leaves.
    fetch = store.fetch_states if store.is_in_memory else store.states_fetcher()
    for start, stop in store.ranges(last.size, size, _AT_A_TIME):
        with translated_errors():
            hashes = leaf_hashes(fetch(start, stop))
        peaks = add_to_peaks(peaks, reached, hashes)
        reached += len(hashes)
    return peaks
