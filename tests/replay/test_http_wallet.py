"""The wallet over HTTP: what it asks, what it takes for an answer, and what it does without one."""

from collections.abc import Iterator

import pytest

from shoeproof.ledger.leaf.events import Funds
from shoeproof.replay.currency import currency_unit
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.errors import SettingsRefused, StakeRefused, WalletUnanswered
from shoeproof.replay.live.resume import resume_round
from shoeproof.replay.wallet.http import HttpWallet
from shoeproof.replay.wallet.intents import settle_open
from tests.replay.failing_wallet import OPENING, STAKES, act, table_of
from tests.replay.helpers import new_ledger
from tests.wallet_server import Failure, WalletServer, serving_wallet


@pytest.fixture
def server() -> Iterator[WalletServer]:
    with serving_wallet(OPENING) as served:
        yield served


def wallet_at(server: WalletServer, unit: str = "EUR", seconds: float = 0.3) -> HttpWallet:
    return HttpWallet(server.url, unit, seconds=seconds, sleep=lambda _: None)


def test_what_is_asked_and_answered(server: WalletServer) -> None:
    wallet = wallet_at(server, currency_unit("BTC", 8))
    assert wallet.debit("p", 500, "r-1/deal/2.0") == Funds(
        "debit", 500, 0, "t-r-1/deal/2.0", "accepted", OPENING - 500
    )
    assert server.asked == [
        {
            "act": "debit",
            "reference": "r-1/deal/2.0",
            "round": "r-1",
            "player": "p",
            "amount_minor": 500,
            "currency": "BTC",
            "exponent": 8,
        }
    ]
    assert wallet.balance_minor("p") == OPENING - 500
    wallet.cancel("p", "r-1/deal/2.0")
    assert wallet.balance_minor("p") == OPENING
    assert wallet.in_unit("EUR").credit("p", 1, "r-1/paid").cash_minor == 1
    assert (server.asked[-1]["currency"], server.asked[-1]["exponent"]) == ("EUR", 2)


@pytest.mark.parametrize("failure", ["503", "503 after", "garbage", "late", "hang up"])
def test_no_definite_answer_is_asked_for_again_by_the_same_reference(
    server: WalletServer, failure: Failure
) -> None:
    wallet = wallet_at(server)
    server.failures.extend([failure, failure])
    assert wallet.debit("p", 500, "r/deal/2.0").answer == "accepted"
    assert server.stands == {"r/deal/2.0": -500}
    assert [each["reference"] for each in server.asked] == ["r/deal/2.0"] * 3
    server.failures.extend([failure] * 3)
    with pytest.raises(WalletUnanswered, match="did not answer credit in 3 tries"):
        wallet.credit("p", 500, "r/paid")


def test_a_definite_no_is_not_asked_again(server: WalletServer) -> None:
    server.failures.append("402")
    assert wallet_at(server).debit("p", 500, "r/deal/2.0").answer == "declined (402)"
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "failures", [["503"] * 3, ["503 after"] * 3, ["402"], ["other amount"], ["garbage"] * 3]
)
def test_a_stake_without_a_sound_answer_is_cancelled(
    server: WalletServer, failures: list[Failure]
) -> None:
    ledger = new_ledger()
    wallet = wallet_at(server)
    live = table_of(ledger, wallet).open_round("p")
    server.failures.extend(failures)
    with pytest.raises((StakeRefused, WalletUnanswered)):
        live.deal(STAKES)
    assert server.stands == {}
    assert ledger.intents.open() == []
    live.deal(STAKES)
    while isinstance(live.due, Decide):
        live.decide(live.due.hand, act(live))
    assert live.is_over


def test_nobody_there(server: WalletServer) -> None:
    ledger = new_ledger()
    wallet = HttpWallet("http://127.0.0.1:9/wallet", "EUR", seconds=0.2, sleep=lambda _: None)
    live = table_of(ledger, wallet).open_round("p")
    assert wallet.balance_minor("p") is None
    with pytest.raises(WalletUnanswered):
        live.deal(STAKES)
    [owed] = ledger.intents.open()
    assert owed.state == "dropped"
    # What is owed is asked of whoever is there when the round is taken up again.
    again = resume_round(ledger, live.round_id, wallet=wallet_at(server))
    assert ledger.intents.open() == []
    assert server.asked[-1]["act"] == "cancel"
    again.deal(STAKES)
    assert settle_open(ledger, wallet_at(server)) == []


@pytest.mark.parametrize("url", ["", "wallet.example", "ftp://x/y", "https://user:word@wallet/"])
def test_what_no_wallet_is_asked_at(url: str) -> None:
    with pytest.raises(SettingsRefused, match="a wallet is not asked at"):
        HttpWallet(url)
