"""Cards that were seen, held to the shoes that the revealed seeds give."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from shoeproof.audit_reports.shuffle_tests.records import DealtRound, SeenCard
from shoeproof.ledger import Finding
from shoeproof.replay.engine.cards import PACK
from shoeproof.replay.findings import CARD_MISMATCH
from shoeproof.replay.kernel.tables import NUMBER
from shoeproof.replay.rounds.shoe_check import other_card

MOST_NAMED: Final = 1000
"""How many cards are named one by one: where a whole shuffle is another, none is right."""

_NO_CARD: Final = -1


class WrongCards(msgspec.Struct):
    """The cards that are not those of their shoes: the first by leaf, and how many are more."""

    named: list[Finding] = []
    more: int = 0

    def add(self, rounds: Sequence[DealtRound], shoes: npt.NDArray[Any]) -> None:
        """Hold the cards of rounds to their shoes, (rounds, cards) as `whole_shoes` gives them.

        A card from a place that the shoe does not have is not held to anything.
        """
        cards = list(chain.from_iterable([each.seen for each in rounds]))
        number = np.repeat(np.arange(len(rounds)), [len(each.seen) for each in rounds])
        # No integer of a ledger is beyond 2^53.
        place = np.array([index for index, _, _, _ in cards], np.int64)
        told = np.array([NUMBER.get(card, _NO_CARD) for _, card, _, _ in cards], np.int64)
        held = np.flatnonzero((place >= 0) & (place < shoes.shape[1]))
        due = shoes[number[held], place[held]] % len(PACK)
        differs = np.flatnonzero(told[held] != due)
        self._name(
            _finding(rounds[number[at]], cards[at], PACK[card])
            for at, card in zip(held[differs].tolist(), due[differs].tolist(), strict=True)
        )

    def merge(self, other: "WrongCards") -> None:
        """Add those of other rounds."""
        self._name(other.named)
        self.more += other.more

    def _name(self, found: Iterable[Finding]) -> None:
        named = sorted([*self.named, *found], key=lambda each: each.leaf_index or 0)
        self.named, others = named[:MOST_NAMED], named[MOST_NAMED:]
        self.more += len(others)

    def findings(self) -> Iterator[Finding]:
        """Yield a finding for each card that is named, and one for all others."""
        yield from self.named
        if self.more:
            text = f"{self.more:,} more cards are not the shoe's: `shoeproof audit` names each"
            yield Finding(CARD_MISMATCH, text)


def _finding(of: DealtRound, seen: SeenCard, due: str) -> Finding:
    text = other_card(seen.card, due, seen.shoe_index, is_hole=seen.is_hole)
    return Finding(CARD_MISMATCH, text, of.own.round_id, seen.leaf_index)
