"""Changes of keys: adding another's, rotating one of this directory's, revoking.

Each is an event signed by the operator's key and held to the key ring when it is appended. A
rotation adds and takes nothing away: processes that still sign with the old key go on until it is
revoked. At every moment `keys/<role>.pem` holds a key that the ledger has added, so that a
rotation broken off anywhere leaves a ledger that works.
"""

import os
import re
from contextlib import suppress
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ledger import directory
from ledger.errors import KeyUnusable
from ledger.events import KEYS_STREAM, KeyRevoked, Role
from ledger.files import make_durable
from ledger.keys import FileSigner, PublicKey, key_name, write_key
from ledger.ledger import Ledger
from ledger.recorded import Recorded

_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


class Rotated(NamedTuple):
    """The new key, the event that added it, and the id of the key before it, if there was one."""

    key: PublicKey
    recorded: Recorded
    old_key_id_hex: str | None


def add_key(ledger: Ledger, key: PublicKey, roles: list[Role]) -> Recorded:
    """Add a key whose private part is kept elsewhere, such as another game server's.

    Raises KeyUnusable when it cannot be a key, or its id is taken, and what `Ledger.append` does.
    """
    return ledger.append((KEYS_STREAM, key.as_added(roles)))[0]


def new_key(
    ledger: Ledger, name: str, roles: list[Role], passphrase: bytes | None = None
) -> Recorded:
    """Make a key of a person's own, keep it as `keys/<name>.pem`, and add it for these roles.

    `name` may hold letters, digits, dots, dashes and underscores; the file is encrypted when a
    passphrase is given. Raises KeyUnusable for another name, a ledger in memory, or a file that
    exists already or cannot be written, and what `Ledger.append` does.
    """
    if ledger.path is None:
        raise KeyUnusable("a ledger in memory keeps its keys: make one for a directory")
    if not _FILE_NAME.fullmatch(name):
        raise KeyUnusable(f"{name!r} is no name for a key's file: use letters, digits, . - and _")
    private_key = Ed25519PrivateKey.generate()
    signer = FileSigner(name, private_key)
    file = ledger.path / directory.KEYS / f"{name}.pem"
    write_key(file, private_key, passphrase)
    try:
        return add_key(ledger, PublicKey(name, signer.public_key), roles)
    except BaseException:
        # Whether it was added is not certain: only a key that surely was not may go.
        if ledger.key_ring().get(signer.key_id_hex) is None:
            file.unlink()
        raise


def rotate_key(ledger: Ledger, role: Role, passphrase: bytes | None = None) -> Rotated:
    """Make a new key for a role, add it, and sign with it from now on.

    The old private key is kept beside it as `<role>-<key id>.pem`, and stays trusted until it is
    revoked; a role without a key gets its first. The new key has the old one's name. The file is
    encrypted when a passphrase is given. Raises KeyUnusable when the ledger is in memory or a file
    cannot be written, and what `Ledger.append` does.
    """
    if ledger.path is None:
        raise KeyUnusable("a ledger in memory keeps its keys: rotate those of a directory")
    keys = ledger.path / directory.KEYS
    current = keys / f"{role}.pem"
    old = ledger.signer(role) if current.exists() else None
    new_key = Ed25519PrivateKey.generate()
    new = FileSigner(key_name(role, ledger.origin) if old is None else old.name, new_key)
    key = PublicKey(new.name, new.public_key)
    fresh = keys / f"{role}-{new.key_id_hex}.pem"
    write_key(fresh, new_key, passphrase)
    try:
        recorded = add_key(ledger, key, [role])
    except BaseException:
        # Whether it was added is not certain: only a key that surely was not may go.
        if ledger.key_ring().get(new.key_id_hex) is None:
            fresh.unlink()
        raise
    try:
        if old is not None:
            # It is there already where a rotation was broken off.
            with suppress(FileExistsError):
                os.link(current, keys / f"{role}-{old.key_id_hex}.pem")
        os.replace(fresh, current)
        make_durable(keys)
    except OSError as error:
        raise KeyUnusable(f"cannot put {fresh} in place of {current}: {error.strerror}") from error
    ledger.sign_with(role, new)
    return Rotated(key, recorded, None if old is None else old.key_id_hex)


def revoke_key(
    ledger: Ledger,
    key_id_hex: str,
    *,
    first_untrusted_leaf_index: int | None = None,
    reason: str | None = None,
) -> Recorded:
    """Stop trusting a key from a leaf on, by default from the next one to be written.

    The leaf may lie in the past; keys the revoked key added from there on fall with it. Raises
    KeyUnusable when the ledger has no such key or the leaf lies ahead of the next one, KeyNotValid
    when the operator's key would revoke itself, so that the revocation were void, and what
    `Ledger.append` does.
    """
    key = ledger.key_ring().get(key_id_hex)
    if key is None:
        raise KeyUnusable(f"the ledger has no key with the id {key_id_hex}: `keys list` shows them")
    size = ledger.size()
    stop = size if first_untrusted_leaf_index is None else first_untrusted_leaf_index
    if stop > size:
        # A slip of the finger would leave a stolen key trusted, and look like a revocation.
        raise KeyUnusable(
            f"the key would stay trusted up to leaf {stop}, and the ledger has {size} leaves: "
            f"revoke it from leaf {size} or an earlier one"
        )
    revoked = KeyRevoked(key.public_key.name, key_id_hex, stop, reason)
    return ledger.append((KEYS_STREAM, revoked))[0]
