"""Leaves of rounds known to be sound by comparing columns of bytes, many times sooner than reading.

Everything in a canonical leaf but its time, its data and its signature follows from where it stands
(`leaf.layout`): from the ledger's origin, the columns beside it, and the hash of the leaf before it
in its stream. What follows is written out for all leaves of one shape at a time, and compared. Data
is taken as its text, which is decoded and encoded again where that text was not met lately. A leaf
that is anything else than expected is not judged here: `scan.check_leaf` reads it and says why.
"""

from base64 import b64decode
from collections.abc import Iterator, Sequence
from itertools import repeat
from string import ascii_letters, digits
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from cryptography.exceptions import InvalidSignature
from numpy.typing import NDArray

from shoeproof.ledger.errors import EventUnreadable
from shoeproof.ledger.keys.keyring import KeyRing, RingKey
from shoeproof.ledger.leaf import canonical, envelope, layout
from shoeproof.ledger.leaf.events import ANCHORED, CLOSING, EVENTS
from shoeproof.ledger.tree.merkle import HASH_SIZE
from shoeproof.ledger.verify.batch import LeafBatch

Bytes: TypeAlias = NDArray[np.uint8]
Bools: TypeAlias = NDArray[np.bool_]
Ints: TypeAlias = NDArray[np.int64]

_ROUND_ID: Final = 36
"""The characters of a round's id; other streams have few leaves, which are read one by one."""

_NAMES: Final = [name for name, cls in EVENTS.items() if cls.kind == "round"]
_CODE: Final = {name.encode(): code for code, name in enumerate(_NAMES)}
_CLOSES: Final = np.array([name in CLOSING for name in _NAMES])
_HASH: Final = 2 * HASH_SIZE
"""The hex digits of a hash."""

_MOST_TEXTS: Final = 50_000
_WORD: Final = 8
"""Bytes that are compared at a time."""

_NEVER_EQUAL: Final = {"RoundOpened", "ShoeCommitted", "ShoeRevealed", "RoundVoided"}
"""Of these hardly any two say the same."""

_texts: Final[dict[str, set[bytes]]] = {name: set() for name in _NAMES}
"""Texts of data by type that were found to be what they should; forgotten when they are many."""


def _table(allowed: str) -> Bools:
    table = np.zeros(256, np.bool_)
    table[np.frombuffer(allowed.encode(), np.uint8)] = True
    return table


def _pairs(allowed: Bools) -> Bools:
    """Tell of two bytes at a time, as a number of 16 bits, whether both are allowed."""
    return np.logical_and.outer(allowed, allowed).reshape(-1)


_HEX: Final = np.frombuffer("".join(f"{byte:02x}" for byte in range(256)).encode(), np.uint16)
"""The two hex digits of each byte."""

_IS_HEX: Final = _pairs(_table("0123456789abcdef"))
_IS_BASE64: Final = _pairs(_table(ascii_letters + digits + "+/"))
_ENDS_64_BYTES: Final = _table("AQgw")


def _in_round_ids() -> Bools:
    """Tell for each place in a round's id (`streams.ROUND`) which bytes may stand there."""
    places = [_table("0123456789abcdef")] * _ROUND_ID
    for place in (8, 13, 18, 23):
        places[place] = _table("-")
    places[14], places[19] = _table("7"), _table("89ab")
    return np.array(places)


_IN_ROUND_IDS: Final = _in_round_ids()

_TIMED: Final = layout.AT + b"0000-00-00T00:00:00.000000Z" + layout.DATA
_DIGITS: Final = [place for place, byte in enumerate(_TIMED) if byte == ord("0")]
_DAYS: Final = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], np.uint8)


