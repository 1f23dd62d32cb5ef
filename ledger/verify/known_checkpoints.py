"""What a ledger is held to before its leaves are read: checkpoints, and the tree before a leaf.

The ledger's own latest checkpoint counts, and one that was kept elsewhere and is given. What is
read here from columns and tiles proves nothing by itself: key leaves before the first leaf audited,
and the tree there, are proved under a checkpoint or hashed again.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from shoeproof.ledger import findings as codes
from shoeproof.ledger.checkpoint.signed import Checkpoint, verify_by_ring
from shoeproof.ledger.errors import NoteRefused, ProofRefused, SigningRefused, StoreDamaged
from shoeproof.ledger.findings import Finding
from shoeproof.ledger.keys.keyring import KeyRing
from shoeproof.ledger.keys.trust import build_ring
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.leaf.streams import KEYS_STREAM
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.store.kept_checkpoints import kept_checkpoints
from shoeproof.ledger.tree.merkle import (
    Peaks,
    leaf_hash,
    root_of_peaks,
    verify_consistency,
    verify_inclusion,
)
from shoeproof.ledger.verify.rebuild_tree import reread
from shoeproof.ledger.verify.workers import Progress

Source: TypeAlias = Literal["given", "own", "receipt"]
"""`own` are those kept in the ledger's directory, and what its guard remembers; `receipt` are what
a player's receipt holds: its checkpoint, and what the signers of its events had seen.
"""
Earlier: TypeAlias = Literal["audited", "proved by tiles", "hashed again", "not held to anything"]
"""What became of the leaves before the first one audited; `audited` where there are none."""


class KnownCheckpoint(msgspec.Struct, frozen=True):
    """A checkpoint the ledger is held to: size, root in lower hex, and whether it agrees.

    `agrees` is None where that is not known yet.
    """

    size: int
    root: str
    source: Source
    agrees: bool | None = None


class TrustedStart(NamedTuple):
    """What is known before the first leaf is read.

    `size` leaves are to be read, from `from_leaf` on. `ring` is that of the ledger's keys, whose
    first one is `anchor`. `peaks` are those of the tree before `from_leaf`, None where nothing
    later is held to a root.
    """

    size: int
    from_leaf: int
    ring: KeyRing
    anchor: str | None
    keys: list[StoredLeaf]
    held: list[KnownCheckpoint]
    earlier: Earlier
    peaks: Peaks | None
    findings: list[Finding]


def start_from(
    ledger: Ledger,
    from_leaf: int,
    *,
    expected_anchor: bytes | None,
    given: bytes | None,
    workers: int,
    progress: Progress | None = None,
    hidden: Sequence[StoredLeaf] = (),
) -> TrustedStart:
    """Return what a ledger, as it stands now, is held to from a leaf on.

    `given` is a signed checkpoint that was kept elsewhere, `hidden` are changes of keys that no
    index shows. Raises NoteRefused where it is none of
    this ledger, ValueError where the ledger does not reach to `from_leaf`, and the store's errors.
    """
    # Listed before the size is asked for: a checkpoint signed in between must not seem too large.
    own = [] if ledger.path is None else list(kept_checkpoints(ledger.path))
    guarded = _size_guarded(ledger)
    size = ledger.size()
    if from_leaf > size:
        raise ValueError(f"the ledger has {size} leaves: none has the index {from_leaf}")
    keys = [*keys_before(ledger, size), *hidden]
    ring, _, _ = build_ring(keys, expected_anchor)
    held, found = _checkpoints(ledger, ring, size, own, given)
    if guarded > size and not found:
        found.append(tail_is_gone(guarded, size))
    earlier: Earlier = "audited"
    peaks: Peaks | None = ()
    if from_leaf:
        top = max((each for each in held if each.size >= from_leaf), key=_size, default=None)
        proved = None if top is None else _proved_by_tiles(ledger, top, from_leaf, keys)
        if top is None:
            earlier, peaks = "not held to anything", None
        elif proved is not None:
            earlier, peaks = "proved by tiles", proved
        else:
            text = f"the tiles before leaf {from_leaf} are not those of the checkpoint's tree"
            found.append(Finding(codes.TILE_MISMATCH, f"{text}: the leaves were hashed again"))
            again = reread(ledger.store, from_leaf, (), workers, progress)
            earlier, peaks = "hashed again", again.peaks
            keys = again.keys + [leaf for leaf in keys if leaf.leaf_index >= from_leaf]
        held = [
            settled(ledger, each, top if proved is not None else None, workers, progress)
            if each.size < from_leaf
            else each
            for each in held
        ]
    ring, anchor, of_keys = build_ring(keys, expected_anchor)
    return TrustedStart(
        size,
        from_leaf,
        ring,
        anchor and anchor.vkey,
        keys,
        held,
        earlier,
        peaks,
        [*found, *of_keys, *map(hidden_key, hidden)],
    )


def hidden_key(leaf: StoredLeaf) -> Finding:
    """Return the finding that the store's index does not show a change of keys."""
    text = "the store's index hides this change of keys: run fsck, and restore from a sound copy"
    return Finding(codes.INDEX_MISMATCH, text, leaf.stream, leaf.leaf_index, leaf.version - 1)


