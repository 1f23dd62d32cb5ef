"""Signatures of leaves chosen at random, beside an audit that reads what they say.

A sample shows that a ledger is signed at all; it finds a single forged leaf among n with chance
k/n and so clears no single round. `ledger.verify` checks every one.
"""

import secrets

import msgspec

from ledger import Finding, Ledger
from ledger.events import KEYS_STREAM
from ledger.scan import check_leaf
from ledger.trust import build_ring


class SampleResult(msgspec.Struct, frozen=True):
    """How many leaves were checked of how many, and what is wrong with them, in their order."""

    checked: int
    size: int
    findings: tuple[Finding, ...]


def sample_signatures(ledger: Ledger, count: int) -> SampleResult:
    """Verify `count` leaves, or all of fewer, that nobody could know would be chosen."""
    size = ledger.size()
    chosen = sorted(secrets.SystemRandom().sample(range(size), min(count, size)))
    ring, _, found = build_ring(ledger.store.stream(KEYS_STREAM), None)
    for place in chosen:
        for leaf in ledger.store.fetch(place, place + 1):
            found += check_leaf(leaf, ledger.origin, ring)[1]
    return SampleResult(len(chosen), size, tuple(found))
