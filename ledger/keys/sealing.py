"""Sealed seeds: a server seed that waits in the ledger, unreadable until it may be revealed.

HPKE base mode (RFC 9180) with X25519, HKDF-SHA256 and ChaCha20-Poly1305. `info` is the round's
32-byte commitment, so that a sealed seed copied into another round does not open there.
"""

from base64 import b64decode, b64encode
from binascii import Error as Base64Error

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from shoeproof.ledger.errors import KeyUnusable

_suite = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.CHACHA20_POLY1305)


def seal_seed(seed: bytes, public_key: bytes, commitment: bytes) -> str:
    """Return padded base64 of `enc ‖ ciphertext` for a seed.

    `public_key` is 32 raw bytes of X25519, `commitment` the round's 32 bytes. Raises KeyUnusable
    when the public key is none.
    """
    try:
        key = X25519PublicKey.from_public_bytes(public_key)
        return b64encode(_suite.encrypt(seed, key, commitment)).decode()
    except ValueError:
        raise KeyUnusable("the key to seal seeds to is not an X25519 public key") from None


def unseal_seed(text: str, private_key: X25519PrivateKey, commitment: bytes) -> bytes:
    """Return the seed inside what `seal_seed` returned.

    Raises KeyUnusable when the key or the commitment is another, or the text was altered.
    """
    try:
        return _suite.decrypt(b64decode(text, validate=True), private_key, commitment)
    except (Base64Error, ValueError, InvalidTag):
        raise KeyUnusable(
            "a sealed seed does not open: it belongs to another key or another round, or was "
            "altered"
        ) from None
