"""What an assessment rests on: the verified events about one round, and what vouches for them.

`gather` is the only part of an assessment that reads a ledger. It goes by index from the round to
its streams and never scans; of what it reads it verifies every signature, every link, and that the
tree holds it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from ledger import Finding, Ledger, Recorded, StoredLeaf
from ledger import findings as codes
from ledger.errors import SigningRefused, StoreDamaged, UnknownStream
from ledger.events import (
    CLOSING,
    HOLDS_PREFIX,
    KEYS_STREAM,
    OPERATIONS_STREAM,
    POLICIES_STREAM,
    RULES_STREAM,
    PolicyAdded,
    RoundOpened,
    RulesAdded,
)
from ledger.keyring import KeyRing
from ledger.rounds import SELECT_ROUND, RoundRow
from ledger.trust import build_ring
from ledger.verify import sort_findings, verified
from replay.catalogue import rules_by_content
from replay.disputes.cases import dispute_stream
from replay.engine.rules import Rules
from replay.errors import RulesError
from replay.policies import Policy, policy_digest, policy_from_data

OPERATIONS_AROUND: Final = 100
"""How many events of the service before the round and after its end are read: enough to know what
stood still when it began, and to say what was done about it.
"""


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the ledger can show of one round, as read at tree size `size`.

    `events` is the round's own stream, `holds` that of its held win, `disputes` that of the cases
    about it, `operations` what befell the service while it lasted and around it
    (`OPERATIONS_AROUND`); each holds only events whose leaves verify, in order. `integrity` says
    what does not verify in exactly these streams and those of keys, rules and policies. `rules` and
    `policies` are the ledger's, by digest. `as_of` is the time of the ledger's last leaf (RFC 3339,
    UTC), by which waiting is measured. The first `covered` leaves stand under the checkpoint that
    was signed last.
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


def currency_of(evidence: Evidence) -> str:
    """Return the currency of the round, empty where what opened it does not verify."""
    opened = evidence.events[0].event.data if evidence.events else None
    return opened.currency if isinstance(opened, RoundOpened) else ""


def gather(ledger: Ledger, round_id: str) -> Evidence:
    """Read and verify what the ledger holds about a round, by index.

    `round_id` is the whole id. Raises UnknownStream when the ledger has no such round,
    StoreUnavailable and StoreDamaged.
    """
    store, size = ledger.store, ledger.size()
    own = store.stream(round_id)
    if not own:
        raise UnknownStream(f"the ledger has nothing in {round_id!r}")
    ring, _, found = build_ring(store.stream(KEYS_STREAM), None)
    reader = _Reader(ledger, size, ring, found)
    events = reader.read(own)
    covered = _covered(ledger)
    found += _against_index(ledger, own, size)
    if covered > size:
        text = f"a checkpoint is of {covered} leaves, the ledger has {size}: its tail is gone"
        found.append(Finding(codes.CHECKPOINT_MISMATCH, text))
    added = [each.event.data for each in reader.stream(RULES_STREAM)]
    return Evidence(
        round_id=round_id,
        events=tuple(events),
        holds=tuple(reader.stream(HOLDS_PREFIX + round_id)),
        disputes=tuple(reader.stream(dispute_stream(round_id))),
        operations=tuple(reader.operations(own)),
        rules=rules_by_content(each.rules for each in added if isinstance(each, RulesAdded)),
        policies=_policies(reader.stream(POLICIES_STREAM)),
        integrity=tuple(sort_findings(found)),
        size=size,
        as_of=reader.last_time(events),
        covered=min(covered, size),
    )


class _Reader:
    """Reads streams up to a size, verifies them, and collects what is found against them."""

    def __init__(self, ledger: Ledger, size: int, ring: KeyRing, found: list[Finding]) -> None:
        self._ledger, self._size, self._ring, self._found = ledger, size, ring, found
        self._tree = ledger.tree(size)

    def stream(self, stream: str) -> list[Recorded]:
        return self.read(self._ledger.store.stream(stream))

    def read(self, leaves: Sequence[StoredLeaf], *, from_start: bool = True) -> list[Recorded]:
        known = [leaf for leaf in leaves if leaf.leaf_index < self._size]
        events, found = verified(known, self._ledger.origin, self._ring, from_start=from_start)
        self._found += found
        return [each for each in events if self._is_in_tree(each)]

    def operations(self, own: Sequence[StoredLeaf]) -> list[Recorded]:
        """Return what befell the service while the round lasted, and around it."""
        leaves = self._ledger.store.stream(OPERATIONS_STREAM)
        first, last = own[0].leaf_index, own[-1].leaf_index
        before = sum(leaf.leaf_index < first for leaf in leaves)
        start, is_open = max(0, before - OPERATIONS_AROUND), own[-1].topic not in CLOSING
        during = sum(leaf.leaf_index <= last for leaf in leaves)
        stop = len(leaves) if is_open else during + OPERATIONS_AROUND
        return self.read(leaves[start:stop], from_start=start == 0)

    def last_time(self, events: Sequence[Recorded]) -> str:
        """Return the time of the ledger's last leaf, of the round's where that does not verify."""
        last = self._ledger.store.fetch(self._size - 1, self._size)
        sound = verified(last, self._ledger.origin, self._ring, from_start=False).events
        return max((each.event.at for each in (*events, *sound)), default="")

    def _is_in_tree(self, recorded: Recorded) -> bool:
        try:
            if self._tree.node(0, recorded.leaf_index) == recorded.leaf_hash:
                return True
            text = "the tree holds another leaf at this place"
        except StoreDamaged as error:
            text = str(error)
        event = recorded.event
        self._found.append(
            Finding(codes.TILE_MISMATCH, text, event.stream, recorded.leaf_index, event.seq)
        )
        return False


def _against_index(ledger: Ledger, own: Sequence[StoredLeaf], size: int) -> Iterable[Finding]:
    """Say where the look-up index and the stream disagree about the round's last leaf."""
    round_id, last = own[0].stream, own[-1].leaf_index
    rows = ledger.store.query(SELECT_ROUND, (round_id,))
    row = RoundRow(*rows[0]) if rows else None
    if row is None:
        text = "the look-up index does not list this round"
    elif row.last_leaf != last and row.last_leaf < size:
        text = f"the look-up index has leaf {row.last_leaf} as the round's last, it is {last}"
    else:
        return []
    return [Finding(codes.LOOK_UP_MISMATCH, text, round_id)]


def _policies(recorded: Iterable[Recorded]) -> dict[str, Policy]:
    found = {}
    for each in recorded:
        if isinstance(each.event.data, PolicyAdded):
            try:
                policy = policy_from_data(each.event.data.policy)
            except RulesError:
                continue
            found[policy_digest(policy)] = policy
    return found


def _covered(ledger: Ledger) -> int:
    try:
        return ledger.guard.read().size
    except SigningRefused:
        return 0