def _size_guarded(ledger: Ledger) -> int:
    try:
        return ledger.guard.read().size
    except SigningRefused:  # of which `verify` and `fsck` tell
        return 0


def keys_before(ledger: Ledger, size: int) -> list[StoredLeaf]:
    """Return the leaves of the stream `keys` among the first `size`, by the columns."""
    return [leaf for leaf in ledger.store.stream(KEYS_STREAM) if leaf.leaf_index < size]


def digest_of_keys(keys: list[StoredLeaf]) -> str:
    """Return what tells whether the keys are still the same, in lower hex."""
    return leaf_hash(b"".join(leaf_hash(leaf.state) for leaf in sorted(keys))).hex()


def _size(held: KnownCheckpoint) -> int:
    return held.size


def _checkpoints(
    ledger: Ledger, ring: KeyRing, size: int, own: list[bytes], given: bytes | None
) -> tuple[list[KnownCheckpoint], list[Finding]]:
    """Return the checkpoint given and the ledger's own latest, the smaller first."""
    found: list[Finding] = []
    held: list[KnownCheckpoint] = []

    def hold(said: Checkpoint, source: Source) -> bool:
        if said.size <= size:
            held.append(KnownCheckpoint(said.size, said.root.hex(), source))
            return True
        found.append(tail_is_gone(said.size, size))
        return False

    if given is not None:
        hold(verify_by_ring(given, ring, ledger.origin).checkpoint, "given")
    for note in own:
        try:
            said = verify_by_ring(note, ring, ledger.origin).checkpoint
        except NoteRefused as error:
            found.append(Finding(codes.CHECKPOINT_MISMATCH, f"a kept checkpoint: {error}"))
            continue
        if hold(said, "own"):
            break
    unique = {(each.size, each.root): each for each in reversed(held)}
    return sorted(unique.values(), key=_size), found


def _proved_by_tiles(
    ledger: Ledger, top: KnownCheckpoint, from_leaf: int, keys: list[StoredLeaf]
) -> Peaks | None:
    """Return the peaks before a leaf if tiles prove them, and the keys there, under a checkpoint.

    The tiles are not trusted: proofs made from them are verified against the checkpoint's root.
    """
    tree, root = ledger.tree(top.size), bytes.fromhex(top.root)
    try:
        peaks = tree.peaks(from_leaf)
        proof = tree.consistency_proof(from_leaf)
        verify_consistency(from_leaf, root_of_peaks(peaks), top.size, root, proof)
        for leaf in keys:
            if leaf.leaf_index < from_leaf:
                path = tree.inclusion_proof(leaf.leaf_index)
                verify_inclusion(leaf.leaf_index, top.size, leaf_hash(leaf.state), path, root)
    except (StoreDamaged, ProofRefused):
        return None
    return peaks


def begins(ledger: Ledger, old_size: int, old_root: bytes, size: int, root: bytes) -> bool:
    """Tell whether the stored tiles prove that one tree begins the other."""
    try:
        proof = ledger.tree(size).consistency_proof(old_size)
        verify_consistency(old_size, old_root, size, root, proof)
    except (StoreDamaged, ProofRefused, ValueError):
        return False
    return True


def promises(ledger: Ledger) -> tuple[list[KnownCheckpoint], list[Finding]]:
    """Return what the guard and every kept checkpoint promise, the smallest tree first.

    What cannot be read, or was signed by no key of the ledger, promises nothing and is a finding.
    Where the ledger is written to meanwhile, its size is to be asked for afterwards.
    """
    promised: set[KnownCheckpoint] = set()
    found: list[Finding] = []
    try:
        signed = ledger.guard.read()
        promised.add(KnownCheckpoint(signed.size, signed.root, "own"))
    except SigningRefused as error:
        found.append(Finding(codes.GUARD_DAMAGED, str(error)))
    ring = ledger.key_ring()
    for note in [] if ledger.path is None else kept_checkpoints(ledger.path):
        try:
            said = verify_by_ring(note, ring, ledger.origin).checkpoint
        except NoteRefused as error:
            found.append(Finding(codes.CHECKPOINT_MISMATCH, f"a kept checkpoint: {error}"))
            continue
        promised.add(KnownCheckpoint(said.size, said.root.hex(), "own"))
    return sorted(promised, key=_size), found


def tail_is_gone(promised: int, size: int, what: str = "checkpoint") -> Finding:
    """Return the finding that a ledger of `size` leaves has fewer than a checkpoint is of."""
    text = f"a {what} covers {promised} leaves, but the ledger has {size}: its tail is gone"
    return Finding(codes.CHECKPOINT_MISMATCH, text)


def settled(
    ledger: Ledger,
    held: KnownCheckpoint,
    top: KnownCheckpoint | None,
    workers: int,
    progress: Progress | None,
) -> KnownCheckpoint:
    """Hold a checkpoint to the ledger, whose leaves are to be read from behind it on.

    `top` is a larger one that agrees, None where there is none.
    """
    root = bytes.fromhex(held.root)
    if top is not None and begins(ledger, held.size, root, top.size, bytes.fromhex(top.root)):
        return msgspec.structs.replace(held, agrees=True)
    again = reread(ledger.store, held.size, (), workers, progress)
    return msgspec.structs.replace(held, agrees=again.root == root)
