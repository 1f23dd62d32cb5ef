"""Leaves known to be sound by comparing bytes, many times sooner than by reading them.

A canonical payload has its fields in one order, so that everything in a leaf but its time, its data
and its signature follows from where it stands: from the ledger's origin, the columns beside it, and
the hash of the leaf before it in its stream. What follows is written out and compared. Data is
taken as its text, which is decoded and encoded again where that text was not met lately. A leaf
that is anything else than expected is not judged here: `scan.check_leaf` reads it and says why.
"""

from base64 import b64decode
from collections.abc import Callable
from string import ascii_letters, digits
from typing import Final, TypeAlias

from cryptography.exceptions import InvalidSignature

from ledger import canonical, envelope
from ledger.clock import parse_time
from ledger.envelope import LARGEST_LEAF
from ledger.errors import EventUnreadable
from ledger.events import CLOSING, EVENTS, may_stand_in
from ledger.keyring import KeyRing, RingKey
from ledger.schema import StoredLeaf

_TIMED: Final = len('{"at":"2026-01-02T03:04:05.000001Z')
_AT, _DATA = b'{"at":"', b'","data":'
_BEFORE_DATA: Final = _TIMED + len(_DATA)
_SIGNED: Final = len("0123abcd ") + 88 + len("\n")
"""Bytes of a leaf after its payload and the line feed: key id, space, signature, line feed."""
_KEY_ID: Final = len("0123abcd ")
_LARGEST: Final = LARGEST_LEAF - _SIGNED
_HASH: Final = 64
_BASE64: Final = (ascii_letters + digits + "+/").encode()
_HEX: Final = b"0123456789abcdef"
_ENDS_OF_64_BYTES: Final = b"A==\n", b"Q==\n", b"g==\n", b"w==\n"
_PLAIN: Final = frozenset(ascii_letters + digits + "-/.")
_NOTHING: Final[dict[str, dict[bytes, tuple[range, RingKey | None]]]] = {}
"""The signers of what may follow on a round's end."""
_KINDS: Final[dict[str, str]] = {name: cls.kind for name, cls in EVENTS.items()}
_MOST_TEXTS: Final = 50_000

_texts: Final[dict[str, set[bytes]]] = {name: set() for name in EVENTS}
"""Texts of data by type that were found to be what they should; forgotten when they are many."""

_Signers: TypeAlias = dict[str, dict[bytes, tuple[range, RingKey | None]]]
"""By type of event and the key's id, a space after it: where the key may sign, and the key."""

Sound: TypeAlias = tuple[int, str, bytes, StoredLeaf, bytes, _Signers]
"""A sound leaf: its `seq` + 1, lower-hex leaf hash, first bytes up to its data, which sort as the
times do, itself, the text of its data, and the signers of what may follow in its stream."""

SoundOf: TypeAlias = Callable[[StoredLeaf, bytes, Sound | None], Sound | None]
"""Given a leaf, its hash and the leaf before it in its stream, returns it if it is sound. Where the
one before is not known, a leaf that begins no stream is taken at its word for the hash."""


def sound_leaves(origin: str, ring: KeyRing, covered: int) -> SoundOf:
    """Return what tells sound leaves of the ledger `origin`, signed by keys of the ring.

    Of leaves before `covered` the signature is not verified, only that the key it names may sign
    there. One call is for one run of leaves.
    """
    after_data = f',"ledger":{canonical.encode(origin).decode()},"prev":'
    of_kinds: dict[str, _Signers] = {kind: {} for kind in _KINDS.values()}
    for name, kind in _KINDS.items():
        of_kinds[kind][name] = {}
    begun = b""

    def sound_of(leaf: StoredLeaf, digest: bytes, before: Sound | None) -> Sound | None:
        # In one piece, since this is done for every leaf.
        nonlocal begun
        leaf_index, stream, version, topic, state = leaf
        if before is not None:
            seq, before_hash, before_begin, _, _, of_kind = before
            if version != seq + 1 or topic not in of_kind:
                return None
            prev = f'"{before_hash}"'
        elif _may_stand(topic, stream):
            seq, before_begin, of_kind = version - 1, b"", of_kinds[_KINDS[topic]]
            prev = _claimed_prev(leaf) if seq else "null"
        else:
            return None
        expected = (
            f'{after_data}{prev},"seq":{seq},"stream":"{stream}","type":"{topic}","v":1}}\n'
        ).encode()
        end = len(state) - _SIGNED
        start = end - len(expected)
        signed = state[end:]
        if (
            state[start:end] != expected
            or not signed.endswith(_ENDS_OF_64_BYTES)
            or signed.translate(None, _BASE64) != b" ==\n"
            or end > _LARGEST
        ):
            return None
        key_id = signed[:_KEY_ID]
        signer = of_kind[topic].get(key_id)
        if signer is None:
            signer = of_kind[topic][key_id] = _signer(ring, key_id, topic)
        begin = state[:_BEFORE_DATA]
        if begin != begun and not _is_timed(begin):
            return None
        begun = begin
        if (
            leaf_index not in signer[0]
            or begin < before_begin
            or (leaf_index >= covered and not _is_signed(state[: end - 1], signed, signer[1]))
        ):
            return None
        data = state[_BEFORE_DATA:start]
        if data not in _texts[topic] and not _is_text_of(topic, data):
            return None
        return version, digest.hex(), begin, leaf, data, _NOTHING if topic in CLOSING else of_kind

    return sound_of


def _may_stand(topic: str, stream: str) -> bool:
    # What is nothing but these characters is written in JSON as it is.
    return topic in EVENTS and may_stand_in(topic, stream) and _PLAIN.issuperset(stream)


def _claimed_prev(leaf: StoredLeaf) -> str:
    after = f'","seq":{leaf.version - 1},"stream":"{leaf.stream}","type":"{leaf.topic}","v":1}}\n'
    stop = len(leaf.state) - _SIGNED - len(after.encode())
    claimed = leaf.state[max(stop - _HASH, 0) : max(stop, 0)]
    is_hash = len(claimed) == _HASH and not claimed.translate(None, _HEX)
    return f'"{claimed.decode()}"' if is_hash else ""


def _is_timed(begin: bytes) -> bool:
    try:
        parse_time(begin[len(_AT) : _TIMED].decode())
    except ValueError:
        return False
    return begin.startswith(_AT) and begin.endswith(_DATA)


def _signer(ring: KeyRing, key_id: bytes, topic: str) -> tuple[range, RingKey | None]:
    key = ring.get(key_id[:-1].decode("latin-1")) if key_id.endswith(b" ") else None
    return range(0) if key is None else key.span(EVENTS[topic].signer), key


def _is_signed(payload: bytes, signed: bytes, key: RingKey | None) -> bool:
    if key is None:
        return False
    try:
        key.verifier.verify(b64decode(signed[_KEY_ID:]), envelope.pae(payload))
    except InvalidSignature:
        return False
    return True


def _is_text_of(topic: str, data: bytes) -> bool:
    """Tell whether a text is the canonical form of data of a type, and remember those that are."""
    try:
        if canonical.encode(envelope.read_data(topic, data)) != data:
            return False
    except (ValueError, EventUnreadable, RecursionError):
        return False
    if len(_texts[topic]) >= _MOST_TEXTS:
        _texts[topic].clear()
    _texts[topic].add(data)
    return True
