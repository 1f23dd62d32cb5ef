"""What an assessment rests on: the verified events about one round, and what vouches for them.

`gather` is the only part of an assessment that reads a ledger. It goes by index from the round to
its streams and never scans; of what it reads it verifies every signature, every link, and that the
tree holds it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

import msgspec

from shoeproof.ledger import Finding, Ledger, Recorded, StoredLeaf
from shoeproof.ledger import findings as codes
from shoeproof.ledger.errors import (
    EventUnreadable,
    KeyUnusable,
    SigningRefused,
    StoreDamaged,
    UnknownStream,
)
from shoeproof.ledger.findings import sort_findings
from shoeproof.ledger.keys.keyring import KeyRing
from shoeproof.ledger.keys.trust import build_ring
from shoeproof.ledger.leaf.events import CLOSING, RoundOpened, ShoeCommitted, ShoeRevealed
from shoeproof.ledger.leaf.recorded import read_leaf
from shoeproof.ledger.leaf.streams import (
    HOLDS_PREFIX,
    KEYS_STREAM,
    OPERATIONS_STREAM,
    POLICIES_STREAM,
    RULES_STREAM,
)
from shoeproof.ledger.store.round_index import SELECT_ROUND, IndexedRound
from shoeproof.ledger.store.schema import SELECT_SEED_REVEALED_BEFORE
from shoeproof.ledger.verify.beside import Leaves
from shoeproof.ledger.verify.known_checkpoints import tail_is_gone
from shoeproof.ledger.verify.one_stream import verified
from shoeproof.replay.cases.case import Case, dispute_stream
from shoeproof.replay.cases.faults import KINDS
from shoeproof.replay.currency import unit_of
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.games.policies import Policy
from shoeproof.replay.rounds.catalogue import policies_in, rules_in
from shoeproof.replay.rounds.replayer import replay_round
from shoeproof.replay.rounds.seeds import revealed

OPERATIONS_AROUND: Final = 100
"""How many events of the service before the round and after its end are read: enough to know what
stood still when it began, and to say what was done about it.
"""

SAME_SEED: Final = 10
"""How many earlier reveals of the round's seed are read at most: one is enough to say so."""


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the ledger can show of one round, as read at tree size `size`.

    `events` is the round's own stream, `holds` that of its held win, `disputes` that of the cases
    about it, `operations` what happened to the service while it lasted and around it
    (`OPERATIONS_AROUND`); each holds only events whose leaves verify, in order. `integrity` says
    what does not verify in exactly these streams and those of keys, rules and policies. `rules` and
    `policies` are the ledger's, by digest. `as_of` is the time of the ledger's last leaf (RFC 3339,
    UTC), by which waiting is measured. The first `covered` leaves stand under the checkpoint that
    was signed last. `sealed_seed` is the server seed of a round in which no input can follow, as
    this ledger's own key unseals it: for one whose reveal is missing or another. `same_seed` are
    the events by which other rounds revealed, at earlier leaves, the seed this round revealed, at
    most `SAME_SEED` of them, the earliest first. They are found by an index over the leaves: one
    that lies can hide such a round and cannot make one up. An audit looks at every reveal.
    `persons` maps the ids of the ledger's keys to the persons whose they are.
    """

    round_id: str
    events: tuple[Recorded, ...]
    holds: tuple[Recorded, ...]
    disputes: tuple[Recorded, ...]
    operations: tuple[Recorded, ...]
    rules: Mapping[str, Rules]
    policies: Mapping[str, Policy]
    integrity: tuple[Finding, ...]
    size: int
    as_of: str
    covered: int
    sealed_seed: bytes | None = None
    same_seed: tuple[Recorded, ...] = ()
    persons: Mapping[str, str] = {}


def currency_of(evidence: Evidence) -> str:
    """Return the unit of the round's amounts, empty where what opened it does not verify."""
    opened = evidence.events[0].event.data if evidence.events else None
    return unit_of(opened) if isinstance(opened, RoundOpened) else ""


class Common(NamedTuple):
    """What the evidence of all rounds of a tree shares: keys, rules and policies, verified once.

    `found` is what does not verify in their streams.
    """

    size: int
    ring: KeyRing
    rules: Mapping[str, Rules]
    policies: Mapping[str, Policy]
    found: tuple[Finding, ...]


