"""The integrity of a ledger whose leaves are read once, in ranges, by whoever also judges them.

What checkpoints cover is hashed and held to their roots; of what none covers every signature is
verified. Ranges are checked apart from all others (`check_range`) and joined in order
(`IntegrityJoin`), which says at the end what was proved and what is left open. Checked of every
leaf are form, canonical form, the columns beside it, whether the key it names may sign there, and
its place in its stream's chain.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from random import SystemRandom
from typing import NamedTuple

import msgspec

from ledger import findings as codes
from ledger.findings import Finding
from ledger.held import Earlier, Held, Start
from ledger.keyring import KeyRing
from ledger.ledger import Ledger
from ledger.merkle import HASH_SIZE, Peaks, add_subtrees, leaf_hashes, root_of_peaks
from ledger.narrow import narrowed
from ledger.rehash import subtrees_between
from ledger.scan import Chains, Link, Run, check_leaf, check_link, link_of, scan_hashed
from ledger.schema import StoredLeaf
from ledger.verify import (
    SAMPLE,
    closing_before,
    event_of,
    rows_out_of_place,
    scan_leaves,
    sort_findings,
    twice_begun,
)

_HASHED_AT_A_TIME = 1024
"""Leaves of half a kilobyte: a processor's own cache holds as many."""


class Signatures(msgspec.Struct, frozen=True):
    """How many signatures were verified, and why.

    `uncovered` leaves are those under no checkpoint that agrees, or all where that was asked for;
    `disputed` are covered leaves of rounds in which something was found; `sampled` ones nobody
    could foresee.
    """

    uncovered: int
    disputed: int
    sampled: int


class Integrity(msgspec.Struct, frozen=True):
    """What an audit proved of the leaves `from_leaf` to `size` - 1 themselves.

    `anchor` is the verifier key everything else was trusted by. The leaves before `covered` are
    those a checkpoint was signed for. `left_open` says in words what all this does not show.
    """

    anchor: str | None
    from_leaf: int
    size: int
    earlier: Earlier
    checkpoints: tuple[Held, ...]
    covered: int
    signatures: Signatures
    findings: tuple[Finding, ...]
    left_open: tuple[str, ...]


class Examined(NamedTuple):
    """How many signatures were verified, by stream as the columns name it, and what is wrong."""

    signatures: dict[str, int]
    findings: list[Finding]


class RangeCheck(msgspec.Struct, frozen=True):
    """What a range of leaves is by itself: its run, and the complete subtrees it consists of."""

    run: Run
    subtrees: tuple[bytes, ...]


def check_range(
    leaves: list[StoredLeaf], start: int, stop: int, origin: str, ring: KeyRing, covered: int
) -> tuple[RangeCheck, list[bytes | None]]:
    """Check a range, and return with it the text of the data of each leaf that is sound.

    `leaves` are those the store has there; of those before `covered` no signature is verified.
    """
    hashes: list[bytes] = []

    def hashed() -> Iterator[list[bytes]]:
        # Little by little: a leaf is still in the processor's cache when it is compared.
        for first in range(0, len(leaves), _HASHED_AT_A_TIME):
            some = leaf_hashes([leaf[4] for leaf in leaves[first : first + _HASHED_AT_A_TIME]])
            hashes.extend(some)
            yield some

    in_order = chain.from_iterable(hashed())
    run, texts = scan_hashed(leaves, in_order, start, stop, origin, ring, covered)
    return RangeCheck(run, subtrees_between(start, stop, hashes)), texts


class IntegrityNotes(msgspec.Struct):
    """How far an integrity check came: all that joining the next range needs."""

    anchor: str | None
    from_leaf: int
    size: int
    keys: str
    earlier: Earlier
    held: list[Held]
    covered: int
    peaks: list[str] | None
    findings: list[Finding]
    tails: dict[str, Link] = {}
    uncovered: int = 0
    disputed: dict[str, int] = {}

    @classmethod
    def of(cls, start: Start, *, every_signature: bool) -> "IntegrityNotes":
        """Return the notes of a check that has read nothing yet."""
        sizes = [each.size for each in start.held if each.agrees is None]
        covered = 0 if every_signature else max(sizes, default=0)
        peaks = None if start.peaks is None else [peak.hex() for peak in start.peaks]
        return cls(
            start.anchor, start.from_leaf, start.size, start.keys, start.earlier, start.held,
            covered, peaks, start.findings,
        )  # fmt: skip

    def check(self, reached: int) -> None:
        """Raise ValueError where these cannot be the notes of a check that came to a leaf."""
        if self.peaks is None:
            return
        sizes = {len(bytes.fromhex(peak)) for peak in self.peaks}
        if len(self.peaks) != reached.bit_count() or not sizes <= {HASH_SIZE}:
            raise ValueError(f"these are not the peaks of a tree of {reached} leaves")


