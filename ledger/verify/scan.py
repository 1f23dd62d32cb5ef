"""Scanning leaves: what one leaf, and one run of leaves, says against itself.

Pure functions over stored leaves. A run can be scanned apart from all others, and `Chains` joins
the runs in order. A leaf whose signature does not hold is not interpreted: its chain goes on from
what the columns say of its place, so that one altered leaf is one finding, plus one at the next
event of its stream, which no longer follows on it.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

import msgspec
from cryptography.exceptions import InvalidSignature

from shoeproof.ledger import findings as codes
from shoeproof.ledger.errors import EventUnreadable
from shoeproof.ledger.findings import Finding
from shoeproof.ledger.keys.keyring import KeyRing
from shoeproof.ledger.leaf import canonical, envelope, layout
from shoeproof.ledger.leaf.envelope import Event, read_event, split_leaf
from shoeproof.ledger.leaf.events import CLOSING, KeyRevoked, Seen, may_stand_in
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.store.round_index import is_round
from shoeproof.ledger.tree.merkle import leaf_hash
from shoeproof.ledger.verify.batch import LeafBatch
from shoeproof.ledger.verify.times import RoundEnd
from shoeproof.needs import is_installed

_CLOSING: Final = {name.encode() for name in CLOSING}
_ENDS: Final = {"RoundOpened", *CLOSING}
_ENDS_AS_BYTES: Final = {name.encode() for name in _ENDS}


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


class ScannedLeaves(msgspec.Struct):
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


class Anchor(NamedTuple):
    """The tree that the signer of an event had last seen, as the event at `leaf_index` says."""

    leaf_index: int
    stream: str
    seen: Seen


class Scanned(NamedTuple):
    """A run, and what its leaves are besides.

    `ends` are the events that open or end its rounds. `texts` are of the data of each leaf that is
    sound, None of every other. `beside` are the leaves that can be read and are of no round, by
    their index and bytes; `anchors` are those of leaves against which nothing is found.
    """

    run: ScannedLeaves
    texts: list[bytes | None]
    beside: list[tuple[int, bytes]]
    anchors: list[Anchor]
    ends: list[RoundEnd]


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
        report(codes.NOT_CANONICAL, "the payload is not in canonical form")
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
    for code, text in contradictions(event, leaf.leaf_index):
        report(code, text)
    objection = key.objection(event.data.signer, leaf.leaf_index)
    if objection is not None:
        report(codes.KEY_NOT_VALID, objection)
    return event, found


def contradictions(event: Event, leaf_index: int) -> Iterator[tuple[str, str]]:
    """Yield code and text of what an event at a leaf says that cannot be, whoever signed it."""
    problem = envelope.digest_problem(event.data)
    if problem is not None:
        yield codes.DIGEST_MISMATCH, f"{problem}, not the one it names"
    if isinstance(event.data, KeyRevoked):
        first = event.data.first_untrusted_leaf_index
        if first > leaf_index:
            text = f"it revokes a key from leaf {first} on only, which does not exist yet"
            yield codes.KEY_NOT_VALID, text


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


def scan(
    batch: LeafBatch, start: int, stop: int, origin: str, ring: KeyRing, covered: int
) -> Scanned:
    """Verify a run of leaves: those there are with `start <= leaf_index < stop`.

    Of leaves before `covered` the signatures are not verified.
    """
    texts = _sound_texts(batch, origin, ring, covered)
    careful = _to_be_read(batch, texts)
    run = ScannedLeaves(start, stop, _gaps(batch, start, stop), {}, {}, {}, 0)
    if stop > covered:
        run.verified = sum(map(covered.__le__, batch.leaf_index))
    scanned = Scanned(run, texts, [], [], [])
    for place in careful:
        _read(batch.leaf(place), scanned, origin, ring, covered)
    _join_sound(batch, set(careful), scanned)
    return scanned


def _sound_texts(batch: LeafBatch, origin: str, ring: KeyRing, covered: int) -> list[bytes | None]:
    """Return the texts of leaves that their columns show to be sound; None is to be read."""
    if not is_installed("numpy"):
        return [None] * len(batch)
    from shoeproof.ledger.verify.fast_check import sound_texts

    return sound_texts(batch, origin, ring, covered)


def _to_be_read(batch: LeafBatch, texts: list[bytes | None]) -> list[int]:
    """Return the places of leaves to be read one by one, and withdraw their texts.

    They are all of every stream in which one leaf is not known to be sound, by its columns or by
    what it says of itself.
    """
    unsound = [place for place, text in enumerate(texts) if text is None]
    if not unsound:
        return []
    streams = {batch.stream[place] for place in unsound}
    streams.update(layout.claimed_stream(batch.state[place]) for place in unsound)
    places = [place for place, stream in enumerate(batch.stream) if stream in streams]
    for place in places:
        texts[place] = None
    return places


def _read(leaf: StoredLeaf, scanned: Scanned, origin: str, ring: KeyRing, covered: int) -> None:
    """Read one leaf, and go on with its stream's chain from there."""
    run, index = scanned.run, leaf.leaf_index
    if not leaf.version and not leaf.state:
        run.verified -= index >= covered
        run.findings += _missing(index, index + 1)
        return
    event, found = check_leaf(leaf, origin, ring, is_covered=index < covered)
    link = link_of(leaf, event)
    before = run.tails.get(link.stream)
    if before is None:
        run.heads[link.stream] = link
    else:
        found += check_link(before, link)
    run.tails[link.stream] = link
    run.findings += found
    if event is not None:
        if not is_round(event.stream):
            scanned.beside.append((index, leaf.state))
        elif event.type in _ENDS:
            opens = event.type not in CLOSING
            scanned.ends.append(RoundEnd(index, event.stream, event.at, opens))
        if not found:
            scanned.anchors.extend(anchors_in(index, event))


