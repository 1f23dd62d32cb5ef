"""Check the cards of a round against the shoe that was committed to."""

from collections.abc import Iterator, Sequence

from shoeproof.ledger import Recorded
from shoeproof.ledger.leaf.events import (
    CardDealt,
    DealRequested,
    RoundOpened,
    ShoeCommitted,
    ShoeRevealed,
)
from shoeproof.replay import findings as codes
from shoeproof.replay.engine.cards import FACE_DOWN
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.engine.shoe import MAX_CLIENT_SEED_BYTES, SEED_BYTES, Shoe, commitment
from shoeproof.replay.errors import ShoeError

Problem = tuple[str, str]
"""A finding's code and its sentence."""


class ShoeCheck:
    """The revealed shoe, when there is one to judge by, and the place of the next card.

    Where the reveal is missing or contradicts the commitment the cards are not judged; the places
    they were drawn from still are.
    """

    def __init__(
        self,
        round_id: str,
        digest: str,
        rules: Rules | None,
        events: Sequence[Recorded],
        sealed_seed: bytes | None = None,
    ) -> None:
        """Find commitment, reveal and client seed among the round's events.

        `sealed_seed` serves where no seed was revealed that fits the commitment.
        """
        self.shoe: Shoe | None = None
        self.hole_index: int | None = None
        self.next_index = 0
        self._commitments = [
            each.event.data.commitment
            for each in events
            if isinstance(each.event.data, ShoeCommitted)
        ]
        self._round_id, self._digest = round_id, digest
        seeds = filter(None, (self._seed(events), sealed_seed))
        seed = next(filter(self.fits, seeds), None)
        client_seed = _client_seed(events)
        self.has_client_seed = client_seed is not None and len(client_seed) <= MAX_CLIENT_SEED_BYTES
        if rules is None or seed is None or client_seed is None:
            return
        try:
            self.shoe = Shoe(seed, round_id, digest, client_seed, rules.decks)
        except ShoeError:
            return

    def fits(self, seed: bytes) -> bool:
        """Tell whether a seed is the one committed to."""
        if len(seed) != SEED_BYTES or len(self._commitments) != 1:
            return False
        return commitment(self._round_id, self._digest, seed).hex() == self._commitments[0]

    def check_committed(self) -> Iterator[Problem]:
        """Check that the round has one commitment, once it is dealt from a shoe."""
        count = len(self._commitments)
        if count != 1:
            yield codes.COMMITMENT_MISMATCH, f"the round has {count} commitments, not one"

    def reveal(self, revealed: ShoeRevealed) -> Iterator[Problem]:
        """Check the revealed seed against the commitment."""
        if len(self._commitments) == 1 and not self.fits(seed_bytes(revealed.seed) or b""):
            yield codes.COMMITMENT_MISMATCH, "the revealed seed is not the one committed to"

    def deal(self, dealt: CardDealt, card: str) -> Iterator[Problem]:
        """Check a dealt card, `FACE_DOWN` for the hole card, against its place in the shoe."""
        index = dealt.shoe_index
        if index != self.next_index:
            sentence = f"card {index} of the shoe was dealt where card {self.next_index} was next"
            yield codes.SHOE_INDEX_WRONG, sentence
        self.next_index = index + 1
        if card == FACE_DOWN:
            self.hole_index = index
            return
        due = self.card_at(index)
        if due is not None and card != due:
            yield codes.CARD_MISMATCH, other_card(card, due, index)

    def show(self, card: str) -> Iterator[Problem]:
        """Check the shown hole card against its place in the shoe."""
        due, index = self.hole, self.hole_index
        if due is not None and index is not None and card != due:
            yield codes.CARD_MISMATCH, other_card(card, due, index, is_hole=True)

    @property
    def hole(self) -> str | None:
        """Return the shoe's hole card, None when it cannot be known."""
        return None if self.hole_index is None else self.card_at(self.hole_index)

    def card_at(self, index: int) -> str | None:
        """Return the shoe's card at an index, None when it cannot be known."""
        if self.shoe is None or not 0 <= index < len(self.shoe):
            return None
        return self.shoe[index]

    @staticmethod
    def _seed(events: Sequence[Recorded]) -> bytes | None:
        for each in events:
            if isinstance(each.event.data, ShoeRevealed):
                return seed_bytes(each.event.data.seed)
        return None


def check_reveal(events: Sequence[Recorded]) -> Iterator[Problem]:
    """Check a whole round's reveal against its commitment; no rules are needed for that."""
    opened = events[0].event.data
    if not isinstance(opened, RoundOpened):
        return
    check = ShoeCheck(events[0].event.stream, opened.rules_digest, None, events)
    revealed = [each.event.data for each in events if isinstance(each.event.data, ShoeRevealed)]
    if not revealed:
        yield codes.SEED_NOT_REVEALED, "the round ended without revealing its seed"
    yield from check.check_committed()
    for data in revealed:
        yield from check.reveal(data)


def other_card(card: str, due: str, shoe_index: int, *, is_hole: bool = False) -> str:
    """Say that a card is not the one its shoe has at a place."""
    seen = f"the hole card was shown as {card}" if is_hole else f"{card} was dealt"
    return f"{seen}, the shoe has {due} at {shoe_index}"


def _client_seed(events: Sequence[Recorded]) -> bytes | None:
    for each in events:
        if isinstance(each.event.data, DealRequested):
            return seed_bytes(each.event.data.client_seed)
    return None


def seed_bytes(text: str) -> bytes | None:
    """Return the bytes of a recorded seed, None where it is not hexadecimal."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        return None