class IntegrityJoin:
    """Joins ranges in order; `notes` always stand at the end of one."""

    def __init__(self, ledger: Ledger, ring: KeyRing, notes: IntegrityNotes) -> None:
        """Go on from the notes."""
        self.notes, self._ledger, self._ring = notes, ledger, ring
        self._chains = Chains(self._earlier, notes.tails)
        notes.tails = self._chains.tails
        self._hold(notes.from_leaf)

    def take(self, check: RangeCheck) -> None:
        """Take in the next range."""
        notes, run = self.notes, check.run
        notes.findings += readable_faults(run.findings)
        notes.findings += self._chains.join(run)
        notes.uncovered += run.verified
        if notes.peaks is not None:
            peaks = tuple(map(bytes.fromhex, notes.peaks))
            peaks = add_subtrees(peaks, run.start, run.stop, check.subtrees)
            notes.peaks = [peak.hex() for peak in peaks]
            self._hold(run.stop, peaks)

    def _hold(self, size: int, peaks: Peaks | None = None) -> None:
        notes = self.notes
        if peaks is None:
            peaks = tuple(map(bytes.fromhex, notes.peaks or ()))
        for place, held in enumerate(notes.held):
            if held.size == size and held.agrees is None:
                agrees = root_of_peaks(peaks).hex() == held.root
                notes.held[place] = msgspec.structs.replace(held, agrees=agrees)

    def _earlier(self, stream: str, seq: int, leaf_index: int) -> Link | None:
        store = self._ledger.store
        closed = closing_before(store, stream, seq, leaf_index)
        if closed is not None or not self.notes.from_leaf:
            return closed
        # What it says of its hash is checked against what follows on it, so it proves itself.
        before = store.event(stream, seq)
        if before is None or before.leaf_index >= self.notes.from_leaf:
            return None
        return link_of(before, event_of(before))

    def before_first(self, stream: str, first: int) -> list[StoredLeaf]:
        """Return the leaves with which a round went into this audit, before its `first` leaf here.

        They stand before the first leaf audited and are checked as a chain: the round's first leaf
        here names the hash of the last of them, and so on back to its beginning.
        """
        notes = self.notes
        before: Link | None = None
        readable: list[StoredLeaf] = []
        earlier = self._ledger.store.stream(stream) if notes.from_leaf else []
        for leaf in (each for each in earlier if each.leaf_index < first):
            if leaf.leaf_index >= notes.from_leaf:
                # What went in was judged with the leaves in between.
                return []
            is_covered = leaf.leaf_index < notes.covered
            event, found = check_leaf(leaf, self._ledger.origin, self._ring, is_covered=is_covered)
            link = link_of(leaf, event)
            notes.findings += found + check_link(before, link)
            notes.uncovered += not is_covered
            before = link
            if event_of(leaf) is not None:
                readable.append(leaf)
            if link.is_closing:
                readable.clear()
        return sorted(readable)

    def examine(self, leaves: Iterable[StoredLeaf]) -> None:
        """Verify the signatures of leaves of a disputed round that were spared so far."""
        self.count(examined(leaves, self._ledger.origin, self._ring, self.notes.covered))

    def count(self, verified: Examined) -> None:
        """Take in what verifying signatures of disputed rounds came to."""
        disputed = self.notes.disputed
        for stream, count in verified.signatures.items():
            disputed[stream] = disputed.get(stream, 0) + count
        self.notes.findings += verified.findings

    def result(self, *, sample: int = SAMPLE, from_outside: bool, workers: int) -> Integrity:
        """Return what was proved, once all ranges were taken in.

        Where a checkpoint does not agree, every
        signature it would have spared is verified now, by so many workers.
        """
        notes, ledger = self.notes, self._ledger
        agreeing = [held.size for held in notes.held if held.agrees]
        proved = min(notes.covered, max(agreeing, default=0))
        for held in notes.held:
            if held.agrees is False:
                notes.findings += narrowed(ledger, held, notes.held)
        if proved < notes.covered:
            first = max(proved, notes.from_leaf)
            for run in scan_leaves(ledger, self._ring, first, notes.covered, workers):
                notes.uncovered += run.verified
                notes.findings += readable_faults(run.findings)
        notes.covered = proved
        for stream in sorted({each.stream for each in notes.findings if each.stream is not None}):
            # Also what the round said before, or after, the part of it that was judged.
            notes.disputed.pop(stream, None)
            leaves = ledger.store.stream(stream)
            self.examine(leaf for leaf in leaves if leaf.leaf_index < notes.size)
        sampled = self._sample(sample)
        notes.findings += rows_out_of_place(ledger.store, notes.covered)
        # No checkpoint speaks of this: a round copied after it, or before it was signed, would
        # count twice.
        notes.findings += twice_begun(ledger.store)
        integrity = Integrity(
            notes.anchor,
            notes.from_leaf,
            notes.size,
            notes.earlier,
            tuple(notes.held),
            max(notes.covered, notes.from_leaf) if notes.covered else 0,
            Signatures(notes.uncovered, sum(notes.disputed.values()), sampled),
            tuple(sort_findings(notes.findings)),
            (),
        )
        return msgspec.structs.replace(
            integrity, left_open=tuple(_left_open(integrity, from_outside=from_outside))
        )

    def _sample(self, count: int) -> int:
        places = range(self.notes.from_leaf, self.notes.covered)
        chosen = SystemRandom().sample(places, min(count, len(places)))
        for place in sorted(chosen):
            for leaf in self._ledger.store.fetch(place, place + 1):
                self.notes.findings += check_leaf(leaf, self._ledger.origin, self._ring)[1]
        return len(chosen)


