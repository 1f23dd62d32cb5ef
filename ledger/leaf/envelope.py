"""The envelope: what every event says about itself, how it is signed, and its form as a leaf.

A leaf is `<payload> LF <key id, 8 hex> SP <padded base64 signature> LF`, stored, hashed and
exported verbatim. The payload is canonical JSON; the signature is Ed25519 over its DSSE
pre-authentication encoding. Bytes are verified first and interpreted afterwards, and nothing read
is ever serialised again in place of what was stored.
"""

import re
from base64 import b64decode, b64encode
from hashlib import sha256
from typing import NamedTuple, Protocol

import msgspec

from shoeproof.ledger.errors import EventUnreadable
from shoeproof.ledger.leaf import canonical
from shoeproof.ledger.leaf.clock import parse_time
from shoeproof.ledger.leaf.events import EVENTS, EventData, PolicyAdded, RulesAdded
from shoeproof.ledger.leaf.layout import LARGEST_LEAF

VERSION = 1
"""The version of the envelope, its field `v`."""

PAYLOAD_TYPE = "application/vnd.shoeproof.event.v1+json"
"""The DSSE payload type every signature binds."""

_PAE_START = f"DSSEv1 {len(PAYLOAD_TYPE)} {PAYLOAD_TYPE} ".encode()
_signature_line = re.compile(rb"([0-9a-f]{8}) ([A-Za-z0-9+/]{85}[AQgw]==)").fullmatch


class Event(msgspec.Struct, frozen=True, gc=False):
    """One event, as said in the ledger whose origin is `ledger`, at `at` by the signer's clock.

    `seq` is 0-based in its stream, `prev` the lower-hex leaf hash of the stream's event before.
    """

    v: int
    ledger: str
    stream: str
    seq: int
    type: str
    at: str
    prev: str | None
    data: EventData


class Leaf(NamedTuple):
    """A leaf taken apart: the payload, the id of the signing key, the 64-byte signature."""

    payload: bytes
    key_id_hex: str
    signature: bytes


class Envelope(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """What every payload says about itself; its data is still text."""

    v: int
    ledger: str
    stream: str
    seq: int
    type: str
    at: str
    prev: str | None
    data: msgspec.Raw


class _Signs(Protocol):
    @property
    def key_id_hex(self) -> str: ...

    def sign(self, message: bytes) -> bytes: ...


_decode_envelope = msgspec.json.Decoder(Envelope).decode
_decode_data = {name: msgspec.json.Decoder(cls).decode for name, cls in EVENTS.items()}


def payload(event: Event) -> bytes:
    """Return an event's canonical JSON.

    Raises ValueError when a value has no canonical form (`shoeproof.ledger.leaf.canonical`).
    """
    if isinstance(event.data, RulesAdded):
        canonical.check(event.data.rules)
    elif isinstance(event.data, PolicyAdded):
        canonical.check(event.data.policy)
    return canonical.encode(event)


def digest_problem(data: EventData) -> str | None:
    """Say where an event adds content under another digest than its own, or return None.

    A digest is the SHA-256 of the content's canonical JSON, in lower hex.
    """
    if isinstance(data, RulesAdded):
        content = data.rules
    elif isinstance(data, PolicyAdded):
        content = data.policy
    else:
        return None
    digest = sha256(canonical.encode(content)).hexdigest()
    return None if digest == data.digest else f"the content it adds has the digest {digest}"


def pae(payload: bytes) -> bytes:
    """Return what is signed for a payload: its DSSE v1 pre-authentication encoding."""
    return b"%b%d %b" % (_PAE_START, len(payload), payload)


def seal_leaf(payload: bytes, signer: _Signs) -> bytes:
    """Return the leaf of a payload, signed.

    Raises ValueError when it would be longer than a leaf may be.
    """
    signature = b64encode(signer.sign(pae(payload)))
    leaf = b"%b\n%b %b\n" % (payload, signer.key_id_hex.encode(), signature)
    if len(leaf) > LARGEST_LEAF:
        raise ValueError(f"an event of {len(leaf)} bytes is too long: at most {LARGEST_LEAF}")
    return leaf


def split_leaf(leaf: bytes) -> Leaf:
    """Take a leaf apart without interpreting its payload.

    Raises EventUnreadable unless it has exactly the form of a leaf.
    """
    if len(leaf) > LARGEST_LEAF:
        raise EventUnreadable(f"a leaf of {len(leaf)} bytes is too long: at most {LARGEST_LEAF}")
    lines = leaf.split(b"\n")
    match = _signature_line(lines[1]) if len(lines) == 3 and not lines[2] else None
    if match is None:
        raise EventUnreadable("a leaf must be a payload, a line feed, a key id and a signature")
    return Leaf(lines[0], match[1].decode(), b64decode(match[2]))


def read_event(payload: bytes) -> Event:
    """Return the event a payload says, with its `data` in its own type.

    Raises EventUnreadable for bytes that are not an event, an unknown type or version, or data that
    does not fit its type.
    """
    try:
        envelope = _decode_envelope(payload)
        if envelope.v != VERSION:
            raise EventUnreadable(f"an event of version {envelope.v} is not known here")
        data = read_data(envelope.type, envelope.data)
        parse_time(envelope.at)
        return Event(
            envelope.v,
            envelope.ledger,
            envelope.stream,
            envelope.seq,
            envelope.type,
            envelope.at,
            envelope.prev,
            data,
        )
    except (ValueError, RecursionError) as error:
        raise EventUnreadable(f"not an event: {error}") from error


def read_data(name: str, text: bytes | msgspec.Raw) -> EventData:
    """Return the data of an event's type from its JSON.

    Raises EventUnreadable for an unknown type, ValueError and RecursionError for what does not fit.
    """
    decode = _decode_data.get(name)
    if decode is None:
        raise EventUnreadable(f"an event of type {name!r} is not known here")
    return decode(text)
