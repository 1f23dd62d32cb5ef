"""What a wallet's answers show: honest wallets stay clean, and what counts as moved."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from shoeproof.ledger import Event, Recorded
from shoeproof.ledger.leaf.clock import format_time
from shoeproof.ledger.leaf.events import (
    Awarded,
    BetResettled,
    BetSettled,
    DealRequested,
    DecisionMade,
    EventData,
    Funds,
    Refund,
    Refunded,
    RoundOpened,
    RoundVoided,
    WinReleased,
)
from shoeproof.replay.rounds.wallet_check import answered, has_wallet, movements
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.replay.helpers import NOON, Choose, Played, prefer
from tests.replay.lies_of_wallet import WALLET
from tests.replay.lies_of_wallet import answered as saying
from tests.replay.lying import (
    STAND,
    acts,
    both,
    changing,
    credited,
    debited,
    ends,
    having,
    hit_to,
    voiding,
)
from tests.replay.lying_table import Alter, Lie, tell, truthfully

ROUND = "01936f3c-7a10-7d15-9b07-000000000001"
OPENED = RoundOpened(
    "00" * 32, None, None, None, None, None, "real", "p-1", "EUR", None, None
)  # fmt: skip


# Honest wallets


def _honest(
    choose: Choose = STAND,
    wanted: Callable[[list[Played]], bool] = lambda moves: True,
    game: str = "nba",
    alter: Callable[[], Alter] = lambda: truthfully,
    **fields: Any,
) -> Lie:
    return Lie(game=game, findings=[], choose=choose, wanted=wanted, alter=alter, **fields)


_FIVE_SEATS = {
    f"s{seat}": {"main": 100, "perfect_pairs": 50, "twenty_one_plus_three": 10}
    for seat in range(1, 6)
}
_STAKED = both(
    saying(DealRequested, cash_minor=60, incentive_minor=40),
    saying(BetSettled, cash_minor=120, incentive_minor=80),
)
HONEST = {
    "a win": _honest(wanted=ends("win")),
    "a loss": _honest(wanted=ends("loss")),
    "a push": _honest(wanted=ends("push")),
    "a double": _honest(prefer("double", "decline"), lambda moves: acts(moves) == ["double"]),
    "a split": _honest(
        prefer("split", "stand", "decline"), lambda moves: acts(moves)[:1] == ["split"]
    ),
    "a split doubled in Zero": _honest(
        prefer("split", "double", "stand", "decline"),
        lambda moves: acts(moves)[:2] == ["split", "double"],
        game="zero",
    ),
    "a cash out": _honest(prefer("cash-out", "decline")),
    "insurance that pays": _honest(
        prefer("insurance", "stand"),
        lambda moves: acts(moves) == ["insurance"] and moves[-1].after.dealer.natural,
        game="zappit",
    ),
    "even money": _honest(
        prefer("even-money", "decline", "stand"), ends("even_money"), game="zero"
    ),
    "a five-card 21": _honest(hit_to(5), ends("five_card_21"), game="zero"),
    "many bets settled in one turn": _honest(
        wanted=ends("perfect_pair", hand="s2", bet="perfect_pairs"), stakes=_FIVE_SEATS
    ),
    "a stake in cash and incentives": _honest(wanted=ends("win"), alter=_STAKED, game="zero"),
    "a stake in incentives, the win in cash": _honest(
        wanted=ends("win"),
        alter=saying(DealRequested, cash_minor=0, incentive_minor=100),
        game="zero",
    ),
    "no balances": _honest(
        wanted=ends("win"),
        alter=both(
            saying(DealRequested, balance_after_minor=None),
            saying(BetSettled, balance_after_minor=None),
        ),
    ),
    "a balance told at the end alone": _honest(
        wanted=ends("win"), alter=saying(DealRequested, balance_after_minor=None)
    ),
    "no transactions": _honest(
        wanted=ends("win"),
        alter=both(saying(DealRequested, transaction=None), saying(BetSettled, transaction=None)),
    ),
    "other words for an acceptance": _honest(
        wanted=ends("win"),
        alter=both(saying(DealRequested, answer="OK"), saying(BetSettled, answer="Approved")),
    ),
    "movements that nothing answers": _honest(
        wanted=ends("win"),
        alter=both(saying(DealRequested, answer=None), saying(BetSettled, answer=None)),
    ),
    "no wallet": _honest(
        wanted=ends("win"),
        alter=both(
            changing(DealRequested, having(funds=None)), changing(BetSettled, having(funds=None))
        ),
    ),
    "play money in a round for fun": _honest(
        wanted=ends("win"),
        alter=changing(RoundOpened, having(mode="fun")),
        wallet=lambda: MemoryWallet(1_000, of_money=False),
    ),
    "a void that the wallet answers": _honest(
        wanted=ends("loss"), alter=lambda: voiding(Refund("s1", "main", 100, credited(100)))
    ),
    "a void without any wallet": _honest(
        wanted=ends("loss"),
        alter=both(
            changing(DealRequested, having(funds=None)),
            lambda: voiding(Refund("s1", "main", 100, None)),
        ),
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_wallet_stays_clean(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = tell(HONEST[name], name, monkeypatch)
    # That a void has no malfunction for its reason is another matter than its money.
    assert [*filter(lambda code: code != "void_unfounded", told.codes)] == []


def test_a_fault_is_found_at_its_event_and_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def sentence(name: str) -> tuple[str, str]:
        told = tell(WALLET[name], name, monkeypatch)
        finding = told.replay.findings[0]
        return told.ledger.events(told.round_id)[finding.seq or 0].event.type, finding.text

    assert sentence("a stake without an answer, the payment with one") == (
        "DealRequested", "the wallet gave no answer to the debit of 1.00 GBP for the deal",
    )  # fmt: skip
    assert sentence("a payment still pending") == (
        "BetSettled", "the wallet answered 'pending' to the payment of 2.00 GBP for main of s1, "
        "which is not an acceptance",
    )  # fmt: skip
    assert sentence("a stake in cash and negative incentives") == (
        "DealRequested", "the debit for the deal is 3.00 GBP of cash and -2.00 GBP of incentives, "
        "the stake is 1.00 GBP",
    )  # fmt: skip
    assert sentence("a balance that stays") == (
        "BetSettled", "the balance after the payment for main of s1 is 9.00 GBP; by the movement "
        "before it is 11.00 GBP",
    )  # fmt: skip
    assert sentence("one transaction for stake and refund") == (
        "RoundVoided", "the refund for main of s1 has the transaction of the debit for the deal",
    )  # fmt: skip


# What counts as moved


def recorded(*said: EventData, stream: str = ROUND) -> list[Recorded]:
    at = format_time(NOON)
    return [
        Recorded(seq, Event(1, "o", stream, seq, type(each).__name__, at, None, each), b"", b"")
        for seq, each in enumerate(said)
    ]


def dealt(funds: Funds | None) -> DealRequested:
    return DealRequested({"s1": {"main": 100}}, "", funds)


def paid(minor: int, funds: Funds | None, bet: str = "main") -> BetSettled:
    return BetSettled("s1", "s1", bet, 100, minor, "win", funds)


def moved(*said: EventData) -> list[int]:
    return list(answered(recorded(OPENED, *said)).values())


TWENTY = replace(credited(200), transaction="t", balance_after_minor=1_100)


@pytest.mark.parametrize(
    ("funds", "minor"),
    [
        (None, 100),
        (debited(100), 100),
        (debited(300), 300),
        (replace(debited(100), answer="declined"), 0),
        (replace(debited(100), answer=None), 100),
        (replace(debited(300), incentive_minor=-200), 300),
        (replace(debited(60), incentive_minor=40), 100),
        (credited(100), 0),
    ],
)
def test_a_stake_counts_as_debited_unless_declined(funds: Funds | None, minor: int) -> None:
    assert moved(dealt(funds), paid(200, TWENTY)) == [minor, 200]


@pytest.mark.parametrize(
    ("funds", "minor"),
    [
        (None, 0),
        (replace(TWENTY, answer=None), 0),
        (replace(TWENTY, answer="declined"), 0),
        (replace(TWENTY, answer="pending"), 0),
        (TWENTY, 200),
        (replace(TWENTY, cash_minor=50), 50),
        (replace(TWENTY, cash_minor=250, incentive_minor=-50), 200),
        (replace(TWENTY, cash_minor=0, incentive_minor=200), 0),
        (replace(TWENTY, cash_minor=120, incentive_minor=80), 120),
        (replace(TWENTY, direction="debit"), -200),
        (replace(TWENTY, transaction="stake"), 0),
        (replace(TWENTY, balance_after_minor=900), 200),
        (replace(TWENTY, balance_after_minor=-1), 200),
        (replace(TWENTY, cash_minor=100, answer="held"), 100),
    ],
)
def test_a_payment_counts_as_what_reached_the_player(funds: Funds | None, minor: int) -> None:
    stake = replace(debited(100), transaction="stake", balance_after_minor=900)
    assert moved(dealt(stake), paid(200, funds)) == [100, minor]


def test_where_no_wallet_is_recorded_amounts_are_as_booked() -> None:
    double = DecisionMade("s1", "double", "player", None, 100, None)
    events = recorded(OPENED, dealt(None), double, paid(400, None), paid(0, None, "side"))
    assert answered(events) == {1: 100, 2: 100, 3: 400}
    assert not has_wallet(events)
    assert has_wallet(recorded(OPENED, dealt(debited(100))))


def test_incentives_for_incentives_staked_reach_the_player() -> None:
    won = replace(TWENTY, cash_minor=0, incentive_minor=200)
    assert moved(dealt(replace(debited(60), incentive_minor=40)), paid(200, won)) == [100, 200]


def test_a_second_payment_under_one_transaction_reaches_nobody() -> None:
    assert moved(dealt(debited(100)), paid(200, TWENTY), paid(200, TWENTY, "side")) == [100, 200, 0]


def test_a_void_moves_what_each_refund_is_answered_for() -> None:
    void = RoundVoided("idle", [Refund("s1", "main", 60, credited(60)), Refund("s1", "side", 40)])
    events = recorded(OPENED, dealt(debited(100)), void)
    assert answered(events) == {1: 100, 2: 60}
    assert [(each.bet, each.moved_minor) for each in movements(events)[2]] == [
        (("s1", "main"), 60), (("s1", "side"), 0),
    ]  # fmt: skip


def test_chips_that_were_never_debited_move_nothing_and_need_no_answer() -> None:
    events = recorded(OPENED, RoundVoided("idle", [Refund("s1", "main", 100)]))
    assert answered(events) == {1: 0}
    assert not any(each.problems for of_event in movements(events) for each in of_event)


_BACK = Refunded(ROUND, "s1", "main", 100, None)
_CORRECTED = BetResettled(ROUND, "s1", "s1", "main", 100, 0, 200, "win", None)
_AWARDED = Awarded(ROUND, None, None, 500, "EUR", None)
_RELEASED = WinReleased(ROUND, 100, None)


@pytest.mark.parametrize(
    ("data", "stream", "code"),
    [
        (_BACK, "disputes", "refund_unanswered"),
        (_CORRECTED, "disputes", "payment_unanswered"),
        (_AWARDED, "disputes", "payment_unanswered"),
        (_RELEASED, "holds", "payment_unanswered"),
    ],
)
def test_what_comes_after_a_round_with_a_wallet_needs_an_answer_too(
    data: EventData, stream: str, code: str
) -> None:
    before = recorded(OPENED, dealt(replace(debited(100), balance_after_minor=900)))
    after = recorded(data, stream=f"{stream}/{ROUND}")
    [[alone]] = movements(after, before)
    assert [each for each, _ in alone.problems] == [code]
    assert answered(after, before) == {0: 0}
    amount = alone.booked_minor
    having_moved = replace(data, funds=credited(amount))
    [[alone]] = movements(recorded(having_moved, stream=f"{stream}/{ROUND}"), before)
    assert (alone.problems, alone.moved_minor) == ((), amount)
    short = replace(data, funds=credited(amount - 1))
    [[alone]] = movements(recorded(short, stream=f"{stream}/{ROUND}"), before)
    assert [each for each, _ in alone.problems] == ["credit_mismatch"]


def test_what_strays_into_a_round_moves_nothing_in_it() -> None:
    assert moved(dealt(None), replace(_BACK, funds=credited(100)), paid(200, None)) == [100, 200]


def test_an_event_recorded_twice_is_no_second_transaction() -> None:
    funds = replace(debited(100), transaction="t", balance_after_minor=800)
    double = DecisionMade("s1", "double", "player", None, 100, funds)
    events = recorded(OPENED, dealt(debited(100)), double, double)
    assert not any(each.problems for of_event in movements(events) for each in of_event)
