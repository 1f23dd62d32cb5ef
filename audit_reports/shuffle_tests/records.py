"""Rounds as the shuffle tests see them, and how they are read from a ledger's verified leaves."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final, NamedTuple

import msgspec

from audit_reports.verified import verified_runs
from ledger import Ledger, StoredLeaf
from ledger.clock import parse_time
from ledger.envelope import Event, read_event, split_leaf
from ledger.events import (
    CLOSING,
    CardDealt,
    DealRequested,
    HoleCardShown,
    RoundOpened,
    ShoeCommitted,
    ShoeRevealed,
    StakesPlaced,
)
from ledger.sharing import Progress
from replay.bulk.words import Own, hex_bytes, seed_bytes
from replay.engine.cards import VALUE

_READ: Final = {
    cls.__name__
    for cls in (
        CardDealt, DealRequested, HoleCardShown, RoundOpened, ShoeCommitted, ShoeRevealed,
        StakesPlaced,
    )
}  # fmt: skip


class SeenCard(NamedTuple):
    """A card dealt face up, or the hole card as it was shown, and the leaf that says so."""

    shoe_index: int
    card: str
    leaf_index: int
    is_hole: bool


class DealtRound(msgspec.Struct):
    """What a round says of its shuffle; None for what it does not say.

    `own` has its seeds and its commitment. `committed_leaf` and `staked_leaf` say where the
    commitment and the first stakes stand, `age` how much time lay between. `cards` are those of the
    initial deal that lay face up, in dealing order; `dealt` counts all cards, and `skipped_at` is
    the first that did not come from the next place in the shoe. `seen` are all cards whose face is
    known, and `hole_index` is the place of the one that lies face down.
    """

    own: Own
    first_leaf: int
    committed_leaf: int | None = None
    committed_at: str | None = None
    staked_leaf: int | None = None
    age: timedelta | None = None
    seats: int = 0
    dealt: int = 0
    skipped_at: int | None = None
    cards: list[str] = []
    seen: list[SeenCard] = []
    hole_index: int | None = None

    @property
    def is_dealt(self) -> bool:
        """Tell whether the initial deal is complete, and every card of it one."""
        complete = self.seats > 0 and self.dealt >= self._initial_cards
        return complete and all(card in VALUE for card in self.cards)

    @property
    def _initial_cards(self) -> int:
        """Return how many cards the initial deal has, the hole card among them."""
        return 2 * self.seats + 2

    def take(self, event: Event, leaf_index: int) -> None:
        """Take in the next event of the round."""
        match event.data:
            case ShoeCommitted(commitment=commitment) if self.own.commitment is None:
                self.own.commitment = hex_bytes(commitment)
                self.committed_leaf, self.committed_at = leaf_index, event.at
            case StakesPlaced():
                self._take_stakes(event, leaf_index)
            case DealRequested(stakes=stakes, client_seed=client_seed) if not self.seats:
                self._take_stakes(event, leaf_index)
                self.seats = len(stakes)
                self.own.client_seed = seed_bytes(client_seed)
            case CardDealt():
                self._deal(event.data, leaf_index)
            case HoleCardShown(card=card) if self.hole_index is not None:
                self.seen.append(SeenCard(self.hole_index, card, leaf_index, is_hole=True))
            case ShoeRevealed(seed=seed):
                self.own.seed = seed_bytes(seed)

    def _take_stakes(self, event: Event, leaf_index: int) -> None:
        if self.staked_leaf is not None:
            return
        self.staked_leaf = leaf_index
        if self.committed_at is not None:
            self.age = parse_time(event.at) - parse_time(self.committed_at)

    def _deal(self, dealt: CardDealt, leaf_index: int) -> None:
        if dealt.shoe_index != self.dealt and self.skipped_at is None:
            self.skipped_at = self.dealt
        if not isinstance(dealt.card, str):
            self.hole_index = dealt.shoe_index
        else:
            self.seen.append(SeenCard(dealt.shoe_index, dealt.card, leaf_index, is_hole=False))
            if self.dealt < self._initial_cards:
                self.cards.append(dealt.card)
        self.dealt += 1


def dealt_rounds(
    ledger: Ledger, progress: Progress | None = None, size: int | None = None
) -> Iterator[DealtRound]:
    """Yield every round as it ends, and at last the open ones, in the order they were opened.

    Rounds for fun are among them, and voided ones: their shoes are shuffled alike. Only the first
    `size` leaves are read, by default all, and only verified ones: raises LeafRefused for the first
    that fails, and the ledger's errors. Memory is in proportion to the open rounds. `progress` is
    told how many leaves are read and of how many.
    """
    size = ledger.size() if size is None else size
    open_rounds: dict[str, DealtRound] = {}
    for leaves in verified_runs(ledger, 0, size):
        for leaf in leaves:
            if leaf.topic in _READ:
                _take(open_rounds, leaf)
            elif leaf.topic in CLOSING and leaf.stream in open_rounds:
                yield open_rounds.pop(leaf.stream)
        if progress is not None:
            progress(leaves[-1].leaf_index + 1, size)
    yield from open_rounds.values()


def _take(open_rounds: dict[str, DealtRound], leaf: StoredLeaf) -> None:
    event = read_event(split_leaf(leaf.state).payload)
    if isinstance(event.data, RoundOpened) and event.seq == 0:
        own = Own(leaf.stream)
        own.rules_digest = event.data.rules_digest
        open_rounds[leaf.stream] = DealtRound(own, leaf.leaf_index)
    found = open_rounds.get(leaf.stream)
    if found is not None:
        found.take(event, leaf.leaf_index)