class _Signers:
    """Which key may sign what, as a ring has it, looked up once for each type and key."""

    def __init__(self, ring: KeyRing) -> None:
        self._ring = ring
        self._known: dict[tuple[str, bytes], tuple[range, RingKey | None]] = {}

    def find(self, name: str, key_id: bytes) -> tuple[range, RingKey | None]:
        """Return the leaves at which a key may sign events of a type, and the key."""
        found = self._known.get((name, key_id))
        if found is None:
            key = self._ring.get(key_id.decode("latin-1"))
            span = range(0) if key is None else key.span(EVENTS[name].signer)
            found = self._known[name, key_id] = span, key
        return found

    def have_signed(self, name: str, state: bytes) -> bool:
        """Tell whether the signature of a leaf in its right form holds."""
        key = self.find(name, layout.claimed_key_id(state).encode())[1]
        if key is None:
            return False
        payload, signature = state[: -layout.SIGNED - 1], state[-layout.SIGNATURE - 1 : -1]
        try:
            key.verifier.verify(b64decode(signature), envelope.pae(payload))
        except InvalidSignature:
            return False
        return True


def sound_texts(batch: LeafBatch, origin: str, ring: KeyRing, covered: int) -> list[bytes | None]:
    """Return for each leaf the text of its data where it is sound, else None.

    A leaf is sound on the word of the one before it, whose own soundness is not looked at. One that
    begins no stream, and has none before it in the run, is taken at its word for its hash. Of
    leaves before `covered` no signature is verified, only that the key it names may sign there.
    """
    texts: list[bytes | None] = [None] * len(batch)
    if not texts:
        return texts
    run, signers = _Run(batch), _Signers(ring)
    before_prev = layout.before_prev(canonical.encode(origin).decode())
    for shape, of_shape in run.shapes(run.usual & run.follow()):
        tail = _Tail(before_prev, shape)
        places = of_shape[run.lengths[of_shape] >= tail.width + layout.DATA_START]
        rows = run.ends_of(places, tail.padded)
        is_sound = (rows == tail.expected(rows, run, places)).view(np.uint64) == _ALL_TRUE
        is_sound = is_sound.all(1) & tail.are_formed(rows)
        is_sound &= _may_sign(rows, shape.name, run.leaf_index[places], signers)
        places, name = places[is_sound], shape.name
        begins, stops = run.starts[places] + layout.DATA_START, run.ends[places] - tail.width
        known, is_anchored = _texts[name], name in ANCHORED
        for place, begin, stop in zip(
            places.tolist(), begins.tolist(), stops.tolist(), strict=True
        ):
            text = run.joined[begin:stop]
            said = layout.without_seen(text) if is_anchored else text
            if said in known or _is_text_of(name, text, said):
                texts[place] = text
    for place in np.flatnonzero(run.leaf_index >= covered).tolist():
        if texts[place] is not None:
            name = batch.topic[place].decode()
            if not signers.have_signed(name, batch.state[place]):
                texts[place] = None
    return texts


_ALL_TRUE: Final = np.frombuffer(b"\x01" * _WORD, np.uint64)[0]


class _Shape(NamedTuple):
    """What leaves have in common whose payloads end in equal places."""

    name: str
    seq_digits: int
    begins: bool


