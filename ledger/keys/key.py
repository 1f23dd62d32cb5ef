"""Keys: their names and ids, how an auditor is handed one, their files, and who signs.

A key is an Ed25519 key with a name. Its id is four bytes, a hint and never proof. A private key
lives in a PKCS#8 PEM file, encrypted under a passphrase or readable by its owner alone, or behind
anything else that satisfies `Signer`.
"""

import os
import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TypeAlias, final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from shoeproof.ledger.errors import KeyUnusable
from shoeproof.ledger.files.durable import write_durably
from shoeproof.ledger.files.printable import printable
from shoeproof.ledger.keys.encryption import checked_der, encrypt, is_encrypted
from shoeproof.ledger.leaf.events import KeyAdded, Role

PrivateKey: TypeAlias = Ed25519PrivateKey | X25519PrivateKey

ED25519: Final = 1
"""The kind of a plain Ed25519 key (C2SP signed-note)."""

_MOST_KEY_BYTES: Final = 65_536
"""More than any key of ours; what follows in a file is not read."""

_FIELD_PRIME = 2**255 - 19
_SIGN_BIT = 2**255

# The y coordinates of the eight points of small order (RFC 7748, section 6.1, in Edwards form): a
# signature under such a key can hold for more than one message.
_LOW_ORDER_Y = frozenset(
    {
        0,
        1,
        _FIELD_PRIME - 1,
        0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7,
        0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826,
    }
)

_name = re.compile(r"[!-*,-~]+").fullmatch
_vkey = re.compile(r"([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})").fullmatch


class PublicKey(NamedTuple):
    """A named Ed25519 public key; `raw` is its 32 bytes."""

    name: str
    raw: bytes

    @property
    def key_id_hex(self) -> str:
        """The key's id as 8 lower hex digits."""
        return key_id(self.name, self.raw).hex()

    @property
    def vkey(self) -> str:
        """The key as text to hand to an auditor."""
        return vkey(self.name, self.raw)

    def as_added(self, roles: list[Role]) -> KeyAdded:
        """Return the event data that adds this key to a ledger."""
        return KeyAdded(self.name, b64encode(self.raw).decode(), roles)


class Signer(Protocol):
    """Anything that can sign as one named key: a file, a hardware module, a service."""

    @property
    def name(self) -> str:
        """The key's name."""

    @property
    def key_id_hex(self) -> str:
        """The key's id as 8 lower hex digits."""

    @property
    def public_key(self) -> bytes:
        """The 32 raw bytes of the public key."""

    def sign(self, message: bytes) -> bytes:
        """Return the 64-byte Ed25519 signature of a message."""


@final
class FileSigner:
    """A signer over an Ed25519 private key held in this process, such as one read from a file."""

    __slots__ = ("_key", "key_id_hex", "name", "public_key")

    def __init__(self, name: str, key: Ed25519PrivateKey) -> None:
        self.name = name
        self.public_key = key.public_key().public_bytes_raw()
        self.key_id_hex = key_id(name, self.public_key).hex()
        self._key = key

    def sign(self, message: bytes) -> bytes:
        """Return the 64-byte Ed25519 signature of a message."""
        return self._key.sign(message)

    def as_added(self, roles: list[Role]) -> KeyAdded:
        """Return the event data that adds this key to a ledger."""
        return PublicKey(self.name, self.public_key).as_added(roles)


def key_name(role: Role, origin: str) -> str:
    """Return the name of a role's first key; the log's is the origin itself (C2SP tlog-policy)."""
    return origin if role == "log" else f"{role}.{origin}"


def key_id(name: str, public_key: bytes, kind: int = ED25519) -> bytes:
    """Return a key's 4-byte id: SHA-256(name ‖ LF ‖ kind ‖ public key), cut (C2SP signed-note)."""
    return sha256(name.encode() + b"\n" + bytes([kind]) + public_key).digest()[:4]


def vkey(name: str, public_key: bytes, kind: int = ED25519) -> str:
    """Return a key as `name+id+base64(kind ‖ public key)` (C2SP signed-note, verifier key)."""
    encoded = b64encode(bytes([kind]) + public_key).decode()
    return f"{name}+{key_id(name, public_key, kind).hex()}+{encoded}"


def split_vkey(text: str) -> tuple[str, bytes, int]:
    """Return the name, the 32 bytes and the kind of the key a verifier key names.

    Raises KeyUnusable when its form or id is wrong, or it is not a sound key.
    """
    match = _vkey(text)
    if match is None:
        raise KeyUnusable("not a verifier key: name+8 hex digits+base64 of 33 bytes is expected")
    name, claimed_id, encoded = match.groups()
    if printable(name) != name:
        raise KeyUnusable(f"a verifier key's name is not printable: {printable(name)}")
    content = b64decode(encoded)
    kind, raw = content[0], _check_point(content[1:])
    if key_id(name, raw, kind).hex() != claimed_id:
        raise KeyUnusable(f"the verifier key of {name} was altered: its id does not match")
    return name, raw, kind