def _join_sound(batch: LeafBatch, careful: set[int], scanned: Scanned) -> None:
    """Tell the first and last links of the streams that are sound, and which rounds are whole."""
    run = scanned.run
    lasts = dict(zip(batch.stream, range(len(batch)), strict=True))
    firsts = dict(zip(reversed(batch.stream), reversed(range(len(batch))), strict=True))
    for place in sorted(firsts.values()):
        if place in careful:
            continue
        last, stream = lasts[batch.stream[place]], batch.stream[place].decode()
        if batch.version[place] == 1 and batch.topic[last] in _CLOSING:
            run.whole[stream] = batch.leaf_index[place]
            continue
        for ends, each in ((run.heads, place), (run.tails, last)):
            leaf = batch.leaf(each)
            ends[stream] = link_of(leaf, read_event(split_leaf(leaf.state).payload))
    ends_of_rounds = [place for place, topic in enumerate(batch.topic) if topic in _ENDS_AS_BYTES]
    for place in ends_of_rounds:
        text = scanned.texts[place]
        if text is None:
            continue
        # All that open or end a round have seen a tree, and of other streams none is sound here.
        index, stream = batch.leaf_index[place], batch.stream[place].decode()
        at = batch.state[place][layout.TIME].decode()
        scanned.ends.append(RoundEnd(index, stream, at, batch.topic[place] not in _CLOSING))
        seen = layout.seen_in(text)
        if seen is not None:
            scanned.anchors.append(Anchor(index, stream, Seen(*seen)))


def anchors_in(leaf_index: int, event: Event) -> Iterator[Anchor]:
    """Yield the anchor of an event, where it has one."""
    seen = getattr(event.data, "seen", None)
    if seen is not None:
        yield Anchor(leaf_index, event.stream, seen)


def _gaps(batch: LeafBatch, start: int, stop: int) -> list[Finding]:
    found: list[Finding] = []
    if len(batch) != stop - start or batch.leaf_index[:1] != (start,):
        for leaf_index in batch.leaf_index:
            found += _missing(start, leaf_index)
            start = leaf_index + 1
        found += _missing(start, stop)
    return found


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

    def join(self, run: ScannedLeaves) -> list[Finding]:
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
