"""Encrypted private keys: PKCS#8 under PBES2 with scrypt and AES-256-CBC (RFC 8018, RFC 7914).

What OpenSSL and `cryptography` write by default is derived by 2,048 rounds of PBKDF2, which the
thief of a file tries by the billion. Here a passphrase costs what the OWASP Password Storage Cheat
Sheet names for scrypt, in the line whose memory `openssl pkey` allows, so that any OpenSSL opens
the file. The derivation a file asks for is looked at before it is run: one that is cheaper is not
trusted, and one that costs far more could use up the machine.
"""

import os
import re
from base64 import b64decode, encodebytes
from typing import Final

from cryptography.hazmat import asn1
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from cryptography.hazmat.primitives.padding import PKCS7
from cryptography.x509 import ObjectIdentifier

COST: Final = 2**14
BLOCK_SIZE: Final = 8
PARALLELISM: Final = 5
"""With COST and BLOCK_SIZE: N = 2^14 (16 MiB), r = 8, p = 5, as OWASP names them."""

_MOST_TIMES: Final = 16
"""How many times the work, and the memory, of our own derivation a file may ask for."""

_PBES2: Final = ObjectIdentifier("1.2.840.113549.1.5.13")
_SCRYPT: Final = ObjectIdentifier("1.3.6.1.4.1.11591.4.11")
_AES256_CBC: Final = ObjectIdentifier("2.16.840.1.101.3.4.1.42")

_BEGIN: Final = b"-----BEGIN ENCRYPTED PRIVATE KEY-----"
_END: Final = b"-----END ENCRYPTED PRIVATE KEY-----"
_pem = re.compile(_BEGIN + rb"\s+([A-Za-z0-9+/=\s]+)" + _END).fullmatch


@asn1.sequence
class _ScryptParameters:
    salt: bytes
    cost: int
    block_size: int
    parallelism: int


@asn1.sequence
class _Derivation:
    algorithm: ObjectIdentifier
    parameters: _ScryptParameters


@asn1.sequence
class _Scheme:
    algorithm: ObjectIdentifier
    initial_vector: bytes


@asn1.sequence
class _Parameters:
    derivation: _Derivation
    scheme: _Scheme


@asn1.sequence
class _Algorithm:
    algorithm: ObjectIdentifier
    parameters: _Parameters


@asn1.sequence
class _EncryptedPrivateKeyInfo:
    algorithm: _Algorithm
    encrypted: bytes


def is_encrypted(text: bytes) -> bool:
    """Tell whether a PEM file says that it holds an encrypted PKCS#8 key."""
    return _BEGIN in text


def encrypt(plain: bytes, passphrase: bytes) -> bytes:
    """Return a key, given as unencrypted PKCS#8 DER, as PEM that the passphrase opens."""
    salt, vector = os.urandom(16), os.urandom(16)
    key = Scrypt(salt, 32, COST, BLOCK_SIZE, PARALLELISM).derive(passphrase)
    padder = PKCS7(128).padder()
    padded = padder.update(plain) + padder.finalize()
    cipher = Cipher(algorithms.AES256(key), modes.CBC(vector)).encryptor()
    costs = _ScryptParameters(salt=salt, cost=COST, block_size=BLOCK_SIZE, parallelism=PARALLELISM)
    parameters = _Parameters(
        derivation=_Derivation(algorithm=_SCRYPT, parameters=costs),
        scheme=_Scheme(algorithm=_AES256_CBC, initial_vector=vector),
    )
    info = _EncryptedPrivateKeyInfo(
        algorithm=_Algorithm(algorithm=_PBES2, parameters=parameters),
        encrypted=cipher.update(padded) + cipher.finalize(),
    )
    return b"%b\n%b%b\n" % (_BEGIN, encodebytes(asn1.encode_der(info)), _END)


def checked_der(text: bytes) -> bytes | None:
    """Return an encrypted key's DER if its derivation is one to run, None if it is not.

    Raises ValueError when the text is not the PEM of one encrypted key.
    """
    match = _pem(text.strip())
    if match is None:
        raise ValueError("not a PEM file of one encrypted key")
    der = b64decode(b"".join(match[1].split()), validate=True)
    try:
        costs = asn1.decode_der(_EncryptedPrivateKeyInfo, der).algorithm.parameters.derivation
    except ValueError:
        # Another derivation has other parameters: PBKDF2 for one.
        return None
    return der if costs.algorithm == _SCRYPT and _is_fair(costs.parameters) else None


def _is_fair(costs: _ScryptParameters) -> bool:
    """Tell whether a derivation costs what OWASP asks for, in any line of it, and no more."""
    if min(costs.cost, costs.block_size, costs.parallelism) < 1:
        return False
    memory = costs.cost * costs.block_size
    work = memory * costs.parallelism
    own_memory = COST * BLOCK_SIZE
    own_work = own_memory * PARALLELISM
    return own_work <= work <= own_work * _MOST_TIMES and memory <= own_memory * _MOST_TIMES