def parse_vkey(text: str) -> PublicKey:
    """Return the key a verifier key names.

    Raises KeyUnusable when its form, kind or id is wrong, or it is not a sound key.
    """
    name, raw, kind = split_vkey(text)
    if kind != ED25519:
        raise KeyUnusable(f"the verifier key of {name} is not a plain Ed25519 key")
    return PublicKey(check_name(name), raw)


def check_name(name: str) -> str:
    """Return a key's or a ledger's name if it can stand in a signed note (C2SP signed-note).

    Raises KeyUnusable unless it is printable ASCII without spaces and plus signs.
    """
    if _name(name) is None:
        raise KeyUnusable(
            f"{name!r} is not a valid name: use printable ASCII without spaces and '+'"
        )
    return name


def decode_public_key(text: str) -> bytes:
    """Return the 32 bytes of a public key from padded base64.

    Raises KeyUnusable when it is not base64 of 32 bytes, not in canonical form (RFC 8032, section
    5.1.3), or a point of small order, under which a signature binds to no one message.
    """
    try:
        raw = b64decode(text, validate=True)
    except (Base64Error, ValueError):
        raise KeyUnusable("a public key is not base64") from None
    if len(raw) != 32 or b64encode(raw).decode() != text:
        raise KeyUnusable("a public key is not padded base64 of 32 bytes")
    return _check_point(raw)


def _check_point(raw: bytes) -> bytes:
    y = int.from_bytes(raw, "little") % _SIGN_BIT
    if y >= _FIELD_PRIME:
        raise KeyUnusable("a public key is not in canonical form")
    if y in _LOW_ORDER_Y:
        raise KeyUnusable("a public key is a point of small order")
    return raw


def ed25519(key: PrivateKey) -> Ed25519PrivateKey:
    """Return a key that signs events; raise KeyUnusable for one that cannot."""
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyUnusable("a key to sign events with is not an Ed25519 key")
    return key


def write_key(path: Path, key: PrivateKey, passphrase: bytes | None) -> None:
    """Write a private key to a new file as PKCS#8 PEM (RFC 5958), mode 0600, and make it durable.

    It is encrypted when a passphrase is given (`shoeproof.ledger.keys.encryption`). Raises
    KeyUnusable when the file exists already or cannot be written.
    """
    encoding = serialization.Encoding.DER if passphrase else serialization.Encoding.PEM
    text = key.private_bytes(
        encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    if passphrase:
        text = encrypt(text, passphrase)
    try:
        write_durably(path, text, is_secret=True)
    except OSError as error:
        raise KeyUnusable(f"cannot write the key {path}: {error.strerror}") from error


def read_key(path: Path, passphrase: bytes | None) -> PrivateKey:
    """Read a private key from its file.

    Raises KeyUnusable when it is missing, can be read by others than its owner, is encrypted so
    that its passphrase could be guessed, needs another passphrase, or is not an Ed25519 or X25519
    key. A passphrase is ignored for an unencrypted key.
    """
    try:
        with open(path, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read(_MOST_KEY_BYTES)
    except FileNotFoundError:
        raise KeyUnusable(f"the key {path} is missing: restore it to append events") from None
    except OSError as error:
        raise KeyUnusable(f"cannot read the key {path}: {error.strerror}") from error
    if mode & 0o077:
        raise KeyUnusable(f"the key {path} can be read by others: chmod 600 it")
    encrypted = is_encrypted(text)
    if encrypted and not passphrase:
        raise KeyUnusable(f"the key {path} is encrypted: give its passphrase")
    try:
        key = _open_encrypted(path, text, passphrase) if encrypted else _open_plain(text)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        reason = "the passphrase is wrong or the file damaged" if encrypted else "it is damaged"
        raise KeyUnusable(f"cannot open the key {path}: {reason}") from None
    if not isinstance(key, Ed25519PrivateKey | X25519PrivateKey):
        raise KeyUnusable(f"the key {path} is neither an Ed25519 nor an X25519 key")
    return key


def _open_plain(text: bytes) -> object:
    return serialization.load_pem_private_key(text, None)


def _open_encrypted(path: Path, text: bytes, passphrase: bytes | None) -> object:
    der = checked_der(text)
    if der is None:
        raise KeyUnusable(
            f"the key {path} is encrypted so that its passphrase could be guessed: encrypt it "
            f"again with `openssl pkcs8 -topk8 -scrypt -scrypt_p 5`"
        )
    return serialization.load_der_private_key(der, passphrase)
