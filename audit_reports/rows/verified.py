"""Verified leaves: the only way from a ledger into a table.

Each leaf passes the checks that `shoeproof.ledger.verify` makes of its form, signer, place and
chain. What the ledger's own latest checkpoint covers is hashed, and its tree is proven to begin the
one whose root the log key signed, before a leaf of it is yielded; where the stored tree proves
nothing, all is hashed up to that root first. Of all others each signature is verified. From the
first objection on nothing is yielded. Three findings are no objection here, since they leave no
doubt of the bytes or their order and say only that the signer misbehaved: a clock that went
backwards or showed what cannot be, and an event after the close of its round, which counts for
nothing.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from shoeproof.audit_reports.errors import LeafRefused
from shoeproof.ledger import Finding, Ledger, StoredLeaf
from shoeproof.ledger.checkpoint.signed import Checkpoint, verify_by_ring
from shoeproof.ledger.errors import NoteRefused
from shoeproof.ledger.findings import (
    CHECKPOINT_MISMATCH,
    CLOCK_BACKWARDS,
    CLOCK_IMPLAUSIBLE,
    EVENT_AFTER_CLOSE,
)
from shoeproof.ledger.keys.keyring import KeyRing
from shoeproof.ledger.keys.trust import build_ring
from shoeproof.ledger.leaf.streams import KEYS_STREAM
from shoeproof.ledger.store.kept_checkpoints import kept_checkpoints
from shoeproof.ledger.tree.merkle import Peaks, add_subtrees, leaf_hashes, root_of_peaks
from shoeproof.ledger.verify.batch import FetchBatch, LeafBatch, elsewhere, here
from shoeproof.ledger.verify.broken import broken_anchors
from shoeproof.ledger.verify.known_checkpoints import KnownCheckpoint, begins, hidden_key
from shoeproof.ledger.verify.locate_damage import narrowed
from shoeproof.ledger.verify.one_stream import verified
from shoeproof.ledger.verify.ranges import Checked, RangeCheck, check_range
from shoeproof.ledger.verify.rebuild_tree import BLOCK, subtrees_between
from shoeproof.ledger.verify.scan import Link, check_leaf, link_of
from shoeproof.ledger.verify.sources import tiles_prove, time_bounds
from shoeproof.ledger.verify.trusted import KeysHidden, Sources, Trust, TrustedLeaves
from shoeproof.ledger.verify.whole import RUN
from shoeproof.ledger.verify.workers import Fetch, over_leaves

SHARED_FROM = 65_536
"""From how many leaves on worker processes check sooner than threads, which share this one."""

SHARED_RUN = 16_384
"""How many leaves such a process checks at a time."""

_NO_OBJECTION = {CLOCK_BACKWARDS, CLOCK_IMPLAUSIBLE, EVENT_AFTER_CLOSE}

Made = TypeVar("Made")

Make: TypeAlias = Callable[[list[StoredLeaf], list[bytes | None]], Made]
"""Makes something of leaves that are sound by themselves and the texts of their data.

