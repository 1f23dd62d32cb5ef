"""Scanning leaves: what one leaf, and one run of leaves, says against itself.

Pure functions over stored leaves. A run can be scanned apart from all others, and `Chains` joins
the runs in order. A leaf whose signature does not hold is not interpreted: its chain goes on from
what the columns say of its place, so that one altered leaf is one finding, plus one at the next
event of its stream, which no longer follows on it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
from cryptography.exceptions import InvalidSignature

from ledger import canonical, envelope
from ledger import findings as codes
from ledger.envelope import Event
from ledger.errors import EventUnreadable
from ledger.events import CLOSING, may_stand_in
from ledger.findings import Finding
from ledger.keyring import KeyRing
from ledger.merkle import leaf_hash, leaf_hashes
from ledger.rounds import is_round
from ledger.schema import StoredLeaf
from ledger.sound import Sound, sound_leaves


class Link(msgspec.Struct, frozen=True):
    """An event's place in its stream, as far as it is known.

    `is_sound` is False for a leaf that is not to be interpreted: then `seq` and `is_closing` are
    what the columns say and `prev` and `at` are None.
    """

    stream: str
    leaf_index: int
    seq: int
    leaf_hash: str
    is_closing: bool
    is_sound: bool = False
    prev: str | None = None
    at: str | None = None


class Run(msgspec.Struct, frozen=True):
    """What a run of leaves `start <= leaf_index < stop` says.

    `heads` are the first links of each stream in the run, still to be compared with earlier runs,
    and `tails` the last ones. Rounds that lie in the run from their first event to their closing
    one are only named, each with its first leaf: `whole`. `verified` signatures were verified.
    """

    start: int
    stop: int
    findings: list[Finding]
    heads: dict[str, Link]
    tails: dict[str, Link]
    whole: dict[str, int]
    verified: int


class Scanned(NamedTuple):
    """A run, and for each of its leaves the text of its data where the leaf is sound, else None."""

    run: Run
    texts: list[bytes | None]


def check_leaf(
    leaf: StoredLeaf, origin: str, ring: KeyRing, *, is_covered: bool = False
) -> tuple[Event | None, list[Finding]]:
    """Verify a leaf by itself and return its event, or None if it is not to be interpreted.

    Checked are its form, its signature and whose it is, canonical form, and that the columns and
    the ledger's origin agree with what was signed. Of a leaf that `is_covered` by a checkpoint the
    signature is not verified, only that the key it names may sign there.
    """
    found: list[Finding] = []

    def report(code: str, text: str) -> None:
        found.append(Finding(code, text, leaf.stream, leaf.leaf_index, leaf.version - 1))

    try:
        payload, key_id, signature = envelope.split_leaf(leaf.state)
        key = ring.get(key_id)
        if key is None:
            report(codes.KEY_NOT_VALID, f"signed by the key {key_id}, which the ledger never added")
            return None, found
        if not is_covered:
            key.verifier.verify(signature, envelope.pae(payload))
        event = envelope.read_event(payload)
    except InvalidSignature:
        report(codes.SIGNATURE_INVALID, f"the signature by the key {key_id} does not hold")
        return None, found
    except EventUnreadable as error:
        report(codes.EVENT_UNREADABLE, str(error))
        return None, found
    if not canonical.is_canonical(payload):
        report(codes.NOT_CANONICAL, "the payload is not the canonical form of what it says")
    if event.ledger != origin:
        report(codes.STREAM_MISMATCH, f"signed for the ledger {event.ledger}, not for {origin}")
    if (event.stream, event.seq + 1, event.type) != (leaf.stream, leaf.version, leaf.topic):
        report(
            codes.STREAM_MISMATCH,
            f"stored as {leaf.topic} {leaf.version - 1} of {leaf.stream}, "
            f"signed as {event.type} {event.seq} of {event.stream}",
        )
    if not may_stand_in(event.type, event.stream):
        report(codes.STREAM_MISMATCH, f"a {event.type} cannot stand in the stream {event.stream!r}")
    objection = key.objection(event.data.signer, leaf.leaf_index)
    if objection is not None:
        report(codes.KEY_NOT_VALID, objection)
    return event, found


def leaf_from_bytes(leaf_index: int, state: bytes) -> StoredLeaf:
    """Return a leaf that comes from no store: the columns are what it says of itself.

    One that cannot be read is given a stream of its own, so that it disturbs no other.
    """
    try:
        event = envelope.read_event(envelope.split_leaf(state).payload)
    except EventUnreadable:
        return StoredLeaf(leaf_index, f"leaf {leaf_index}", 1, "", state)
    return StoredLeaf(leaf_index, event.stream, event.seq + 1, event.type, state)


def link_of(leaf: StoredLeaf, event: Event | None) -> Link:
    """Return a leaf's link, from its event or, without one, from its columns."""
    digest = leaf_hash(leaf.state).hex()
    if event is None:
        is_closing = leaf.topic in CLOSING
        return Link(leaf.stream, leaf.leaf_index, leaf.version - 1, digest, is_closing)
    is_closing = event.type in CLOSING
    return Link(
        event.stream, leaf.leaf_index, event.seq, digest, is_closing, True, event.prev, event.at
    )


