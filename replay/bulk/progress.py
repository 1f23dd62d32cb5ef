"""How far an interrupted audit came, in a file, so that it can go on from there.

The file says which ledger it is about, by origin, size and the hash of the last leaf audited; it is
replaced whole or not at all. It is the auditor's own note and is trusted: who can change it can as
well change the report.
"""

import os
from pathlib import Path

import msgspec

from ledger import Finding, Ledger
from ledger.merkle import leaf_hash
from replay.audit import VoidRound
from replay.errors import ReplayError

FORMAT = "shoeproof/audit-progress/v1"


class Notes(msgspec.Struct, forbid_unknown_fields=True):
    """What the ranges before leaf `next` came to; `carried` are the leaves of rounds open there."""

    format: str
    origin: str
    size: int
    only: str | None
    next: int = 0
    last_leaf_hash: str | None = None
    closed: int = 0
    voids: list[VoidRound] = []
    findings: list[Finding] = []
    carried: dict[str, list[int]] = {}


class ProgressUnusable(ReplayError):
    """Notes of an audit that cannot be gone on with; the text says why."""


def begin(ledger: Ledger, only: str | None) -> Notes:
    """Return the notes of an audit of the ledger as it stands now."""
    return Notes(FORMAT, ledger.origin, ledger.size(), only)


def load(path: Path, ledger: Ledger, only: str | None) -> Notes:
    """Return the notes in a file, or new ones where there is none.

    Raises ProgressUnusable for a file that holds no notes, or notes of another audit.
    """
    try:
        notes = msgspec.json.decode(path.read_bytes(), type=Notes)
    except FileNotFoundError:
        return begin(ledger, only)
    except (OSError, msgspec.DecodeError) as error:
        raise ProgressUnusable(f"{path} holds no notes of an audit: {error}") from error
    if (notes.format, notes.origin, notes.only) != (FORMAT, ledger.origin, only):
        raise ProgressUnusable(f"{path} is about another audit: remove it or name another file")
    if notes.size > ledger.size() or _last_leaf_hash(ledger, notes.next) != notes.last_leaf_hash:
        raise ProgressUnusable(f"{path} is about another state of this ledger, which has changed")
    return notes


def save(path: Path, ledger: Ledger, notes: Notes) -> None:
    """Write the notes; a crash leaves the old file or the new one.

    Raises ProgressUnusable when the file cannot be written.
    """
    notes.last_leaf_hash = _last_leaf_hash(ledger, notes.next)
    beside = path.with_name(f"{path.name}.new")
    try:
        with beside.open("wb") as file:
            file.write(msgspec.json.encode(notes))
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        raise ProgressUnusable(f"{path} cannot be written: {error.strerror}") from error


def _last_leaf_hash(ledger: Ledger, stop: int) -> str | None:
    leaves = ledger.store.fetch(stop - 1, stop) if stop else []
    return leaf_hash(leaves[0].state).hex() if leaves else None
