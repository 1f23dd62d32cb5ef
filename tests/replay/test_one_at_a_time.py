"""One round is one at a time, by threads and by servers, and by clocks that differ."""

import threading
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.errors import ClockStepped, StreamConflict
from shoeproof.ledger.findings import Finding
from shoeproof.ledger.leaf.clock import SteadyClock
from shoeproof.ledger.leaf.events import DecisionMade, Funds, InputRefused
from shoeproof.ledger.verify.whole import verify
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.errors import InputOvertaken, InputRefusedError, StakeRefused
from shoeproof.replay.interruptions.judge import replay_in
from shoeproof.replay.live.live_round import LiveRound
from shoeproof.replay.live.resume import resume_round
from shoeproof.replay.live.sweep import sweep
from shoeproof.replay.rounds.catalogue import add_published_games
from tests.replay.failing_wallet import (
    STAKES,
    FailingWallet,
    check_books,
    play_through,
    table_of,
)
from tests.replay.helpers import ORIGIN, HandClock
from tests.replay.live import open_decision

# One round, one at a time


def double_click(live: LiveRound, again: LiveRound, hand: str) -> list[BaseException]:
    """Hit twice at once, by one object or two; return what the losers were told."""
    gate, told = threading.Barrier(2), list[BaseException]()

    def click(mine: LiveRound) -> None:
        gate.wait()
        try:
            mine.decide(hand, "hit")
        except Exception as error:
            told.append(error)

    threads = [threading.Thread(target=click, args=(each,)) for each in (live, again)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return told


def test_a_loser_is_shown_what_is_offered_once_the_win_is_paid(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def down(*_: object) -> Funds:
        raise TimeoutError("credit")

    with Ledger.in_memory(ORIGIN) as ledger:
        add_published_games(ledger)
        wallet = FailingWallet()
        for number in count():
            live = table_of(ledger, wallet).open_round(f"p-{number}")
            again = resume_round(ledger, live.round_id, wallet=wallet)
            with monkeypatch.context() as patch, suppress(TimeoutError):
                patch.setattr(wallet, "credit", down)
                live.deal(STAKES)
            if live.is_unpaid and isinstance(live.due, Decide):
                break
        with pytest.raises(InputOvertaken, match=r"offered: .*(stand|decline)"):
            again.deal(STAKES, b"another")
        assert again.offered
        assert not again.is_unpaid


def test_nothing_is_offered_before_what_was_won_is_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    def down(*_: object) -> Funds:
        raise TimeoutError("credit")

    def overtaken(*_: object, **__: object) -> None:
        raise StreamConflict("another server was about to write this")

    with Ledger.in_memory(ORIGIN) as ledger:
        add_published_games(ledger)
        wallet = FailingWallet()
        for number in count():
            live = table_of(ledger, wallet).open_round(f"p-{number}")
            with monkeypatch.context() as patch, suppress(TimeoutError):
                patch.setattr(wallet, "credit", down)
                live.deal(STAKES)
            if live.is_unpaid and isinstance(live.due, Decide):
                break
        size = ledger.size()
        with monkeypatch.context() as patch:
            patch.setattr(ledger, "append", overtaken)
            assert resume_round(ledger, live.round_id, wallet=wallet).is_unpaid
        assert ledger.size() == size
        assert resume_round(ledger, live.round_id, wallet=wallet).offered


def test_a_stake_that_a_dead_server_took_is_back_before_another_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A second device laid chips meanwhile, so that its deal is another step of the round."""
    monkeypatch.setattr("shoeproof.replay.live.till.PATIENCE_SECONDS", 0.05)
    with Ledger.in_memory(ORIGIN) as ledger:
        add_published_games(ledger)
        wallet = FailingWallet()
        live = table_of(ledger, wallet).open_round("p")
        take_and_die(ledger, wallet, live.round_id)
        live.place(STAKES)
        live.deal(STAKES)
        play_through(ledger, wallet, live.round_id, b"")
        check_books(ledger, wallet)


def test_no_stake_is_taken_while_one_of_another_round_may_go_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shoeproof.replay.live.till.PATIENCE_SECONDS", 0.05)
    clock = HandClock()
    with Ledger.in_memory(ORIGIN, clock=clock) as ledger:
        add_published_games(ledger)
        wallet = FailingWallet()
        before = table_of(ledger, wallet).open_round("p")
        before.place(STAKES)
        take_and_die(ledger, wallet, before.round_id)
        before.restore_connection()
        assert before.is_over
        live = table_of(ledger, wallet).open_round("p")
        with pytest.raises(StakeRefused, match="try again when the wallet answers"):
            live.deal(STAKES)
        clock.forward(minutes=3)
        assert sweep(ledger, wallet=wallet).owed == ()
        live.deal(STAKES)
        play_through(ledger, wallet, live.round_id, b"")
        assert findings(ledger, live) == ()


def take_and_die(ledger: Ledger, wallet: FailingWallet, round_id: str) -> None:
    """Take the stake of a deal and write nothing more, as a server does that dies there."""
    last = len(ledger.events(round_id)) - 1
    scope = f"{round_id}/deal/{last + 1}"
    intent = ledger.intents.ask(scope, round_id, "p", "debit", 1_100, {round_id: last})
    wallet.debit("p", 1_100, intent.reference)


@pytest.fixture(params=["sqlite", "postgresql"])
def path(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    url = None if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    with Ledger.init(tmp_path / "ledger", ORIGIN, database_url=url) as ledger:
        add_published_games(ledger)
    return tmp_path / "ledger"


@pytest.mark.parametrize("servers", [1, 2])
def test_a_double_click_is_one_act(path: Path, servers: int) -> None:
    lost = 0
    with Ledger.open(path) as ledger, Ledger.open(path) as of_other:
        for _ in range(10):
            wallet = FailingWallet()
            live = open_decision(table_of(ledger, wallet), "hit")
            other = live
            if servers == 2:
                other = resume_round(of_other, live.round_id, wallet=wallet)
            hits = len(acts(ledger, live))
            told = double_click(live, other, "s1")
            assert all(isinstance(each, InputRefusedError) for each in told)
            assert len(acts(ledger, live)) + len(told) == hits + 2
            refused = overtaken(ledger, live)
            lost += len(refused)
            assert all(each.input == "s1 hit" and each.view_seq is not None for each in refused)
            assert (live.state, live.offered) == (other.state, other.offered) or not told
            while isinstance(live.due, Decide):
                live.decide(live.due.hand, "stand" if "stand" in live.offered else "decline")
            assert findings(ledger, live) == ()
        assert lost or servers == 1
        assert verify(ledger).findings == []


def findings(ledger: Ledger, live: LiveRound) -> tuple[Finding, ...]:
    return replay_in(ledger, live.round_id).findings


def acts(ledger: Ledger, live: LiveRound) -> list[DecisionMade]:
    data = [each.event.data for each in ledger.events(live.round_id)]
    return [each for each in data if isinstance(each, DecisionMade)]


def overtaken(ledger: Ledger, live: LiveRound) -> list[InputRefused]:
    data = [each.event.data for each in ledger.events(live.round_id)]
    return [each for each in data if isinstance(each, InputRefused) and each.reason == "overtaken"]


def test_of_two_servers_the_loser_sees_what_came_first() -> None:
    with Ledger.in_memory(ORIGIN) as ledger:
        add_published_games(ledger)
        wallet = FailingWallet()
        first = open_decision(table_of(ledger, wallet), "double")
        second = resume_round(ledger, first.round_id, wallet=wallet)
        view = len(ledger.events(first.round_id)) - 1
        first.decide("s1", "hit")
        before = wallet.balance_minor(first.player)
        with pytest.raises(InputOvertaken, match="another input of this round came first"):
            second.decide("s1", "double")
        assert (second.state, second.offered) == (first.state, first.offered)
        assert wallet.balance_minor(first.player) == before
        if not first.is_over:
            [refused] = overtaken(ledger, first)
            assert (refused.input, refused.view_seq) == ("s1 double", view)
        # What was refused to the second does not make the first's view an old one.
        while isinstance(first.due, Decide):
            first.decide(first.due.hand, "stand")
        assert findings(ledger, first) == ()


@pytest.mark.parametrize("taken_up", [False, True], ids=["same object", "taken up anew"])
def test_the_same_input_at_the_same_view_has_the_same_answer(taken_up: bool) -> None:
    with Ledger.in_memory(ORIGIN) as ledger:
        add_published_games(ledger)
        wallet = FailingWallet()
        live = table_of(ledger, wallet).open_round("p")
        stakes, view = {"s1": {"main": 100}}, live.seq
        live.deal(stakes, b"mine", view_seq=view)
        dealt, moved = live.state, dict(wallet.stands)
        if taken_up and not live.is_over:
            live = resume_round(ledger, live.round_id, wallet=wallet)
        live.deal(stakes, b"mine", view_seq=view)
        assert (live.state, wallet.stands) == (dealt, moved)
        with pytest.raises(InputOvertaken):
            live.deal({"s1": {"main": 200}}, b"mine", view_seq=view)
        assert (live.state, wallet.stands) == (dealt, moved)
        while isinstance(live.due, Decide):
            hand, choice = live.due.hand, "hit" if "hit" in live.offered else "decline"
            view = live.seq
            live.decide(hand, choice, view_seq=view)
            after, size = live.state, ledger.size()
            if taken_up and not live.is_over:
                live = resume_round(ledger, live.round_id, wallet=wallet)
            live.decide(hand, choice, view_seq=view)
            assert (live.state, ledger.size()) == (after, size)
        assert findings(ledger, live) == ()


def test_an_input_refused_as_overtaken_for_no_reason_is_found() -> None:
    with Ledger.in_memory(ORIGIN) as ledger:
        add_published_games(ledger)
        live = open_decision(table_of(ledger, FailingWallet()), "hit")
        view = len(ledger.events(live.round_id)) - 1
        ledger.append((live.round_id, InputRefused("s1 hit", "overtaken", view)))
        while isinstance(live.due, Decide):
            live.decide("s1", "stand")
        assert [each.code for each in findings(ledger, live)] == ["refusal_wrong"]


def test_a_device_that_shows_or_loses_something_overtakes_nobody() -> None:
    with Ledger.in_memory(ORIGIN) as ledger:
        add_published_games(ledger)
        live = open_decision(table_of(ledger, FailingWallet()), "hit")
        other = resume_round(ledger, live.round_id)
        other.acknowledge(3)
        live.decide("s1", "hit")
        if isinstance(live.due, Decide):
            other.lose_connection()
            live.decide("s1", "stand")
        assert overtaken(ledger, live) == []
        assert findings(ledger, live) == ()


# Clocks


def test_a_clock_a_little_behind_the_round_is_followed() -> None:
    clock = HandClock()
    with Ledger.in_memory(ORIGIN, clock=clock) as ledger:
        add_published_games(ledger)
        live = open_decision(table_of(ledger, FailingWallet()), "hit")
        clock.forward(seconds=-0.5)
        live.decide("s1", "hit")
        while isinstance(live.due, Decide):
            live.decide("s1", "stand")
        assert findings(ledger, live) == ()
        assert verify(ledger).findings == []
        clock.forward(minutes=-10)
        live = table_of(ledger, FailingWallet()).open_round("q")
        clock.forward(minutes=-10)
        with pytest.raises(ClockStepped):
            live.deal(STAKES)


def test_a_clock_that_leapt_applies_no_default() -> None:
    hand, steady = HandClock(), [0.0]
    clock = SteadyClock(hand, lambda: steady[0])
    with Ledger.in_memory(ORIGIN, clock=clock) as ledger:
        add_published_games(ledger)
        live = open_decision(table_of(ledger, FailingWallet()), "hit")
        size = ledger.size()
        hand.forward(minutes=30)
        for attempt in (
            lambda: live.decide("s1", "hit"),
            live.apply_due,
            lambda: sweep(ledger),
            lambda: table_of(ledger, FailingWallet()).open_round("q"),
        ):
            with pytest.raises(ClockStepped, match="no default is applied"):
                attempt()
        assert ledger.size() == size
        hand.forward(minutes=-30)
        live.decide("s1", "hit")
        hand.forward(minutes=30)
        steady[0] += 1800
        assert live.is_over or sweep(ledger).swept
