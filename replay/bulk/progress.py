"""How far an interrupted audit came, in a file, so that it can go on from there.

The file says which ledger it is about, by origin, size and the hash of the last leaf audited; it is
replaced whole or not at all. It is the auditor's own note and is trusted: who can change it can as
well change the report.
"""

from hashlib import sha256
from pathlib import Path

import msgspec

from shoeproof.ledger import Finding, Ledger, StoredLeaf
from shoeproof.ledger.files.durable import write_durably
from shoeproof.ledger.files.foreign import read_json
from shoeproof.ledger.keys.keyring import KeyRing
from shoeproof.ledger.keys.trust import build_ring, given_key
from shoeproof.ledger.tree.merkle import leaf_hash
from shoeproof.ledger.verify.beside import Beside
from shoeproof.ledger.verify.integrity import IntegrityNotes
from shoeproof.ledger.verify.known_checkpoints import digest_of_keys, keys_before, start_from
from shoeproof.ledger.verify.second_reads import ReadRange
from shoeproof.ledger.verify.workers import Progress
from shoeproof.replay.audit.one_by_one import VoidRound
from shoeproof.replay.bulk.ranges import RoundPiece
from shoeproof.replay.errors import ProgressUnusable

FORMAT = "shoeproof/audit-progress/v4"


class AuditScope(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an audit was asked for, where it changes the report; `checkpoint` is a SHA-256."""

    only: str | None
    from_leaf: int
    public_key: str | None
    checkpoint: str | None
    every_signature: bool


class Notes(msgspec.Struct, forbid_unknown_fields=True):
    """What the ranges before leaf `next` came to; `carried` are the pieces of rounds open there.

    `with_cases` are those of the rounds that cases are about. `shown` tells whether the leaves of
    no round, by which rounds were judged, are still the same.
    """

    format: str
    origin: str
    size: int
    asked: AuditScope
    integrity: IntegrityNotes
    next: int
    last_leaf_hash: str | None = None
    closed: int = 0
    voids: list[VoidRound] = []
    findings: list[Finding] = []
    ranges: list[ReadRange] = []
    carried: dict[str, list[RoundPiece]] = {}
    with_cases: dict[str, list[RoundPiece]] = {}
    shown: str = ""


def asked(
    only: str | None,
    from_leaf: int,
    public_key: str | None,
    checkpoint: bytes | None,
    every_signature: bool,
) -> AuditScope:
    """Return what an audit was asked for."""
    digest = None if checkpoint is None else sha256(checkpoint).hexdigest()
    return AuditScope(only, from_leaf, public_key, digest, every_signature)


def load(
    path: Path | None,
    ledger: Ledger,
    asked: AuditScope,
    checkpoint: bytes | None,
    workers: int,
    progress: Progress | None,
    hidden: list[StoredLeaf],
) -> tuple[Notes, KeyRing, list[StoredLeaf]]:
    """Return the notes in a file, or new ones where there is none, and the ledger's keys.

    The keys come as the ring and as the leaves it is the fold of; of these `hidden` are shown by
    no index. Raises ProgressUnusable for a file that holds no notes, or notes of another audit, and
    what beginning raises (`shoeproof.ledger.verify.known_checkpoints.start_from`).
    """
    try:
        notes = None if path is None else read_json(path.read_bytes(), Notes)
        if notes is not None:
            notes.integrity.check(notes.next)
    except FileNotFoundError:
        notes = None
    except (OSError, ValueError) as error:
        raise ProgressUnusable(f"{path} holds no notes of an audit: {error}") from error
    if notes is None:
        return _begin(ledger, asked, checkpoint, workers, progress, hidden)
    if (notes.format, notes.origin, notes.asked) != (FORMAT, ledger.origin, asked):
        raise ProgressUnusable(f"{path} is about another audit: remove it or name another file")
    keys = keys_before(ledger, notes.size)
    if (
        notes.size > ledger.size()
        or _last_leaf_hash(ledger, notes.next) != notes.last_leaf_hash
        or digest_of_keys(keys) != notes.integrity.keys
    ):
        raise ProgressUnusable(f"{path} is about another state of this ledger, which has changed")
    return notes, build_ring(keys, None)[0], keys


def _begin(
    ledger: Ledger,
    asked: AuditScope,
    checkpoint: bytes | None,
    workers: int,
    progress: Progress | None,
    hidden: list[StoredLeaf],
) -> tuple[Notes, KeyRing, list[StoredLeaf]]:
    start = start_from(
        ledger,
        asked.from_leaf,
        expected_anchor=None if asked.public_key is None else given_key(asked.public_key),
        given=checkpoint,
        workers=1 if ledger.store.is_in_memory else workers,
        progress=progress,
        hidden=hidden,
    )
    integrity = IntegrityNotes.of(start, every_signature=asked.every_signature)
    notes = Notes(FORMAT, ledger.origin, start.size, asked, integrity, asked.from_leaf)
    return notes, start.ring, start.keys


def hold_to_shown(notes: Notes, shown: Beside) -> None:
    """Raise ProgressUnusable where the leaves of no round are others than when notes were begun."""
    digest = digest_of_keys(shown.under(""))
    if notes.shown not in ("", digest):
        raise ProgressUnusable(
            "the notes are about another state of this ledger, which has changed"
        )
    notes.shown = digest


def save(path: Path, ledger: Ledger, notes: Notes) -> None:
    """Write the notes; a crash leaves the old file or the new one.

    Raises ProgressUnusable when the file cannot be written.
    """
    notes.last_leaf_hash = _last_leaf_hash(ledger, notes.next)
    try:
        write_durably(path, msgspec.json.encode(notes))
    except OSError as error:
        raise ProgressUnusable(f"{path} cannot be written: {error.strerror}") from error


def _last_leaf_hash(ledger: Ledger, stop: int) -> str | None:
    leaves = ledger.store.fetch(stop - 1, stop) if stop else []
    return leaf_hash(leaves[0].state).hex() if leaves else None
