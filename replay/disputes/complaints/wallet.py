"""The player's money as the ledger recorded it: every movement, summed and followed. Pure.

A movement is followed where the wallet told the balance after it and after the one before. Where
the two do not follow from each other, something else moved the money in between, which the ledger
of a game cannot know: a deposit, a withdrawal, a bonus, another game.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from shoeproof.ledger import Recorded
from shoeproof.ledger.leaf.events import (
    Awarded,
    BetResettled,
    BetSettled,
    DealRequested,
    DecisionMade,
    Refunded,
    RoundOpened,
    RoundVoided,
    WinReleased,
)
from shoeproof.replay.disputes.evidence import Evidence, currency_of
from shoeproof.replay.wallet.movements import Movement as Booked
from shoeproof.replay.wallet.movements import movements_of

MOVING: Final = (
    DealRequested, DecisionMade, BetSettled, BetResettled, WinReleased, Refunded, Awarded,
    RoundVoided,
)  # fmt: skip
"""The events that may move a player's money."""


class PlayerMovement(msgspec.Struct, frozen=True):
    """One movement of the player's money by a round, in minor units; what was taken is negative.

    `is_told` is whether the wallet answered for it; else it is what the round's events say.
    `balance_minor` is the balance after it, `transaction` the wallet's name for it.
    """

    round: str
    leaf_index: int
    at: str
    currency: str
    change_minor: int
    is_told: bool
    transaction: str | None
    balance_minor: int | None


class Jump(msgspec.Struct, frozen=True):
    """A balance that does not follow from the one before: money moved outside this ledger's rounds.

    `amount_minor` is what the balance rose by beyond what the rounds account for, below 0 where it
    fell. It happened between `after` and `before` (RFC 3339, UTC); `is_within_round` is whether
    both movements are of one round.
    """

    currency: str
    amount_minor: int
    after: str
    before: str
    is_within_round: bool
    round: str


class WalletSums(msgspec.Struct, frozen=True):
    """All movements of one currency: how many, taken and paid, and how many the wallet told of.

    `first_minor` and `last_minor` are the balances before the first and after the last of those
    whose balance is known, None where none is.
    """

    currency: str
    movements: int
    told: int
    with_balance: int
    taken_minor: int
    paid_minor: int
    first_minor: int | None
    last_minor: int | None


def movements(evidence: Evidence) -> Iterator[PlayerMovement]:
    """Yield the movements of one round for real money, its hold's and its cases' among them."""
    opened = evidence.events[0].event.data if evidence.events else None
    if not isinstance(opened, RoundOpened) or opened.mode != "real":
        return
    for recorded in (*evidence.events, *evidence.holds, *evidence.disputes):
        yield from moved_by(recorded, evidence.round_id, currency_of(evidence))


def moved_by(recorded: Recorded, round_id: str, currency: str) -> Iterator[PlayerMovement]:
    """Yield the movements of one event of a round, its hold or its cases, in the round's unit."""
    for booked in movements_of(recorded.event.data):
        if booked.booked_minor or booked.funds is not None:
            yield _movement(round_id, currency, recorded, booked)


def sums(moved: Iterable[PlayerMovement]) -> tuple[WalletSums, ...]:
    """Return the sums of movements by currency."""
    by_currency: dict[str, list[PlayerMovement]] = {}
    for each in moved:
        by_currency.setdefault(each.currency, []).append(each)
    return tuple(_sums(currency, each) for currency, each in sorted(by_currency.items()))


def jumps(moved: Sequence[PlayerMovement]) -> Iterator[Jump]:
    """Yield each balance that does not follow; the movements are in the order of their leaves."""
    last: dict[str, PlayerMovement] = {}
    for each in moved:
        before = last.get(each.currency)
        last[each.currency] = each
        if before is None or before.balance_minor is None or each.balance_minor is None:
            continue
        amount = each.balance_minor - each.change_minor - before.balance_minor
        if amount:
            within = before.round == each.round
            yield Jump(each.currency, amount, before.at, each.at, within, each.round)


def _movement(round_id: str, currency: str, recorded: Recorded, booked: Booked) -> PlayerMovement:
    where = (round_id, recorded.leaf_index, recorded.event.at, currency)
    funds = booked.funds
    if funds is None:
        return PlayerMovement(*where, booked.change_minor, False, None, None)
    told = funds.transaction, funds.balance_after_minor
    return PlayerMovement(*where, funds.change_minor, True, *told)


def _sums(currency: str, moved: Sequence[PlayerMovement]) -> WalletSums:
    balanced = [each for each in moved if each.balance_minor is not None]
    first = balanced[0] if balanced else None
    return WalletSums(
        currency=currency,
        movements=len(moved),
        told=sum(each.is_told for each in moved),
        with_balance=len(balanced),
        taken_minor=-sum(min(0, each.change_minor) for each in moved),
        paid_minor=sum(max(0, each.change_minor) for each in moved),
        first_minor=None if first is None else (first.balance_minor or 0) - first.change_minor,
        last_minor=balanced[-1].balance_minor if balanced else None,
    )
