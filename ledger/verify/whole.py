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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from random import SystemRandom
from typing import Final, NamedTuple

import msgspec

from ledger import findings as codes
from ledger import schema
from ledger.checkpoint import Checkpoint, parse_checkpoint, verify_by_ring
from ledger.clock import utc_now
from ledger.envelope import Event
from ledger.errors import EventUnreadable, UnknownStream
from ledger.events import CLOSING
from ledger.findings import Finding
from ledger.keyring import KeyRing
from ledger.leaf import layout
from ledger.ledger import Ledger
from ledger.merkle import leaf_hash
from ledger.recorded import Recorded, read_leaf
from ledger.schema import StoredLeaf
from ledger.store import Store
from ledger.streams import KEYS_STREAM
from ledger.trust import build_ring, given_key
from ledger.verify.anchors import Proves
from ledger.verify.batch import FetchBatch, elsewhere, here
from ledger.verify.known_checkpoints import (
    KnownCheckpoint,
    begins,
    hidden_key,
    promises,
    settled,
    tail_is_gone,
)
from ledger.verify.locate_damage import contradicted
from ledger.verify.ranges import RangeCheck, check_range
from ledger.verify.rebuild_tree import Reread, reread, roots_at
from ledger.verify.scan import Link, check_leaf, check_link, link_of
from ledger.verify.tile_check import bundles
from ledger.verify.times import Bounds, misnamed
from ledger.verify.trusted import (
    KeysHidden,
    Sources,
    Trust,
    TrustedLeaves,
)
from ledger.verify.workers import Progress, over_leaves

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


def read_stream(ledger: Ledger, stream: str) -> tuple[list[Recorded], list[Finding]]:
    """Return a stream's events by one read, and what verifying exactly those finds.

    They are shown as they stand, also those that findings are about. For what it says nothing of
    see `verify_stream`. Raises UnknownStream when there is no such one, and EventUnreadable where
    one cannot be read.
    """
    leaves = sorted(ledger.store.stream(stream))
    return [read_leaf(leaf) for leaf in leaves], _against(ledger, stream, leaves)


def verify_stream(ledger: Ledger, stream: str) -> list[Finding]:
    """Verify one stream's leaves by themselves and as a chain, in order.

    It says nothing of the rest of the ledger: whether the keys were given from outside, and
    whether other rounds vanished, is for `verify`. Raises UnknownStream when there is no such one.
    """
    return _against(ledger, stream, sorted(ledger.store.stream(stream)))


def _against(ledger: Ledger, stream: str, leaves: Sequence[StoredLeaf]) -> list[Finding]:
    if not leaves:
        raise UnknownStream(f"the ledger has nothing in {stream!r}")
    ring, _, _ = build_ring(ledger.store.stream(KEYS_STREAM), None)
    return verified(leaves, ledger.origin, ring).findings


class Verified(NamedTuple):
    """The events of leaves that are to be believed, and what was found against the others."""

    events: list[Recorded]
    findings: list[Finding]


def verified(
    leaves: Sequence[StoredLeaf], origin: str, ring: KeyRing, *, from_start: bool = True
) -> Verified:
    """Verify leaves of one stream, in order, by themselves and as a chain.

    Where they do not begin with the stream's first leaf, `from_start` is False.
    """
    events: list[Recorded] = []
    found: list[Finding] = []
    before: Link | None = None
    for place, leaf in enumerate(leaves):
        event, of_leaf = check_leaf(leaf, origin, ring)
        link = link_of(leaf, event)
        found += of_leaf
        if place or from_start:
            found += check_link(before, link)
        before = link
        if event is not None and not of_leaf:
            events.append(Recorded(leaf.leaf_index, event, leaf_hash(leaf.state), leaf.state))
    return Verified(events, found)


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


def time_bounds(ledger: Ledger) -> Bounds:
    """Return the earliest and latest times that events of a ledger can have."""
    first = ledger.store.fetch(0, 1)
    at = first[0].state[layout.TIME].decode("latin-1") if first else ""
    return Bounds.of(at, utc_now())


