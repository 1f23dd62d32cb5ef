"""Signed notes (C2SP signed-note): a text, an empty line, and lines of signatures over it.

Readers in the world disagree on malformed notes, so this one refuses whatever any of them refuses.
Signatures by unknown keys are ignored; a known key whose signature fails makes the whole note
worthless. Two kinds of signature are known: plain Ed25519 (0x01), and cosignature/v1 (0x04), by
which a witness says what it saw and when (C2SP tlog-cosignature).
"""

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Collection
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from shoeproof.ledger.errors import KeyUnusable, NoteRefused
from shoeproof.ledger.files.printable import printable
from shoeproof.ledger.keys.key import ED25519, key_id, split_vkey, vkey

Kind: TypeAlias = Literal[1, 4]
COSIGNATURE: Final = 4

MOST_SIGNATURES = 100
"""How many signatures a note may carry; the specification asks for at least 16."""

_DASH = "\u2014"
_ID_SIZE = 4
_TIME_SIZE = 8
_signature_line = re.compile(rf"{_DASH} ([^\s+]+) ([A-Za-z0-9+/]+={{0,2}})").fullmatch


class NoteKey(NamedTuple):
    """A key that verifies one kind of signature; `raw` is the 32 bytes of its Ed25519 key."""

    name: str
    raw: bytes
    kind: Kind = ED25519

    @property
    def key_id(self) -> bytes:
        """The key's 4-byte id."""
        return key_id(self.name, self.raw, self.kind)

    @property
    def vkey(self) -> str:
        """The key as text to hand over: `name+id+base64(kind ‖ raw)`."""
        return vkey(self.name, self.raw, self.kind)


class Signature(NamedTuple):
    """A line of a note taken apart: whose it says it is, and what follows the key id."""

    name: str
    key_id: bytes
    value: bytes


class Note(NamedTuple):
    """A note taken apart, unverified; `text` ends in a line feed."""

    text: str
    signatures: tuple[Signature, ...]


class VerifiedSignature(NamedTuple):
    """A signature that holds; `time` is a cosignature's, in seconds since 1970, else None."""

    key: NoteKey
    time: int | None


class NoteSigner(Protocol):
    """Anything that signs as a named key; every `keys.Signer` is one."""

    @property
    def name(self) -> str:
        """The key's name."""

    @property
    def public_key(self) -> bytes:
        """The 32 raw bytes of the public key."""

    def sign(self, message: bytes) -> bytes:
        """Return the 64-byte Ed25519 signature of a message."""


def parse_vkey(text: str) -> NoteKey:
    """Return the key a verifier key names, of either kind.

    Raises KeyUnusable when its form, kind or id is wrong, or the key is not sound.
    """
    name, raw, kind = split_vkey(text)
    if kind == ED25519:
        return NoteKey(name, raw)
    if kind == COSIGNATURE:
        return NoteKey(name, raw, COSIGNATURE)
    raise KeyUnusable(f"the verifier key of {name} is of the unknown kind {kind}")


def parse_note(data: bytes) -> Note:
    """Take a note apart without verifying it.

    Raises NoteRefused unless it has exactly the form of a note: UTF-8, nothing that does not print
    but line feeds, a text that is not empty, at least one signature, and no signature twice.
    """
    try:
        content = data.decode("utf-8")
    except UnicodeDecodeError:
        raise NoteRefused("a note is not UTF-8 text") from None
    if printable(content, "\n") != content:
        raise NoteRefused("a note holds a control character other than line feeds")
    if not content.endswith("\n"):
        raise NoteRefused("a note does not end in a line feed")
    text, separator, lines = content.rpartition("\n\n")
    if not separator or not text or not lines:
        raise NoteRefused("a note must be a text, an empty line and signatures")
    signatures = tuple(map(_parse_line, lines[:-1].split("\n")))
    if len(signatures) > MOST_SIGNATURES:
        raise NoteRefused(f"a note has {len(signatures)} signatures: at most {MOST_SIGNATURES}")
    if len({(each.name, each.key_id) for each in signatures}) != len(signatures):
        raise NoteRefused("a note is signed twice by one key")
    return Note(text + "\n", signatures)


def _parse_line(line: str) -> Signature:
    match = _signature_line(line)
    if match is None:
        raise NoteRefused(f"a line of the note is not a signature: {line[:60]!r}")
    try:
        value = b64decode(match[2], validate=True)
    except Base64Error:
        value = b""
    if len(value) <= _ID_SIZE or b64encode(value).decode() != match[2]:
        raise NoteRefused(f"a note's signature by {match[1]} is not padded base64")
    return Signature(match[1], value[:_ID_SIZE], value[_ID_SIZE:])


def verify_note(
    data: bytes, keys: Collection[NoteKey]
) -> tuple[Note, tuple[VerifiedSignature, ...]]:
    """Return a note and its signatures by known keys, of which there is at least one.

    Raises NoteRefused for text that is not a note, when no known key signed it, and when the
    signature of any known key fails.
    """
    note = parse_note(data)
    known = {(key.name, key.key_id): key for key in keys}
    if len(known) != len(set(keys)):
        raise NoteRefused("two of the keys given share a name and an id")
    verified: list[VerifiedSignature] = []
    for signature in note.signatures:
        key = known.get((signature.name, signature.key_id))
        if key is not None:
            verified.append(_verify(note.text, signature, key))
    if not verified:
        names = ", ".join(sorted({signature.name for signature in note.signatures}))
        raise NoteRefused(f"no key known here signed this; it bears the names {names}")
    return note, tuple(verified)


def _verify(text: str, signature: Signature, key: NoteKey) -> VerifiedSignature:
    time, value, message = None, signature.value, text.encode()
    if key.kind == COSIGNATURE:
        time, value = int.from_bytes(value[:_TIME_SIZE], "big"), value[_TIME_SIZE:]
        message = _cosigned(text, time)
    try:
        Ed25519PublicKey.from_public_bytes(key.raw).verify(value, message)
    except InvalidSignature:
        raise NoteRefused(f"the signature by {key.name} is not valid: the note is forged") from None
    return VerifiedSignature(key, time)


def _cosigned(text: str, time: int) -> bytes:
    return f"cosignature/v1\ntime {time}\n{text}".encode()


def sign_note(text: str, *signers: NoteSigner) -> bytes:
    """Return a note: the text, which must end in a line feed, signed plainly by each signer."""
    lines = "".join(
        _line(NoteKey(signer.name, signer.public_key), signer.sign(text.encode()))
        for signer in signers
    )
    return f"{text}\n{lines}".encode()


def cosignature_line(text: str, signer: NoteSigner, time: int) -> bytes:
    """Return a witness's line for a note's text at `time`, in seconds since 1970.

    Appended to a note it makes the note bear the cosignature.
    """
    value = time.to_bytes(_TIME_SIZE, "big") + signer.sign(_cosigned(text, time))
    return _line(NoteKey(signer.name, signer.public_key, COSIGNATURE), value).encode()


def _line(key: NoteKey, value: bytes) -> str:
    return f"{_DASH} {key.name} {b64encode(key.key_id + value).decode()}\n"