def common_of(ledger: Ledger, size: int | None = None, leaves: Leaves | None = None) -> Common:
    """Read and verify what all rounds of a ledger's first `size` leaves rest on, by default of all.

    For `leaves` see `gather`. Raises StoreUnavailable and StoreDamaged.
    """
    size = ledger.size() if size is None else size
    leaves = leaves or ledger.store
    keys = [leaf for leaf in leaves.stream(KEYS_STREAM) if leaf.leaf_index < size]
    ring, _, found = build_ring(keys, None)
    reader = _Reader(ledger, leaves, size, ring, found)
    rules = rules_in(reader.stream(RULES_STREAM))
    policies = policies_in(reader.stream(POLICIES_STREAM))
    return Common(size, ring, rules, policies, tuple(found))


def gather(
    ledger: Ledger,
    round_id: str,
    size: int | None = None,
    common: Common | None = None,
    leaves: Leaves | None = None,
) -> Evidence:
    """Read and verify what the ledger holds about a round, by index.

    `round_id` is the whole id. With a `size`, only the ledger's first `size` leaves count: what it
    held of the round when it had so many. A caller that gathers many rounds of one tree hands in
    what they have in `common`, and one that has verified the leaves hands them in as `leaves`; by
    default they are looked up in the store. Raises UnknownStream when there is no such round,
    StoreUnavailable and StoreDamaged.
    """
    leaves, whole = leaves or ledger.store, ledger.size()
    size = common.size if common is not None else whole if size is None else size
    all_own = leaves.stream(round_id)
    own = [leaf for leaf in all_own if leaf.leaf_index < size]
    if not own:
        raise UnknownStream(f"the ledger has nothing in {round_id!r}")
    common = common or common_of(ledger, size, leaves)
    ring, rules, found = common.ring, common.rules, list(common.found)
    reader = _Reader(ledger, leaves, size, ring, found)
    events = reader.read(own)
    covered = covered_leaves(ledger)
    found += _against_index(ledger, own, size)
    if covered > whole:
        found.append(tail_is_gone(covered, whole))
    seed = _unsealed(ledger, events) or _revealed(all_own) if _is_over(events, rules) else None
    return Evidence(
        round_id=round_id,
        events=tuple(events),
        holds=tuple(reader.stream(HOLDS_PREFIX + round_id)),
        disputes=tuple(reader.stream(dispute_stream(round_id))),
        operations=tuple(reader.operations(own)),
        rules=rules,
        policies=common.policies,
        integrity=tuple(sort_findings(found)),
        size=size,
        as_of=reader.last_time(events),
        covered=min(covered, size),
        sealed_seed=seed,
        same_seed=tuple(_same_seed(ledger, events, _Reader(ledger, leaves, size, ring, []))),
        persons=ring.persons(),
    )


def evidence_of_case(
    ledger: Ledger, round_id: str, case: Case, leaves: Leaves | None = None
) -> Evidence:
    """Return what a decided case of a round was decided on, as the ledger was just before.

    Of a case that is not decided it is what the ledger holds now. For `leaves`, and for what is
    raised, see `gather`.
    """
    return gather(ledger, round_id, case.decided_leaf, leaves=leaves)


def _is_over(events: Sequence[Recorded], rules: Mapping[str, Rules]) -> bool:
    """Tell whether no input of the player can follow: the cards to come of a round that goes on are
    nobody's to see.
    """
    if not events or not isinstance(events[0].event.data, RoundOpened):
        return False
    replay = replay_round(events, rules)
    if replay.ending is not None:
        return True
    if replay.requested is None:
        return False
    broken = any(KINDS[each.code].reach in ("shoe", "table") for each in replay.findings)
    waits = replay.state is None or any(not held.hand.over for held in replay.state.hands)
    return broken or not waits


def _unsealed(ledger: Ledger, events: Sequence[Recorded]) -> bytes | None:
    """Return a round's sealed seed, None where this ledger's key does not open it."""
    for recorded in events:
        data = recorded.event.data
        if isinstance(data, ShoeCommitted):
            try:
                return ledger.unseal(data.sealed_seed, bytes.fromhex(data.commitment))
            except (KeyUnusable, ValueError):
                return None
    return None


