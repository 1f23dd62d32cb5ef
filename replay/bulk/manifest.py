"""What an export of rounds as columns says about itself: whence, how much, and what it lacks.

The manifest names every file with its SHA-256, the rules its rounds name, and the leaves that could
not be read. It is not signed: whoever hands over an export can make one up. What it is worth comes
from the ledger, or from a checkpoint of it that was kept.
"""

import hashlib
from pathlib import Path
from typing import Any

import msgspec

from ledger import Finding
from replay.errors import ReplayError

FORMAT = "shoeproof/rounds-parquet/v2"
NAME = "manifest.json"

CANNOT_PROVE = (
    "that these rounds are in the ledger, or are all of its rounds: an export has no Merkle proofs",
    "who signed what, in which order it was said, or when: leaves and signatures are left out",
    "that sealed seeds open, and what a wallet answered: both are left out",
)
"""What an audit of an export leaves open, beside what an audit of a ledger does."""


class ExportUnusable(ReplayError):
    """An export that cannot be audited; the text names the file and says what is wrong."""


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of rounds and the file of its symbols, by name and lower-hex SHA-256."""

    rounds_file: str
    rounds_sha256: str
    symbols_file: str
    symbols_sha256: str
    rounds: int


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An export of the first `size` leaves of the ledger `origin`.

    `checkpoint` is that of the exporter's choice, as text, None where none was given. `rules` maps
    digests to rule sets as recorded; `unreadable` are findings of leaves that are no events.
    """

    format: str
    origin: str
    size: int
    checkpoint: str | None
    rules: dict[str, Any]
    unreadable: tuple[Finding, ...]
    parts: tuple[Part, ...]
    cannot_prove: tuple[str, ...] = CANNOT_PROVE


def digest_of(path: Path) -> str:
    """Return the lower-hex SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_manifest(folder: Path) -> Manifest:
    """Return an export's manifest; raises ExportUnusable for what is none of this format."""
    path = folder / NAME
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
    except OSError as error:
        raise ExportUnusable(f"{path}: {error.strerror}: is this an export?") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ExportUnusable(f"{path} is no manifest of an export: {error}") from error
    if manifest.format != FORMAT:
        raise ExportUnusable(f"{path} is of the format {manifest.format!r}, not {FORMAT!r}")
    return manifest


def checked(folder: Path, name: str, digest: str) -> Path:
    """Return the path of a part that has the digest; raises ExportUnusable for any other."""
    path = folder / name
    if path.parent != folder:
        raise ExportUnusable(f"the manifest names {name!r}, which is not in {folder}")
    try:
        found = digest_of(path)
    except OSError as error:
        raise ExportUnusable(f"{path}: {error.strerror}: a part is missing") from error
    if found != digest:
        raise ExportUnusable(f"{path} is not the file the manifest names: its SHA-256 is {found}")
    return path
