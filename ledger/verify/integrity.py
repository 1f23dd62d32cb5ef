"""The integrity of a ledger whose leaves are read once, in ranges, by whoever also judges them.

What checkpoints cover is hashed and held to their roots; of what none covers every signature is
verified. Ranges are checked apart from all others (`check_range`) and joined in order
(`IntegrityJoin`), which says at the end what was proved and what is left open. Checked of every
leaf are form, canonical form, the columns beside it, whether the key it names may sign there, and
its place in its stream's chain.
"""

from collections.abc import Iterable
from random import SystemRandom
from typing import NamedTuple

import msgspec

from shoeproof.ledger import findings as codes
from shoeproof.ledger.findings import Finding, sort_findings
from shoeproof.ledger.keys.keyring import KeyRing
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.tree.merkle import HASH_SIZE
from shoeproof.ledger.verify.broken import broken_anchors
from shoeproof.ledger.verify.index_check import lying_index, rows_out_of_place, twice_begun
from shoeproof.ledger.verify.known_checkpoints import (
    Earlier,
    KnownCheckpoint,
    TrustedStart,
    digest_of_keys,
)
from shoeproof.ledger.verify.locate_damage import narrowed
from shoeproof.ledger.verify.ranges import RangeCheck
from shoeproof.ledger.verify.scan import Link, check_leaf, check_link, link_of
from shoeproof.ledger.verify.sources import closing_before, event_of, tiles_prove, time_bounds
from shoeproof.ledger.verify.trusted import Sources, Trust, TrustedLeaves
from shoeproof.ledger.verify.whole import SAMPLE, checked_ranges


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
    checkpoints: tuple[KnownCheckpoint, ...]
    covered: int
    signatures: Signatures
    findings: tuple[Finding, ...]
    left_open: tuple[str, ...]


class SignatureCounts(NamedTuple):
    """How many signatures were verified, by stream as the columns name it, and what is wrong."""

    signatures: dict[str, int]
    findings: list[Finding]


class IntegrityNotes(msgspec.Struct):
    """How far an integrity check came: all that joining the next range needs."""

    anchor: str | None
    from_leaf: int
    size: int
    keys: str
    earlier: Earlier
    trust: Trust
    covered: int
    findings: list[Finding]
    uncovered: int = 0
    disputed: dict[str, int] = {}

    @classmethod
    def of(cls, start: TrustedStart, *, every_signature: bool) -> "IntegrityNotes":
        """Return the notes of a check that has read nothing yet."""
        trust = Trust.begin(start.from_leaf, start.peaks, start.held)
        covered = 0 if every_signature else max(trust.sizes, default=0)
        return cls(
            start.anchor, start.from_leaf, start.size, digest_of_keys(start.keys), start.earlier,
            trust, covered, start.findings,
        )  # fmt: skip

    def check(self, reached: int) -> None:
        """Raise ValueError where these cannot be the notes of a check that came to a leaf."""
        peaks = self.trust.raw_peaks
        if peaks is None:
            return
        if len(peaks) != reached.bit_count() or not {len(peak) for peak in peaks} <= {HASH_SIZE}:
            raise ValueError(f"these are not the peaks of a tree of {reached} leaves")


class IntegrityJoin:
    """Joins ranges in order; `notes` always stand at the end of one."""

    def __init__(
        self, ledger: Ledger, ring: KeyRing, keys: list[StoredLeaf], notes: IntegrityNotes
    ) -> None:
        """Go on from the notes; `keys` are the leaves that `ring` is the fold of."""
        self.notes, self._ledger, self._ring = notes, ledger, ring
        sources = Sources(self._earlier, tiles_prove(ledger), time_bounds(ledger))
        self._trusted = TrustedLeaves(notes.trust, keys, sources)

    def take(self, check: RangeCheck) -> None:
        """Take in the next range. Raises KeysHidden."""
        self.notes.findings += readable_faults(self._trusted.take(check))
        self.notes.uncovered += check.run.verified

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

    def count(self, verified: SignatureCounts) -> None:
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
        known = notes.trust.known
        proved = min(notes.covered, max((each.size for each in known if each.agrees), default=0))
        for each in known:
            # One that was not come to has no tree to be held to: a leaf is missing.
            if not each.agrees:
                notes.findings += narrowed(ledger, each, known)
        notes.findings += broken_anchors(ledger, notes.size, notes.trust, notes.findings)
        notes.findings += lying_index(ledger.store, notes.trust)
        if proved < notes.covered:
            first = max(proved, notes.from_leaf)
            stop = notes.covered
            for check in checked_ranges(ledger, self._ring, first, stop, first, (), workers):
                notes.uncovered += check.run.verified
                notes.findings += readable_faults(check.run.findings)
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
            tuple(known),
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


def examined(
    leaves: Iterable[StoredLeaf], origin: str, ring: KeyRing, covered: int
) -> SignatureCounts:
    """Verify the signatures of those leaves that a checkpoint covers.

    All others are verified where they are read.
    """
    verified = SignatureCounts({}, [])
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
            "whose ledger this is: without a public key obtained independently (--public-key), "
            "the ledger is only shown to agree with itself"
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
            "whether history was rewritten before this audit by someone who holds the keys: only a "
            "checkpoint kept elsewhere (--checkpoint) shows that it was not"
        )
    if proved.from_leaf:
        yield (
            f"anything before leaf {proved.from_leaf}: rounds with no event from there on, "
            f"including open ones, were not judged; their leaves were {_EARLIER[proved.earlier]}"
        )
        yield (
            f"whether a change of keys or a revealed seed before leaf {proved.from_leaf} is hidden "
            "from the store's lists of them: an audit from leaf 0 shows that"
        )


_EARLIER: dict[Earlier, str] = {
    "audited": "audited",
    "proved by tiles": "not read, and the tree over them is proved from the stored tiles under the "
    "checkpoint",
    "hashed again": "hashed again, since the stored tiles do not prove them",
    "not held to anything": "not read and not checked against anything, since no checkpoint "
    "reaches so far",
}
