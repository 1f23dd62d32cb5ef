"""The movements of money that an event records: one list, which every reader of money goes by."""

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from shoeproof.ledger.leaf.events import (
    Awarded,
    BetResettled,
    BetSettled,
    DealRequested,
    DecisionMade,
    EventData,
    Funds,
    Refunded,
    RoundVoided,
    WinReleased,
)
from shoeproof.replay.engine.hand import INSURANCE
from shoeproof.replay.engine.outcomes import INSURANCE_BET, MAIN
from shoeproof.replay.engine.round import stakes_minor

Direction: TypeAlias = Literal["debit", "credit"]
Kind: TypeAlias = Literal["debit", "payment", "refund"]

MOVING: Final = frozenset({
    DealRequested, DecisionMade, BetSettled, RoundVoided, BetResettled, Refunded, Awarded,
    WinReleased,
})  # fmt: skip
"""The events that may move money."""


class Movement(NamedTuple):
    """Money that an event moves: what was booked, and what the wallet answered.

    `hand` and `bet` are None where it is for several bets, or for a sum. `what` names it in words.
    """

    kind: Kind
    what: str
    hand: str | None
    bet: str | None
    booked_minor: int
    funds: Funds | None

    @property
    def text(self) -> str:
        """Return the movement in words."""
        return f"the {self.kind} for {self.what}"

    @property
    def key(self) -> tuple[str, str] | None:
        """Return the bet as its hand and name, None where it is no single one."""
        return None if self.hand is None or self.bet is None else (self.hand, self.bet)

    @property
    def direction(self) -> Direction:
        """Return the way the money is booked to go: a debit from the player, a credit to him."""
        return "debit" if self.kind == "debit" else "credit"

    @property
    def change_minor(self) -> int:
        """Return what was booked as a change of the player's balance, a debit below zero."""
        return -self.booked_minor if self.kind == "debit" else self.booked_minor


def movements_of(data: EventData) -> Iterator[Movement]:
    """Yield the movements of money that an event records, none for an event of another kind."""
    match data:
        case DealRequested():
            laid = [(seat, bet) for seat, bets in data.stakes.items() for bet in bets]
            hand, bet = laid[0] if len(laid) == 1 else (None, None)
            yield Movement("debit", "the deal", hand, bet, stakes_minor(data.stakes), data.funds)
        case DecisionMade():
            bet = INSURANCE_BET if data.act == INSURANCE else MAIN
            what = f"{data.act} of {data.hand}"
            yield Movement("debit", what, data.hand, bet, data.added_stake_minor, data.funds)
        case BetSettled():
            yield _of_bet("payment", data.hand, data.bet, data.paid_minor, data.funds)
        case BetResettled():
            more = data.paid_minor - data.paid_before_minor
            yield _of_bet("payment", data.hand, data.bet, more, data.funds)
        case RoundVoided():
            for each in data.refunds:
                yield _of_bet("refund", each.hand, each.bet, each.amount_minor, each.funds)
        case Refunded():
            yield _of_bet("refund", data.hand, data.bet, data.amount_minor, data.funds)
        case Awarded():
            yield Movement(
                "payment", "an award", data.hand, data.bet, data.amount_minor, data.funds
            )
        case WinReleased():
            yield Movement("payment", "the held win", None, None, data.amount_minor, data.funds)


def _of_bet(kind: Kind, hand: str, bet: str, minor: int, funds: Funds | None) -> Movement:
    return Movement(kind, f"{bet} of {hand}", hand, bet, minor, funds)
