"""Money at the live table: nothing lost, doubled or unexplained, whatever fails and whenever.

A round is played with a wallet while the n-th thing that can fail does: a commit of the store or a
call of the wallet, before or after it took effect, with the process alive or dead after it. It is
then gone on with as a game server would, by `resume_round` and the sweep alone.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.errors import OutcomeUnknown, StoreUnavailable
from shoeproof.ledger.leaf.events import BetSettled, DealRequested, Funds
from shoeproof.replay.engine.round import Decide, RoundState
from shoeproof.replay.errors import InputRefusedError, StakeRefused
from shoeproof.replay.live.live_round import LiveRound
from shoeproof.replay.rounds.catalogue import add_published_games
from shoeproof.replay.wallet.intents import settle_open
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.lost_answers import LossyProxy, losing_answers
from tests.replay.failing_wallet import (
    OPENING,
    STAKES,
    Chance,
    Dice,
    Died,
    FailingWallet,
    act,
    check_books,
    commits_meet,
    play_through,
    table,
    table_of,
)
from tests.replay.helpers import ORIGIN

# The round id is part of the shoe: it is fixed, so that the same cards come in every trial.


@pytest.fixture
def numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = count()
    monkeypatch.setattr(
        "shoeproof.replay.live.table.new_round_id",
        lambda: f"01936f3c-7a10-7b3e-9c55-{next(numbers):012x}",
    )


def seeds_of_interest() -> list[bytes]:
    return [number.to_bytes(2 + number % 2, "big") for number in range(8)]


@pytest.mark.usefixtures("numbered")
@pytest.mark.parametrize("after", [False, True], ids=["failed", "failed but took effect"])
@pytest.mark.parametrize("dies", [False, True], ids=["goes on", "dies"])
@pytest.mark.parametrize("what", ["commit", "wallet"])
def test_whatever_fails_the_books_agree(what: str, dies: bool, after: bool) -> None:
    error: BaseException = TimeoutError("read timed out")
    if what == "commit":
        error = sqlite3.OperationalError("disk I/O error")
    if dies:
        error = Died()
    places = 0
    for client_seed in seeds_of_interest():
        for place in count(1):
            chance = Chance(place, after=after, error=error)
            with Ledger.in_memory(ORIGIN) as ledger:
                add_published_games(ledger)
                wallet = FailingWallet(chance if what == "wallet" else None)
                live = table(ledger, wallet).open_round("p")
                if what == "commit":
                    with commits_meet(chance):
                        play_through(ledger, wallet, live.round_id, client_seed)
                else:
                    play_through(ledger, wallet, live.round_id, client_seed)
                settle_open(ledger, wallet)
                check_books(ledger, wallet)
            if chance.calls < place:
                break
            places += 1
    assert places > 20


@pytest.mark.usefixtures("numbered")
@pytest.mark.parametrize("seed", range(8))
def test_however_often_things_fail_the_books_agree(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoeproof.replay.live.till.PATIENCE_SECONDS", 0.05)
    random = Random(seed)
    of_wallet: list[BaseException] = [TimeoutError("read timed out"), ConnectionError(), Died()]
    of_store: list[BaseException] = [sqlite3.OperationalError("disk I/O error"), Died()]
    with Ledger.in_memory(ORIGIN) as ledger:
        add_published_games(ledger)
        wallet = FailingWallet()
        opened = table(ledger, wallet)
        failures = 0
        for number in range(30):
            live = opened.open_round("p")
            wallet.chance = on_calls = Dice(random, 3, of_wallet)
            on_commits = Dice(random, 6, of_store)
            with commits_meet(on_commits):
                play_through(ledger, wallet, live.round_id, number.to_bytes(2 + number % 2, "big"))
            failures += on_calls.failures + on_commits.failures
        wallet.chance = None
        assert settle_open(ledger, wallet) == []
        check_books(ledger, wallet)
        assert failures > 30


class LateWallet(FailingWallet):
    """A wallet that a debit reaches only after its cancellation."""

    def debit(self, player: str, amount_minor: int, reference: str) -> Funds:
        self.late = player, amount_minor, reference
        raise TimeoutError("the request is still on its way")


def test_a_cancellation_that_overtakes_its_debit_wins() -> None:
    with Ledger.in_memory(ORIGIN) as ledger:
        add_published_games(ledger)
        wallet = LateWallet()
        live = table(ledger, wallet).open_round("p")
        with pytest.raises(TimeoutError):
            live.deal(STAKES)
        MemoryWallet.debit(wallet, *wallet.late)
        assert wallet.balance_minor("p") == OPENING
        assert wallet.stands == {}


def test_a_reference_is_never_used_again() -> None:
    with Ledger.in_memory(ORIGIN) as ledger:
        add_published_games(ledger)
        wallet = FailingWallet(Chance(1, after=True, error=TimeoutError()))
        asked: list[str] = []
        live = table(ledger, wallet).open_round("p")
        for stakes in (STAKES, {"s1": {"main": 50_000}}):
            with suppress(TimeoutError):
                live.deal(stakes)
            asked += [name for name in wallet.stands if "/deal/" in name]
        wallet.chance = None
        assert len(asked) == len(set(asked)) == 1
        debit = next(
            each.event.data.funds
            for each in ledger.events(live.round_id)
            if isinstance(each.event.data, DealRequested)
        )
        assert debit is not None
        assert (debit.cash_minor, debit.reference) == (50_000, f"{live.round_id}/deal/2.1")


@pytest.mark.parametrize(
    "answer",
    [
        Funds("debit", 1, 0, "t-1", "accepted", None),
        Funds("debit", 900, 900, "t-1", "accepted", None),
        Funds("debit", 2_100, -1_000, "t-1", "accepted", None),
        Funds("credit", 1_100, 0, "t-1", "accepted", None),
        Funds("debit", 1_100, 0, "t-1", "pending", None),
    ],
    ids=["less", "more", "negative", "credit", "pending"],
)
def test_no_card_is_dealt_on_another_answer_than_was_asked_for(
    answer: Funds, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.in_memory(ORIGIN) as ledger:
        add_published_games(ledger)
        wallet = FailingWallet()
        live = table(ledger, wallet).open_round("p")
        monkeypatch.setattr(wallet, "debit", lambda *_: answer)
        with pytest.raises(StakeRefused):
            live.deal(STAKES)
        assert len(ledger.events(live.round_id)) == 2
        assert ledger.intents.open() == []
        assert wallet._cancelled == {f"{live.round_id}/deal/2.0"}


def _is_low(state: RoundState) -> bool:
    """Tell whether one more card leaves the hand short of 21, whatever it is."""
    return state.hands[0].hand.total < 9


def test_a_balance_that_cannot_be_had_blocks_no_hit(monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger.in_memory(ORIGIN) as ledger:
        add_published_games(ledger)
        wallet = FailingWallet()

        def down(player: str) -> int:
            raise TimeoutError("balance")

        for number in count():
            live = table_of(ledger, wallet).open_round(f"p-{number}")
            live.deal({"s1": {"main": 100}})
            if "hit" in live.offered and live.state is not None and _is_low(live.state):
                break
        monkeypatch.setattr(wallet, "balance_minor", down)
        live.decide("s1", "hit")
        assert "double" not in live.offered


def test_a_balance_that_a_stake_may_come_back_to_is_not_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The double's stake was taken, its answer lost and its cancellation not confirmed."""
    with Ledger.in_memory(ORIGIN) as ledger:
        add_published_games(ledger)
        wallet = FailingWallet()
        paid: list[BetSettled] = []
        for number in count():
            live = table_of(ledger, wallet).open_round(f"p-{number}")
            live.deal({"s1": {"main": 1_000}})
            with monkeypatch.context() as patch:
                patch.setattr(wallet, "cancel", _unanswered)
                if "double" in live.offered:
                    wallet.chance = Chance(1, after=True, error=TimeoutError())
                    with pytest.raises(TimeoutError):
                        live.decide("s1", "double")
                    live.decide("s1", "stand")
                    paid = [bet for bet in live.settled if bet.paid_minor]
            while isinstance(live.due, Decide):
                live.decide(live.due.hand, "stand" if "stand" in live.offered else "decline")
            if paid:
                break
        [funds] = [bet.funds for bet in paid]
        assert funds is not None
        assert (funds.cash_minor, funds.balance_after_minor) == (paid[0].paid_minor, None)
        assert settle_open(ledger, wallet) == []
        check_books(ledger, wallet)


