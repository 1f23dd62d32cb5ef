"""Checkpoints (C2SP tlog-checkpoint): a signed note that says how large a tree is and its root.

The text is `origin LF size LF base64(root) LF` and nothing more. Anyone who keeps one can have it
proven, of any later state of the ledger, that nothing before it was changed or removed.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Collection
from typing import NamedTuple

from shoeproof.ledger.checkpoint.note import NoteKey, VerifiedSignature, parse_note, verify_note
from shoeproof.ledger.errors import NoteRefused
from shoeproof.ledger.keys.keyring import KeyRing
from shoeproof.ledger.tree.merkle import HASH_SIZE

LARGEST_SIZE = 2**63 - 1
"""The largest tree a checkpoint may name: beyond it readers disagree."""

_text = re.compile(r"([^\n]+)\n(0|[1-9][0-9]{0,18})\n([A-Za-z0-9+/]+={0,2})\n", re.ASCII).fullmatch


class Checkpoint(NamedTuple):
    """What a checkpoint says: the log's name, the number of its leaves, their 32-byte root."""

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        """The text that is signed."""
        return f"{self.origin}\n{self.size}\n{b64encode(self.root).decode()}\n"


class SignedCheckpoint(NamedTuple):
    """A checkpoint, which known keys signed it, and the note itself, verbatim."""

    checkpoint: Checkpoint
    signatures: tuple[VerifiedSignature, ...]
    note: bytes


def parse_text(text: str) -> Checkpoint:
    """Return what the text of a checkpoint says.

    Raises NoteRefused for every other text, also for extension lines, which not all kinds of
    signature sign.
    """
    match = _text(text)
    if match is None:
        raise NoteRefused("a checkpoint must have three lines: origin, size, root")
    root = b64decode(match[3]) if len(match[3]) % 4 == 0 else b""
    if len(root) != HASH_SIZE or b64encode(root).decode() != match[3]:
        raise NoteRefused("a checkpoint's root is not padded base64 of 32 bytes")
    if int(match[2]) > LARGEST_SIZE:
        raise NoteRefused(f"a checkpoint's size is beyond {LARGEST_SIZE}")
    return Checkpoint(match[1], int(match[2]), root)


def parse_checkpoint(data: bytes) -> Checkpoint:
    """Return what a signed checkpoint says, unverified; raise NoteRefused if it is not one."""
    return parse_text(parse_note(data).text)


def verify_checkpoint(
    data: bytes, keys: Collection[NoteKey], origin: str | None = None
) -> SignedCheckpoint:
    """Return a checkpoint that known keys signed, and which of them.

    `origin`, if given, is the log it must be of. Raises NoteRefused.
    """
    note, signatures = verify_note(data, keys)
    checkpoint = parse_text(note.text)
    if origin is not None and checkpoint.origin != origin:
        raise NoteRefused(f"a checkpoint of {checkpoint.origin!r}, not of {origin!r}")
    return SignedCheckpoint(checkpoint, signatures, data)


def verify_by_ring(data: bytes, ring: KeyRing, origin: str) -> SignedCheckpoint:
    """Return a checkpoint of a log that a key of the log's own ring signed.

    Raises NoteRefused.
    """
    note = parse_note(data)
    said = parse_text(note.text)
    keys = log_keys(ring, origin, said.size)
    signers = {(each.name, each.key_id) for each in note.signatures if each.name == said.origin}
    if signers and signers.isdisjoint((key.name, key.key_id) for key in keys):
        names = ", ".join(sorted(f"{name}+{key_id.hex()}" for name, key_id in signers))
        raise NoteRefused(
            f"no key known here signed this checkpoint of {said.size} leaves: its log key {names} "
            "is not one this ledger has, or is revoked"
        )
    return verify_checkpoint(data, keys, origin)


def log_keys(ring: KeyRing, origin: str, size: int) -> list[NoteKey]:
    """Return the keys that may sign a checkpoint of the first `size` leaves of a log.

    They have the role, bear the log's name, and were added before and not distrusted within them.
    """
    return [
        NoteKey(key.public_key.name, key.public_key.raw)
        for key in ring
        if "log" in key.roles
        and key.public_key.name == origin
        and key.start <= size
        and (key.stop is None or size <= key.stop)
    ]
