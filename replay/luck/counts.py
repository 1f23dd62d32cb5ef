"""Events that are counted, each against its exact chance; luck in money may drown them.

At a chance move one of these events may come. Its chance is taken over the cards that nobody has
seen, right before the move, so that "it came, or not, less its chance" has mean zero given all that
went before, no matter who plays and for what stakes. A count is therefore a martingale, as luck is.

The hands of an initial deal are looked at seat by seat: the chance of a natural is that of two
cards off the shoe without the cards of the seats before.
"""

from typing import Final, TypeAlias

import msgspec
import numpy as np

from shoeproof.replay.engine.dealer import Dealer, makes_natural
from shoeproof.replay.engine.hand import DOUBLE, Hand
from shoeproof.replay.engine.round import Check, Deal, RoundState, Show
from shoeproof.replay.kernel.tables import Ints, RuleTables
from shoeproof.replay.luck.kinds import drawn_by
from shoeproof.replay.theory.values import ACE, TEN, Floats

PLAYER_NATURAL: Final = "player_natural"
DEALER_NATURAL: Final = "dealer_natural"
DOUBLE_MADE: Final = "double_made"
DEALER_BUST: Final = "dealer_bust"
DEALER_LATE_BUST: Final = "dealer_late_bust"

COUNT_KINDS: Final = (PLAYER_NATURAL, DEALER_NATURAL, DOUBLE_MADE, DEALER_BUST, DEALER_LATE_BUST)
"""A natural of a seat; a natural of the dealer whose up card allows it; a doubled hand that comes
to 17 to 21 by its card; a third card that busts the dealer's hard 12 to 16; a later one that does.

The third card is apart: it is what seeds are drawn again for, and later ones would dilute it."""

COUNT_SUMS: Final = ("chances", "came", "expected", "variance")
"""The sums for each: the moves at which it may come, how often it came, Σp and Σp(1 − p)."""

BILLION: Final = 1_000_000_000
"""Σp and Σp(1 − p) are whole billionths, so that they add up alike in any order."""

STIFF: Final = (12, 16)
"""The hard totals of the dealer that a card may bust."""

MADE: Final = (17, 21)
"""The totals of a doubled hand that do not need the dealer to bust."""

Chance: TypeAlias = float | Floats


class Count(msgspec.Struct, frozen=True):
    """An event that might come at a move, with its chance, and whether it came."""

    kind: str
    chance: float
    came: bool


class Tally:
    """The sums of counts by round, shape (rounds, COUNT_KINDS, COUNT_SUMS)."""

    def __init__(self, rounds: int) -> None:
        """Begin with nothing counted."""
        self.sums: Ints = np.zeros((rounds, len(COUNT_KINDS), len(COUNT_SUMS)), np.int64)

    def add(self, kind: str, number: Ints, chance: Chance, came: Ints) -> None:
        """Count moves of the rounds `number` at which an event may come.

        A move at which it must come, or cannot, says nothing and is left out.
        """
        open_to_chance = (np.asarray(chance) > 0) & (np.asarray(chance) < 1)
        p, number = np.asarray(chance)[open_to_chance], np.asarray(number)[open_to_chance]
        came = np.asarray(came)[open_to_chance]
        sums = (np.ones(len(p)), came, np.rint(p * BILLION), np.rint(p * (1 - p) * BILLION))
        for place, amounts in enumerate(sums):
            np.add.at(
                self.sums[:, COUNT_KINDS.index(kind), place], number, amounts.astype(np.int64)
            )


def tallied(counts: tuple[Count, ...]) -> Ints:
    """Return the sums of one round's counts, shape (COUNT_KINDS, COUNT_SUMS)."""
    tally = Tally(1)
    for each in counts:
        tally.add(each.kind, np.zeros(1, np.int64), np.array([each.chance]), np.array([each.came]))
    sums: Ints = tally.sums[0]
    return sums


def natural_chance(unseen: Ints) -> Chance:
    """Return the chance that two cards are a natural, by the cards left, (…, 10)."""
    cards = unseen.sum(axis=-1)
    chance: Chance = 2 * unseen[..., ACE] * unseen[..., TEN] / (cards * (cards - 1))
    return chance


def may_come(state: RoundState) -> str | None:
    """Return the kind that may come at the chance move that is due, None if there is none."""
    due, dealer = state.due, state.dealer
    if isinstance(due, Check):
        return DEALER_NATURAL
    if isinstance(due, Show):
        is_open = state.hole_natural is None and _allows_natural(dealer)
        return DEALER_NATURAL if is_open else None
    if not isinstance(due, Deal):
        return None
    if due.receiver not in [held.name for held in state.hands]:
        return _bust_of(dealer)
    hand = next(held.hand for held in state.hands if held.name == due.receiver)
    return DOUBLE_MADE if drawn_by(hand) == DOUBLE else None


def came(kind: str, before: RoundState, after: RoundState) -> bool:
    """Tell whether the event that might come at a move did."""
    if kind == DEALER_NATURAL:
        return bool(after.hole_natural or after.dealer.natural)
    if kind in (DEALER_BUST, DEALER_LATE_BUST):
        return after.dealer.total > MADE[1]
    receiver = before.due.receiver if isinstance(before.due, Deal) else ""
    return _is_made(next(held.hand for held in after.hands if held.name == receiver))


def stiff_states(tables: RuleTables, kind: str) -> Ints:
    """Tell for every hand of the dealer, from the first, whether a card may be a bust of a kind."""
    return np.array([_bust_of(dealer) == kind for dealer in tables.dealers])


def bust_states(tables: RuleTables) -> Ints:
    """Tell for every hand of the dealer, from the first, whether it has bust."""
    return np.array([dealer.total > MADE[1] for dealer in tables.dealers])


def doubled_states(tables: RuleTables) -> Ints:
    """Tell for every hand, from the first, whether it owes the card of a double."""
    return np.array([drawn_by(hand) == DOUBLE for hand in tables.hands])


def made_states(tables: RuleTables) -> Ints:
    """Tell for every hand, from the first, whether it comes to 17 to 21."""
    return np.array([_is_made(hand) for hand in tables.hands])


def _bust_of(dealer: Dealer) -> str | None:
    if dealer.soft or not STIFF[0] <= dealer.total <= STIFF[1]:
        return None
    return DEALER_BUST if dealer.count == 2 else DEALER_LATE_BUST


def _is_made(hand: Hand) -> bool:
    return MADE[0] <= hand.total <= MADE[1]


def _allows_natural(dealer: Dealer) -> bool:
    return any(makes_natural(dealer, hole) for hole in ("As", "Ts"))
