"""Lies that a wallet's answers give away: each is one fault and one finding."""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from shoeproof.ledger.leaf.events import (
    BetSettled,
    DealRequested,
    DecisionMade,
    EventData,
    Funds,
    Refund,
    RoundOpened,
)
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.replay.helpers import Played, prefer
from tests.replay.lying import (
    STAND,
    both,
    changing,
    credited,
    does,
    ends,
    having,
    line,
    voiding,
)
from tests.replay.lying_table import Alter, Lie

_TWO_SEATS = {"s1": {"main": 100}, "s2": {"main": 100}}


def answered(
    kind: type[EventData], *, only: int | None = None, **fields: Any
) -> Callable[[], Alter]:
    """Change what the wallet said of the events of one kind."""

    def change(data: Any) -> Iterable[EventData]:
        told = data.funds
        return (data if told is None else replace(data, funds=replace(told, **fields)),)

    return changing(kind, change, only=only)


def _unanswered(kind: type[EventData]) -> Callable[[], Alter]:
    return changing(kind, having(funds=None))


def _doubles_and_wins(moves: list[Played]) -> bool:
    return does("double")(moves) and line(moves) == "win"


def _both_win(moves: list[Played]) -> bool:
    return [line(moves, seat) for seat in _TWO_SEATS] == ["win", "win"]


def _won(*findings: str, alter: Callable[[], Alter]) -> Lie:
    """A stake of 100 that wins: the wallet begins at 1,000 and comes to 900 and to 1,100."""
    return Lie(
        game="zero",
        findings=list(findings),
        choose=STAND,
        wanted=ends("win"),
        wallet=lambda: MemoryWallet(1_000),
        alter=alter,
    )


def _void(*findings: str, funds: Funds | None) -> Lie:
    """A lost round that is voided with no malfunction on record."""
    return Lie(
        game="zero",
        findings=[*findings, "void_unfounded"],
        choose=STAND,
        wanted=ends("loss"),
        alter=lambda: voiding(Refund("s1", "main", 100, funds)),
    )


def _one_transaction_for_stake_and_refund() -> Alter:
    refund = Refund("s1", "main", 100, replace(credited(100), transaction="t"))
    return both(answered(DealRequested, transaction="t"), lambda: voiding(refund))()


WALLET: dict[str, Lie] = {
    # Answers that are missing
    "a payment that the wallet does not know": _won(
        "payment_unanswered", alter=_unanswered(BetSettled)
    ),
    "a payment without an answer": _won(
        "payment_unanswered", alter=answered(BetSettled, answer=None)
    ),
    "a stake without an answer, the payment with one": _won(
        "payment_unanswered", alter=answered(DealRequested, answer=None)
    ),
    "a deal that the wallet does not know, the payment it does": _won(
        "payment_unanswered", alter=_unanswered(DealRequested)
    ),
    "a double that the wallet does not know": Lie(
        game="nba",
        findings=["payment_unanswered"],
        choose=prefer("double", "decline"),
        wanted=_doubles_and_wins,
        alter=_unanswered(DecisionMade),
    ),
    "a void that the wallet does not know": _void("refund_unanswered", funds=None),
    "a void without an answer": _void(
        "refund_unanswered", funds=replace(credited(100), answer=None)
    ),
    # Answers that refuse
    "a stake declined": _won("wallet_declined", alter=answered(DealRequested, answer="declined")),
    "a payment declined": _won("wallet_declined", alter=answered(BetSettled, answer="declined")),
    "a payment declined that moved nothing": _won(
        "wallet_declined",
        alter=answered(BetSettled, answer="DECLINED", cash_minor=0, balance_after_minor=900),
    ),
    "a payment still pending": _won(
        "wallet_declined", alter=answered(BetSettled, answer="pending")
    ),
    "an empty answer": _won("wallet_declined", alter=answered(BetSettled, answer="")),
    "a void declined": _void("wallet_declined", funds=replace(credited(100), answer="declined")),
    # Parts
    "a stake in cash and negative incentives": _won(
        "debit_mismatch", alter=answered(DealRequested, cash_minor=300, incentive_minor=-200)
    ),
    "a stake in incentives and negative cash": _won(
        "debit_mismatch", alter=answered(DealRequested, cash_minor=-50, incentive_minor=150)
    ),
    "a stake whose positive parts are right and one negative": _won(
        "debit_mismatch", alter=answered(DealRequested, cash_minor=100, incentive_minor=-100)
    ),
    "a payment with a negative part": _won(
        "credit_mismatch", alter=answered(BetSettled, cash_minor=250, incentive_minor=-50)
    ),
    "a refund credited short": _void("credit_mismatch", funds=credited(99)),
    "a refund that took the stake again": _void(
        "credit_mismatch", funds=replace(credited(100), direction="debit")
    ),
    "a refund held back": _void(
        "credit_mismatch", funds=replace(credited(100), cash_minor=0, answer="held")
    ),
    # Kinds of money
    "a cash win paid in incentives": _won(
        "cash_paid_in_incentives", alter=answered(BetSettled, cash_minor=0, incentive_minor=200)
    ),
    "the winnings of a cash stake paid in incentives": _won(
        "cash_paid_in_incentives", alter=answered(BetSettled, cash_minor=100, incentive_minor=100)
    ),
    "a cash stake refunded in incentives": _void(
        "cash_paid_in_incentives",
        funds=replace(credited(100), cash_minor=0, incentive_minor=100),
    ),
    # Transactions
    "one transaction for stake and payment": _won(
        "transaction_repeated",
        alter=both(answered(DealRequested, transaction="t"), answered(BetSettled, transaction="t")),
    ),
    "one transaction for two payments": Lie(
        game="zero",
        findings=["transaction_repeated"],
        choose=STAND,
        stakes=_TWO_SEATS,
        wanted=_both_win,
        alter=answered(BetSettled, transaction="t"),
    ),
    "one transaction for stake and refund": Lie(
        game="zero",
        findings=["transaction_repeated", "void_unfounded"],
        choose=STAND,
        wanted=ends("loss"),
        alter=_one_transaction_for_stake_and_refund,
    ),
    # Balances
    "a balance that stays": _won(
        "balance_mismatch", alter=answered(BetSettled, balance_after_minor=900)
    ),
    "a balance that falls by a payment": _won(
        "balance_mismatch", alter=answered(BetSettled, balance_after_minor=700)
    ),
    "a balance a cent too high": _won(
        "balance_mismatch", alter=answered(BetSettled, balance_after_minor=1_101)
    ),
    "a balance that stays between two payments": Lie(
        game="zero",
        findings=["balance_mismatch"],
        choose=STAND,
        stakes=_TWO_SEATS,
        wanted=_both_win,
        wallet=lambda: MemoryWallet(1_000),
        alter=answered(BetSettled, only=0, balance_after_minor=800),
    ),
    "a balance below zero": Lie(
        game="zero",
        findings=["balance_mismatch"],
        choose=STAND,
        wanted=ends("loss"),
        alter=answered(DealRequested, balance_after_minor=-1),
    ),
    # Play for fun
    "a stake of money in a round for fun": Lie(
        game="zero",
        findings=["money_in_fun_round"],
        choose=STAND,
        wanted=ends("loss"),
        alter=changing(RoundOpened, having(mode="fun")),
    ),
    "money staked and paid in a round for fun": _won(
        "money_in_fun_round",
        "money_in_fun_round",
        alter=changing(RoundOpened, having(mode="fun")),
    ),
    "money paid alone in a round for fun": _won(
        "money_in_fun_round",
        alter=both(changing(RoundOpened, having(mode="fun")), _unanswered(DealRequested)),
    ),
}
