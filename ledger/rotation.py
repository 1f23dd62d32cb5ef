"""Changes of keys: adding another's, rotating one of this directory's, revoking.

Each is an event signed by the operator's key and held to the key ring when it is appended. A
rotation adds and takes nothing away: processes that still sign with the old key go on until it is
revoked. At every moment `keys/<role>.pem` holds a key that the ledger has added, so that a
rotation broken off anywhere leaves a ledger that works.
"""

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoeproof.ledger.errors import KeyUnusable
from shoeproof.ledger.files.durable import make_durable
from shoeproof.ledger.keys.key import (
    FileSigner,
    PublicKey,
    Signer,
    ed25519,
    key_name,
    read_key,
    write_key,
)
from shoeproof.ledger.leaf.events import ROLES, KeyRevoked, Role
from shoeproof.ledger.leaf.recorded import Recorded
from shoeproof.ledger.leaf.streams import KEYS_STREAM
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.store import directory

_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


class Rotated(NamedTuple):
    """The new key, the event that added it, and the id of the key before it, if there was one."""

    key: PublicKey
    recorded: Recorded
    old_key_id_hex: str | None


def add_key(ledger: Ledger, key: PublicKey, roles: list[Role]) -> Recorded:
    """Add a key whose private part is kept elsewhere, such as another game server's.

    Raises KeyUnusable when it cannot be a key of this ledger (`KeyRing.add` says why), and what
    `Ledger.append` does.
    """
    return ledger.append((KEYS_STREAM, key.as_added(roles)))[0]


def new_key(
    ledger: Ledger, name: str, roles: list[Role], passphrase: bytes | None = None
) -> Recorded:
    """Make a key of a person's own, keep it as `keys/<name>.pem`, and add it for these roles.

    `name` may hold letters, digits, dots, dashes and underscores; the file is encrypted when a
    passphrase is given. The key of a run that was killed before it was added is taken up. Raises
    KeyUnusable for another name, a ledger in memory, or a file that is there with a key of this
    ledger or cannot be written, and what `Ledger.append` does.
    """
    if ledger.path is None:
        raise KeyUnusable("a ledger in memory keeps its keys: make one for a directory")
    if not _FILE_NAME.fullmatch(name):
        raise KeyUnusable(
            f"{name!r} is not a valid name for a key file: use letters, digits, . - and _"
        )
    file = ledger.path / directory.KEYS / f"{name}.pem"
    left = _left_over(ledger, file, passphrase)
    private_key = left or Ed25519PrivateKey.generate()
    signer = FileSigner(name, private_key)
    if left is None:
        write_key(file, private_key, passphrase)
    try:
        return add_key(ledger, PublicKey(name, signer.public_key), roles)
    except BaseException:
        # Whether it was added is not certain: only a key that surely was not may go.
        if ledger.key_ring().get(signer.key_id_hex) is None:
            file.unlink()
        raise


def _left_over(ledger: Ledger, file: Path, passphrase: bytes | None) -> Ed25519PrivateKey | None:
    """Return the key of a run that was killed after it wrote the file, and before it added it."""
    if not file.is_file():
        return None
    key = ed25519(read_key(file, passphrase))
    added = {each.public_key.raw for each in ledger.key_ring()}
    return None if FileSigner(file.stem, key).public_key in added else key


