"""Faults of the house that can be told together: each changes what a table records, by itself.

Every one alters the record of one and the same played round, so that what a round comes to with two
of them can be held to what it comes to with either alone.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from itertools import chain

from msgspec.structs import replace

from shoeproof.ledger.leaf.clock import format_time, parse_time
from shoeproof.ledger.leaf.events import (
    BetSettled,
    CardDealt,
    DealRequested,
    DecisionMade,
    DecisionOffered,
    EventData,
    Funds,
    HoleCardShown,
    InputRefused,
    Refund,
    RoundClosed,
    RoundVoided,
    ShoeCommitted,
    ShoeRevealed,
    StakesPlaced,
)
from tests.replay.lying import changing
from tests.replay.lying_table import Alter, Turn

Fault = Callable[[], Alter]


def _credit(settled: BetSettled, paid_minor: int) -> BetSettled:
    funds = settled.funds
    if funds is not None:
        funds = replace(funds, cash_minor=paid_minor, balance_after_minor=None)
    return replace(settled, paid_minor=paid_minor, funds=funds)


def _short(settled: BetSettled) -> BetSettled:
    return _credit(settled, settled.paid_minor * 3 // 4) if settled.paid_minor else settled


def _over(settled: BetSettled) -> BetSettled:
    return _credit(settled, settled.paid_minor + 50) if settled.paid_minor else settled


def _with_funds(data: EventData, **fields: object) -> EventData:
    funds: Funds | None = getattr(data, "funds", None)
    if funds is None:
        return data
    return replace(data, funds=replace(funds, **fields))


def _late_deadline(offer: DecisionOffered) -> DecisionOffered:
    if offer.deadline is None:
        return offer
    later = parse_time(offer.deadline) + timedelta(seconds=1)
    return replace(offer, deadline=format_time(later))


def _one_cent_more(offer: DecisionOffered) -> DecisionOffered:
    value = offer.cash_out_minor
    return offer if value is None else replace(offer, cash_out_minor=value + 1)


def _withheld(offer: DecisionOffered) -> DecisionOffered:
    act = "double" if "double" in offer.legal else "hit"
    return replace(offer, legal=[each for each in offer.legal if each != act])


def _refused(offer: DecisionOffered) -> Sequence[EventData]:
    act = next((each for each in offer.legal if each in ("hit", "insurance")), offer.legal[0])
    return (offer, InputRefused(f"{offer.hand} {act}", "late"))


def _other(card: str) -> str:
    return ("9" if card[0] != "9" else "6") + card[1]


def _shown_otherwise(dealt: CardDealt, receivers: tuple[str, ...]) -> CardDealt:
    if dealt.receiver.split(".")[0] not in receivers or not isinstance(dealt.card, str):
        return dealt
    return replace(dealt, card=_other(dealt.card))


def ending(change: Callable[[Turn], Iterable[EventData]]) -> Fault:
    """Change the turn with which the round closes."""

    def begin() -> Alter:
        def alter(turn: Turn) -> Turn:
            closes = any(isinstance(data, RoundClosed) for data in turn)
            return list(change(turn)) if closes else turn

        return alter

    return begin


def extra_card(turn: Turn) -> Iterable[EventData]:
    last = max((d.shoe_index for d in turn if isinstance(d, CardDealt)), default=20)
    for data in turn:
        if isinstance(data, BetSettled | ShoeRevealed) and last >= 0:
            yield CardDealt(last + 1, "dealer", "2c")
            last = -1
        yield data


def _broken_off(turn: Turn) -> Iterable[EventData]:
    for data in turn:
        if isinstance(data, BetSettled | ShoeRevealed | RoundClosed):
            return
        yield data


def _voided(turn: Turn) -> Iterable[EventData]:
    """End by a void that gives back only what this turn would have settled."""
    settled = [data for data in turn if isinstance(data, BetSettled)]
    for data in turn:
        if isinstance(data, RoundClosed):
            refunds = [Refund(each.hand, each.bet, each.stake_minor) for each in settled]
            yield RoundVoided("malfunction", refunds)
        elif not isinstance(data, BetSettled):
            yield data


def _no_settlement(turn: Turn) -> Iterable[EventData]:
    return (d for d in turn if not (isinstance(d, BetSettled) and d.bet == "main"))


def fewer_cards(turn: Turn) -> Iterable[EventData]:
    """Record no card that the dealer drew after showing the hole card."""
    shown = False
    for data in turn:
        shown = shown or isinstance(data, HoleCardShown)
        if not (shown and isinstance(data, CardDealt)):
            yield data


HOUSE_FAULTS: dict[str, Fault] = {
    "a deadline one second late": changing(DecisionOffered, _late_deadline),
    "a cash out one cent high": changing(DecisionOffered, _one_cent_more),
    "an act withheld": changing(DecisionOffered, _withheld, only=0),
    "a timely input refused": changing(DecisionOffered, _refused, only=0),
    "a decision by nobody": changing(DecisionMade, lambda d: replace(d, actor=None), only=0),
    "a decision recorded twice": changing(DecisionMade, lambda d: (d, d), only=0),
    "a decision lost": changing(DecisionMade, lambda d: (), only=0),
    "paid a quarter short": changing(BetSettled, _short),
    "paid too much": changing(BetSettled, _over),
    "main bets never settled": ending(_no_settlement),
    "settled twice": changing(BetSettled, lambda d: (d, d), only=0),
    "the stake debited twice": changing(
        DealRequested,
        lambda d: _with_funds(d, cash_minor=2 * d.funds.cash_minor, balance_after_minor=None),
    ),
    "chips laid for half of the deal": changing(
        StakesPlaced,
        lambda d: StakesPlaced(
            {seat: {bet: m // 2 for bet, m in bets.items()} for seat, bets in d.stakes.items()}
        ),
    ),
    "a credit declined": changing(BetSettled, lambda d: _with_funds(d, answer="declined")),
    "a credit without an answer": changing(BetSettled, lambda d: replace(d, funds=None)),
    "no seed revealed": changing(ShoeRevealed, lambda d: ()),
    "another seed revealed": changing(ShoeRevealed, lambda d: ShoeRevealed("00" * 32)),
    "no shoe committed to": changing(ShoeCommitted, lambda d: ()),
    "a wrong card to the player": changing(
        CardDealt, lambda d: _shown_otherwise(d, ("s1",)), only=0
    ),
    "wrong cards to the dealer": changing(CardDealt, lambda d: _shown_otherwise(d, ("dealer",))),
    "one card too many to the dealer": ending(extra_card),
    "a dealer who stops too early": ending(fewer_cards),
    "broken off before the settlement": ending(_broken_off),
    "voided instead of settled": ending(_voided),
}
"""Every fault by its name."""


def told_together(names: Iterable[str]) -> Fault:
    """Return faults as one, each told after those before it."""
    faults = [HOUSE_FAULTS[name] for name in names]

    def begin() -> Alter:
        alters = [fault() for fault in faults]

        def alter(turn: Turn) -> Turn:
            for each in alters:
                turn = each(turn)
            return turn

        return alter

    return begin


def singles_of(names: Sequence[str]) -> Iterable[tuple[str, ...]]:
    """Return each fault of several, told alone."""
    return chain((name,) for name in names)