It can be pickled, and works in whatever process checked them.
"""


class VerifiedRun(NamedTuple, Generic[Made]):
    """What was made of leaves that follow each other up to `stop` and passed.

    `last_leaf_hash` is that of the last of them and `peaks` those of the tree up to it; the
    ledger's first `covered` leaves are those its latest checkpoint was signed for, 0 where there is
    none.
    """

    made: Made
    stop: int
    last_leaf_hash: bytes
    peaks: Peaks
    covered: int


class _Answer(NamedTuple, Generic[Made]):
    """A range by itself; nothing is made of one that there is an objection to."""

    made: Made | None
    check: RangeCheck


_Check: TypeAlias = Callable[[LeafBatch, int, int], Checked]


def made_of_verified(
    ledger: Ledger, start: int, stop: int, peaks: Peaks, make: Make[Made]
) -> Iterator[VerifiedRun[Made]]:
    """Yield what is made of the leaves with `start <= leaf_index < stop`, in order, run by run.

    What stands before `start` is trusted to have been verified before, except where a stream goes
    on from it. `peaks` are those of the tree before `start`. Raises LeafRefused for the first leaf
    there is an objection to, and the ledger's errors.
    """
    notes = _notes(ledger)
    keys = ledger.store.stream(KEYS_STREAM)
    ring, _, found = build_ring(keys, None)
    changes = [each for each in found if each.leaf_index is not None]
    said = _latest(ledger, ring, notes, stop)
    covered = 0 if said is None else said.size
    known = [] if said is None else [KnownCheckpoint(covered, said.root.hex(), "own")]
    trust = Trust.begin(start, peaks, [each for each in known if each.size > start])
    earlier = partial(_link_before, ledger, ring)
    sources = Sources(earlier, tiles_prove(ledger), time_bounds(ledger))
    trusted = TrustedLeaves(trust, keys, sources)
    is_rehashed = False
    for made, check in _checked(ledger, ring, start, stop, covered, trust.sizes, make):
        run = check.run
        in_leaves = _taken(trusted, check)
        reached = trust.raw_peaks or ()
        if said is not None and run.start < covered and not is_rehashed:
            root = root_of_peaks(reached)
            if not begins(ledger, run.stop, root, covered, said.root):
                # An altered leaf, unless it is only the stored tree that is damaged.
                _hold(ledger, ring, said, start, peaks)
                is_rehashed = True
        of_keys = [each for each in changes if run.start <= (each.leaf_index or 0) < run.stop]
        found_here = [*in_leaves, *of_keys]
        _refuse_any([*found_here, *broken_anchors(ledger, run.stop, trust, found_here)])
        if said is not None and any(each.agrees is False for each in trust.known):
            _expect(False, said, run.start)
        assert made is not None
        yield VerifiedRun(made, run.stop, check.last_hash, reached, covered)


def _taken(trusted: TrustedLeaves, check: RangeCheck) -> list[Finding]:
    try:
        return trusted.take(check)
    except KeysHidden as hidden:
        raise LeafRefused(hidden_key(hidden.leaves[0])) from None


def verified_stream(ledger: Ledger, stream: str, stop: int) -> list[StoredLeaf]:
    """Return the leaves of a stream before leaf `stop`, verified by themselves and as a chain.

    Raises LeafRefused where there is an objection to one.
    """
    ring = _ring(ledger)
    leaves = sorted(leaf for leaf in ledger.store.stream(stream) if leaf.leaf_index < stop)
    _refuse_any(verified(leaves, ledger.origin, ring).findings)
    return leaves


def latest_covered(ledger: Ledger, size: int, peaks: Peaks, proven: int) -> int:
    """Return how many of the first `size` leaves a checkpoint covers, 0 where none does.

    `peaks` are those of their tree, as it was made of verified leaves. The stored tree proves that
    a checkpoint's is its beginning. Where it is damaged, one of `proven` leaves, to whose root
    leaves were hashed when they were projected, still vouches for them: their signatures were
    spared.
    """
    root = root_of_peaks(peaks)
    for said in _checkpoints(ledger, _ring(ledger), _notes(ledger), size):
        if said.size == proven or begins(ledger, said.size, said.root, size, root):
            return said.size
    return 0


def checkpoint_note(ledger: Ledger, size: int) -> bytes | None:
    """Return the ledger's own checkpoint of so many leaves as it was signed, None without one."""
    ring = _ring(ledger)
    for note in _notes(ledger):
        said = _said_by(note, ledger, ring)
        if said is not None and said.size == size:
            return note
    return None


def refuse_cut_tail(ledger: Ledger) -> None:
    """Raise LeafRefused where a checkpoint was signed for more leaves than the ledger has."""
    size = ledger.size()
    said = _latest(ledger, _ring(ledger), _notes(ledger), None)
    if said is not None and said.size > size:
        text = f"a checkpoint is of {said.size} leaves, the ledger has {size}: its tail is gone"
        raise LeafRefused(Finding(CHECKPOINT_MISMATCH, text, None, size))


def _ring(ledger: Ledger) -> KeyRing:
    return build_ring(ledger.store.stream(KEYS_STREAM), None)[0]


def _notes(ledger: Ledger) -> list[bytes]:
    return [] if ledger.path is None else list(kept_checkpoints(ledger.path))


def _latest(
    ledger: Ledger, ring: KeyRing, notes: list[bytes], stop: int | None
) -> Checkpoint | None:
    """Return the largest of the ledger's checkpoints, of at most `stop` leaves."""
    return next(_checkpoints(ledger, ring, notes, stop), None)


def _checkpoints(
    ledger: Ledger, ring: KeyRing, notes: list[bytes], stop: int | None
) -> Iterator[Checkpoint]:
    for note in notes:
        said = _said_by(note, ledger, ring)
        if said is not None and said.size and (stop is None or said.size <= stop):
            yield said


def _said_by(note: bytes, ledger: Ledger, ring: KeyRing) -> Checkpoint | None:
    try:
        return verify_by_ring(note, ring, ledger.origin).checkpoint
    except NoteRefused:
        # It proves nothing; `verify` reports it.
        return None