def tiles_prove(ledger: Ledger) -> Proves:
    """Return what tells whether stored tiles prove that a tree was seen as it is."""
    return lambda seen, size, root: begins(ledger, seen.size, bytes.fromhex(seen.root), size, root)


def broken_anchors(
    ledger: Ledger, size: int, trust: Trust, others: Iterable[Finding]
) -> list[Finding]:
    """Return what the first `size` leaves break of anchors, where nothing else says so.

    Leaves are hashed again for anchors that no tile proves. `others` are the findings there are:
    what is known to be damaged, or not what a checkpoint was signed for, cannot be what was seen.
    """
    pages = partial(bundles, ledger.store.fetch, ledger.store.bounded(size))
    trust.anchors.settle(lambda sizes: roots_at(sizes, pages()))
    broken, agreeing = trust.anchors.broken, trust.anchors.unbroken
    if broken is None or any(_explains(each, agreeing, broken.seen.size) for each in others):
        return []
    return contradicted(ledger, trust.anchors, trust.known)


def _explains(finding: Finding, agreeing: int, size: int) -> bool:
    """Tell whether a finding says that leaves from `agreeing` up to `size` are altered."""
    leaf = finding.leaf_index
    return finding.code in _ALTERED and (leaf is None or agreeing <= leaf < size)


_ALTERED: Final = {
    codes.SIGNATURE_INVALID, codes.NOT_CANONICAL, codes.SEQ_GAP, codes.PREV_MISMATCH,
    codes.STREAM_MISMATCH, codes.EVENT_UNREADABLE, codes.LEAF_INDEX_GAP, codes.KEY_NOT_VALID,
    codes.CHECKPOINT_MISMATCH, codes.TILE_MISMATCH,
}  # fmt: skip


def lying_index(store: Store, trust: Trust) -> Iterator[Finding]:
    """Yield the leaves of no round that the store's index does not show in their streams."""
    for stream, places in trust.beside.items():
        shown = {leaf.leaf_index for leaf in store.stream(stream)}
        for place in places:
            if place not in shown:
                text = "the store's index hides this leaf from its stream: run fsck"
                yield Finding(codes.INDEX_MISMATCH, text, stream, place)


def broken_findings(size: int, trust: Trust) -> list[Finding]:
    """Return what the first `size` leaves break of known checkpoints.

    They are of the smallest that leaves differ from, and of the largest that they do not reach to.
    """
    found: list[Finding] = []
    for is_receipt in (False, True):
        broken = [
            each.size
            for each in trust.known
            if not each.agrees and (each.source == "receipt") == is_receipt
        ]
        altered = [each for each in broken if each <= size]
        signed = "a receipt speaks of" if is_receipt else "the checkpoint was signed for"
        if altered:
            text = f"the first {min(altered)} leaves are not those {signed}"
            found.append(Finding(codes.CHECKPOINT_MISMATCH, text))
        if len(altered) < len(broken):
            what = "receipt" if is_receipt else "checkpoint"
            found.append(tail_is_gone(max(broken), size, what))
    return found


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


def event_of(leaf: StoredLeaf) -> Event | None:
    """Return what a leaf says, unverified, None where it cannot be read."""
    try:
        return read_leaf(leaf).event
    except EventUnreadable:
        return None


def closing_before(store: Store, stream: str, seq: int, leaf_index: int) -> Link | None:
    """Return the link of the event that closed a round before a leaf, None where none did."""
    closing = [
        leaf
        for leaf in store.stream(stream)
        if leaf.topic in CLOSING and leaf.leaf_index < leaf_index
    ]
    return link_of(max(closing), None) if closing else None


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


def sort_findings(found: Iterable[Finding]) -> list[Finding]:
    """Return findings in the order of their leaves, each once; those without a leaf come last."""
    return sorted(set(found), key=_place)


def _place(finding: Finding) -> tuple[bool, int, str, str]:
    return (
        finding.leaf_index is None,
        finding.leaf_index or 0,
        finding.code,
        finding.stream or "",
    )
