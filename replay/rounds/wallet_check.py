"""What a wallet's answers show of a round's movements of money, and what speaks against them.

Pure. A movement is a stake, a payment or a refund of more than nothing, or whatever a wallet says
that it moved. As soon as the wallet answered for one of them the others need answers too, whichever
came first. Each movement has the first fault found in it. Whether its amount is the stake's or the
payment's is `money_check`'s business; where it is not, the balance is not held to it.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from shoeproof.ledger import Recorded
from shoeproof.ledger.leaf.events import (
    BetSettled,
    DealRequested,
    DecisionMade,
    EventData,
    Funds,
    RoundOpened,
)
from shoeproof.ledger.leaf.streams import stream_kind
from shoeproof.replay import findings as codes
from shoeproof.replay.currency import amount_text
from shoeproof.replay.rounds.money_check import Bet, check_credit, moves
from shoeproof.replay.rounds.shoe_check import Problem
from shoeproof.replay.wallet.movements import MOVING, Movement, movements_of
from shoeproof.replay.wallet.wallet import is_accepted, is_held


class Moved(msgspec.Struct, frozen=True):
    """One movement: of which bet, what was booked, what it is shown to have moved, in minor units,
    and what is wrong with it. `bet` is None for a sum, or for several bets.
    """

    bet: Bet | None
    booked_minor: int
    moved_minor: int
    problems: tuple[Problem, ...]


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

    def _move(self, movement: Movement, data: EventData, *, again: bool) -> Moved:
        first = self._first_of(movement)
        problems = [] if again else list(self._problems(movement, first, data))
        clean = not again and not problems and _is_as_booked(movement)
        problems += self._balance(movement, clean=clean)
        reached = self._moved_minor(movement, first)
        funds = movement.funds
        if movement.kind == "debit" and funds is not None and is_accepted(funds.answer):
            self._debited = True
            self._incentives_staked |= funds.incentive_minor > 0
        return Moved(movement.key, movement.booked_minor, reached, tuple(problems))

    def _first_of(self, movement: Movement) -> str | None:
        """Return what had the movement's transaction before, None where nothing had."""
        name = None if movement.funds is None else movement.funds.transaction
        if name is None or name in self._transactions:
            return self._transactions.get(name or "")
        self._transactions[name] = movement.text
        return None

    def _problems(
        self, movement: Movement, first: str | None, data: EventData
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
            yield from check_credit(funds, movement.booked_minor, movement.what, self._currency)

    def _needs_answer(self, movement: Movement) -> bool:
        debited = movement.kind != "refund" or self._dealt
        return self._has_wallet and debited and not self._is_fun

    def _is_cash_in_incentives(self, movement: Movement) -> bool:
        funds = movement.funds
        paid = movement.kind != "debit" and funds is not None and funds.incentive_minor > 0
        return paid and self._debited and not self._incentives_staked

    def _balance(self, movement: Movement, *, clean: bool) -> Iterator[Problem]:
        """Hold the balance after a movement to those that may have stood before it."""
        funds = movement.funds
        stated = None if funds is None else funds.balance_after_minor
        if funds is None or not clean:
            self._balances = frozenset() if stated is None else frozenset({stated})
            return
        follows = frozenset(balance + funds.change_minor for balance in self._balances)
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

    def _moved_minor(self, movement: Movement, first: str | None) -> int:
        funds = movement.funds
        is_debit = movement.kind == "debit"
        if movement.kind == "refund" and funds is None and not self._dealt:
            return 0
        if funds is None:
            return movement.booked_minor if is_debit or not self._has_wallet else 0
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
        return funds.total_minor

    def _of_amount(self, movement: Movement) -> str:
        return f"the {movement.kind} of {self._text(movement.booked_minor)} for {movement.what}"

    def _text(self, minor: int) -> str:
        return amount_text(minor, self._currency)


def _moves(recorded: Recorded) -> bool:
    """Tell whether an event may move money; in a round none does that belongs elsewhere."""
    data = recorded.event.data
    if type(data) not in MOVING:
        return False
    return data.kind == "round" or stream_kind(recorded.event.stream) != "round"


def _movements(data: EventData) -> Iterator[Movement]:
    """Yield an event's movements: those that were booked, and those that a wallet made."""
    for movement in movements_of(data):
        funds = movement.funds
        parts = (0, 0) if funds is None else (funds.cash_minor, funds.incentive_minor)
        if movement.booked_minor > 0 or any(parts):
            yield movement


def _is_as_booked(movement: Movement) -> bool:
    """Tell whether the wallet says that it moved what was booked, or lawfully a part of it."""
    funds = movement.funds
    if funds is None:
        return False
    return is_held(funds) or moves(funds, movement.direction, movement.booked_minor)


def _positive(funds: Funds) -> int:
    return max(0, funds.cash_minor) + max(0, funds.incentive_minor)
