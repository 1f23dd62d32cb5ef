"""What an export of rounds as columns says about itself: whence, how much, and what it lacks.

The manifest names every file with its SHA-256, the rules its rounds name, and the leaves that could
not be read. It is not signed: whoever hands over an export can make one up. What it is worth comes
from the ledger, or from a checkpoint of it that was kept. It is written last: an export that was
cut short has none, and no beginning of a manifest can be read as one.
"""

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from shoeproof.ledger import Finding
from shoeproof.ledger.checkpoint.signed import Checkpoint, parse_checkpoint
from shoeproof.ledger.errors import NoteRefused
from shoeproof.ledger.files.foreign import read_json
from shoeproof.replay.bulk.export.folder import Folder
from shoeproof.replay.errors import ExportUnusable

FORMAT = "shoeproof/rounds-parquet/v3"
NAME = "manifest.json"

CANNOT_PROVE = (
    "that these rounds are in the ledger, or are all of its rounds: an export has no Merkle proofs",
    "who signed what, in which order it was said, or when: leaves and signatures are left out",
    "that sealed seeds open: they are left out",
    "which transactions moved money: a wallet's answers are kept, its transactions only as numbers",
    "that policies were kept (deadlines, defaults, held wins), inputs rightly refused, and rounds "
    "rightly voided: times, policies and cases are left out",
    "what was decided and paid in disputes: cases are left out",
)
"""What an audit of an export leaves open, beside what an audit of a ledger does."""


class ExportedFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of rounds and the file of its symbols, by name and lower-hex SHA-256."""

    rounds_file: str
    rounds_sha256: str
    symbols_file: str
    symbols_sha256: str
    rounds: int


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An export of the first `size` leaves of the ledger `origin`.

    `checkpoint` is the signed note of the exporter's choice, None where none was given. `rules`
    maps digests to rule sets as recorded; `unreadable` are findings of leaves that are no events.
    """

    format: str
    origin: str
    size: int
    checkpoint: str | None
    rules: dict[str, Any]
    unreadable: tuple[Finding, ...]
    parts: tuple[ExportedFile, ...]
    cannot_prove: tuple[str, ...] = CANNOT_PROVE


def digest_of(data: Any) -> str:
    """Return the lower-hex SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def read_manifest(place: Path | str) -> Manifest:
    """Return the manifest of the export in a folder or at a URL.

    Raises ExportUnusable for what is none of this format, names a file twice, or carries what is
    no checkpoint of leaves that were exported.
    """
    folder = Folder(place)
    path, data = f"{folder}/{NAME}", folder.read(NAME)
    try:
        manifest = read_json(data, Manifest)
    except ValueError as error:
        raise ExportUnusable(f"{path} is not a manifest of an export: {error}") from error
    if manifest.format != FORMAT:
        raise ExportUnusable(f"{path} is of the format {manifest.format!r}, not {FORMAT!r}")
    names = Counter(
        name for part in manifest.parts for name in (part.rounds_file, part.symbols_file)
    )
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise ExportUnusable(f"{path} names {twice[0]!r} twice: its rounds would count twice")
    said_by(manifest)
    return manifest


def said_by(manifest: Manifest) -> Checkpoint | None:
    """Return what the manifest's checkpoint says, whoever signed it, None where there is none.

    Raises ExportUnusable for what is no checkpoint, or is of another ledger or of more leaves.
    """
    if manifest.checkpoint is None:
        return None
    try:
        said = parse_checkpoint(manifest.checkpoint.encode())
    except NoteRefused as error:
        raise ExportUnusable(f"the manifest's checkpoint is none: {error}") from error
    if said.origin != manifest.origin or said.size > manifest.size:
        raise ExportUnusable(
            f"the manifest's checkpoint is of {said.size} leaves of {said.origin!r}, the export of "
            f"{manifest.size} of {manifest.origin!r}"
        )
    return said


def check_is_kept(manifest: Manifest, kept: bytes) -> None:
    """Hold the manifest's checkpoint to one that an auditor keeps.

    That says nothing of the columns, which no checkpoint covers. Raises ExportUnusable where they
    are not one and the same, NoteRefused where `kept` is no checkpoint.
    """
    mine, said = parse_checkpoint(kept), said_by(manifest)
    if said is None:
        raise ExportUnusable("the manifest carries no checkpoint: export with the one you keep")
    if (mine.origin, mine.size) != (said.origin, said.size):
        raise ExportUnusable(
            f"the manifest's checkpoint is of {said.size} leaves of {said.origin!r}, the kept one "
            f"of {mine.size} of {mine.origin!r}, and an export has no proof that one begins the "
            "other: export with the one you keep, or `verify` the ledger"
        )
    if mine != said:
        raise ExportUnusable(
            f"two checkpoints of {said.size} leaves differ, the manifest's and the one you keep: "
            "one is forged, or two histories were signed"
        )


def checked(folder: Folder, name: str, digest: str) -> bytes:
    """Return the bytes of a part; raise ExportUnusable for any that lack the digest."""
    data = folder.read(name)
    found = digest_of(data)
    if found != digest:
        raise ExportUnusable(
            f"{folder}/{name} is not the file the manifest names: its SHA-256 is {found}"
        )
    return data
