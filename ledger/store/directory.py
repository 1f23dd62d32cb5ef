"""A ledger's directory: `ledger.toml`, `events.sqlite`, and the private keys in `keys/`.

Where `ledger.toml` says that the leaves are in PostgreSQL there is no `events.sqlite`.

A directory appears whole or not at all: it is built beside its place, made durable, and moved
there. It may come from a stranger, so it never says where else to look: it names no server, no
symbolic link leads out of it, and nothing in it is a pipe or a device. That is checked before
anything in it is used.
"""

import json
import os
import stat
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from shoeproof.ledger.errors import (
    KeyUnusable,
    LedgerExists,
    NotALedger,
    StoreUnavailable,
    UnsupportedFormat,
)
from shoeproof.ledger.files.durable import make_durable, temporary_folder
from shoeproof.ledger.files.foreign import read_toml
from shoeproof.ledger.keys.key import PrivateKey, check_name, decode_public_key
from shoeproof.ledger.leaf.events import Role

FORMAT = 3
"""The version of the directory's layout and of the tables."""

SETTINGS = "ledger.toml"
DATABASE = "events.sqlite"
KEYS = "keys"

DATABASE_VARIABLE = "SHOEPROOF_DATABASE"
"""The environment variable that says where the leaves of a ledger in PostgreSQL are."""

SQLITE, POSTGRES = "sqlite", "postgresql"
"""What `store` in the settings may be."""

_SETTINGS = {"format", "origin", "store", "escrow_public_key", "copied_at"}

FIRST_ROLES: tuple[Role, ...] = ("operator", "engine", "settlement", "staff", "log")
"""The roles a new ledger has a key for, the trust anchor's first."""

GUARD = "guard"
"""The file that remembers what was last signed (`shoeproof.ledger.store.guard`)."""

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

    `database` is the file of SQLite in the directory, None where the leaves are in PostgreSQL;
    `escrow_public_key` is 32 raw bytes of X25519, if there is one. `copied_at` is the size of
    the ledger that a second game server's was copied from.
    """

    origin: str
    database: Path | None
    escrow_public_key: bytes | None
    copied_at: int | None = None


def is_url(place: str) -> bool:
    """Say whether a ledger's place is a URL of PostgreSQL rather than a path."""
    return place.startswith(("postgresql://", "postgres://"))


def database_from_environment() -> str | None:
    """Return the URL in SHOEPROOF_DATABASE, None where there is none.

    Raises UnsupportedFormat for one of another kind of database.
    """
    url = os.environ.get(DATABASE_VARIABLE)
    if url and not is_url(url):
        raise UnsupportedFormat(f"{DATABASE_VARIABLE} is not a PostgreSQL URL: use postgresql://…")
    return url or None


def write_settings(
    path: Path, origin: str, database_url: str | None, escrow_public_key: str | None
) -> None:
    """Write `ledger.toml` into a new ledger's directory.

    `database_url` is None for SQLite, and is not written down; the escrow key is padded base64.
    Raises KeyUnusable when the origin cannot be a ledger's name or the escrow key is not a key, and
    UnsupportedFormat for a URL of another kind of database.
    """
    if database_url is not None and not is_url(database_url):
        raise UnsupportedFormat(
            f"a ledger cannot be stored in {database_url!r}: use postgresql://…"
        )
    settings: dict[str, str | int] = {
        "format": FORMAT,
        "origin": check_name(origin),
        "store": SQLITE if database_url is None else POSTGRES,
    }
    if escrow_public_key is not None:
        settings["escrow_public_key"] = b64encode(decode_public_key(escrow_public_key)).decode()
    # A JSON string in printable ASCII is a TOML basic string.
    text = "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())
    (path / SETTINGS).write_text(text, encoding="utf-8")


