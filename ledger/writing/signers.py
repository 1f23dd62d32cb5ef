"""Who signs for each role: a key read from its file, or a signer of the caller's.

Keys that were read from files are read again when the ledger's keys changed, so that a running
server signs with the key it was rotated to. What anything but a private key of this process signs,
such as a hardware module, is verified before it is used: a signature that does not hold is never
written.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from shoeproof.ledger.errors import KeyUnusable, SignerFailed
from shoeproof.ledger.keys.key import FileSigner, PrivateKey, Signer, ed25519
from shoeproof.ledger.keys.keyring import KeyRing
from shoeproof.ledger.leaf.events import Role
from shoeproof.ledger.store import directory


class Signers:
    """The signers of one ledger by their roles."""

    def __init__(
        self,
        path: Path | None,
        private_key: Callable[[str], PrivateKey],
        ring: Callable[[], KeyRing],
    ) -> None:
        """Read keys by `private_key`; `ring` gives the ledger's keys as they are then."""
        self._path, self._private_key, self._ring = path, private_key, ring
        self._read: dict[Role, Signer] = {}
        self._older: dict[Role, Signer] = {}
        self._given: dict[Role, Signer] = {}

    def signer(self, role: Role) -> Signer:
        """Return who signs for a role.

        Raises KeyUnusable when the role's private key cannot be used or is no key of this ledger.
        """
        signer = self._given.get(role) or self._read.get(role)
        if signer is None:
            signer = self._read[role] = self._read_again(role)
        return signer

    def _read_again(self, role: Role) -> Signer:
        try:
            return self._from_file(role)
        except KeyUnusable:
            # Where files are gone since, a key that was read before signs until it is revoked.
            older = self._older.get(role)
            if older is None:
                raise
            return older

    def _from_file(self, role: Role) -> Signer:
        key = ed25519(self._private_key(role))
        raw = key.public_key().public_bytes_raw()
        for added in self._ring():
            if added.public_key.raw == raw and role in added.roles:
                return FileSigner(added.public_key.name, key)
        raise KeyUnusable(
            f"the private key for {role} was never added to this ledger for that role"
        )

    def give(self, role: Role, signer: Signer) -> None:
        """Let a signer of the caller's sign for a role from now on."""
        own = type(signer) is FileSigner or isinstance(signer, _Held)
        self._given[role] = signer if own else _Held(signer, self._ring)

    def take_up(self, role: Role, signer: FileSigner) -> None:
        """Sign for a role by the key that its file holds now."""
        self._given.pop(role, None)
        self._read[role] = signer

    def read_again(self) -> None:
        """Have keys read from their files again when they are next used."""
        self._older |= self._read
        self._read.clear()

    def renew(self, used: Mapping[Role, Signer]) -> bool:
        """Read keys from their files again, and tell whether one is another than was used."""
        self.read_again()
        return any(self.signer(role).key_id_hex != old.key_id_hex for role, old in used.items())

    def all_of(self, role: Role) -> list[Signer]:
        """Return who signs for a role, then each older key of it that is kept and not revoked."""
        current = self.signer(role)
        keys = [each.public_key for each in self._ring().holders(role)]
        older = [
            FileSigner(key.name, ed25519(self._private_key(name)))
            for key in reversed(keys)
            for name in [f"{role}-{key.key_id_hex}"]
            if key.key_id_hex != current.key_id_hex
            and self._path is not None
            and (self._path / directory.KEYS / f"{name}.pem").exists()
        ]
        return [current, *older]

    def of_key(self, private_key: PrivateKey) -> Signer:
        """Return who signs with a private key, under the name the ledger added it by.

        Raises KeyUnusable when it is none this ledger has added.
        """
        key = ed25519(private_key)
        raw = key.public_key().public_bytes_raw()
        for added in self._ring():
            if added.public_key.raw == raw:
                return FileSigner(added.public_key.name, key)
        raise KeyUnusable("the private key was never added to this ledger: see `keys list`")


class _Held:
    """A signer that is held to what it signs: its errors are ours, its signatures verify."""

    def __init__(self, signer: Signer, ring: Callable[[], KeyRing]) -> None:
        self._signer, self._ring = signer, ring
        self._verifier: Ed25519PublicKey | None = None
        self.name, self.key_id_hex = signer.name, signer.key_id_hex
        self.public_key = signer.public_key

    def sign(self, message: bytes) -> bytes:
        """Return a signature that holds; raise SignerFailed where there is none."""
        try:
            signature = self._signer.sign(message)
        except Exception as error:
            why = " ".join(str(error).split()) or type(error).__name__
            raise SignerFailed(f"the signer {self.name} signed nothing: {why}") from error
        try:
            self._key().verify(signature, message)
        except (InvalidSignature, TypeError, ValueError):
            raise SignerFailed(
                f"what the signer {self.name} returned is not a signature by its key"
                f" {self.key_id_hex}: nothing was written"
            ) from None
        return signature

    def _key(self) -> Ed25519PublicKey:
        # By the key the ledger has under its id: that is who a reader will verify it by.
        if self._verifier is None:
            added = self._ring().get(self.key_id_hex)
            if added is None:
                return Ed25519PublicKey.from_public_bytes(self.public_key)
            self._verifier = added.verifier
        return self._verifier
