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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from random import SystemRandom
from typing import NamedTuple

import msgspec

from ledger import findings as codes
from ledger import schema
from ledger.checkpoint import Checkpoint, parse_checkpoint, verify_by_ring
from ledger.envelope import Event
from ledger.errors import EventUnreadable, UnknownStream
from ledger.events import CLOSING, KEYS_STREAM
from ledger.findings import Finding
from ledger.keyring import KeyRing
from ledger.ledger import Ledger
from ledger.merkle import leaf_hash
from ledger.recorded import Recorded, read_leaf
from ledger.rehash import Reread, reread
from ledger.scan import Chains, Link, Run, check_leaf, check_link, link_of, scan
from ledger.schema import StoredLeaf
from ledger.sharing import Fetch, Progress, over_leaves
from ledger.store import Store
from ledger.trust import build_ring, given_key

RUN = 1024
"""How many leaves are scanned at a time."""

SAMPLE = 1000
"""How many signatures are checked among leaves that a kept checkpoint covers."""


class VerifyResult(msgspec.Struct, frozen=True):
    """What verification of the first `size` leaves found, in the order of the leaves.

    `anchor` is the verifier key everything else was trusted by, None when there is no such key.
    The first `covered` leaves were held to a kept checkpoint, and `sampled` of their signatures
    checked; of all others every signature was. `open_rounds` is None where leaves are covered,
    which are not read for what they say.
    """

    origin: str
    size: int
    anchor: str | None
    open_rounds: int | None
    findings: list[Finding]
    covered: int = 0
    sampled: int = 0


def verify(
    ledger: Ledger | Path,
    *,
    public_key: str | None = None,
    checkpoint: bytes | None = None,
    every_signature: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
) -> VerifyResult:
    """Verify every leaf of a ledger.

    `public_key` is the operator's key as handed over outside the ledger, a verifier key or base64
    of 32 bytes: without it a ledger forged as a whole passes. `checkpoint` is a signed one that
    the ledger must extend: leaves it covers are hashed, and their signatures checked only in a
    sample, unless `every_signature` is asked for or the hashes do not agree. `workers` is by
    default the number of processors. Raises KeyUnusable when `public_key` is none, NoteRefused when
    `checkpoint` is none of this ledger, NotALedger, UnsupportedFormat, StoreUnavailable and
    StoreDamaged.
    """
    expected_anchor = None if public_key is None else given_key(public_key)
    with nullcontext(ledger) if isinstance(ledger, Ledger) else Ledger.open(ledger) as opened:
        store, size = opened.store, opened.size()
        keys = store.stream(KEYS_STREAM)
        # A store in memory is in this process's memory.
        shared_by = 1 if store.is_in_memory else workers or os.cpu_count() or 1
        kept = None
        if checkpoint is not None:
            kept = _read_kept(checkpoint, store, shared_by, progress)
            if kept.agrees:
                keys = kept.reread.keys + [each for each in keys if each.leaf_index >= kept.size]
        ring, anchor, found = build_ring(keys, expected_anchor)
        covered = sampled = 0
        tails: dict[str, Link] = {}
        if kept is not None:
            found += _check_kept(kept, opened.origin, ring)
            if kept.agrees and not every_signature:
                covered, sampled = kept.size, min(kept.size, SAMPLE)
                tails = {
                    stream: link_of(leaf, event_of(leaf))
                    for stream, leaf in kept.reread.last.items()
                }
                found += _check_some(store, kept, sampled, opened.origin, ring)
        chains = Chains(partial(closing_before, store), tails)
        for run in scan_leaves(opened, ring, covered, size, shared_by):
            found += run.findings
            found += chains.join(run)
            if progress is not None:
                progress(run.stop, size)
        found += rows_out_of_place(store, covered)
        if not covered:
            # Else the last leaf of each stream before the checkpoint is known, and what follows.
            found += twice_begun(store)
    return VerifyResult(
        opened.origin,
        size,
        anchor and anchor.vkey,
        None if covered else chains.open_rounds,
        sort_findings(found),
        covered,
        sampled,
    )


def verify_stream(ledger: Ledger, stream: str) -> list[Finding]:
    """Verify one stream's leaves by themselves and as a chain, in order.

    It says nothing of the rest of the ledger: whether the keys were given from outside, and
    whether other rounds vanished, is for `verify`. Raises UnknownStream when there is no such one.
    """
    ring, _, _ = build_ring(ledger.store.stream(KEYS_STREAM), None)
    leaves = sorted(ledger.store.stream(stream))
    if not leaves:
        raise UnknownStream(f"the ledger has nothing in {stream!r}")
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


def scan_leaves(
    ledger: Ledger, ring: KeyRing, start: int, stop: int, workers: int
) -> Iterator[Run]:
    """Yield what leaves say of themselves, signatures included, run by run, by so many workers."""
    job, store = partial(_scan_range, ledger.origin, ring), ledger.store
    return over_leaves(job, store.fetch, store.fetcher(), start, stop, RUN, workers)


def _scan_range(origin: str, ring: KeyRing, fetch: Fetch[StoredLeaf], start: int, stop: int) -> Run:
    return scan(fetch(start, stop), start, stop, origin, ring)


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
    def agrees(self) -> bool:
        return self.size <= self.size_now and self.reread.root == self.said.root


def _read_kept(note: bytes, store: Store, workers: int, progress: Progress | None) -> _Kept:
    said, size = parse_checkpoint(note), store.size()
    later = [stream for (stream,) in store.query(schema.SELECT_STREAMS_FROM, (said.size,))]
    read = reread(store, min(said.size, size), later, workers, progress)
    return _Kept(note, said, size, read)


def _check_kept(kept: _Kept, origin: str, ring: KeyRing) -> list[Finding]:
    """Return what contradicts a kept checkpoint.

    Raises NoteRefused when it is of another log, or is signed by no key for checkpoints that this
    ledger has added.
    """
    verify_by_ring(kept.note, ring, origin)
    if kept.agrees:
        return []
    if kept.size_now < kept.size:
        text = f"the checkpoint is of {kept.size} leaves, the ledger has {kept.size_now}"
        return [Finding(codes.CHECKPOINT_MISMATCH, f"{text}: its tail is gone")]
    text = f"the first {kept.size} leaves are not those the checkpoint was signed for"
    return [Finding(codes.CHECKPOINT_MISMATCH, text)]


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
