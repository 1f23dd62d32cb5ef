"""The till alone, whose turns go to a journal of somebody's own: stakes, payments, what waits."""

import pytest

from shoeproof.ledger.leaf.events import BetSettled, Funds
from shoeproof.replay.errors import StakeRefused
from shoeproof.replay.live.till import Till
from shoeproof.replay.wallet.wallet import HELD, MemoryWallet

WON = BetSettled("s1", "s1", "main", 100, 200, "win", None)
PAIR = BetSettled("s1", "s1", "perfect_pairs", 10, 70, "pair", None)


def till(balance_minor: int) -> tuple[Till, MemoryWallet]:
    wallet = MemoryWallet(balance_minor)
    return Till(wallet, "p", "a round", "EUR", None), wallet


def test_all_that_is_left_may_be_staked_and_no_cent_more() -> None:
    stakes, wallet = till(100)
    with pytest.raises(StakeRefused, match=r"the stake is 1\.01 EUR, the balance only 1\.00 EUR"):
        stakes.debit(101, "deal", 0)
    assert stakes.debit(100, "deal", 0) is not None
    assert wallet.balance_minor("p") == 0


@pytest.mark.parametrize(
    ("held", "cash"),
    [(0, [200, 70]), (1, [199, 70]), (200, [0, 70]), (201, [0, 69]), (270, [0, 0])],
)
def test_the_first_of_what_is_held_is_not_paid(
    held: int, cash: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    payments, wallet = till(0)
    credit, asked = wallet.credit, list[int]()

    def noted(player: str, amount_minor: int, reference: str) -> Funds:
        asked.append(amount_minor)
        return credit(player, amount_minor, reference)

    monkeypatch.setattr(wallet, "credit", noted)
    paid = [bet.funds for bet in payments.pay([WON, PAIR], held)]
    moved = [None if each is None else (each.cash_minor, each.incentive_minor) for each in paid]
    assert moved == [(each, 0) for each in cash]
    full = [200, 70]
    answers = [None if each is None else each.answer == HELD for each in paid]
    assert answers == [mine < all_of_it for mine, all_of_it in zip(cash, full, strict=True)]
    # No wallet is asked to pay nothing.
    assert asked == [each for each in cash if each]
    assert wallet.balance_minor("p") == 270 - held
