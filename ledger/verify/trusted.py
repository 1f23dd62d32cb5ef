"""What is known of a ledger's leaves once ranges of them were taken in, in order: the one join.

Pure: checked ranges go in, findings come out, and nothing is read here but by the two functions
that are given. It holds to that

- leaves follow each other, and the events of each stream are chained across ranges (`scan.Chains`);
- the tree grows by what was hashed alone, and nothing is held to it but at the size it had then:
  known checkpoints, the guard, receipts (`KnownCheckpoint`) and anchors (`anchors`);
- the keys that signatures were judged by are all that the leaves hold. Keys are looked up before
  the leaves are read, by an index that may lie: where the leaves hold another change of keys, the
  check begins again with it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

import msgspec

from shoeproof.ledger.findings import Finding
from shoeproof.ledger.leaf import canonical, layout
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.leaf.streams import KEYS_STREAM
from shoeproof.ledger.tree.merkle import Peaks, add_subtrees, root_of_peaks
from shoeproof.ledger.verify.anchors import AnchorNotes, Proves
from shoeproof.ledger.verify.known_checkpoints import KnownCheckpoint
from shoeproof.ledger.verify.ranges import RangeCheck
from shoeproof.ledger.verify.scan import Chains, Link, leaf_from_bytes
from shoeproof.ledger.verify.times import TimeBounds

_KEYS = canonical.encode(KEYS_STREAM)[1:-1]


class Trust(msgspec.Struct):
    """How far leaves were taken in, as plain data, so that an interrupted check can go on.

    `peaks` are those of the tree so far, in lower hex, None where there is none: where nothing was
    hashed before the first leaf, or a leaf is missing. `tails` are the last links of streams that
    may go on, `beside` the leaves of no round by their stream.
    """

    peaks: list[str] | None
    known: list[KnownCheckpoint]
    tails: dict[str, Link] = {}
    anchors: AnchorNotes = msgspec.field(default_factory=AnchorNotes)
    beside: dict[str, list[int]] = {}

    @classmethod
    def begin(
        cls,
        start: int,
        peaks: Peaks | None,
        known: Iterable[KnownCheckpoint],
        tails: Mapping[str, Link] | None = None,
    ) -> "Trust":
        """Begin behind the tree of `start` leaves, which has these peaks."""
        if peaks is None:
            return cls(None, list(known), dict(tails or {}))
        root = root_of_peaks(peaks).hex()
        begun = [
            msgspec.structs.replace(each, agrees=each.root == root)
            if each.size == start and each.agrees is None
            else each
            for each in known
        ]
        return cls([peak.hex() for peak in peaks], begun, dict(tails or {}))

    @property
    def raw_peaks(self) -> Peaks | None:
        """The peaks as bytes."""
        return None if self.peaks is None else tuple(map(bytes.fromhex, self.peaks))

    @property
    def root(self) -> str | None:
        """The root of the tree so far, in lower hex, where there is one."""
        peaks = self.raw_peaks
        return None if peaks is None else root_of_peaks(peaks).hex()

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes at which the tree is yet to be held to a known checkpoint."""
        return tuple(each.size for each in self.known if each.agrees is None)


class KeysHidden(Exception):
    """Leaves change keys that no index shows: what was judged without them is judged again."""

    def __init__(self, leaves: list[StoredLeaf]) -> None:
        """Name them."""
        super().__init__(f"{len(leaves)} changes of keys are hidden from the index")
        self.leaves = leaves


class Sources(NamedTuple):
    """What is asked of whoever keeps the leaves.

    `earlier` is as `scan.Chains` asks it; `proves` as `anchors` does. `bounds` are those of times.
    """

    earlier: Callable[[str, int, int], Link | None]
    proves: Proves
    bounds: TimeBounds


class TrustedLeaves:
    """Takes in checked ranges in order; `trust` always stands at the end of one."""

    def __init__(self, trust: Trust, keys: Collection[StoredLeaf], sources: Sources) -> None:
        """Go on from there; `keys` are the leaves that signatures are judged by."""
        self.trust = trust
        self._sources = sources
        self._keys = {(leaf.leaf_index, leaf.state) for leaf in keys}
        self._chains = Chains(sources.earlier, trust.tails)
        trust.tails = self._chains.tails

    def take(self, check: RangeCheck) -> list[Finding]:
        """Take in the next range and return what is found in it, and where it meets the others.

        Raises KeysHidden.
        """
        self._check_keys(check)
        self._grow(check)
        in_time = self._sources.bounds.findings(check.ends)
        return [*check.run.findings, *self._chains.join(check.run), *in_time]

    @property
    def open_rounds(self) -> int:
        """How many rounds have begun and not ended."""
        return self._chains.open_rounds

    def _check_keys(self, check: RangeCheck) -> None:
        hidden = [
            leaf_from_bytes(*each)
            for each in check.beside
            if layout.claimed_stream(each[1]) == _KEYS and each not in self._keys
        ]
        if hidden:
            raise KeysHidden(hidden)
        for index, state in check.beside:
            stream = leaf_from_bytes(index, state).stream
            self.trust.beside.setdefault(stream, []).append(index)

    def _grow(self, check: RangeCheck) -> None:
        trust, run = self.trust, check.run
        before = trust.raw_peaks
        if before is None:
            return
        if check.subtrees is None:
            trust.peaks = None
            return
        for place, known in enumerate(trust.known):
            if known.agrees is None and run.start < known.size <= run.stop:
                subtrees = check.up_to[known.size]
                root = root_of_peaks(add_subtrees(before, run.start, known.size, subtrees))
                agrees = root.hex() == known.root
                trust.known[place] = msgspec.structs.replace(known, agrees=agrees)
        trust.anchors.hold(check, before, self._sources.proves)
        after = add_subtrees(before, run.start, run.stop, check.subtrees)
        trust.peaks = [peak.hex() for peak in after]
