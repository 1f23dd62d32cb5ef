"""Bundles: all that proves one round, in one file that needs no ledger and no network.

A bundle holds the round's leaves, the leaves of all keys, of the round's rules and policy, a
signed checkpoint, and for each leaf its proof under that checkpoint. Nothing in it vouches for
itself: the reader brings the operator's public key. It shows that its leaves are in the tree. A
Merkle log proves presence, not absence: that no last leaves were left out is shown for a round by
its closing event, and for `keys`, where a revocation may be missing, by nothing.
"""

from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec

from shoeproof.ledger.checkpoint.proof import InclusionProof, parse_head, proof_head
from shoeproof.ledger.checkpoint.signed import (
    Checkpoint,
    SignedCheckpoint,
    log_keys,
    parse_checkpoint,
    verify_checkpoint,
)
from shoeproof.ledger.errors import BundleUnreadable, EventUnreadable, KeyUnusable, ProofRefused
from shoeproof.ledger.files.foreign import read_json
from shoeproof.ledger.files.printable import printable_json
from shoeproof.ledger.findings import Finding
from shoeproof.ledger.keys.keyring import KeyRing
from shoeproof.ledger.keys.trust import build_ring, given_key
from shoeproof.ledger.leaf.events import CLOSING, PolicyAdded, RulesAdded, Seen
from shoeproof.ledger.leaf.recorded import Recorded, read_leaf
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.leaf.streams import KEYS_STREAM, POLICIES_STREAM, RULES_STREAM
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.store.kept_checkpoints import kept_checkpoints
from shoeproof.ledger.tree.merkle import leaf_hash, verify_consistency, verify_inclusion
from shoeproof.ledger.verify.known_checkpoints import KnownCheckpoint
from shoeproof.ledger.verify.scan import (
    Link,
    anchors_in,
    check_leaf,
    check_link,
    leaf_from_bytes,
    link_of,
)