def _hold(ledger: Ledger, ring: KeyRing, said: Checkpoint, start: int, peaks: Peaks) -> None:
    """Hash the leaves from `start` on up to the root of a checkpoint, or say where they differ."""
    if said.size <= start:
        return
    store = ledger.store
    blocks = over_leaves(
        _hashed, store.fetch_states, store.states_fetcher(), store.ranges(start, said.size, BLOCK),
        _workers(ledger) if said.size - start >= SHARED_FROM else 1,
    )  # fmt: skip
    at = start
    for subtrees in blocks:
        stop = min(at + BLOCK, said.size)
        peaks = add_subtrees(peaks, at, stop, subtrees)
        at = stop
    if root_of_peaks(peaks) == said.root:
        return
    # Signatures say which leaf was altered, unless whoever did it holds the keys.
    for _, check in _checked(ledger, ring, start, said.size, 0, (), _nothing):
        _refuse_any(check.run.findings)
    held = KnownCheckpoint(said.size, said.root.hex(), "own", agrees=False)
    places = [each.leaf_index for each in narrowed(ledger, held, ())]
    first = min((each for each in places if each is not None), default=start)
    _expect(False, said, first)


def _hashed(fetch: Fetch[list[bytes]], start: int, stop: int) -> tuple[bytes, ...]:
    return subtrees_between(start, stop, leaf_hashes(fetch(start, stop)))


def _expect(agrees: bool, said: Checkpoint, leaf_index: int) -> None:
    if not agrees:
        text = f"the first {said.size} leaves are not those the checkpoint was signed for"
        raise LeafRefused(Finding(CHECKPOINT_MISMATCH, text, None, leaf_index))


def _checked(
    ledger: Ledger,
    ring: KeyRing,
    start: int,
    stop: int,
    covered: int,
    sizes: tuple[int, ...],
    make: Make[Made],
) -> Iterator[_Answer[Made]]:
    """Yield ranges checked by themselves, in order; one ends where the covered leaves do."""
    check = partial(_check, ledger.origin, ring, covered, sizes)
    for first, last in ((start, min(max(covered, start), stop)), (max(covered, start), stop)):
        workers = _workers(ledger)
        if workers > 1 and last - first >= SHARED_FROM:
            job = partial(_check_and_make, check, make)
            store = ledger.store
            ranges = store.ranges(first, last, SHARED_RUN)
            yield from over_leaves(job, here(store), elsewhere(store), ranges, workers)
        else:
            checked = _checked_by_threads(ledger, check, first, last)
            yield from (_make(each, make) for each in checked)


def _workers(ledger: Ledger) -> int:
    # No other process can read what is in the memory of this one.
    return 1 if ledger.store.is_in_memory else os.cpu_count() or 1


def _checked_by_threads(ledger: Ledger, check: _Check, start: int, stop: int) -> Iterator[Checked]:
    bounds = iter(ledger.store.ranges(start, stop, RUN))
    workers, fetch = os.cpu_count() or 1, here(ledger.store)
    # The verifying of signatures is what threads share.
    with ThreadPoolExecutor(workers) as pool:

        def checking(bound: tuple[int, int]) -> Future[Checked]:
            return pool.submit(check, fetch(*bound), *bound)

        # A bounded look-ahead keeps checked runs from piling up.
        ahead = deque(map(checking, islice(bounds, 2 * workers)))
        while ahead:
            yield ahead.popleft().result()
            ahead.extend(map(checking, islice(bounds, 1)))


def _check(
    origin: str,
    ring: KeyRing,
    covered: int,
    sizes: tuple[int, ...],
    batch: LeafBatch,
    start: int,
    stop: int,
) -> Checked:
    return check_range(batch, start, stop, origin, ring, covered, sizes)


def _check_and_make(
    check: _Check, make: Make[Made], fetch: FetchBatch, start: int, stop: int
) -> _Answer[Made]:
    return _make(check(fetch(start, stop), start, stop), make)


def _make(checked: Checked, make: Make[Made]) -> _Answer[Made]:
    batch, texts, check = checked
    is_sound = not _objections(check.run.findings)
    return _Answer(make(batch.leaves(), texts) if is_sound else None, check)


def _nothing(_leaves: list[StoredLeaf], _texts: list[bytes | None]) -> None:
    return None


def _link_before(
    ledger: Ledger, ring: KeyRing, stream: str, seq: int, leaf_index: int
) -> Link | None:
    # The last one by leaf index, whatever `seq` was asked for: a copy of an earlier event would
    # find the event it once followed, but it does not stand after the last.
    before = [leaf for leaf in ledger.store.stream(stream) if leaf.leaf_index < leaf_index]
    if not before:
        return None
    last = max(before)
    return link_of(last, check_leaf(last, ledger.origin, ring)[0])


def _objections(found: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in found if finding.code not in _NO_OBJECTION]


def _refuse_any(found: Iterable[Finding]) -> None:
    objections = _objections(found)
    if objections:
        raise LeafRefused(min(objections, key=lambda finding: finding.leaf_index or 0))
