"""The key ring: which key may sign what, and at which leaves, as the ledger itself says.

It is the fold of the stream `keys`. A key is valid from the leaf after the one that adds it; only
the first key of all, at leaf 0, signs its own addition: it is the trust anchor. A revocation
names the first leaf not to be trusted, possibly a past one, and takes with it every key the
revoked key added from there on. No two keys in a ring share an id, no key stands in it under two
names, no two names differ by capitals alone, and no key, and no name, has roles that are there to
check each other.
"""

from collections.abc import Iterator
from functools import cached_property
from sys import maxsize
from typing import Final

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from shoeproof.ledger.errors import KeyNameTaken, KeyNotValid, KeyUnusable, RolesRefused
from shoeproof.ledger.keys.key import PublicKey, check_name, decode_public_key
from shoeproof.ledger.leaf.events import KeyAdded, KeyRevoked, Role

ONE_SERVERS_ROLES: Final = frozenset[Role](("engine", "settlement"))
"""The roles one key may have together: what a game server plays and settles, it signs itself."""


class RingKey(msgspec.Struct, dict=True):
    """A key with its roles and the half-open range of leaf indices it may sign.

    `introducer` is the id of the key that signed its addition at `added_leaf_index`; `stop` is
    None while the key is not revoked.
    """

    public_key: PublicKey
    roles: frozenset[Role]
    added_leaf_index: int
    introducer: str
    start: int
    stop: int | None = None

    @cached_property
    def verifier(self) -> Ed25519PublicKey:
        """The key in the form that verifies signatures."""
        return Ed25519PublicKey.from_public_bytes(self.public_key.raw)

    def span(self, role: Role) -> range:
        """Return the leaves at which this key may sign for a role."""
        if role not in self.roles:
            return range(0)
        return range(self.start, maxsize if self.stop is None else self.stop)

    def objection(self, role: Role, leaf_index: int) -> str | None:
        """Say why this key may not sign for a role at a leaf, or None when it may."""
        name = self.public_key.name
        if role not in self.roles:
            return f"{name} is a key for {', '.join(sorted(self.roles)) or 'nothing'}, not {role}"
        if leaf_index < self.start:
            return f"{name} is valid only from leaf {self.start} on"
        if self.stop is not None and leaf_index >= self.stop:
            return f"{name} is not trusted from leaf {self.stop} on"
        return None


class KeyRing:
    """The keys of a ledger by their ids, 8 lower hex digits each."""

    def __init__(self) -> None:
        self._keys: dict[str, RingKey] = {}

    def __iter__(self) -> Iterator[RingKey]:
        return iter(self._keys.values())

    @property
    def anchor(self) -> RingKey | None:
        """The trust anchor: the key that signed its own addition at leaf 0."""
        return next((key for key in self if key.added_leaf_index == 0), None)

    def get(self, key_id_hex: str) -> RingKey | None:
        """Return the key of an id, or None."""
        return self._keys.get(key_id_hex)

    def persons(self) -> dict[str, str]:
        """Return by each key's id the person whose key it is.

        One person's are all keys of one name, such as a key and the one it was rotated to.
        """
        return {key.public_key.key_id_hex: key.public_key.name for key in self}

    def holders(self, role: Role) -> list[RingKey]:
        """Return the keys for a role that no revocation names, in the order they were added."""
        return [key for key in self if role in key.roles and key.stop is None]

    def signer(self, key_id_hex: str, role: Role, leaf_index: int) -> RingKey:
        """Return the key of an id.

        Raises KeyNotValid unless it may sign for the role at the leaf.
        """
        key = self._keys.get(key_id_hex)
        if key is None:
            raise KeyNotValid(f"signed by the key {key_id_hex}, which the ledger never added")
        objection = key.objection(role, leaf_index)
        if objection is not None:
            raise KeyNotValid(objection)
        return key

    def add(self, leaf_index: int, data: KeyAdded, introducer: str) -> RingKey:
        """Take in the key added at a leaf by the key with id `introducer`.

        Raises KeyUnusable for a key that cannot be one, whose id another key has, or that stands in
        the ring under another name; KeyNameTaken for a name that only capitals tell from another
        key's; RolesRefused for roles that one key may not have together.
        """
        key = PublicKey(check_name(data.name), decode_public_key(data.public_key))
        if key.key_id_hex in self._keys:
            raise KeyUnusable(f"the ledger already has a key with the id {key.key_id_hex}")
        for other in self:
            _check_apart(key, other.public_key)
        if not data.roles:
            raise RolesRefused(f"the key of {key.name} has no role: give it one")
        own = [each for each in self if each.public_key.name == key.name and each.stop is None]
        _check_roles(frozenset(data.roles).union(*(each.roles for each in own)))
        start = leaf_index + 1 if leaf_index else 0
        added = RingKey(key, frozenset(data.roles), leaf_index, introducer, start)
        self._keys[key.key_id_hex] = added
        return added

    def revoke(self, data: KeyRevoked) -> None:
        """Stop trusting a key from a leaf on.

        Raises KeyUnusable when the ring has no key of that name and id.
        """
        key = self._keys.get(data.key_id)
        if key is None or key.public_key.name != data.name:
            raise KeyUnusable(f"the ledger has no key {data.name} with the id {data.key_id}")
        self._distrust(key, data.first_untrusted_leaf_index)

    def _distrust(self, key: RingKey, leaf_index: int) -> None:
        if key.stop is not None and key.stop <= leaf_index:
            return
        key.stop = leaf_index
        for other in self._keys.values():
            if (
                other.introducer == key.public_key.key_id_hex
                and other.added_leaf_index >= leaf_index
            ):
                self._distrust(other, 0)


def _check_apart(key: PublicKey, other: PublicKey) -> None:
    if key.raw == other.raw:
        raise KeyUnusable(
            f"the key of {key.name} already belongs to {other.name}: make a separate key for each"
        )
    if key.name != other.name and key.name.casefold() == other.name.casefold():
        raise KeyNameTaken(
            f"the name {key.name} is too like {other.name}, which another key has: a reader "
            f"would take both signers for one person"
        )


def _check_roles(roles: frozenset[Role]) -> None:
    if len(roles) > 1 and not roles <= ONE_SERVERS_ROLES:
        raise RolesRefused(
            f"{' and '.join(sorted(roles))} check each other: give each a key and a "
            f"name of its own (only {' and '.join(sorted(ONE_SERVERS_ROLES))} may go together)"
        )
