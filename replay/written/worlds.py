"""The ways in which the unknown cards of a written round can be read.

A card written as `??` may be any that the shoe still holds. Each way to read the unknown cards is a
`World`. Worlds that the rules treat alike from here on are kept as one, so that their number does
not follow the number of cards.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Final

import msgspec

from shoeproof.replay.engine.cards import PACK, VALUE
from shoeproof.replay.engine.outcomes import outcomes
from shoeproof.replay.engine.round import RoundState, in_initial_deal
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.written.round_text import DealMove, RoundText, StopMove

MOST_WORLDS: Final = 3_000
"""How many worlds are told apart. A round with more is left undecided from there on."""

_DRAWN_AFTER_A_STOP: Final = 15
"""A dealer who must draw has at least 2 and at most 16: this much value may still come."""


class World(msgspec.Struct, frozen=True):
    """One way to read the unknown cards: the state it leads to and what was assumed for them.

    `hole` is the face of the hole card as far as it is known or assumed.
    """

    state: RoundState
    hole: str | None = None
    assumed: tuple[str, ...] = ()


class UnseenCards:
    """The cards of a written round's shoe that are not written down."""

    def __init__(self, text: RoundText, rules: Rules) -> None:
        """Count them, and note of which so few are left that unknown cards could use them up."""
        cards = [move.card for move in text.moves if isinstance(move, DealMove)]
        written = Counter(cards)
        unknown = sum(card not in VALUE for card in cards)
        stops = any(isinstance(move, StopMove) for move in text.moves)
        self.left = {card: rules.decks - written[card] for card in PACK}
        of_value: Counter[int] = Counter()
        for card, left in self.left.items():
            of_value[VALUE[card]] += max(left, 0)
        self.scarce_cards = {card for card, left in self.left.items() if left < unknown}
        self.scarce_values = {
            value
            for value, left in of_value.items()
            if left < unknown + stops * -(-_DRAWN_AFTER_A_STOP // value)
        }

    def candidates(self, world: World) -> Iterator[str]:
        """Yield what the next unknown card can be.

        Of a card that comes after the first ones only the value matters to the rules.
        """
        state = world.state
        whole = in_initial_deal(state)
        used = Counter(world.assumed)
        values: set[int] = set()
        for card, left in self.left.items():
            if left > used[card] and (whole or VALUE[card] not in values):
                values.add(VALUE[card])
                yield card

    def spread(
        self,
        worlds: Sequence[World],
        waits: Callable[[World], bool],
        take: Callable[[World, str], World | None],
    ) -> list[World] | None:
        """Return the worlds with every card tried in each that waits for an unknown one.

        `take` gives a world one card, and None where the card contradicts what is known of it.
        Returns None where that makes more worlds than are told apart, or none.
        """
        found: dict[Hashable, World] = {}
        for world in worlds:
            for each in self._tried(world, take) if waits(world) else [world]:
                found.setdefault(self._what_matters(each), each)
            if len(found) > MOST_WORLDS:
                return None
        return list(found.values()) or None

    def _tried(self, world: World, take: Callable[[World, str], World | None]) -> Iterator[World]:
        for card in self.candidates(world):
            taken = take(world, card)
            if taken is not None:
                yield taken

    def _what_matters(self, world: World) -> Hashable:
        """Return all of a world that the rules can still ask about."""
        state, dealer = world.state, world.state.dealer
        return (
            tuple((each.hand, each.stake_minor, each.shown_minor) for each in state.hands),
            tuple((seat.answer, seat.insurance_minor) for seat in state.seats),
            (dealer.total, dealer.soft, min(dealer.count, 3), dealer.up_value),
            (state.hole_natural, world.hole and VALUE[world.hole]),
            _side_bets(state),
            tuple(sorted(card for card in world.assumed if card in self.scarce_cards)),
            tuple(sorted(VALUE[c] for c in world.assumed if VALUE[c] in self.scarce_values)),
        )


def _side_bets(state: RoundState) -> Hashable:
    """Return what side bets come to, or the cards they will, while one of them is undecided."""
    bets = [each for each in outcomes(state) if each.bet in state.rules.side_bets]
    if all(each.line is not None for each in bets):
        return tuple(each.line for each in bets)
    return state.dealer.up, tuple(tuple(sorted(seat.initial_cards)) for seat in state.seats)