class _Run:
    """A batch as arrays, and where each leaf stands in their bytes joined."""

    def __init__(self, batch: LeafBatch) -> None:
        count = len(batch)
        self.joined = batch.joined
        self.leaf_index = np.array(batch.leaf_index, np.int64)
        streams = _stream_codes(batch)
        self.before = _before(streams)
        self.lengths = np.fromiter(map(len, batch.state), np.int64, count)
        self.ends = np.cumsum(self.lengths)
        self.starts = self.ends - self.lengths
        self.seqs = np.array(batch.version, np.int64) - 1
        self.codes = np.fromiter(map(_CODE.get, batch.topic, repeat(-1)), np.int64, count)
        ids = _joined(batch.streams, _ROUND_ID)
        are_ids = np.asarray(_IN_ROUND_IDS[np.arange(_ROUND_ID), ids]).all(axis=1)
        self.ids = ids[streams]
        self.hashes = _joined(batch.hashes, HASH_SIZE)
        self.usual = (
            (self.codes >= 0)
            & (self.seqs >= 0)
            & (self.seqs < 10_000)
            & (self.lengths >= _PADDED_TIMED)
            & (self.lengths <= layout.LARGEST_LEAF)
            & np.asarray(are_ids)[streams]
        )
        self._moments = np.zeros(count, np.int64)
        places = np.flatnonzero(self.usual)
        self._moments[places] = _moments(self._windows(self.starts[places], _PADDED_TIMED))
        self.usual &= self._moments > 0

    def follow(self) -> Bools:
        """Tell of which leaves seq and time follow on the leaf before, or on nothing."""
        before, codes = self.before, self.codes
        follow: Bools = (before < 0) | (
            (self.seqs == self.seqs[before] + 1)
            & ~_CLOSES[codes[before]]
            & (self._moments >= self._moments[before])
        )
        return follow

    def shapes(self, chosen: Bools) -> Iterator[tuple[_Shape, Ints]]:
        """Yield the shapes of the leaves chosen, each with the places of its leaves."""
        widths = np.searchsorted([10, 100, 1_000], self.seqs, "right")
        shapes = self.codes * 8 + widths * 2 + (self.seqs == 0)
        for number in np.unique(shapes[chosen]).tolist():
            shape = _Shape(_NAMES[number // 8], number % 8 // 2 + 1, bool(number % 2))
            yield shape, np.flatnonzero(chosen & (shapes == number))

    def ends_of(self, places: Ints, width: int) -> Bytes:
        """Return the last bytes of leaves, as many as a row is wide."""
        return self._windows(self.ends[places] - width, width)

    def _windows(self, starts: Ints, width: int) -> Bytes:
        if not len(starts):
            return np.zeros((0, width), np.uint8)
        # As items of so many bytes, which are copied whole.
        every = np.ndarray((len(self.joined) - width + 1,), f"V{width}", self.joined, strides=(1,))
        windows: Bytes = every[starts].view(np.uint8).reshape(-1, width)
        return windows


def _stream_codes(batch: LeafBatch) -> Ints:
    """Return for each leaf the place of its stream among the batch's `streams`."""
    codes = {stream: code for code, stream in enumerate(batch.streams)}
    return np.fromiter(map(codes.__getitem__, batch.stream), np.int64, len(batch))


def _before(codes: Ints) -> Ints:
    """Return for each leaf the place of the one before in the same stream, -1 for the first."""
    in_streams = np.argsort(codes, kind="stable")
    before = np.full(len(codes), -1, np.int64)
    is_next = codes[in_streams[1:]] == codes[in_streams[:-1]]
    before[in_streams[1:][is_next]] = in_streams[:-1][is_next]
    return before


def _joined(texts: Sequence[bytes], width: int) -> Bytes:
    """Return texts of one width as rows, zeros for those of another."""
    lengths = set(map(len, texts))
    if lengths != {width}:
        nothing = bytes(width)
        texts = [text if len(text) == width else nothing for text in texts]
    return np.frombuffer(b"".join(texts), np.uint8).reshape(-1, width)


_PADDED_TIMED: Final = -(-len(_TIMED) // _WORD) * _WORD


def _mask() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    mask = bytearray(b"\xff" * len(_TIMED) + bytes(_PADDED_TIMED - len(_TIMED)))
    for place in _DIGITS:
        mask[place] = 0
    words = np.frombuffer(bytes(mask), np.uint64)
    return words, np.frombuffer(_TIMED.ljust(_PADDED_TIMED, b"\0"), np.uint64) & words


_TIME_MASK, _TIME_MASKED = _mask()


def _moments(begins: Bytes) -> Ints:
    """Return the times that stand at leaves' beginnings as numbers in their order, 0 for no time.

    The form and the ranges are those of `clock.parse_time`.
    """
    is_formed = ((begins.view(np.uint64) & _TIME_MASK) == _TIME_MASKED).all(1)
    figures = begins[:, _DIGITS] - np.uint8(ord("0"))
    is_formed &= (figures < 10).all(1)
    figure = figures.T

    def two(place: int) -> Bytes:
        both: Bytes = figure[place] * np.uint8(10) + figure[place + 1]
        return both

    year = two(0).astype(np.int64) * 100 + two(2)
    month, day = np.minimum(two(4), 13), two(6)
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0)) & (month == 2)
    is_date = (year > 0) & (month >= 1) & (month <= 12) & (day >= 1)
    is_date &= day <= np.append(_DAYS, 0)[month] + leap
    hour, minute, second = two(8), two(10), two(12)
    is_time = is_formed & is_date & (hour < 24) & (minute < 60) & (second < 60)
    moment = ((year * 12 + month) * 31 + day) * 24 + hour
    moment = ((moment * 60 + minute) * 60 + second) * 1_000_000
    for place in range(14, 20, 2):
        moment += two(place).astype(np.int64) * 100 ** ((18 - place) // 2)
    return np.where(is_time, moment, 0)


class _Tail:
    """What stands behind the data of leaves of one shape, as wide as words of 8 bytes are."""

    def __init__(self, before_prev: bytes, shape: _Shape) -> None:
        prev = b"null" if shape.begins else b'"' + b"0" * _HASH + b'"'
        after = layout.after_prev("0" * shape.seq_digits, "0" * _ROUND_ID, shape.name)
        signed = b"0" * layout.KEY_ID + b" " + b"0" * (layout.SIGNATURE - 2) + b"==\n"
        template = before_prev + prev + after + signed
        self.width = len(template)
        self.padded = -(-self.width // _WORD) * _WORD
        self._template = np.frombuffer(template.rjust(self.padded, b"\0"), np.uint8)
        self._begins, self._seq_digits = shape.begins, shape.seq_digits
        prev_start = self.padded - self.width + len(before_prev)
        self._prev = slice(prev_start + 1, prev_start + 1 + _HASH)
        seq_start = prev_start + len(prev) + len(b',"seq":')
        self._seq = seq_start, seq_start + shape.seq_digits
        id_start = self._seq[1] + len(b',"stream":"')
        self._id = slice(id_start, id_start + _ROUND_ID)

    def expected(self, rows: Bytes, run: _Run, places: Ints) -> Bytes:
        """Return what the ends of leaves should be, what can be anything as it is there."""
        expected = np.empty_like(rows)
        expected[:] = self._template
        for free in (
            slice(0, self.padded - self.width),
            slice(self.padded - layout.SIGNED, self.padded - layout.SIGNED + layout.KEY_ID),
            slice(self.padded - layout.SIGNATURE - 1, self.padded - len(b"==\n")),
        ):
            expected[:, free] = rows[:, free]
        for place in range(*self._seq):
            power = 10 ** (self._seq[1] - 1 - place)
            expected[:, place] = run.seqs[places] // power % 10 + ord("0")
        expected[:, self._id] = run.ids[places]
        if not self._begins:
            before = run.before[places]
            prev = _HEX[run.hashes[before]].view(np.uint8)
            expected[:, self._prev] = np.where(before[:, None] < 0, rows[:, self._prev], prev)
        return expected

    def are_formed(self, rows: Bytes) -> Bools:
        """Tell which rows have characters of base64 and of hex where they should."""
        last = self.padded - len(b"==\n")
        signature = np.ascontiguousarray(rows[:, last + 2 - layout.SIGNATURE : last])
        are_formed = (
            _IS_BASE64[signature.view(np.uint16)].all(1) & _ENDS_64_BYTES[rows[:, last - 1]]
        )
        if not self._begins:
            prev = np.ascontiguousarray(rows[:, self._prev])
            are_formed &= _IS_HEX[prev.view(np.uint16)].all(1)
        return are_formed


def _may_sign(rows: Bytes, name: str, leaf_index: Ints, signers: _Signers) -> Bools:
    start = rows.shape[1] - layout.SIGNED
    key_ids = np.ascontiguousarray(rows[:, start : start + layout.KEY_ID]).view("S8")[:, 0]
    may = np.zeros(len(rows), np.bool_)
    for key_id in np.unique(key_ids).tolist():
        span = signers.find(name, key_id)[0]
        mine = key_ids == key_id
        may |= mine & (leaf_index >= span.start) & (leaf_index < span.stop)
    return may


def _is_text_of(name: str, data: bytes, said: bytes) -> bool:
    """Tell whether a text is the canonical form of data of a type.

    Of one that is, what it says is remembered where others may say the same.
    """
    try:
        if canonical.encode(envelope.read_data(name, data)) != data:
            return False
    except (ValueError, EventUnreadable, RecursionError):
        return False
    if name not in _NEVER_EQUAL:
        if len(_texts[name]) >= _MOST_TEXTS:
            _texts[name].clear()
        _texts[name].add(said)
    return True
