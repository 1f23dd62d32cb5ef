"""What a wallet's answers show of a round's movements of money, and what speaks against them.

Pure. A movement is a stake, a payment or a refund of more than nothing, or whatever a wallet says
that it moved. As soon as the wallet answered for one of them the others need answers too, whichever
came first. Each movement has the first fault found in it. Whether its amount is the stake's or the
payment's is `money_check`'s business; where it is not, the balance is not held to it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from ledger import Recorded
from ledger.events import (
    Awarded,
    BetResettled,
    BetSettled,
    DealRequested,
    DecisionMade,
    EventData,
    Funds,
    Refunded,
    RoundOpened,
    RoundVoided,
    WinReleased,
)
from ledger.streams import stream_kind
from replay import findings as codes
from replay.currency import amount_text
from replay.money_check import Bet, check_credit, moves
from replay.shoe_check import Problem
from replay.wallet import is_accepted, is_held

Kind: TypeAlias = Literal["debit", "payment", "refund"]

_MOVING: Final = frozenset({
    DealRequested, DecisionMade, BetSettled, RoundVoided, BetResettled, Refunded, Awarded,
    WinReleased,
})  # fmt: skip


class Moved(msgspec.Struct, frozen=True):
    """One movement: of which bet (None for a deal, an award or a win that was held), what was
    booked, what it is shown to have moved, in minor units, and what is wrong with it.
    """

    bet: Bet | None
    booked_minor: int
    moved_minor: int
    problems: tuple[Problem, ...]


class _Movement(NamedTuple):
    kind: Kind
    what: str
    bet: Bet | None
    minor: int
    funds: Funds | None

    @property
    def text(self) -> str:
        return f"the {self.kind} for {self.what}"


def movements(
    events: Sequence[Recorded], before: Sequence[Recorded] = ()
) -> list[tuple[Moved, ...]]:
    """Return the movements of each event, in the order of the events.

    `before` are the round's own events where `events` are of a dispute about it or of its held win:
    what was debited, answered and left there counts for what came after.
    """
    walk = _Walk([*before, *events])
    for each in filter(_moves, before):
        walk.take(each)
    return [walk.take(each) if _moves(each) else () for each in events]


def answered(events: Sequence[Recorded], before: Sequence[Recorded] = ()) -> Mapping[int, int]:
    """Return by `seq` how many minor units each movement is shown to have moved.

    A stake counts as debited unless the wallet declined it, by its positive parts. A payment or a
    refund counts as what reached the player: nothing where an answer is missing that others have,
    where it was declined, or where another movement had its transaction; its cash alone where cash
    was staked and incentives came back; less than nothing where the wallet took it. Chips that were
    never debited moved nothing. Where no wallet is recorded amounts are as booked. `before` is as
    for `movements`.
    """
    return {
        each.event.seq: sum(moved.moved_minor for moved in of_event)
        for each, of_event in zip(events, movements(events, before), strict=True)
        if of_event
    }


def has_wallet(events: Sequence[Recorded]) -> bool:
    """Tell whether a wallet answered for any movement of these events."""
    return any(
        movement.funds is not None and movement.funds.answer is not None
        for each in events
        if _moves(each)
        for movement in _movements(each.event.data)
    )


class _Walk:
    """The walk along a round's movements; `events` are all of them."""

    def __init__(self, events: Sequence[Recorded]) -> None:
        data = (each.event.data for each in events)
        opened = next((each for each in data if isinstance(each, RoundOpened)), None)
        self._currency = "" if opened is None else opened.currency
        self._is_fun = opened is not None and opened.mode == "fun"
        self._has_wallet = has_wallet(events)
        self._dealt = False
        self._debited = self._incentives_staked = False
        self._settled: set[Bet] = set()
        self._heard: list[EventData] = []
        self._transactions: dict[str, str] = {}
        self._balances: frozenset[int] = frozenset()
        self._overdrawn = False

    def take(self, recorded: Recorded) -> tuple[Moved, ...]:
        """Return an event's movements."""
        data = recorded.event.data
        again = self._is_said_again(data)
        return tuple(self._move(each, data, again=again) for each in _movements(data))

    def _is_said_again(self, data: EventData) -> bool:
        """Tell whether an event repeats one, which is a finding of its own and none of these."""
        if isinstance(data, BetSettled):
            bet = data.hand, data.bet
            again = bet in self._settled
            self._settled.add(bet)
            return again
        if not isinstance(data, DealRequested | DecisionMade):
            return False
        self._dealt = self._dealt or isinstance(data, DealRequested)
        self._heard.append(data)
        return data in self._heard[:-1]

    def _move(self, movement: _Movement, data: EventData, *, again: bool) -> Moved:
        first = self._first_of(movement)
        problems = [] if again else list(self._problems(movement, first, data))
        clean = not again and not problems and _is_as_booked(movement)
        problems += self._balance(movement, clean=clean)
        reached = self._moved_minor(movement, first)
        funds = movement.funds
        if movement.kind == "debit" and funds is not None and is_accepted(funds.answer):
            self._debited = True
            self._incentives_staked |= funds.incentive_minor > 0
        return Moved(movement.bet, movement.minor, reached, tuple(problems))

    def _first_of(self, movement: _Movement) -> str | None:
        """Return what had the movement's transaction before, None where nothing had."""
        name = None if movement.funds is None else movement.funds.transaction
        if name is None or name in self._transactions:
            return self._transactions.get(name or "")
        self._transactions[name] = movement.text
        return None

    def _problems(
        self, movement: _Movement, first: str | None, data: EventData
    ) -> Iterator[Problem]:
        funds = movement.funds
        if funds is None or (funds.answer is None and self._has_wallet):
            if self._needs_answer(movement):
                code = codes.PAYMENT_UNANSWERED
                if movement.kind == "refund":
                    code = codes.REFUND_UNANSWERED
                yield code, f"the wallet gave no answer to {self._of_amount(movement)}"
        elif not is_accepted(funds.answer):
            sentence = f"the wallet answered {funds.answer!r} to {self._of_amount(movement)}"
            yield codes.WALLET_DECLINED, f"{sentence}, which is not an acceptance"
        elif self._is_fun:
            if funds.answer is not None and _positive(funds):
                sentence = f"the wallet moved {self._text(_positive(funds))} for {movement.what}"
                yield codes.MONEY_IN_FUN_ROUND, f"{sentence} in a round played for fun"
        elif first is not None:
            yield codes.TRANSACTION_REPEATED, f"{movement.text} has the transaction of {first}"
        elif self._is_cash_in_incentives(movement):
            sentence = f"{movement.text} came to {self._text(funds.incentive_minor)} of incentives"
            yield codes.CASH_PAID_IN_INCENTIVES, f"{sentence}, and only cash was staked"
        elif movement.kind != "debit" and not isinstance(data, BetSettled):
            yield from check_credit(funds, movement.minor, movement.what, self._currency)

    def _needs_answer(self, movement: _Movement) -> bool:
        debited = movement.kind != "refund" or self._dealt
        return self._has_wallet and debited and not self._is_fun

    def _is_cash_in_incentives(self, movement: _Movement) -> bool:
        funds = movement.funds
        paid = movement.kind != "debit" and funds is not None and funds.incentive_minor > 0
        return paid and self._debited and not self._incentives_staked

    def _balance(self, movement: _Movement, *, clean: bool) -> Iterator[Problem]:
        """Hold the balance after a movement to those that may have stood before it."""
        funds = movement.funds
        stated = None if funds is None else funds.balance_after_minor
        if funds is None or not clean:
            self._balances = frozenset() if stated is None else frozenset({stated})
            return
        change = _net(funds) if funds.direction == "credit" else -_net(funds)
        follows = frozenset(balance + change for balance in self._balances)
        if stated is None:
            self._balances = follows
            return
        self._balances = frozenset({stated})
        sentence = f"the balance after {movement.text} is {self._text(stated)}"
        if stated < 0 and not self._overdrawn:
            yield codes.BALANCE_MISMATCH, f"{sentence}, below zero"
        elif follows and stated not in follows:
            # Either may be the slip: the next balance may follow from this one or from the right.
            self._balances |= follows
            right = " or ".join(self._text(each) for each in sorted(follows))
            yield codes.BALANCE_MISMATCH, f"{sentence}; by the movement before it is {right}"
        self._overdrawn = stated < 0

    def _moved_minor(self, movement: _Movement, first: str | None) -> int:
        funds = movement.funds
        is_debit = movement.kind == "debit"
        if movement.kind == "refund" and funds is None and not self._dealt:
            return 0
        if funds is None:
            return movement.minor if is_debit or not self._has_wallet else 0
        if not is_accepted(funds.answer):
            return 0
        if is_debit:
            return _positive(funds) if funds.direction == "debit" else 0
        if funds.answer is None and self._has_wallet:
            return 0
        if funds.direction == "debit":
            return -_positive(funds)
        if first is not None:
            return 0
        if self._is_cash_in_incentives(movement):
            return funds.cash_minor
        return _net(funds)

    def _of_amount(self, movement: _Movement) -> str:
        return f"the {movement.kind} of {self._text(movement.minor)} for {movement.what}"

    def _text(self, minor: int) -> str:
        return amount_text(minor, self._currency)


