"""A ledger as static files (C2SP tlog-tiles): checkpoint, tiles and leaves, for any web server.

A file that is there is never changed: what is published of a tree is the same for ever, and a file
that would have to change is proof that somebody's history was altered. Publishing looks only at the
files it has to write; what happened to the others is for verification to find. The checkpoint alone
is replaced, last, so that whatever it promises is there already. Anyone can verify such a directory
without the ledger.
"""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from shoeproof.ledger import findings as codes
from shoeproof.ledger.checkpoint.signed import Checkpoint, parse_checkpoint, verify_by_ring
from shoeproof.ledger.errors import EventUnreadable, PublishRefused, StoreDamaged
from shoeproof.ledger.exchange.tile_files import CHECKPOINT, encode_entries, read_entries, tile_path
from shoeproof.ledger.files.durable import locked, make_folder, write_durably
from shoeproof.ledger.findings import Finding, sort_findings
from shoeproof.ledger.keys.trust import build_ring, given_key
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.leaf.streams import KEYS_STREAM
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.tree.merkle import HASH_SIZE, leaf_hash
from shoeproof.ledger.tree.tiles import WIDTH, Tree, tiles_of
from shoeproof.ledger.verify.batch import LeafBatch
from shoeproof.ledger.verify.rebuild_tree import roots_at
from shoeproof.ledger.verify.scan import Chains, Link, leaf_from_bytes, scan
from shoeproof.ledger.verify.tile_check import check_tiles
from shoeproof.ledger.verify.whole import VerifyResult
from shoeproof.ledger.verify.workers import Progress


def publish(ledger: Ledger, folder: Path, note: bytes | None = None) -> Checkpoint:
    """Write what a checkpoint promises and is not there yet, then the checkpoint.

    `note` is a signed checkpoint, such as a cosigned one; by default one is signed now. Raises
    PublishRefused when the directory is of another ledger or another history, or a leaf is not what
    the tree was built from, what `sign_checkpoint` does, and OSError.
    """
    note = sign_checkpoint(ledger) if note is None else note
    head = parse_checkpoint(note)
    make_folder(folder)
    with locked(folder):
        tree = ledger.tree(head.size)
        before = _published(folder)
        if head.origin != ledger.origin or head.size > ledger.size() or tree.root() != head.root:
            raise PublishRefused(f"the checkpoint of {head.size} leaves is not of this ledger")
        if before is not None:
            _check_extends(folder, before, head, tree)
        for level, index, width in tiles_of(head.size, 0 if before is None else before.size):
            tile = ledger.store.read_tile(level, index)[: width * HASH_SIZE]
            if level == 0:
                first = index * WIDTH
                leaves = [leaf.state for leaf in ledger.leaves(first, first + width)]
                if b"".join(map(leaf_hash, leaves)) != tile:
                    raise PublishRefused(
                        f"a leaf from {first} on is not the one the tree was built from: run fsck"
                    )
                _put(folder / tile_path(None, index, width), encode_entries(leaves))
            _put(folder / tile_path(level, index, width), tile)
        write_durably(folder / CHECKPOINT, note)
    return head


def _published(folder: Path) -> Checkpoint | None:
    try:
        return parse_checkpoint((folder / CHECKPOINT).read_bytes())
    except FileNotFoundError:
        return None


def _check_extends(folder: Path, before: Checkpoint, head: Checkpoint, tree: Tree) -> None:
    if before.origin != head.origin:
        raise PublishRefused(f"{before.origin!r} is already published in {folder}")
    if before.size > head.size:
        raise PublishRefused(
            f"{folder} has a checkpoint of {before.size} leaves, this one has only {head.size}"
        )
    if tree.root(before.size) != before.root:
        raise PublishRefused(
            f"the first {before.size} leaves are not those published in {folder}: keep both as "
            "evidence, and run fsck"
        )


def _put(path: Path, content: bytes) -> None:
    try:
        if path.read_bytes() != content:
            raise PublishRefused(
                f"{path} holds something else, and published files are never replaced: run fsck"
            )
    except FileNotFoundError:
        make_folder(path.parent)
        write_durably(path, content)


def _count(entries: bytes) -> int | None:
    """Return how many leaves an entry bundle holds, None when it ends inside one."""
    try:
        return sum(1 for _ in read_entries(BytesIO(entries)))
    except EventUnreadable:
        return None