def _unanswered(*_: object) -> None:
    raise TimeoutError("cancel")


# A commit whose answer PostgreSQL lost


@contextmanager
def over_a_lossy_line(tmp_path: Path, url: str) -> Iterator[tuple[Ledger, LossyProxy]]:
    """A ledger on PostgreSQL, and what loses the answers to its commits."""
    path = tmp_path / "ledger"
    Ledger.init(path, ORIGIN, database_url=url).close()
    with losing_answers(url) as proxy, Ledger.open(path, database_url=proxy.url) as ledger:
        add_published_games(ledger)
        yield ledger, proxy


def arming(ask: Callable[..., Any], proxy: LossyProxy, *, deaf: bool) -> Callable[..., Any]:
    """Ask, and then have the next commit's answer lost."""

    def asked(*words: Any, **named: Any) -> Any:
        intent = ask(*words, **named)
        proxy.armed, proxy.deaf = True, deaf
        return intent

    return asked


@pytest.mark.parametrize("lost", [1, 2], ids=["the intent's", "the turn's"])
def test_a_deal_whose_first_or_second_commit_lost_its_answer(
    tmp_path: Path, postgres_url: str, lost: int
) -> None:
    with over_a_lossy_line(tmp_path, postgres_url) as (ledger, proxy):
        wallet = FailingWallet()
        live = table(ledger, wallet).open_round("p")
        proxy.armed_after = lost - 1
        proxy.armed = True
        live.deal(STAKES)
        assert not proxy.armed
        while isinstance(live.due, Decide):
            live.decide(live.due.hand, act(live))
        check_books(ledger, wallet)


def insist(live: LiveRound) -> None:
    """Deal again, and again while the pool of connections finds none."""
    for _ in range(10):
        with suppress(StoreUnavailable):
            live.deal(STAKES)
            return


def test_a_deal_whose_commit_lost_its_answer_is_played_and_debited(
    tmp_path: Path, postgres_url: str
) -> None:
    with over_a_lossy_line(tmp_path, postgres_url) as (ledger, proxy):
        wallet = FailingWallet()
        for player, deaf in (("p-1", False), ("p-2", True)):
            live = table(ledger, wallet).open_round(player)
            with pytest.MonkeyPatch.context() as patch:
                # The intent is one commit, the turn the next.
                patch.setattr(ledger.intents, "ask", arming(ledger.intents.ask, proxy, deaf=deaf))
                with suppress(OutcomeUnknown):
                    live.deal(STAKES)
            proxy.armed = proxy.deaf = False
            assert live.state is not None or deaf
            with pytest.raises(InputRefusedError):
                insist(live)
            assert live.state is not None
            while isinstance(live.due, Decide):
                assert live.offered
                live.decide(live.due.hand, act(live))
            live.settle_up()
        check_books(ledger, wallet)
