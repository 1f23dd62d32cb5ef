"""Whoever is to be paid by a command is paid by the operator's wallet, or said to be by hand."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.clock import utc_now
from shoeproof.ledger.leaf.events import Awarded, BetSettled, WinReleased
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.live.live_round import LiveRound
from shoeproof.replay.live.table import LiveTable, TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from shoeproof.replay.wallet.http import HttpWallet
from tests.cli.conftest import Shoeproof
from tests.cli.test_dispute import Place, call, made, opened, place
from tests.replay.faults import Floor
from tests.replay.helpers import ORIGIN
from tests.replay.test_holds import won
from tests.wallet_server import WalletServer, serving_wallet

__all__ = ["call", "made", "place"]

SETTINGS = TableSettings(limits={"main": (1, 2_000_000)}, currency="EUR", table="t-1")
OPENING = 10_000_000


@pytest.fixture(autouse=True)
def no_wallet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHOEPROOF_WALLET", raising=False)


@pytest.fixture
def server() -> Iterator[WalletServer]:
    with serving_wallet(OPENING) as served:
        yield served


@pytest.fixture
def waiting(tmp_path: Path, server: WalletServer) -> Path:
    """Rounds of NBA whose stakes a wallet debited, and which wait since two hours."""
    path = tmp_path / "ledger"
    ago = utc_now() - timedelta(hours=2)
    with Ledger.init(path, ORIGIN, clock=lambda: ago) as ledger:
        add_published_games(ledger)
        wallet = HttpWallet(server.url)
        table = LiveTable(ledger, current_rules(ledger, "nba"), SETTINGS, wallet=wallet)
        for number in range(16):
            table.open_round(f"p-{number}").deal({"s1": {"main": 1_000}})
    return path


@pytest.fixture
def asked_wallet(server: WalletServer, monkeypatch: pytest.MonkeyPatch) -> WalletServer:
    """The wallet, named to every command."""
    monkeypatch.setenv("SHOEPROOF_WALLET", server.url)
    return server


def paid(path: Path) -> list[BetSettled]:
    with Ledger.open(path) as ledger:
        return [
            each.event.data
            for row in ledger.rounds()
            for each in ledger.events(row.round)
            if isinstance(each.event.data, BetSettled) and each.event.data.paid_minor
        ]


def test_a_sweep_pays_by_the_wallet(
    shoeproof: Shoeproof, waiting: Path, asked_wallet: WalletServer
) -> None:
    swept = shoeproof("table", "sweep", "--ledger", waiting)
    assert swept.code == 0, swept
    assert "by hand" not in swept.out
    assert paid(waiting)
    assert all(bet.funds is not None and bet.funds.answer == "accepted" for bet in paid(waiting))
    with Ledger.open(waiting) as ledger:
        assert {row.state for row in ledger.rounds()} == {"closed"}
    assert (
        sum(asked_wallet.stands.values()) == sum(bet.paid_minor for bet in paid(waiting)) - 16_000
    )
    assert shoeproof("audit", "--ledger", waiting).code == 0


def test_a_sweep_whose_wallet_does_not_answer_is_made_good_by_the_next(
    shoeproof: Shoeproof, waiting: Path, asked_wallet: WalletServer
) -> None:
    before = dict(asked_wallet.stands)
    asked_wallet.failures.extend(["503 after"] * 3)
    first = shoeproof("table", "sweep", "--ledger", waiting)
    assert first.code == 1
    assert "the wallet did not answer credit in 3 tries" in first.out
    assert shoeproof("table", "sweep", "--ledger", waiting).code == 0
    assert shoeproof("audit", "--ledger", waiting).code == 0
    moved = sum(asked_wallet.stands.values()) - sum(before.values())
    assert moved == sum(bet.paid_minor for bet in paid(waiting) if bet.funds) - sum(
        change for change in before.values() if change > 0
    )


def test_a_sweep_without_a_wallet_says_what_is_to_be_paid_by_hand(
    shoeproof: Shoeproof, waiting: Path
) -> None:
    before = sum(bet.paid_minor for bet in paid(waiting))
    swept = shoeproof("table", "sweep", "--json", "--ledger", waiting)
    assert swept.code == 1
    by_hand = sum(each["by_hand_minor"] for each in json.loads(swept.out)["swept"])
    unanswered = [bet for bet in paid(waiting) if bet.funds is None]
    assert by_hand == sum(bet.paid_minor for bet in unanswered)
    assert by_hand == sum(bet.paid_minor for bet in paid(waiting)) - before > 0
    audited = shoeproof("audit", "--json", "--ledger", waiting)
    assert audited.code == 1
    assert audited.out.count("payment_unanswered") >= len(unanswered)


@pytest.fixture
def held(tmp_path: Path, server: WalletServer) -> tuple[Path, LiveRound]:
    """A win of 15,000.00 GBP that is held, in a ledger whose wallet debited the stake."""
    path = tmp_path / "held"
    with Ledger.init(path, ORIGIN) as ledger:
        add_published_games(ledger)
        live = won(Floor("zero", ledger=ledger), 1_500_000, HttpWallet(server.url))
    return path, live


def released(path: Path, live: LiveRound) -> WinReleased:
    with Ledger.open(path) as ledger:
        data = ledger.events(f"holds/{live.round_id}")[-1].event.data
    assert isinstance(data, WinReleased)
    return data


def test_a_release_pays_by_the_wallet(
    shoeproof: Shoeproof, held: tuple[Path, LiveRound], asked_wallet: WalletServer
) -> None:
    path, live = held
    before = asked_wallet.wallet.balance_minor(live.player)
    asked_wallet.failures.extend(["503 after"] * 3)
    refused = shoeproof("table", "release", live.round_id, "--ledger", path)
    assert refused.code == 3
    assert asked_wallet.wallet.balance_minor(live.player) == before
    done = shoeproof("table", "release", live.round_id, "--ledger", path)
    assert (done.code, done.err) == (0, "")
    assert asked_wallet.wallet.balance_minor(live.player) == before + 1_500_000
    funds = released(path, live).funds
    assert funds is not None
    assert asked_wallet.stands[str(funds.reference)] == 1_500_000


def test_a_release_without_a_wallet_is_to_be_paid_by_hand(
    shoeproof: Shoeproof, held: tuple[Path, LiveRound]
) -> None:
    path, live = held
    done = shoeproof("table", "release", live.round_id, "--ledger", path)
    assert done.code == 0
    assert "15,000.00 GBP is to be paid by hand" in done.err
    assert released(path, live).funds is None


def test_a_decision_pays_by_the_wallet(
    call: Shoeproof, place: Place, server: WalletServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOEPROOF_WALLET", server.url)
    case = opened(call, place.lost)
    given = call("goodwill", case, "5.00", "--note", "a long wait", "--key", "ann", "--yes")
    assert given.code == 0, given.err
    assert sum(server.stands.values()) == 500
    [asked] = server.asked
    assert (asked["act"], asked["amount_minor"], asked["currency"]) == ("credit", 500, "EUR")
    with Ledger.open(place.path) as ledger:
        data = [each.event.data for each in ledger.events(f"disputes/{place.lost}")]
        assert ledger.intents.open() == []
    [award] = [each for each in data if isinstance(each, Awarded)]
    assert award.funds is not None
    assert award.funds.reference == asked["reference"]


def test_nothing_of_a_round_for_fun_is_asked_of_the_wallet(
    shoeproof: Shoeproof, tmp_path: Path, asked_wallet: WalletServer
) -> None:
    path = tmp_path / "fun"
    ago = utc_now() - timedelta(hours=2)
    with Ledger.init(path, ORIGIN, clock=lambda: ago) as ledger:
        add_published_games(ledger)
        settings = TableSettings(limits={"main": (1, 2_000)}, currency="EUR", mode="fun")
        table = LiveTable(ledger, current_rules(ledger, "nba"), settings)
        for number in range(4):
            live = table.open_round(f"p-{number}")
            live.deal({"s1": {"main": 1_000}})
            assert live.state is not None
            assert live.is_over or isinstance(live.due, Decide)
    assert shoeproof("table", "sweep", "--ledger", path).code == 0
    assert asked_wallet.asked == []
