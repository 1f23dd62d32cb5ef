"""Trust: the key ring a ledger's stream `keys` yields, starting from one key.

The first leaf adds the trust anchor and is signed by it. Every other change of keys counts only
if the ring so far says that its signer may make it. An auditor who was handed the anchor's key
from outside gives it; one who was not learns here only that the ledger agrees with itself.
"""

from collections.abc import Iterable

from cryptography.exceptions import InvalidSignature

from ledger import envelope
from ledger import findings as codes
from ledger.errors import EventUnreadable, KeyUnusable
from ledger.events import KEYS_STREAM, KeyAdded, KeyRevoked
from ledger.findings import Finding
from ledger.keyring import KeyRing
from ledger.keys import PublicKey, decode_public_key, parse_vkey
from ledger.schema import StoredLeaf


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
    anchor: PublicKey | None = None
    found: list[Finding] = []
    for leaf in sorted(leaves):
        try:
            payload, key_id, signature = envelope.split_leaf(leaf.state)
            event = envelope.read_event(payload)
        except EventUnreadable:
            continue
        data = event.data
        if event.stream != KEYS_STREAM or not isinstance(data, KeyAdded | KeyRevoked):
            continue
        try:
            if leaf.leaf_index == 0 and isinstance(data, KeyAdded):
                candidate = KeyRing()
                first = candidate.add(0, data, key_id)
                if first.public_key.key_id_hex == key_id:
                    first.verifier.verify(signature, envelope.pae(payload))
                    ring, anchor = candidate, first.public_key
                continue
            signer = ring.get(key_id)
            if signer is None or signer.objection(data.signer, leaf.leaf_index) is not None:
                continue
            signer.verifier.verify(signature, envelope.pae(payload))
            if isinstance(data, KeyAdded):
                ring.add(leaf.leaf_index, data, key_id)
            else:
                ring.revoke(data)
        except InvalidSignature:
            continue
        except KeyUnusable as error:
            found.append(
                Finding(codes.KEY_NOT_VALID, str(error), leaf.stream, leaf.leaf_index, event.seq)
            )
    if anchor is not None and expected_anchor is not None and anchor.raw != expected_anchor:
        text = f"the ledger's first key is {anchor.vkey}, not the one given"
        found.append(Finding(codes.KEY_NOT_VALID, text, KEYS_STREAM, 0, 0))
    return ring, anchor, found
