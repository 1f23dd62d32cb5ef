"""A ledger rebuilt from its leaves alone: those of an export, or those that were published.

Every leaf stands where it stood, verbatim, the keys it was verified by among them, so that tree and
checkpoints are those of the ledger that was lost. All of it is verified from the operator's public
key before the directory appears. Only someone who knows the newest checkpoint can say that
nothing was signed after it; without that, the rebuilt ledger can be read but not written to.
"""

import shutil
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from shoeproof.ledger.checkpoint.signed import parse_checkpoint
from shoeproof.ledger.errors import ImportRefused, KeyUnusable, StreamConflict
from shoeproof.ledger.exchange.publish import PublishedLog
from shoeproof.ledger.exchange.tile_files import CHECKPOINT
from shoeproof.ledger.exchange.transfer import BATCH
from shoeproof.ledger.files.durable import write_durably
from shoeproof.ledger.keys.key import PrivateKey
from shoeproof.ledger.leaf.clock import utc_now
from shoeproof.ledger.leaf.recorded import read_leaf
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.store import directory
from shoeproof.ledger.store.guard import Signed
from shoeproof.ledger.store.opening import store_at
from shoeproof.ledger.store.sqlite import Store
from shoeproof.ledger.store.transaction import SealedEvent
from shoeproof.ledger.tree.merkle import Peaks, add_to_peaks, leaf_hashes
from shoeproof.ledger.verify.scan import leaf_from_bytes
from shoeproof.ledger.verify.whole import verify


class Rebuilt(NamedTuple):
    """A rebuilt ledger; `is_writable` tells that it has a guard and private keys."""

    origin: str
    size: int
    is_writable: bool


def published_leaves(folder: Path) -> tuple[Iterator[bytes], bytes]:
    """Return the leaves that were published in a folder, and the checkpoint they are held to.

    Raises OSError, and NoteRefused where the checkpoint is none.
    """
    note = (folder / CHECKPOINT).read_bytes()
    log = PublishedLog(folder, parse_checkpoint(note).size)
    return (leaf.state for leaf in chain.from_iterable(log.bundles())), note


def rebuild(
    path: Path,
    leaves: Iterable[bytes],
    public_key: str,
    *,
    checkpoint: bytes | None = None,
    is_newest: bool = False,
    private_keys: Path | None = None,
    database_url: str | None = None,
    escrow_public_key: str | None = None,
) -> Rebuilt:
    """Make a ledger's directory of its leaves, the first one first.

    `public_key` is the operator's as handed over outside. `checkpoint` is one the leaves must
    extend; where the caller vouches that it `is_newest`, nothing having been signed after it, the
    ledger may be written again with its `private_keys`, a folder of the files in `keys/`. Raises
    ImportRefused for leaves that are not sound, NoteRefused for a checkpoint that is none of them,
    and what `Ledger.init` raises.
    """
    states = iter(leaves)
    first = next(states, None)
    if first is None:
        raise ImportRefused("there are no leaves to rebuild a ledger from")
    origin = read_leaf(leaf_from_bytes(0, first)).event.ledger
    with directory.building(path) as temporary:
        directory.write_settings(temporary, origin, database_url, escrow_public_key)
        _copy_keys(private_keys, temporary / directory.KEYS)
        place = database_url or temporary / directory.DATABASE
        with store_at(place, create=True) as store:
            promised = 0 if checkpoint is None else parse_checkpoint(checkpoint).size
            peaks = _take_in(store, chain([first], states), promised)
            made = Ledger(temporary, origin, store, _no_key, utc_now)
            made.guard.create()
            _must_be_sound(made, public_key, checkpoint)
            if checkpoint is not None:
                (temporary / directory.CHECKPOINTS).mkdir()
                write_durably(temporary / directory.CHECKPOINTS / str(promised), checkpoint)
                made.guard.set(Signed.of(origin, promised, peaks))
            if checkpoint is None or not is_newest:
                # What was signed last is not known: until its guard is put back it is only read.
                (temporary / directory.GUARD).unlink()
            size = made.size()
    return Rebuilt(origin, size, checkpoint is not None and is_newest and private_keys is not None)


def _copy_keys(source: Path | None, target: Path) -> None:
    target.mkdir(mode=0o700)
    for file in () if source is None else sorted(source.glob("*.pem")):
        shutil.copy2(file, target / file.name)


def _no_key(name: str) -> PrivateKey:
    raise KeyUnusable(f"no {name} key: nothing is signed while a ledger is rebuilt")


def _take_in(store: Store, states: Iterator[bytes], promised: int) -> Peaks:
    """Store leaves as they are, and return the peaks of the tree of the first `promised`."""
    peaks: Peaks = ()
    start = 0
    while batch := list(islice(states, BATCH)):
        found = [leaf_from_bytes(start + number, state) for number, state in enumerate(batch)]
        try:
            store.append([SealedEvent(*leaf[1:]) for leaf in found])
        except StreamConflict:
            stop = start + len(batch) - 1
            raise ImportRefused(
                f"leaves {start} to {stop}: one claims the place of another in its stream"
            ) from None
        within = batch[: max(0, promised - start)]
        peaks = add_to_peaks(peaks, start, leaf_hashes(within)) if within else peaks
        start += len(batch)
    return peaks


def _must_be_sound(made: Ledger, public_key: str, checkpoint: bytes | None) -> None:
    result = verify(made, public_key=public_key, checkpoint=checkpoint, every_signature=True)
    if result.findings:
        worst = result.findings[0]
        where = "" if worst.leaf_index is None else f"leaf {worst.leaf_index}: "
        raise ImportRefused(
            f"{where}{worst.code}, {worst.text}; {len(result.findings)} findings in all: no "
            f"ledger was made from these leaves"
        )
