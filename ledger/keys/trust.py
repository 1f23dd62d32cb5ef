"""Trust: the key ring a ledger's stream `keys` yields, starting from one key.

The first leaf adds the trust anchor and is signed by it. Every other change of keys counts only
if the ring so far says that its signer may make it. An auditor who was handed the anchor's key
from outside gives it; one who was not learns here only that the ledger agrees with itself. What
an append writes is held to the same ring before it is written (`Admission`).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from cryptography.exceptions import InvalidSignature

from shoeproof.ledger import findings as codes
from shoeproof.ledger.errors import EventUnreadable, KeyNotValid, KeyUnusable
from shoeproof.ledger.findings import Finding
from shoeproof.ledger.keys.key import PublicKey, decode_public_key, parse_vkey
from shoeproof.ledger.keys.keyring import KeyRing
from shoeproof.ledger.leaf import envelope, layout
from shoeproof.ledger.leaf.events import EVENTS, KeyAdded, KeyRevoked
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.leaf.streams import KEYS_STREAM

KeysAfter: TypeAlias = Callable[[int], list[StoredLeaf]]
"""Gives the leaves of the stream `keys` from its n-th on, as seen inside a transaction."""


def given_key(text: str) -> bytes:
    """Return the 32 bytes of a key handed over as a verifier key or as padded base64.

    Raises KeyUnusable when it is neither.
    """
    return parse_vkey(text).raw if "+" in text and len(text) > 44 else decode_public_key(text)


def build_ring(
    leaves: Iterable[StoredLeaf], expected_anchor: bytes | None
) -> tuple[KeyRing, PublicKey | None, list[Finding]]:
    """Return the key ring, the trust anchor, and what is wrong with changes of keys.

    `leaves` are those of the stream `keys`. What scanning each leaf finds as well is not repeated.
    """
    ring = KeyRing()
    found: list[Finding] = []
    for leaf in sorted(leaves):
        try:
            take_in(ring, leaf)
        except (EventUnreadable, KeyNotValid):
            continue
        except KeyUnusable as error:
            found.append(
                Finding(
                    codes.KEY_NOT_VALID, str(error), leaf.stream, leaf.leaf_index, leaf.version - 1
                )
            )
    anchor = None if ring.anchor is None else ring.anchor.public_key
    if anchor is not None and expected_anchor is not None and anchor.raw != expected_anchor:
        text = f"the ledger's first key is {anchor.vkey}, not the one given"
        found.append(Finding(codes.KEY_NOT_VALID, text, KEYS_STREAM, 0, 0))
    return ring, anchor, found


def take_in(ring: KeyRing, leaf: StoredLeaf) -> None:
    """Change a ring as a leaf of the stream `keys` says.

    Raises EventUnreadable when it says no change of keys, KeyNotValid when its signature does not
    hold or its signer may not make it, KeyUnusable when the change itself cannot be.
    """
    payload, key_id, signature = envelope.split_leaf(leaf.state)
    event = envelope.read_event(payload)
    data = event.data
    if event.stream != KEYS_STREAM or not isinstance(data, KeyAdded | KeyRevoked):
        raise EventUnreadable(f"leaf {leaf.leaf_index} changes no keys")
    # The trust anchor vouches for itself; a ring of its own tells whether it can be a key.
    vouching = ring
    if leaf.leaf_index == 0 and isinstance(data, KeyAdded):
        vouching = KeyRing()
        vouching.add(0, data, key_id)
    signer = vouching.signer(key_id, data.signer, leaf.leaf_index)
    try:
        signer.verifier.verify(signature, envelope.pae(payload))
    except InvalidSignature:
        raise KeyNotValid(f"the signature by the key {key_id} does not hold") from None
    if isinstance(data, KeyAdded):
        ring.add(leaf.leaf_index, data, key_id)
    else:
        ring.revoke(data)


class Admission:
    """Says whether leaves about to be written are signed by keys that may sign them there.

    It is asked inside the transaction that writes them, and holds the ring as of the last time.
    `known` is how many changes of keys it took in. After a transaction that failed it knows too
    much: a new one is to take its place.
    """

    def __init__(self) -> None:
        self._ring = KeyRing()
        self.known = 0

    def __call__(self, leaves: Sequence[StoredLeaf], keys_after: KeysAfter) -> None:
        """Admit leaves, written but not committed; `keys_after` sees them too.

        Raises KeyNotValid for a leaf whose key may not sign it, and KeyUnusable for a change of
        keys that cannot be: the transaction is then to be rolled back.
        """
        changes = keys_after(self.known)
        for change in changes:
            try:
                take_in(self._ring, change)
            except (EventUnreadable, KeyUnusable):
                # What was written earlier is for verification to report, and changes no keys.
                if change.leaf_index >= leaves[0].leaf_index:
                    raise
        self.known += len(changes)
        for leaf in leaves:
            # After every change, so that a key revoked in this very transaction signs nothing.
            key_id = layout.claimed_key_id(leaf.state)
            self._ring.signer(key_id, EVENTS[leaf.topic].signer, leaf.leaf_index)