def check_link(before: Link | None, link: Link) -> list[Finding]:
    """Say where an event does not follow on the one before it; `before` is None for the first."""
    found: list[Finding] = []

    def report(code: str, text: str) -> None:
        found.append(Finding(code, text, link.stream, link.leaf_index, link.seq))

    if before is not None and before.is_closing:
        report(codes.EVENT_AFTER_CLOSE, f"the round was closed at leaf {before.leaf_index}")
    expected = 0 if before is None else before.seq + 1
    if link.seq != expected:
        # What is not its neighbour says nothing about its time or its predecessor.
        report(codes.SEQ_GAP, f"event {link.seq} stands where event {expected} should")
        return found
    if link.is_sound and link.prev != (None if before is None else before.leaf_hash):
        report(codes.PREV_MISMATCH, "the event before it is not the one it was signed to follow")
    if before is not None and before.at is not None and link.at is not None and link.at < before.at:
        report(codes.CLOCK_BACKWARDS, f"{link.at} is earlier than {before.at} before it")
    return found


def scan(leaves: Sequence[StoredLeaf], start: int, stop: int, origin: str, ring: KeyRing) -> Run:
    """Verify a run of leaves; `leaves` are those the store has from `start` up to `stop`."""
    hashes = leaf_hashes([leaf[4] for leaf in leaves])
    return scan_hashed(leaves, hashes, start, stop, origin, ring, start).run


def scan_hashed(
    leaves: Sequence[StoredLeaf],
    hashes: Iterable[bytes],
    start: int,
    stop: int,
    origin: str,
    ring: KeyRing,
    covered: int,
) -> Scanned:
    """Verify a run of leaves, given their hashes, and tell what the sound ones say.

    Of leaves before `covered` the signatures are not verified.
    """
    found: list[Finding] = []
    firsts: dict[str, Sound | Link] = {}
    lasts: dict[str, Sound | Link] = {}
    texts: list[bytes | None] = []
    sound_of = sound_leaves(origin, ring, covered)
    expected = start
    verified = sum(leaf.leaf_index >= covered for leaf in leaves) if stop > covered else 0
    for leaf, digest in zip(leaves, hashes, strict=True):
        leaf_index, stream, version, _, state = leaf
        if leaf_index != expected:
            found += _missing(expected, leaf_index)
        expected = leaf_index + 1
        before = lasts.get(stream)
        # After what is not sound nothing is expected.
        if before is None or type(before) is tuple:
            sound = sound_of(leaf, digest, before)
            if sound is not None:
                if before is None:
                    firsts[stream] = sound
                lasts[stream] = sound
                texts.append(sound[4])
                continue
        texts.append(None)
        if not version and not state:
            verified -= leaf_index >= covered
            found += _missing(leaf_index, expected)
            continue
        event, of_leaf = check_leaf(leaf, origin, ring, is_covered=leaf_index < covered)
        found += of_leaf
        link = link_of(leaf, event)
        before = lasts.get(link.stream)
        if before is None:
            firsts[link.stream] = link
        else:
            found += check_link(_link(before), link)
        lasts[link.stream] = link
    found += _missing(expected, stop)
    whole = _whole(firsts, lasts)
    run = Run(
        start,
        stop,
        found,
        {stream: _link(link) for stream, link in firsts.items() if stream not in whole},
        {stream: _link(link) for stream, link in lasts.items() if stream not in whole},
        whole,
        verified,
    )
    return Scanned(run, texts)


def _whole(firsts: Mapping[str, Sound | Link], lasts: Mapping[str, Sound | Link]) -> dict[str, int]:
    """Return the first leaf of each round that begins and ends in a run, all of it being sound."""
    return {
        stream: first[3].leaf_index
        for stream, first in firsts.items()
        if type(first) is tuple
        and first[0] == 1
        and type(last := lasts[stream]) is tuple
        and last[3].topic in CLOSING
    }


def _link(place: Sound | Link) -> Link:
    if isinstance(place, Link):
        return place
    # A sound leaf can be read; it is read only where its link is needed.
    leaf = place[3]
    return link_of(leaf, envelope.read_event(envelope.split_leaf(leaf.state).payload))


def _missing(start: int, stop: int) -> list[Finding]:
    if start >= stop:
        return []
    only = stop == start + 1
    text = f"leaf {start} is missing" if only else f"leaves {start} to {stop - 1} are missing"
    return [Finding(codes.LEAF_INDEX_GAP, text, None, start)]


class Chains:
    """The chains of all streams across runs, which are joined in order.

    A closed round is forgotten, to keep memory in proportion to the open ones; `earlier` finds its
    last link again if, against the rules, something follows: given a stream, a `seq` and a leaf
    index, it returns the link of the event that closed the round before that leaf, or of another
    on which the event of that `seq` should follow. `tails` are the last links of streams before the
    first run, where that is not the first leaf's.
    """

    def __init__(
        self,
        earlier: Callable[[str, int, int], Link | None],
        tails: Mapping[str, Link] | None = None,
    ) -> None:
        self._earlier = earlier
        self._tails: dict[str, Link] = dict(tails or {})

    def join(self, run: Run) -> list[Finding]:
        """Take in the next run and return what is found where it meets the earlier ones."""
        found: list[Finding] = []
        for stream in self._tails.keys() & run.whole.keys():
            # It begins again while it is open.
            again = Link(stream, run.whole[stream], 0, "", is_closing=False)
            found += check_link(self._tails.pop(stream), again)
        for stream, link in run.heads.items():
            before = self._tails.get(stream)
            if before is None and link.seq > 0:
                before = self._earlier(stream, link.seq, link.leaf_index)
            found += check_link(before, link)
        for stream, link in run.tails.items():
            if link.is_closing:
                self._tails.pop(stream, None)
            else:
                self._tails[stream] = link
        return found

    @property
    def tails(self) -> dict[str, Link]:
        """The last link of each stream that may go on."""
        return self._tails

    @property
    def open_rounds(self) -> int:
        """How many rounds have begun and not ended."""
        return sum(is_round(stream) for stream in self._tails)