def _revealed(leaves: Sequence[StoredLeaf]) -> bytes | None:
    """Return the seed that a round revealed, as it stands: the caller holds it to the
    commitment. A decision that ended its round revealed the seed it was made by.
    """
    for leaf in leaves:
        if leaf.topic == ShoeRevealed.__name__:
            with suppress(EventUnreadable, ValueError):
                data = read_leaf(leaf).event.data
                if isinstance(data, ShoeRevealed):
                    return bytes.fromhex(data.seed)
    return None


class _Reader:
    """Reads streams up to a size, verifies them, and collects what is found against them."""

    def __init__(
        self, ledger: Ledger, leaves: Leaves, size: int, ring: KeyRing, found: list[Finding]
    ) -> None:
        self._ledger, self._leaves, self._size = ledger, leaves, size
        self._ring, self._found = ring, found
        # What was verified was held to the tree.
        self._tree = ledger.tree(size) if leaves is ledger.store else None

    def stream(self, stream: str) -> list[Recorded]:
        return self.read(self._leaves.stream(stream))

    def read(self, leaves: Sequence[StoredLeaf], *, from_start: bool = True) -> list[Recorded]:
        known = [leaf for leaf in leaves if leaf.leaf_index < self._size]
        events, found = verified(known, self._ledger.origin, self._ring, from_start=from_start)
        self._found += found
        return [each for each in events if self._is_in_tree(each)]

    def operations(self, own: Sequence[StoredLeaf]) -> list[Recorded]:
        """Return what happened to the service while the round lasted, and around it."""
        leaves = self._leaves.stream(OPERATIONS_STREAM)
        first, last = own[0].leaf_index, own[-1].leaf_index
        before = sum(leaf.leaf_index < first for leaf in leaves)
        start, is_open = max(0, before - OPERATIONS_AROUND), own[-1].topic not in CLOSING
        during = sum(leaf.leaf_index <= last for leaf in leaves)
        stop = len(leaves) if is_open else during + OPERATIONS_AROUND
        return self.read(leaves[start:stop], from_start=start == 0)

    def last_time(self, events: Sequence[Recorded]) -> str:
        """Return the time of the ledger's last leaf, of the round's where that does not verify."""
        last = self._leaves.fetch(self._size - 1, self._size)
        sound = verified(last, self._ledger.origin, self._ring, from_start=False).events
        return max((each.event.at for each in (*events, *sound)), default="")

    def _is_in_tree(self, recorded: Recorded) -> bool:
        try:
            if self._tree is None or self._tree.node(0, recorded.leaf_index) == recorded.leaf_hash:
                return True
            text = "the tree holds a different leaf at this place"
        except StoreDamaged as error:
            text = str(error)
        event = recorded.event
        self._found.append(
            Finding(codes.TILE_MISMATCH, text, event.stream, recorded.leaf_index, event.seq)
        )
        return False


def _same_seed(ledger: Ledger, events: Sequence[Recorded], others: "_Reader") -> Iterator[Recorded]:
    """Yield the reveals by other rounds of the seed that these events reveal; see `Evidence`.

    What does not verify of another round says nothing of this one.
    """
    own = next(filter(None, map(revealed, events)), None)
    if own is None:
        return
    head = own.seed.to_bytes(32).hex()[:16].encode()
    asked = (head, own.stream, own.leaf_index, SAME_SEED)
    for row in ledger.store.query(SELECT_SEED_REVEALED_BEFORE, asked):
        for each in others.read([StoredLeaf(*row)], from_start=False):
            told = revealed(each)
            if told is not None and told.seed == own.seed:
                yield each


def _against_index(ledger: Ledger, own: Sequence[StoredLeaf], size: int) -> Iterable[Finding]:
    """Say where the look-up index and the stream disagree about the round's last leaf."""
    round_id, last = own[0].stream, own[-1].leaf_index
    rows = ledger.store.query(SELECT_ROUND, (round_id,))
    row = IndexedRound(*rows[0]) if rows else None
    if row is None:
        text = "the look-up index does not list this round"
    elif row.last_leaf != last and row.last_leaf < size:
        text = f"the look-up index has leaf {row.last_leaf} as the round's last, it is {last}"
    else:
        return []
    return [Finding(codes.LOOK_UP_MISMATCH, text, round_id)]


def covered_leaves(ledger: Ledger) -> int:
    """Return how many leaves the last checkpoint is of, 0 where that is not known."""
    try:
        return ledger.guard.read().size
    except SigningRefused:
        return 0