class PublishedLog:
    """A published directory, read as a tree of `size` leaves; nothing in it is trusted."""

    def __init__(self, folder: Path, size: int) -> None:
        self._folder = folder
        self._size = size

    def read_tile(self, level: int, index: int) -> bytes:
        """Return a tile's hashes (`tree.ReadTile`), none where the file is missing."""
        return self._read(level, index, (self._size >> 8 * level) - index * WIDTH)

    def leaves(self, index: int) -> list[StoredLeaf]:
        """Return the leaves of an entry bundle, as far as they can be told apart."""
        first = index * WIDTH
        found: list[StoredLeaf] = []
        try:
            for state in read_entries(BytesIO(self._read(None, index, self._size - first))):
                found.append(leaf_from_bytes(first + len(found), state))
        except EventUnreadable:
            pass
        return found[: self._size - first]

    def _read(self, level: int | None, index: int, width: int) -> bytes:
        return self._find(level, index, width)[0]

    def _find(self, level: int | None, index: int, width: int) -> tuple[bytes, int]:
        """Return a file's content and the width its name promises: nothing, 0 where it is missing.

        A partial tile may be taken away once the full one is there (C2SP tlog-tiles).
        """
        for promised in (min(width, WIDTH), WIDTH):
            path = self._folder / tile_path(level, index, promised)
            if path.is_file():
                return path.read_bytes(), promised
        return b"", 0

    def check_lengths(self) -> Iterator[Finding]:
        """Yield the files that hold more or less than their names promise."""
        for level, index, width in tiles_of(self._size):
            first = index * WIDTH ** (level + 1)
            hashes, promised = self._find(level, index, width)
            if len(hashes) != promised * HASH_SIZE:
                text = f"the file of tile {index}, level {level}, does not have {promised} hashes"
                yield Finding(codes.TILE_MISMATCH, text, None, first)
            if level == 0:
                entries, promised = self._find(None, index, width)
                if _count(entries) != promised:
                    text = f"the file of entry bundle {index} does not have {promised} leaves"
                    yield Finding(codes.TILE_MISMATCH, text, None, first)

    def bundles(self) -> Iterator[list[StoredLeaf]]:
        """Yield the leaves of every entry bundle."""
        return map(self.leaves, range(-(-self._size // WIDTH)))


def verify_published(
    folder: Path,
    *,
    public_key: str | None = None,
    checkpoint: bytes | None = None,
    progress: Progress | None = None,
) -> VerifyResult:
    """Verify a published directory: checkpoint, tiles, and every leaf as `verify` does.

    `public_key` is the operator's as handed over, `checkpoint` one kept from before. Raises
    KeyUnusable, NoteRefused when no key of this log signed a checkpoint, StoreDamaged when there is
    nothing published, and OSError.
    """
    anchor = None if public_key is None else given_key(public_key)
    head = _published(folder)
    if head is None:
        raise StoreDamaged(f"nothing is published in {folder}: it has no {CHECKPOINT}")
    log = PublishedLog(folder, head.size)
    notes = [(folder / CHECKPOINT).read_bytes()]
    if checkpoint is not None:
        notes.append(checkpoint)
    promised = [parse_checkpoint(note) for note in notes]
    roots = roots_at([said.size for said in promised], log.bundles())
    keys = (leaf for leaves in log.bundles() for leaf in leaves if leaf.stream == KEYS_STREAM)
    ring, trusted, found = build_ring(keys, anchor)
    for note, said in zip(notes, promised, strict=True):
        verify_by_ring(note, ring, head.origin)
        if roots.get(said.size) != said.root:
            text = f"the first {said.size} leaves are not those the checkpoint was signed for"
            found.append(Finding(codes.CHECKPOINT_MISMATCH, text))
    found += check_tiles(log.bundles(), head.size, log.read_tile)
    found += log.check_lengths()
    chains = Chains(_nothing_before)
    for index, leaves in enumerate(log.bundles()):
        stop = min((index + 1) * WIDTH, head.size)
        run = scan(LeafBatch.of_leaves(leaves), index * WIDTH, stop, head.origin, ring, 0).run
        found += run.findings
        found += chains.join(run)
        if progress is not None:
            progress(stop, head.size)
    return VerifyResult(
        head.origin,
        head.size,
        trusted and trusted.vkey,
        chains.open_rounds,
        sort_findings(found),
    )


def _nothing_before(stream: str, seq: int, leaf_index: int) -> Link | None:
    return None
