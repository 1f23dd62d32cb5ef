"""A ledger's directory: `ledger.toml`, `events.sqlite`, and the private keys in `keys/`.

Where `ledger.toml` names a database of PostgreSQL there is no `events.sqlite`.

A directory appears whole or not at all: it is built beside its place, made durable, and moved
there. What it says of itself is checked before anything in it is used.
"""

import json
import os
import shutil
import tempfile
import tomllib
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from ledger.errors import KeyUnusable, LedgerExists, NotALedger, StoreUnavailable, UnsupportedFormat
from ledger.events import Role
from ledger.files import make_durable
from ledger.keys import PrivateKey, check_name, decode_public_key

FORMAT = 2
"""The version of the directory's layout and of the tables."""

SETTINGS = "ledger.toml"
DATABASE = "events.sqlite"
KEYS = "keys"

FIRST_ROLES: tuple[Role, ...] = ("operator", "engine", "settlement", "staff", "log")
"""The roles a new ledger has a key for, the trust anchor's first."""

GUARD = "guard"
"""The file that remembers what was last signed (`ledger.guard`)."""

CHECKPOINTS = "checkpoints"
"""The directory of every checkpoint signed so far, each named by its size."""

SEAL = "seal"
"""The name of the key that sealed seeds are sealed to."""


def new_keys() -> dict[str, PrivateKey]:
    """Return fresh private keys by the names of their files: of the first roles, and to seal to."""
    keys: dict[str, PrivateKey] = {role: Ed25519PrivateKey.generate() for role in FIRST_ROLES}
    keys[SEAL] = X25519PrivateKey.generate()
    return keys


class Settings(NamedTuple):
    """What `ledger.toml` says.

    `database` is a file of SQLite or a URL of PostgreSQL, `escrow_public_key` 32 raw bytes of
    X25519, if there is one.
    """

    origin: str
    database: Path | str
    escrow_public_key: bytes | None


def is_url(place: str) -> bool:
    """Say whether a ledger's place is a URL of PostgreSQL rather than a path."""
    return place.startswith(("postgresql://", "postgres://"))


def write_settings(
    path: Path, origin: str, database_url: str | None, escrow_public_key: str | None
) -> None:
    """Write `ledger.toml` into a new ledger's directory.

    `database_url` is None for SQLite; the escrow key is padded base64. Raises KeyUnusable when the
    origin cannot be a ledger's name or the escrow key is no key, and UnsupportedFormat for a URL
    of another kind of database.
    """
    if database_url is not None and not is_url(database_url):
        raise UnsupportedFormat(f"a ledger cannot be in {database_url!r}: use postgresql://…")
    if database_url is not None and urlsplit(database_url).password:
        raise UnsupportedFormat(
            f"a password would stand in {SETTINGS}: leave it out and give PGPASSFILE or PGPASSWORD"
        )
    settings: dict[str, str | int] = {
        "format": FORMAT,
        "origin": check_name(origin),
        "store": database_url or f"sqlite:///{DATABASE}",
    }
    if escrow_public_key is not None:
        settings["escrow_public_key"] = b64encode(decode_public_key(escrow_public_key)).decode()
    # A JSON string in printable ASCII is a TOML basic string.
    text = "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())
    (path / SETTINGS).write_text(text, encoding="utf-8")


def read_settings(path: Path) -> Settings:
    """Return what a ledger's directory says of itself.

    Raises NotALedger when there is no ledger, UnsupportedFormat when it is one this version cannot
    use, and StoreUnavailable when its settings cannot be read.
    """
    try:
        settings = tomllib.loads((path / SETTINGS).read_text(encoding="utf-8"))
        version = settings["format"]
        if version != FORMAT:
            age = "an older" if isinstance(version, int) and version < FORMAT else "a newer"
            raise UnsupportedFormat(
                f"{path} has format {version}, this version knows {FORMAT}: use {age} one"
            )
        store = settings["store"]
        escrow = settings.get("escrow_public_key")
        origin = check_name(settings["origin"])
        escrow_public_key = None if escrow is None else decode_public_key(escrow)
    except (FileNotFoundError, NotADirectoryError):
        raise NotALedger(f"{path} is not a ledger: it has no {SETTINGS}") from None
    except OSError as error:
        raise StoreUnavailable(f"{path / SETTINGS} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, KeyUnusable) as error:
        raise NotALedger(f"{path / SETTINGS} is not a ledger's settings: {error}") from None
    if isinstance(store, str) and is_url(store):
        return Settings(origin, store, escrow_public_key)
    if not isinstance(store, str) or not store.startswith("sqlite:///"):
        raise UnsupportedFormat(
            f"{path} is stored in {store!r}: sqlite:/// and postgresql:// are known here"
        )
    database = path / store.removeprefix("sqlite:///")
    if not database.is_file():
        raise NotALedger(f"{path} is not a whole ledger: {database.name} is missing")
    return Settings(origin, database, escrow_public_key)


@contextmanager
def building(path: Path) -> Iterator[Path]:
    """Give a directory to fill, which becomes `path` when the block ends and vanishes if it fails.

    Raises LedgerExists when something is at `path`, and StoreUnavailable when nothing can be
    written there.
    """
    if os.path.lexists(path):
        raise LedgerExists(f"{path} exists already: a ledger is never overwritten")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    except OSError as error:
        raise StoreUnavailable(f"cannot write to {path.parent}: {error.strerror}") from error
    try:
        yield temporary
        for directory, _, names in os.walk(temporary):
            for name in names:
                make_durable(Path(directory, name))
            make_durable(Path(directory))
        os.rename(temporary, path)
        make_durable(path.parent)
    except OSError as error:
        raise StoreUnavailable(f"cannot write to {path}: {error.strerror}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def keys_are_encrypted(path: Path) -> bool:
    """Tell whether the private keys of the ledger at `path` need a passphrase to be used."""
    try:
        first_line = (path / KEYS / f"{FIRST_ROLES[0]}.pem").read_text(encoding="ascii")
    except (OSError, ValueError):
        return False
    return first_line.startswith("-----BEGIN ENCRYPTED")
