"""What a ledger is held to before its leaves are read: checkpoints, and the tree before a leaf.

The ledger's own latest checkpoint counts, and one that was kept elsewhere and is given. What is
read here from columns and tiles proves nothing by itself: key leaves before the first leaf audited,
and the tree there, are proved under a checkpoint or hashed again.
"""

from typing import Literal, NamedTuple, TypeAlias

import msgspec

from ledger import findings as codes
from ledger.checkpoint import Checkpoint, verify_by_ring
from ledger.errors import NoteRefused, ProofRefused, StoreDamaged
from ledger.events import KEYS_STREAM
from ledger.findings import Finding
from ledger.keyring import KeyRing
from ledger.ledger import Ledger
from ledger.merkle import Peaks, leaf_hash, root_of_peaks, verify_consistency, verify_inclusion
from ledger.rehash import reread
from ledger.schema import StoredLeaf
from ledger.sharing import Progress
from ledger.signing import kept_checkpoints
from ledger.trust import build_ring

Source: TypeAlias = Literal["given", "own"]
Earlier: TypeAlias = Literal["audited", "proved by tiles", "hashed again", "not held to anything"]
"""What became of the leaves before the first one audited; `audited` where there are none."""


class Held(msgspec.Struct, frozen=True):
    """A checkpoint the ledger is held to: size, root in lower hex, and whether it agrees.

    `agrees` is None where that is not known yet.
    """

    size: int
    root: str
    source: Source
    agrees: bool | None = None


class Start(NamedTuple):
    """What is known before the first leaf is read.

    `size` leaves are to be read, from `from_leaf` on. `ring` is that of the ledger's keys, whose
    first one is `anchor`. `peaks` are those of the tree before `from_leaf`, None where nothing
    later is held to a root.
    """

    size: int
    from_leaf: int
    ring: KeyRing
    anchor: str | None
    keys: str
    held: list[Held]
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
) -> Start:
    """Return what a ledger, as it stands now, is held to from a leaf on.

    `given` is a signed checkpoint that was kept elsewhere. Raises NoteRefused where it is none of
    this ledger, ValueError where the ledger does not reach to `from_leaf`, and the store's errors.
    """
    # Listed before the size is asked for: a checkpoint signed in between must not seem too large.
    own = [] if ledger.path is None else list(kept_checkpoints(ledger.path))
    size = ledger.size()
    if from_leaf > size:
        raise ValueError(f"the ledger has {size} leaves: none has the index {from_leaf}")
    keys = keys_before(ledger, size)
    ring, _, _ = build_ring(keys, expected_anchor)
    held, found = _checkpoints(ledger, ring, size, own, given)
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
            _settled(ledger, each, top if proved is not None else None, workers, progress)
            if each.size < from_leaf
            else each
            for each in held
        ]
    ring, anchor, of_keys = build_ring(keys, expected_anchor)
    return Start(
        size,
        from_leaf,
        ring,
        anchor and anchor.vkey,
        digest_of_keys(keys),
        held,
        earlier,
        peaks,
        found + of_keys,
    )


def keys_before(ledger: Ledger, size: int) -> list[StoredLeaf]:
    """Return the leaves of the stream `keys` among the first `size`, by the columns."""
    return [leaf for leaf in ledger.store.stream(KEYS_STREAM) if leaf.leaf_index < size]


def digest_of_keys(keys: list[StoredLeaf]) -> str:
    """Return what tells whether the keys are still the same, in lower hex."""
    return leaf_hash(b"".join(leaf_hash(leaf.state) for leaf in sorted(keys))).hex()


def _size(held: Held) -> int:
    return held.size


def _checkpoints(
    ledger: Ledger, ring: KeyRing, size: int, own: list[bytes], given: bytes | None
) -> tuple[list[Held], list[Finding]]:
    """Return the checkpoint given and the ledger's own latest, the smaller first."""
    found: list[Finding] = []
    held: list[Held] = []

    def hold(said: Checkpoint, source: Source) -> bool:
        if said.size <= size:
            held.append(Held(said.size, said.root.hex(), source))
            return True
        text = f"the checkpoint is of {said.size} leaves, the ledger has {size}"
        found.append(Finding(codes.CHECKPOINT_MISMATCH, f"{text}: its tail is gone"))
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
    ledger: Ledger, top: Held, from_leaf: int, keys: list[StoredLeaf]
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


def _settled(
    ledger: Ledger, held: Held, top: Held | None, workers: int, progress: Progress | None
) -> Held:
    """Hold a checkpoint that ends before the first leaf audited to the ledger."""
    root = bytes.fromhex(held.root)
    if top is not None:
        try:
            proof = ledger.tree(top.size).consistency_proof(held.size)
            verify_consistency(held.size, root, top.size, bytes.fromhex(top.root), proof)
        except (StoreDamaged, ProofRefused):
            pass
        else:
            return msgspec.structs.replace(held, agrees=True)
    again = reread(ledger.store, held.size, (), workers, progress)
    return msgspec.structs.replace(held, agrees=again.root == root)
