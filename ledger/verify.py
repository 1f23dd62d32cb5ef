"""Verification of a whole ledger: every leaf's bytes, signature, signer, place and chain.

It reads leaves and their columns only, never the look-up index of rounds, and finds everything
there is to find rather than the first. Its time is that of the Ed25519 verifications, shared
between processes; its memory is in proportion to the open rounds, not to the ledger.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import TypeAlias

import msgspec

from ledger import findings as codes
from ledger import schema
from ledger.errors import UnknownStream
from ledger.events import CLOSING, KEYS_STREAM
from ledger.findings import Finding
from ledger.keyring import KeyRing
from ledger.ledger import Ledger
from ledger.scan import Chains, Link, Run, check_leaf, check_link, link_of, scan
from ledger.schema import StoredLeaf, fetch_leaves
from ledger.store import Store, translated_errors
from ledger.trust import build_ring, given_key

RUN = 1024
"""How many leaves are scanned at a time."""

SHARED_FROM = 10_000
"""From how many leaves on worker processes are worth the time they take to start.

Threads would start at once, but take turns at interpreting leaves, and were measured to lose up to
half of their time in waiting for each other. A script that verifies a ledger of this size must
guard its entry with `if __name__ == "__main__"`, as every script that starts processes, or ask for
one worker.
"""

Progress: TypeAlias = Callable[[int, int], None]
"""Told, from time to time, how many leaves are verified and of how many."""


class VerifyResult(msgspec.Struct, frozen=True):
    """What verification of the first `size` leaves found, in the order of the leaves.

    `anchor` is the verifier key everything else was trusted by, None when there is no such key.
    """

    origin: str
    size: int
    anchor: str | None
    open_rounds: int
    findings: list[Finding]


def verify(
    ledger: Ledger | Path,
    *,
    public_key: str | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> VerifyResult:
    """Verify every leaf of a ledger.

    `public_key` is the operator's key as handed over outside the ledger, a verifier key or base64
    of 32 bytes: without it a ledger forged as a whole passes. `workers` is by default the number
    of processors. Raises KeyUnusable when `public_key` is none, NotALedger, UnsupportedFormat,
    StoreUnavailable and StoreDamaged.
    """
    expected_anchor = None if public_key is None else given_key(public_key)
    with nullcontext(ledger) if isinstance(ledger, Ledger) else Ledger.open(ledger) as opened:
        store, size = opened.store, opened.size()
        ring, anchor, found = build_ring(store.stream(KEYS_STREAM), expected_anchor)
        chains = Chains(partial(_closing, store))
        for run in _runs(store, opened.origin, ring, size, workers or os.cpu_count() or 1):
            found += run.findings
            found += chains.join(run)
            if progress is not None:
                progress(run.stop, size)
        found += _rows_out_of_place(store)
    return VerifyResult(
        opened.origin,
        size,
        anchor and anchor.vkey,
        chains.open_rounds,
        sorted(set(found), key=_place),
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
    found: list[Finding] = []
    before: Link | None = None
    for leaf in leaves:
        event, of_leaf = check_leaf(leaf, ledger.origin, ring)
        link = link_of(leaf, event)
        found += of_leaf
        found += check_link(before, link)
        before = link
    return found


def _runs(store: Store, origin: str, ring: KeyRing, size: int, workers: int) -> Iterator[Run]:
    ranges = ((start, min(start + RUN, size)) for start in range(0, size, RUN))
    if store.is_in_memory or workers == 1 or size < SHARED_FROM:
        for start, stop in ranges:
            yield _scan_range(store.fetch, origin, ring, start, stop)
        return
    job = partial(_scan_range, partial(fetch_leaves, store.database), origin, ring)
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool, translated_errors():
        # A bounded look-ahead keeps finished runs from piling up.
        ahead = deque(pool.submit(job, *bounds) for bounds in islice(ranges, 4 * workers))
        while ahead:
            yield ahead.popleft().result()
            ahead.extend(pool.submit(job, *bounds) for bounds in islice(ranges, 1))


def _scan_range(
    fetch: Callable[[int, int], list[StoredLeaf]],
    origin: str,
    ring: KeyRing,
    start: int,
    stop: int,
) -> Run:
    return scan(fetch(start, stop), start, stop, origin, ring)


def _closing(store: Store, stream: str, seq: int, leaf_index: int) -> Link | None:
    for leaf in store.stream(stream):
        if leaf.version == seq + 1 and leaf.topic in CLOSING and leaf.leaf_index < leaf_index:
            return link_of(leaf, None)
    return None


def _rows_out_of_place(store: Store) -> list[Finding]:
    unindexed = [
        Finding(codes.LEAF_INDEX_GAP, "an event is stored without a place", stream, None, seq)
        for stream, seq in store.query(schema.SELECT_UNINDEXED)
    ]
    return unindexed + [
        Finding(codes.SEQ_GAP, "the stream begins more than once", stream, None, 0)
        for (stream,) in store.query(schema.SELECT_TWICE_BEGUN)
    ]


def _place(finding: Finding) -> tuple[bool, int, str, str]:
    return (
        finding.leaf_index is None,
        finding.leaf_index or 0,
        finding.code,
        finding.stream or "",
    )