def read_settings(path: Path) -> Settings:
    """Return what a ledger's directory says of itself.

    Raises NotALedger when there is no ledger or something in it leads out of it, UnsupportedFormat
    when it is one this version cannot use, and StoreUnavailable when it cannot be read.
    """
    check_lies_within(path)
    try:
        settings = read_toml((path / SETTINGS).read_text(encoding="utf-8"))
        version = settings["format"]
        if version != FORMAT:
            age = "an older" if isinstance(version, int) and version < FORMAT else "a newer"
            raise UnsupportedFormat(
                f"{path} has format {version}, but this version reads {FORMAT}: use {age} one"
            )
        store = settings["store"]
        escrow = settings.get("escrow_public_key")
        origin = check_name(settings["origin"])
        copied_at = settings.get("copied_at")
        escrow_public_key = None if escrow is None else decode_public_key(escrow)
        unknown = sorted(settings.keys() - _SETTINGS)
    except (FileNotFoundError, NotADirectoryError):
        raise NotALedger(f"{path} is not a ledger: it has no {SETTINGS}") from None
    except OSError as error:
        raise StoreUnavailable(f"{path / SETTINGS} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, KeyUnusable) as error:
        raise NotALedger(f"{path / SETTINGS} is not a ledger's settings: {error}") from None
    if copied_at is not None and not (isinstance(copied_at, int) and copied_at > 0):
        raise NotALedger(
            f"{path / SETTINGS}: copied_at must be the number of leaves that were copied"
        )
    if unknown:
        raise UnsupportedFormat(f"{path / SETTINGS} sets {unknown[0]!r}, which is not a setting")
    if store not in (SQLITE, POSTGRES):
        raise UnsupportedFormat(
            f"{path / SETTINGS} has the store {store!r}: it is {SQLITE!r} or {POSTGRES!r}, and "
            "never says where"
        )
    database = path / DATABASE
    if store == SQLITE and not database.is_file():
        raise NotALedger(f"{path} is not a complete ledger: {DATABASE} is missing")
    return Settings(origin, database if store == SQLITE else None, escrow_public_key, copied_at)


def check_lies_within(path: Path) -> None:
    """Raise NotALedger where something in a ledger's directory is not simply a file in it.

    A symbolic link may stand for another place in the directory. What may not be listed may not
    be used either, and is passed over.
    """
    root = os.path.realpath(path)
    folders = [root]
    while folders:
        for each in _listed(folders.pop()):
            if each.is_dir(follow_symlinks=False):
                folders.append(each.path)
            elif not each.is_file(follow_symlinks=False) and _is_stranger(each.path, root):
                raise NotALedger(
                    f"{path / os.path.relpath(each.path, root)} points outside the ledger's "
                    f"directory, or is a pipe or a device: replace it with the file itself"
                )


def _listed(folder: str) -> list[os.DirEntry[str]]:
    try:
        return list(os.scandir(folder))
    except PermissionError:
        if os.access(folder, os.X_OK):
            raise  # What cannot be listed could be used all the same.
    except (FileNotFoundError, NotADirectoryError):
        pass
    return []


def _is_stranger(path: str, root: str) -> bool:
    target = os.path.realpath(path)
    try:
        mode = os.stat(target).st_mode
    except OSError:  # such as for a link to nothing
        mode = stat.S_IFREG
    return os.path.commonpath([root, target]) != root or not (
        stat.S_ISREG(mode) or stat.S_ISDIR(mode)
    )


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
        with temporary_folder(path.parent) as temporary:
            yield temporary
            for directory, _, names in os.walk(temporary):
                for name in names:
                    make_durable(Path(directory, name))
                make_durable(Path(directory))
            os.rename(temporary, path)
            make_durable(path.parent)
    except OSError as error:
        raise StoreUnavailable(f"cannot write to {path}: {error.strerror}") from error


def keys_are_encrypted(path: Path) -> bool:
    """Tell whether the private keys of the ledger at `path` need a passphrase to be used."""
    try:
        first_line = (path / KEYS / f"{FIRST_ROLES[0]}.pem").read_text(encoding="ascii")
    except (OSError, ValueError):
        return False
    return first_line.startswith("-----BEGIN ENCRYPTED")
