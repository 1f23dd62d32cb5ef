"""Rounds as the shuffle tests see them."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from shoeproof.audit_reports.rows.said import Said
from shoeproof.ledger.leaf.events import (
    CardDealt,
    DealRequested,
    HoleCardShown,
    RoundOpened,
    ShoeCommitted,
    ShoeRevealed,
    StakesPlaced,
)
from shoeproof.replay.engine.cards import VALUE
from shoeproof.replay.engine.round import initial_deal_length
from shoeproof.replay.kernel.symbols import RoundColumns, hex_bytes
from shoeproof.replay.rounds.shoe_check import seed_bytes

READ: Final = {
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

    `own` has its seeds and its commitment. `last_leaf` ended it. `committed_leaf` and `staked_leaf`
    say where the commitment and the first stakes stand, `age` how much time lay between. `cards`
    are those of the initial deal that lay face up, in dealing order; `dealt` counts all cards, and
    `skipped_at` is the first that did not come from the next place in the shoe. `seen` are all
    cards whose face is known, and `hole_index` is the place of the one that lies face down.
    """

    own: RoundColumns
    first_leaf: int
    last_leaf: int | None = None
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
        complete = self.seats > 0 and self.dealt >= initial_deal_length(self.seats)
        return complete and all(card in VALUE for card in self.cards)

    def take(self, event: Said) -> None:
        """Take in the next event of the round."""
        match event.data:
            case RoundOpened(rules_digest=digest) if self.own.rules_digest is None:
                self.own.rules_digest = digest
            case ShoeCommitted(commitment=commitment) if self.own.commitment is None:
                self.own.commitment = hex_bytes(commitment)
                self.committed_leaf, self.committed_at = event.leaf_index, event.at
            case StakesPlaced():
                self._take_stakes(event)
            case DealRequested(stakes=stakes, client_seed=client_seed) if not self.seats:
                self._take_stakes(event)
                self.seats = len(stakes)
                self.own.client_seed = seed_bytes(client_seed)
            case CardDealt():
                self._deal(event.data, event.leaf_index)
            case HoleCardShown(card=card) if self.hole_index is not None:
                shown = SeenCard(self.hole_index, card, event.leaf_index, is_hole=True)
                self.seen.append(shown)
            case ShoeRevealed(seed=seed):
                self.own.seed = seed_bytes(seed)

    def _take_stakes(self, event: Said) -> None:
        if self.staked_leaf is not None:
            return
        self.staked_leaf = event.leaf_index
        if self.committed_at is not None:
            committed = datetime.fromisoformat(self.committed_at)
            self.age = datetime.fromisoformat(event.at) - committed

    def _deal(self, dealt: CardDealt, leaf_index: int) -> None:
        if dealt.shoe_index != self.dealt and self.skipped_at is None:
            self.skipped_at = self.dealt
        if not isinstance(dealt.card, str):
            self.hole_index = dealt.shoe_index
        else:
            self.seen.append(SeenCard(dealt.shoe_index, dealt.card, leaf_index, is_hole=False))
            if self.dealt < initial_deal_length(self.seats):
                self.cards.append(dealt.card)
        self.dealt += 1
