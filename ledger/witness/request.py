"""What a log and a witness say to each other (C2SP tlog-witness): pure functions over bytes.

A request is `old SIZE`, a consistency proof from the tree of that size, an empty line and a signed
checkpoint; the answer is a line that cosigns it. The same bytes go by HTTP, by e-mail, on a stick.
"""

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Collection
from hashlib import sha256
from typing import NamedTuple

from shoeproof.ledger.checkpoint.note import NoteKey, Signature, parse_note
from shoeproof.ledger.checkpoint.signed import LARGEST_SIZE, Checkpoint
from shoeproof.ledger.errors import NotConsistent, NoteRefused, OldSizeDiffers, ProofRefused
from shoeproof.ledger.tree.merkle import HASH_SIZE, verify_consistency

MOST_PROOF_LINES = 63
"""The most hashes a request's proof has."""

LARGEST_REQUEST = 1 << 16
"""The most bytes of a request that a witness reads."""

_old_line = re.compile(rb"old (0|[1-9][0-9]{0,18})").fullmatch


class CosignRequest(NamedTuple):
    """A log asks a witness to cosign `note`, given the proof from the tree of `old_size` leaves."""

    old_size: int
    proof: tuple[bytes, ...]
    note: bytes

    def encode(self) -> bytes:
        """Return the request's bytes."""
        hashes = b"".join(b64encode(each) + b"\n" for each in self.proof)
        return b"old %d\n%b\n%b" % (self.old_size, hashes, self.note)


def is_request(data: bytes) -> bool:
    """Say whether bytes are meant as a request rather than as a checkpoint alone."""
    return data.startswith(b"old ")


def parse_request(data: bytes) -> CosignRequest:
    """Return the request in bytes; raise NoteRefused unless it has exactly the form of one."""
    head, separator, note = data.partition(b"\n\n")
    lines = head.split(b"\n")
    old = _old_line(lines[0])
    if old is None or not separator or len(data) > LARGEST_REQUEST:
        raise NoteRefused("a request must be `old SIZE`, a proof, an empty line and a checkpoint")
    if int(old[1]) > LARGEST_SIZE or len(lines) > MOST_PROOF_LINES + 1:
        raise NoteRefused(f"a request's size is too large, or its proof over {MOST_PROOF_LINES}")
    return CosignRequest(int(old[1]), tuple(map(_parse_hash, lines[1:])), note)


def _parse_hash(line: bytes) -> bytes:
    try:
        digest = b64decode(line, validate=True)
    except Base64Error:
        digest = b""
    if len(digest) != HASH_SIZE or b64encode(digest) != line:
        raise NoteRefused("a line of a proof is not padded base64 of 32 bytes")
    return digest


def check_extends(request: CosignRequest, new: Checkpoint, last: Checkpoint) -> None:
    """Accept a request for `new` if it is proven to extend `last`, cosigned before it.

    Where nothing was cosigned before, `last` is the empty tree. Raises NoteRefused when the request
    contradicts itself, NotConsistent when the log shows another history, and OldSizeDiffers, which
    also stands for a smaller tree: it may be an old one, or one rolled back.
    """
    if new.size == last.size and new.root != last.root:
        raise NotConsistent(f"the log signed two different trees of {new.size} leaves")
    if request.old_size > new.size:
        raise NoteRefused("a request's proof begins at a larger tree than the checkpoint's")
    if new.size < last.size:
        raise OldSizeDiffers(
            f"the tree last cosigned has {last.size} leaves, this one {new.size}: "
            "it may be an old one sent again, which proves no misconduct",
            last.size,
        )
    if request.old_size != last.size:
        raise OldSizeDiffers(f"the tree last cosigned has {last.size} leaves", last.size)
    try:
        verify_consistency(last.size, last.root, new.size, new.root, request.proof)
    except ProofRefused as error:
        # Whoever has a log's checkpoint can send it with a proof that is rubbish.
        raise NotConsistent(
            f"it is not proven that the log only grew, nor that it did not: {error}"
        ) from None


def with_cosignature(note: bytes, key: NoteKey, line: bytes) -> bytes:
    """Return a note with a witness's line at its end, and no older line of the same key."""
    return _filtered(note, lambda each: (each.name, each.key_id) != (key.name, key.key_id)) + line


def signed_only_by(note: bytes, keys: Collection[NoteKey]) -> bytes:
    """Return a note without its signatures by other keys."""
    wanted = {(key.name, key.key_id) for key in keys}
    return _filtered(note, lambda each: (each.name, each.key_id) in wanted)


def _filtered(note: bytes, wanted: Callable[[Signature], bool]) -> bytes:
    head, separator, lines = note.rpartition(b"\n\n")
    signatures = parse_note(note).signatures
    kept = [
        text + b"\n"
        for text, each in zip(lines.split(b"\n"), signatures, strict=False)
        if wanted(each)
    ]
    return head + separator + b"".join(kept)


def line_of(answer: bytes, key: NoteKey) -> bytes:
    """Return the line by a key among those a witness answered; raise NoteRefused without one."""
    signatures = parse_note(b"-\n\n" + answer).signatures
    for text, each in zip(answer.split(b"\n"), signatures, strict=False):
        if (each.name, each.key_id) == (key.name, key.key_id):
            return text + b"\n"
    raise NoteRefused(f"no line of the answer is by {key.name}")


def origin_digest(origin: str) -> str:
    """Return the lower-hex SHA-256 of a log's origin, by which a witness names its checkpoint."""
    return sha256(origin.encode()).hexdigest()