class BundledLeaf(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A leaf's text, and the head of its tlog-proof, which the checkpoint completes."""

    leaf: str
    proof: str


class Consistency(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The proof, in base64, between the checkpoint and one of another size, which a reader has."""

    size: int
    hashes: list[str]


class Bundle(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A bundle as it is written, as JSON; `checkpoint` is the signed note, verbatim."""

    format: Literal["shoeproof/bundle/v1"]
    round: str
    checkpoint: str
    leaves: list[BundledLeaf]
    consistency: Consistency | None = None


class VerifiedBundle(msgspec.Struct, frozen=True):
    """What a bundle proves: the round's events and the rules and policies it carries.

    `findings` say what the round's own leaves contradict. `end_is_proven` says whether the bundle
    holds the event that ends the round: without one, later events may have been left out. That no
    revocation of a key was left out is never proven.
    """

    round_id: str
    checkpoint: SignedCheckpoint
    events: list[Recorded]
    rules: list[dict[str, Any]]
    policies: list[dict[str, Any]]
    findings: list[Finding]

    @property
    def seen(self) -> list[Seen]:
        """The trees that the signers of the round's events had seen, the smallest first.

        Anyone who has the bundle can hold the operator to each of them.
        """
        anchors = (anchors_in(each.leaf_index, each.event) for each in self.events)
        return sorted((anchor.seen for each in anchors for anchor in each), key=_size)

    @property
    def end_is_proven(self) -> bool:
        """Whether nothing can follow the last event here, which ends the round."""
        return bool(self.events) and self.events[-1].event.type in CLOSING


def _size(seen: Seen) -> int:
    return seen.size


def make_bundle(
    ledger: Ledger, round_id: str, *, checkpoint: bytes | None = None, kept: bytes | None = None
) -> bytes:
    """Return the bundle of a round, as JSON.

    `checkpoint` is the signed note to prove under; by default the newest the ledger keeps, or,
    where the round went on after it, one signed now. `kept` is a checkpoint the reader has: the
    bundle then proves that both are of one history. Raises UnknownStream, BundleUnreadable when a
    checkpoint given is not of this ledger or does not cover the round, and what `sign_checkpoint`
    does.
    """
    events = ledger.events(round_id)
    last = events[-1].leaf_index
    note = checkpoint or _covering(ledger, last) or sign_checkpoint(ledger)
    head = _of_this_ledger(ledger, note)
    if last >= head.size:
        raise BundleUnreadable(
            f"the round continues to leaf {last}, but the checkpoint covers {head.size} leaves: "
            f"use a later one"
        )
    tree = ledger.tree(head.size)
    leaves = [leaf for leaf in _leaves_of(ledger, events) if leaf.leaf_index < head.size]
    try:
        bundled = [
            BundledLeaf(
                leaf.state.decode(),
                proof_head(InclusionProof(leaf.leaf_index, tree.inclusion_proof(leaf.leaf_index))),
            )
            for leaf in leaves
        ]
    except UnicodeDecodeError:
        raise BundleUnreadable(
            "the round's leaves are damaged: `shoeproof fsck` shows how"
        ) from None
    consistency = None
    if kept is not None:
        other = _of_this_ledger(ledger, kept)
        small, large = sorted((head.size, other.size))
        hashes = ledger.tree(large).consistency_proof(small)
        consistency = Consistency(other.size, [b64encode(each).decode() for each in hashes])
    bundle = Bundle("shoeproof/bundle/v1", round_id, note.decode(), bundled, consistency)
    return f"{printable_json(bundle, indent=1)}\n".encode()


def _covering(ledger: Ledger, leaf_index: int) -> bytes | None:
    newest = next(kept_checkpoints(ledger.path), None) if ledger.path is not None else None
    if newest is None or parse_checkpoint(newest).size <= leaf_index:
        return None
    return newest


def _of_this_ledger(ledger: Ledger, note: bytes) -> Checkpoint:
    head = parse_checkpoint(note)
    is_ours = head.origin == ledger.origin and head.size <= ledger.size()
    if not is_ours or ledger.tree(head.size).root() != head.root:
        raise BundleUnreadable(f"the checkpoint of {head.size} leaves is not of this ledger")
    return head


def _leaves_of(ledger: Ledger, events: Sequence[Recorded]) -> list[StoredLeaf]:
    store, opened = ledger.store, events[0].event.data
    digests = {getattr(opened, "rules_digest", None), getattr(opened, "policy_digest", None)}
    named: list[StoredLeaf] = []
    for leaf in (*store.stream(RULES_STREAM), *store.stream(POLICIES_STREAM)):
        if getattr(read_leaf(leaf).event.data, "digest", None) in digests:
            named.append(leaf)
    stream = events[0].event.stream
    return sorted([*store.stream(KEYS_STREAM), *named, *store.stream(stream)])


def parse_bundle(data: bytes) -> Bundle:
    """Return a bundle as it is written, unverified; raise BundleUnreadable."""
    try:
        return read_json(data, Bundle)
    except ValueError as error:
        raise BundleUnreadable(f"not a bundle: {error}") from None


def verify_bundle(data: bytes, public_key: str, kept: bytes | None = None) -> VerifiedBundle:
    """Verify a bundle with nothing but the operator's public key, a verifier key or base64.

    `kept` is a checkpoint the reader has, which must be of the same history. Raises KeyUnusable
    for the key given, BundleUnreadable, NoteRefused and ProofRefused when it proves nothing; what
    the round's leaves contradict is in the result.
    """
    anchor = given_key(public_key)
    bundle = parse_bundle(data)
    head = parse_checkpoint(bundle.checkpoint.encode())
    leaves = _included(bundle, head)
    by_stream: dict[str, list[StoredLeaf]] = {}
    for leaf in leaves:
        by_stream.setdefault(leaf.stream, []).append(leaf)
    ring, _, found = build_ring(by_stream.get(KEYS_STREAM, []), anchor)
    if ring.anchor is None or ring.anchor.public_key.raw != anchor:
        raise KeyUnusable(
            "the bundle's keys do not begin with the key given: it comes from another ledger"
        )
    keys = log_keys(ring, head.origin, head.size)
    signed = verify_checkpoint(bundle.checkpoint.encode(), keys, head.origin)
    if kept is not None:
        _check_kept(bundle, head, verify_checkpoint(kept, keys, head.origin).checkpoint)
    if bundle.round not in by_stream:
        raise BundleUnreadable(f"the bundle holds no events of the round {bundle.round}")
    for stream, of_stream in by_stream.items():
        is_chain = stream in (KEYS_STREAM, bundle.round)
        found += _check_stream(of_stream, head.origin, ring, is_chain=is_chain)
    rules, policies = _named(by_stream)
    return VerifiedBundle(
        bundle.round, signed, _readable(by_stream[bundle.round]), rules, policies, found
    )


def receipt_checkpoints(data: bytes, public_key: str) -> list[KnownCheckpoint]:
    """Return what a bundle holds its operator to: its checkpoint, and the trees its signers saw.

    Raises what `verify_bundle` raises.
    """
    verified = verify_bundle(data, public_key)
    head = verified.checkpoint.checkpoint
    seen = {(head.size, head.root.hex())}
    seen.update((each.size, each.root) for each in verified.seen)
    return [KnownCheckpoint(size, root, "receipt") for size, root in sorted(seen)]


def _included(bundle: Bundle, head: Checkpoint) -> list[StoredLeaf]:
    leaves: list[StoredLeaf] = []
    for each in bundle.leaves:
        proof = parse_head(each.proof)
        state = each.leaf.encode()
        verify_inclusion(proof.leaf_index, head.size, leaf_hash(state), proof.hashes, head.root)
        leaves.append(leaf_from_bytes(proof.leaf_index, state))
    leaves.sort()
    if len({leaf.leaf_index for leaf in leaves}) != len(leaves):
        raise BundleUnreadable("the bundle contains a leaf twice")
    return leaves


def _check_kept(bundle: Bundle, head: Checkpoint, kept: Checkpoint) -> None:
    hashes: list[bytes] = []
    if kept.size != head.size:
        if bundle.consistency is None or bundle.consistency.size != kept.size:
            raise ProofRefused(
                f"the bundle does not connect to the kept checkpoint of {kept.size} leaves: ask "
                "for one made with `bundle --kept` and that checkpoint"
            )
        try:
            hashes = [b64decode(each, validate=True) for each in bundle.consistency.hashes]
        except ValueError:
            raise ProofRefused("the bundle's consistency proof is not base64") from None
    small, large = sorted((head, kept), key=lambda each: each.size)
    verify_consistency(small.size, small.root, large.size, large.root, hashes)


def _check_stream(
    leaves: Iterable[StoredLeaf], origin: str, ring: KeyRing, *, is_chain: bool
) -> list[Finding]:
    found: list[Finding] = []
    before: Link | None = None
    for leaf in leaves:
        event, of_leaf = check_leaf(leaf, origin, ring)
        found += of_leaf
        if is_chain:
            link = link_of(leaf, event)
            found += check_link(before, link)
            before = link
    return found


def _readable(leaves: Iterable[StoredLeaf]) -> list[Recorded]:
    readable: list[Recorded] = []
    for leaf in leaves:
        try:
            readable.append(read_leaf(leaf))
        except EventUnreadable:
            continue
    return readable


def _named(
    by_stream: dict[str, list[StoredLeaf]],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    rules, policies = (
        [recorded.event.data for recorded in _readable(by_stream.get(stream, []))]
        for stream in (RULES_STREAM, POLICIES_STREAM)
    )
    return (
        [data.rules for data in rules if isinstance(data, RulesAdded)],
        [data.policy for data in policies if isinstance(data, PolicyAdded)],
    )