def examined(leaves: Iterable[StoredLeaf], origin: str, ring: KeyRing, covered: int) -> Examined:
    """Verify the signatures of those leaves that a checkpoint covers.

    All others are verified where they are read.
    """
    verified = Examined({}, [])
    for leaf in leaves:
        if leaf.leaf_index < covered:
            verified.signatures[leaf.stream] = verified.signatures.get(leaf.stream, 0) + 1
            verified.findings.extend(readable_faults(check_leaf(leaf, origin, ring)[1]))
    return verified


def readable_faults(found: Iterable[Finding]) -> Iterable[Finding]:
    """Leave out findings of leaves that cannot be read: who judges what they say tells of them."""
    return (each for each in found if each.code != codes.EVENT_UNREADABLE)


def _left_open(proved: Integrity, *, from_outside: bool) -> Iterable[str]:
    if proved.anchor is None or not from_outside:
        yield (
            "whose ledger this is: without a key handed over outside (--public-key) it is only "
            "shown to agree with itself"
        )
    covered = proved.covered - proved.from_leaf
    if covered > 0:
        yield (
            f"which key signed each of the {covered:,} events the checkpoint covers: it does not "
            "show that; all other signatures, those of disputed rounds and a sample were verified "
            "(--every-signature verifies all)"
        )
    if not any(held.source == "given" and held.agrees for held in proved.checkpoints):
        yield (
            "whether history was rewritten before this audit by who holds the keys: only a "
            "checkpoint kept elsewhere (--checkpoint) shows that it was not"
        )
    if proved.from_leaf:
        yield (
            f"what stands before leaf {proved.from_leaf}: rounds that have no event from there on "
            f"were not judged, open ones among them; their leaves were {_EARLIER[proved.earlier]}"
        )
        yield (
            f"whether a change of keys before leaf {proved.from_leaf} is hidden from the store's "
            "list of them: an audit from leaf 0 shows that"
        )


_EARLIER: dict[Earlier, str] = {
    "audited": "audited",
    "proved by tiles": "not read, and the tree over them is proved from the stored tiles under the "
    "checkpoint",
    "hashed again": "hashed again, since the stored tiles do not prove them",
    "not held to anything": "not read and not held to anything, since no checkpoint reaches so far",
}
