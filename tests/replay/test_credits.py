"""A credit held to the payment it is for: whole, or where part of it waits, no more than that."""

import pytest

from shoeproof.ledger.leaf.events import Funds
from shoeproof.replay.rounds.money_check import check_credit


def codes(funds: Funds, paid_minor: int, *, may_wait: bool) -> list[str]:
    return [code for code, _ in check_credit(funds, paid_minor, "main of s1", may_wait=may_wait)]


def credit(cash: int, incentive: int = 0, answer: str = "held") -> Funds:
    return Funds("credit", cash, incentive, None, answer, None)


@pytest.mark.parametrize("cash", [0, 99, 100])
def test_of_a_payment_that_waits_a_part_may_be_credited(cash: int) -> None:
    assert codes(credit(cash), 100, may_wait=True) == []


@pytest.mark.parametrize(
    ("funds", "may_wait"),
    [
        (credit(101), True),
        (credit(101, answer="accepted"), True),
        (credit(99, answer="accepted"), True),
        (credit(99), False),
        (credit(110, -20), True),
        (Funds("debit", 50, 0, None, "held", None), True),
    ],
    ids=[
        "above the payment", "above it and not held", "a part and not held",
        "a part of what may not wait", "a part taken elsewhere", "a debit",
    ],
)  # fmt: skip
def test_a_credit_of_another_amount_than_was_paid(funds: Funds, may_wait: bool) -> None:
    assert codes(funds, 100, may_wait=may_wait) == ["credit_mismatch"]


def test_a_credit_that_was_declined_moved_nothing_to_compare() -> None:
    assert codes(credit(7, answer="declined"), 100, may_wait=False) == []
