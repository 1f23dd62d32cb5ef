"""Verification of a whole ledger: every leaf's bytes, signature, signer, place and chain.

It reads leaves and their columns only, never the look-up index of rounds, and finds everything
there is to find rather than the first. Its time is that of the Ed25519 verifications, shared
between processes; its memory is in proportion to the open rounds, not to the ledger. What a kept
checkpoint covers need only be hashed again: that it is unchanged since is then certain, and which
keys signed it was for whoever verified it first; a sample of signatures is checked all the same.
What later leaves depend on, keys and the event before them in their stream, is taken from the bytes
so proven: columns are proven by nothing.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from random import SystemRandom
from typing import NamedTuple

import msgspec

from shoeproof.ledger.checkpoint.signed import Checkpoint, parse_checkpoint, verify_by_ring
from shoeproof.ledger.findings import Finding, sort_findings
from shoeproof.ledger.keys.keyring import KeyRing
from shoeproof.ledger.keys.trust import build_ring, given_key
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.leaf.streams import KEYS_STREAM
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.store import schema
from shoeproof.ledger.store.sqlite import Store
from shoeproof.ledger.verify.batch import FetchBatch, elsewhere, here
from shoeproof.ledger.verify.broken import broken_anchors, broken_findings
from shoeproof.ledger.verify.index_check import lying_index, rows_out_of_place, twice_begun
from shoeproof.ledger.verify.known_checkpoints import (
    KnownCheckpoint,
    hidden_key,
    promises,
    settled,
)
from shoeproof.ledger.verify.ranges import RangeCheck, check_range
from shoeproof.ledger.verify.rebuild_tree import Reread, reread
from shoeproof.ledger.verify.scan import check_leaf, link_of
from shoeproof.ledger.verify.sources import closing_before, event_of, tiles_prove, time_bounds
from shoeproof.ledger.verify.times import misnamed
from shoeproof.ledger.verify.trusted import (
    KeysHidden,
    Sources,
    Trust,
    TrustedLeaves,
)
from shoeproof.ledger.verify.workers import Progress, over_leaves

RUN = 4096
"""How many leaves are scanned at a time."""

SAMPLE = 1000
"""How many signatures are checked among leaves that a kept checkpoint covers."""


class VerifyResult(msgspec.Struct, frozen=True):
    """What verification of the first `size` leaves found, in the order of the leaves.

    `anchor` is the verifier key everything else was trusted by, None when there is no such key.
    The first `covered` leaves were held to a kept checkpoint, and `sampled` of their signatures
    checked; of all others every signature was. `open_rounds` is None where leaves are covered,
    which are not read for what they say. `held` is what the ledger was held to besides: what its
    guard and the checkpoints in its directory promise, the smallest tree first. `anchored` is the
    size of the largest tree that the signer of an event had rightly seen, `root` that of the whole
    tree in lower hex, None where a leaf is missing.
    """

    origin: str
    size: int
    anchor: str | None
    open_rounds: int | None
    findings: list[Finding]
    covered: int = 0
    sampled: int = 0
    held: tuple[KnownCheckpoint, ...] = ()
    anchored: int = 0
    root: str | None = None


def verify(
    ledger: Ledger | Path,
    *,
    public_key: str | None = None,
    checkpoint: bytes | None = None,
    receipts: Sequence[KnownCheckpoint] = (),
    every_signature: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
) -> VerifyResult:
    """Verify every leaf of a ledger, and that it extends every checkpoint its directory keeps.

    `public_key` is the operator's key as handed over outside the ledger, a verifier key or base64
    of 32 bytes: without it a ledger forged as a whole passes. `checkpoint` is a signed one that
    the ledger must extend: leaves it covers are hashed, and their signatures checked only in a
    sample, unless `every_signature` is asked for or the hashes do not agree. `receipts` are what
    others hold of it (`bundle.receipt_checkpoints`). `workers` is by
    default the number of processors. Raises KeyUnusable when `public_key` is none, NoteRefused when
    `checkpoint` is none of this ledger, NotALedger, UnsupportedFormat, StoreUnavailable and
    StoreDamaged.
    """
    expected_anchor = None if public_key is None else given_key(public_key)
    with nullcontext(ledger) if isinstance(ledger, Ledger) else Ledger.open(ledger) as opened:
        # Listed before the size is asked for: a checkpoint signed in between must not seem too
        # large.
        promised, found = promises(opened)
        # A store in memory is in this process's memory.
        shared_by = 1 if opened.store.is_in_memory else workers or os.cpu_count() or 1
        promised += receipts
        begun = _begin(opened, promised, checkpoint, every_signature, shared_by, progress)
        keys, hidden = begun.keys, list[StoredLeaf]()
        while True:
            ring, anchor, of_keys = build_ring([*keys, *hidden], expected_anchor)
            if begun.kept is not None:
                verify_by_ring(begun.kept.note, ring, opened.origin)
            try:
                trusted, of_leaves = _take_all(opened, ring, [*keys, *hidden], begun, progress)
                break
            except KeysHidden as error:
                hidden += error.leaves
        found += [*of_keys, *of_leaves, *map(hidden_key, hidden)]
        sampled = 0
        if begun.covered and begun.kept is not None:
            sampled = min(begun.covered, SAMPLE)
            found += _check_some(opened.store, begun.kept, sampled, opened.origin, ring)
        found += broken_findings(begun.size, trusted.trust)
        found += broken_anchors(opened, begun.size, trusted.trust, found)
        found += lying_index(opened.store, trusted.trust)
        found += rows_out_of_place(opened.store, begun.covered)
        if not begun.covered:
            # Else the last leaf of each stream before the checkpoint is known, and what follows.
            found += twice_begun(opened.store)
    return VerifyResult(
        opened.origin,
        begun.size,
        anchor and anchor.vkey,
        None if begun.covered else trusted.open_rounds,
        sort_findings(found),
        begun.covered,
        sampled,
        tuple(
            msgspec.structs.replace(each, agrees=bool(each.agrees))
            for each in trusted.trust.known
            if each.source == "own"
        ),
        trusted.trust.anchors.unbroken,
        trusted.trust.root,
    )


class _Begun(NamedTuple):
    """What is known before the first leaf is read that `verify` reads whole."""

    size: int
    covered: int
    keys: list[StoredLeaf]
    trust: Callable[[], Trust]
    kept: "_Kept | None"
    workers: int


def _begin(
    ledger: Ledger,
    promised: list[KnownCheckpoint],
    checkpoint: bytes | None,
    every_signature: bool,
    workers: int,
    progress: Progress | None,
) -> _Begun:
    """Hash what a checkpoint given covers, where there is one."""
    store, size = ledger.store, ledger.size()
    keys = store.stream(KEYS_STREAM)
    if checkpoint is None:
        return _Begun(size, 0, keys, partial(Trust.begin, 0, (), promised), None, workers)
    kept = _read_kept(checkpoint, store, workers, progress)
    known = [*promised, kept.known]
    if not kept.agrees:
        return _Begun(size, 0, keys, partial(Trust.begin, 0, (), known), kept, workers)
    keys = kept.reread.keys + [each for each in keys if each.leaf_index >= kept.size]
    if every_signature:
        return _Begun(size, 0, keys, partial(Trust.begin, 0, (), known), kept, workers)
    known = [
        settled(ledger, each, kept.known, workers, None) if each.size <= kept.size else each
        for each in known
    ]
    tails = {stream: link_of(leaf, event_of(leaf)) for stream, leaf in kept.reread.last.items()}
    trust = partial(Trust.begin, kept.size, kept.reread.peaks, known, tails)
    return _Begun(size, kept.size, keys, trust, kept, workers)


def _take_all(
    ledger: Ledger,
    ring: KeyRing,
    keys: list[StoredLeaf],
    begun: _Begun,
    progress: Progress | None,
) -> tuple[TrustedLeaves, list[Finding]]:
    """Take in every leaf that is to be read, in order. Raises KeysHidden."""
    found: list[Finding] = []
    earlier = partial(closing_before, ledger.store)
    sources = Sources(earlier, tiles_prove(ledger), time_bounds(ledger))
    trusted = TrustedLeaves(begun.trust(), keys, sources)
    covered, size, sizes = begun.covered, begun.size, trusted.trust.sizes
    for check in checked_ranges(ledger, ring, covered, size, covered, sizes, begun.workers):
        found += trusted.take(check)
        found += misnamed(check.ends)
        if progress is not None:
            progress(check.run.stop, begun.size)
    return trusted, found


def checked_ranges(
    ledger: Ledger,
    ring: KeyRing,
    start: int,
    stop: int,
    covered: int,
    sizes: tuple[int, ...],
    workers: int,
) -> Iterator[RangeCheck]:
    """Yield the leaves with `start <= leaf_index < stop` checked range by range, in order.

    For `covered` and `sizes` see `ranges.check_range`.
    """
    job, store = partial(_check_range, ledger.origin, ring, covered, sizes), ledger.store
    ranges = store.ranges(start, stop, RUN)
    return over_leaves(job, here(store), elsewhere(store), ranges, workers)


def _check_range(
    origin: str,
    ring: KeyRing,
    covered: int,
    sizes: tuple[int, ...],
    fetch: FetchBatch,
    start: int,
    stop: int,
) -> RangeCheck:
    return check_range(fetch(start, stop), start, stop, origin, ring, covered, sizes).check


class _Kept(NamedTuple):
    """A kept checkpoint, and what the leaves it covers are now."""

    note: bytes
    said: Checkpoint
    size_now: int
    reread: Reread

    @property
    def size(self) -> int:
        return self.said.size

    @property
    def known(self) -> KnownCheckpoint:
        return KnownCheckpoint(self.size, self.said.root.hex(), "given")

    @property
    def agrees(self) -> bool:
        return self.size <= self.size_now and self.reread.root == self.said.root


def _read_kept(note: bytes, store: Store, workers: int, progress: Progress | None) -> _Kept:
    said, size = parse_checkpoint(note), store.size()
    later = [stream for (stream,) in store.query(schema.SELECT_STREAMS_FROM, (said.size,))]
    read = reread(store, min(said.size, size), later, workers, progress)
    return _Kept(note, said, size, read)


def _check_some(
    store: Store, kept: _Kept, sampled: int, origin: str, ring: KeyRing
) -> list[Finding]:
    """Verify, one by one, of the leaves a kept checkpoint covers those of keys and a sample."""
    columns = (leaf.leaf_index for leaf in store.stream(KEYS_STREAM))
    places = {leaf.leaf_index for leaf in kept.reread.keys}
    places.update(place for place in columns if place < kept.size)
    places.update(SystemRandom().sample(range(kept.size), sampled))
    found: list[Finding] = []
    for place in places:
        for leaf in store.fetch(place, place + 1):
            found += check_leaf(leaf, origin, ring)[1]
    return found
