"""Leaves known to be sound by comparing bytes, many times sooner than by reading them.

A canonical payload has its fields in one order, so that everything in a leaf but its time, its data
and its signature follows from where it stands: from the ledger's origin, the columns beside it, and
the hash of the leaf before it in its stream. What follows is written out and compared. Data is
taken as its text, which is decoded and encoded again where that text was not met lately. A leaf
that is anything else than expected is not judged here: `scan.check_leaf` reads it and says why.
"""

from base64 import b64decode
from string import ascii_letters, digits
from typing import Final

from cryptography.exceptions import InvalidSignature

from ledger import canonical, envelope
from ledger.clock import parse_time
from ledger.envelope import LARGEST_LEAF
from ledger.errors import EventUnreadable
from ledger.events import EVENTS, may_stand_in
from ledger.keyring import KeyRing, RingKey
from ledger.schema import StoredLeaf

TIMED: Final = len('{"at":"2026-01-02T03:04:05.000001Z')
"""Bytes up to the end of the time with which a leaf begins; they sort as the times do."""

_AT, _DATA = b'{"at":"', b'","data":'
_BEFORE_DATA: Final = TIMED + len(_DATA)
_KEY_ID, _SIGNATURE = -98, -89
_BASE64: Final = (ascii_letters + digits + "+/").encode()
_HEX: Final = b"0123456789abcdef"
_LAST_OF_64_BYTES: Final = b"AQgw"
_PREV: Final = 64
_PLAIN: Final = frozenset(ascii_letters + digits + "-/.")
_MOST_TEXTS: Final = 50_000

_texts: dict[str, set[bytes]] = {}
"""Texts of data by type that were found to be what they should; forgotten when they are many."""


class SoundLeaves:
    """Tells sound leaves of one ledger; `covered` are those whose signatures need not be read.

    What they say of their key, that it may sign for the type at that leaf, is checked of all.
    """

    def __init__(self, origin: str, ring: KeyRing, covered: int) -> None:
        """Expect leaves of the ledger `origin`, signed by keys of the ring."""
        self._after_data = f',"ledger":{canonical.encode(origin).decode()},"prev":'
        self._ring, self._covered = ring, covered
        self._signers: dict[tuple[bytes, str], tuple[range, RingKey]] = {}
        self._plain: set[tuple[str, str]] = set()
        self._timed = b""

    def data_of(self, leaf: StoredLeaf, before: tuple[int, str, bytes] | None) -> bytes | None:
        """Return the text of a leaf's data if the leaf is sound, else None.

        `before` is the `seq` + 1, lower-hex leaf hash and first `TIMED` bytes of the leaf before it
        in its stream. Where that is not known, a leaf that begins no stream is taken at its word
        for the hash.
        """
        leaf_index, stream, version, topic, state = leaf
        end = len(state) + _KEY_ID
        after_prev = f',"seq":{version - 1},"stream":"{stream}","type":"{topic}","v":1}}\n'
        if before is not None:
            prev = f'"{before[1]}"'
        elif version == 1:
            prev = "null"
        else:
            stop = end - len(after_prev) - 1
            claimed = state[stop - _PREV : stop]
            if len(claimed) != _PREV or claimed.translate(None, _HEX):
                return None
            prev = f'"{claimed.decode()}"'
        expected = f"{self._after_data}{prev}{after_prev}".encode()
        start = end - len(expected)
        if (
            state[start:end] != expected
            or len(state) > LARGEST_LEAF
            or (before is not None and (version != before[0] + 1 or state[:TIMED] < before[2]))
            or not self._is_signed(state, topic, leaf_index)
            or not self._begins_well(state)
            or not ((stream, topic) in self._plain or self._may_stand(stream, topic))
        ):
            return None
        data = state[_BEFORE_DATA:start]
        return data if data in _texts.get(topic, ()) or _is_text_of(topic, data) else None

    def _begins_well(self, state: bytes) -> bool:
        begin = state[:_BEFORE_DATA]
        if begin == self._timed:
            return True
        if not (begin.startswith(_AT) and begin.endswith(_DATA)):
            return False
        try:
            parse_time(begin[len(_AT) : TIMED].decode())
        except ValueError:
            return False
        self._timed = begin
        return True

    def _may_stand(self, stream: str, topic: str) -> bool:
        # What is nothing but these characters is written in JSON as it is.
        if not _PLAIN.issuperset(stream) or topic not in EVENTS or not may_stand_in(topic, stream):
            return False
        if len(self._plain) > _MOST_TEXTS:
            self._plain.clear()
        self._plain.add((stream, topic))
        return True

    def _is_signed(self, state: bytes, topic: str, leaf_index: int) -> bool:
        signature = state[_SIGNATURE:]
        if (
            signature.translate(None, _BASE64) != b"==\n"
            or signature[-4] not in _LAST_OF_64_BYTES
            or not signature.endswith(b"==\n")
            or state[_SIGNATURE - 1] != 32
        ):
            return False
        key_id = state[_KEY_ID : _SIGNATURE - 1]
        signer = self._signers.get((key_id, topic)) or self._signer(key_id, topic)
        if signer is None or leaf_index not in signer[0]:
            return False
        if leaf_index < self._covered:
            return True
        payload = state[: _KEY_ID - 1]
        try:
            signer[1].verifier.verify(b64decode(signature), envelope.pae(payload))
        except InvalidSignature:
            return False
        return True

    def _signer(self, key_id: bytes, topic: str) -> tuple[range, RingKey] | None:
        key = self._ring.get(key_id.decode("latin-1"))
        if key is None or topic not in EVENTS:
            return None
        signer = self._signers[key_id, topic] = key.span(EVENTS[topic].signer), key
        return signer


def _is_text_of(topic: str, data: bytes) -> bool:
    """Tell whether a text is the canonical form of data of a type, and remember those that are."""
    try:
        if canonical.encode(envelope.read_data(topic, data)) != data:
            return False
    except (ValueError, EventUnreadable, RecursionError):
        return False
    if len(_texts.setdefault(topic, set())) >= _MOST_TEXTS:
        _texts[topic].clear()
    _texts[topic].add(data)
    return True
