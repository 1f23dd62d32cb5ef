"""Verified leaves: the only way from a ledger into a table.

Each leaf passes the checks that `ledger.verify` makes of its form, signature, signer, place and
chain. From the first objection on nothing is yielded. Two findings are no objection here, since
they leave no doubt of the bytes or their order and say only that the signer misbehaved: a clock
that went backwards, and an event after the close of its round, which counts for nothing.
"""

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import islice

from audit_reports.errors import LeafRefused
from ledger import Finding, Ledger, StoredLeaf
from ledger.events import KEYS_STREAM
from ledger.findings import CLOCK_BACKWARDS, EVENT_AFTER_CLOSE
from ledger.keyring import KeyRing
from ledger.scan import Chains, Link, Run, check_leaf, link_of, scan
from ledger.trust import build_ring
from ledger.verify import RUN

_NO_OBJECTION = {CLOCK_BACKWARDS, EVENT_AFTER_CLOSE}


def verified_runs(ledger: Ledger, start: int, stop: int) -> Iterator[list[StoredLeaf]]:
    """Yield the leaves with `start <= leaf_index < stop` in order, a run of them at a time.

    What stands before `start` is trusted to have been verified before, except where a stream goes
    on from it. Signatures are verified by threads, which share the processors. Raises LeafRefused
    for the first leaf there is an objection to, and the ledger's errors.
    """
    ring, _, found = build_ring(ledger.store.stream(KEYS_STREAM), None)
    changes = [each for each in found if each.leaf_index is not None]
    chains = Chains(partial(_link_before, ledger, ring))
    for leaves, run in _scanned(ledger, ring, start, stop):
        of_keys = [each for each in changes if run.start <= (each.leaf_index or 0) < run.stop]
        _refuse_any(run.findings + of_keys + chains.join(run))
        yield leaves


def _scanned(
    ledger: Ledger, ring: KeyRing, start: int, stop: int
) -> Iterator[tuple[list[StoredLeaf], Run]]:
    bounds = ((first, min(first + RUN, stop)) for first in range(start, stop, RUN))
    workers = os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:

        def scanning(bound: tuple[int, int]) -> tuple[list[StoredLeaf], Future[Run]]:
            leaves = ledger.store.fetch(*bound)
            return leaves, pool.submit(scan, leaves, *bound, ledger.origin, ring)

        # A bounded look-ahead keeps scanned runs from piling up.
        ahead = deque(map(scanning, islice(bounds, 2 * workers)))
        while ahead:
            leaves, future = ahead.popleft()
            yield leaves, future.result()
            ahead.extend(map(scanning, islice(bounds, 1)))


def _link_before(
    ledger: Ledger, ring: KeyRing, stream: str, seq: int, leaf_index: int
) -> Link | None:
    # The last one by leaf index, whatever `seq` was asked for: a copy of an earlier event would
    # find the event it once followed, but it does not stand after the last.
    before = [leaf for leaf in ledger.store.stream(stream) if leaf.leaf_index < leaf_index]
    if not before:
        return None
    last = max(before)
    return link_of(last, check_leaf(last, ledger.origin, ring)[0])


def _refuse_any(found: Iterable[Finding]) -> None:
    objections = [finding for finding in found if finding.code not in _NO_OBJECTION]
    if objections:
        raise LeafRefused(min(objections, key=lambda finding: finding.leaf_index or 0))