def _moves(recorded: Recorded) -> bool:
    """Tell whether an event may move money; in a round none does that belongs elsewhere."""
    data = recorded.event.data
    if type(data) not in _MOVING:
        return False
    return data.kind == "round" or stream_kind(recorded.event.stream) != "round"


def _movements(data: EventData) -> Iterator[_Movement]:
    """Yield an event's movements: those that were booked, and those that a wallet made."""
    for movement in _said(data):
        funds = movement.funds
        parts = (0, 0) if funds is None else (funds.cash_minor, funds.incentive_minor)
        if movement.minor > 0 or any(parts):
            yield movement


def _said(data: EventData) -> Iterator[_Movement]:
    match data:
        case DealRequested():
            total = sum(sum(bets.values()) for bets in data.stakes.values())
            yield _Movement("debit", "the deal", None, total, data.funds)
        case DecisionMade():
            what = f"{data.act} of {data.hand}"
            yield _Movement("debit", what, None, data.added_stake_minor, data.funds)
        case BetSettled():
            yield _of_bet("payment", (data.hand, data.bet), data.paid_minor, data.funds)
        case BetResettled():
            more = data.paid_minor - data.paid_before_minor
            yield _of_bet("payment", (data.hand, data.bet), more, data.funds)
        case RoundVoided():
            for each in data.refunds:
                yield _of_bet("refund", (each.hand, each.bet), each.amount_minor, each.funds)
        case Refunded():
            yield _of_bet("refund", (data.hand, data.bet), data.amount_minor, data.funds)
        case Awarded():
            bet = None if data.hand is None or data.bet is None else (data.hand, data.bet)
            yield _Movement("payment", "an award", bet, data.amount_minor, data.funds)
        case WinReleased():
            yield _Movement("payment", "the held win", None, data.amount_minor, data.funds)


def _of_bet(kind: Kind, bet: Bet, minor: int, funds: Funds | None) -> _Movement:
    return _Movement(kind, f"{bet[1]} of {bet[0]}", bet, minor, funds)


def _is_as_booked(movement: _Movement) -> bool:
    """Tell whether the wallet says that it moved what was booked, or lawfully a part of it."""
    funds = movement.funds
    if funds is None:
        return False
    direction = "debit" if movement.kind == "debit" else "credit"
    return is_held(funds) or moves(funds, direction, movement.minor)


def _positive(funds: Funds) -> int:
    return max(0, funds.cash_minor) + max(0, funds.incentive_minor)


def _net(funds: Funds) -> int:
    return funds.cash_minor + funds.incentive_minor