def rotate_key(ledger: Ledger, name: str, passphrase: bytes | None = None) -> Rotated:
    """Make a new key in place of `keys/<name>.pem`, add it, and sign with it from now on.

    `name` is a role, or that of a key which `new_key` made: its new key is for the same roles. The
    old private key is kept beside it as `<name>-<key id>.pem`, and stays trusted until it is
    revoked; a role without a key gets its first. The new key has the old one's name. The file is
    encrypted when a passphrase is given. Raises KeyUnusable when the ledger is in memory, there is
    no such key, or a file cannot be written, and what `Ledger.append` does.
    """
    if ledger.path is None:
        raise KeyUnusable("a ledger in memory keeps its keys: rotate those of a directory")
    keys = ledger.path / directory.KEYS
    current = keys / f"{name}.pem"
    role = next((each for each in ROLES if each == name), None)
    old: Signer | None
    if role is None:
        old, roles = _of_person(ledger, name, current, passphrase)
        called = old.name
    else:
        old, roles = (ledger.signer(role) if current.exists() else None), [role]
        called = key_name(role, ledger.origin) if old is None else old.name
    new_key = Ed25519PrivateKey.generate()
    new = FileSigner(called, new_key)
    key = PublicKey(new.name, new.public_key)
    fresh = keys / f"{name}-{new.key_id_hex}.pem"
    write_key(fresh, new_key, passphrase)
    try:
        recorded = add_key(ledger, key, roles)
    except BaseException:
        # Whether it was added is not certain: only a key that surely was not may go.
        if ledger.key_ring().get(new.key_id_hex) is None:
            fresh.unlink()
        raise
    try:
        if old is not None:
            # It is there already where a rotation was broken off.
            with suppress(FileExistsError):
                os.link(current, keys / f"{name}-{old.key_id_hex}.pem")
        os.replace(fresh, current)
        make_durable(keys)
    except OSError as error:
        raise KeyUnusable(f"cannot put {fresh} in place of {current}: {error.strerror}") from error
    if role is not None:
        ledger.take_up(role, new)
    return Rotated(key, recorded, None if old is None else old.key_id_hex)


def _of_person(
    ledger: Ledger, name: str, file: Path, passphrase: bytes | None
) -> tuple[Signer, list[Role]]:
    """Return who signs with a person's key, and what for."""
    if not _FILE_NAME.fullmatch(name):
        raise KeyUnusable(f"{name!r} is neither a role nor the name of a key file")
    signer = ledger.signer_of(read_key(file, passphrase))
    added = ledger.key_ring().get(signer.key_id_hex)
    assert added is not None
    return signer, [role for role in ROLES if role in added.roles]


def revoke_key(
    ledger: Ledger,
    key_id_hex: str,
    *,
    first_untrusted_leaf_index: int | None = None,
    reason: str | None = None,
) -> Recorded:
    """Stop trusting a key from a leaf on, by default from the revocation's own.

    The leaf may lie in the past; keys the revoked key added from there on fall with it. Raises
    KeyUnusable when the ledger has no such key or the leaf lies ahead of the next one, KeyNotValid
    when the operator's key would revoke itself, so that the revocation were void, and what
    `Ledger.append` and `sign_checkpoint` raise. A checkpoint is signed in the same step.
    """
    key = ledger.key_ring().get(key_id_hex)
    if key is None:
        raise KeyUnusable(f"the ledger has no key with the id {key_id_hex}: `keys list` shows them")
    size = ledger.size()
    if first_untrusted_leaf_index is not None and first_untrusted_leaf_index > size:
        # A slip of the finger would leave a stolen key trusted, and look like a revocation.
        raise KeyUnusable(
            f"the key would stay trusted up to leaf {first_untrusted_leaf_index}, and the ledger "
            f"has {size} leaves: revoke it from leaf {size} or an earlier one"
        )

    def revoked(size_then: int) -> tuple[str, KeyRevoked]:
        # Others append meanwhile: what they wrote before the revocation stays trusted.
        asked = first_untrusted_leaf_index
        stop = size_then if asked is None else asked
        return KEYS_STREAM, KeyRevoked(key.public_key.name, key_id_hex, stop, reason)

    recorded = ledger.append_at_size(revoked)
    # Whoever has it from now on can be shown nothing that a stolen key writes before it. Without a
    # log key, as when that is the one revoked, there is none until another was added.
    with suppress(KeyUnusable):
        sign_checkpoint(ledger)
    return recorded
