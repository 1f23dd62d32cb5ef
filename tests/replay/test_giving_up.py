"""Movements that were asked for and never recorded: who gives which of them up, and when."""

from datetime import timedelta
from typing import Any

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.errors import IntentOpen
from shoeproof.ledger.leaf.events import EventData
from shoeproof.replay.wallet.intents import IN_FLIGHT, FundsRequest, ask_first, settle_open
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.ledger.helpers import opened, round_id
from tests.replay.helpers import HandClock, new_ledger

ONE, OTHER = round_id(1), round_id(2)
STAKE = 100


class Mute(MemoryWallet):
    """A wallet that does not answer to a cancellation while it `is_mute`."""

    is_mute = True

    def cancel(self, player: str, reference: str) -> None:
        if self.is_mute:
            raise TimeoutError
        super().cancel(player, reference)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def ledger(clock: HandClock) -> Ledger:
    ledger = new_ledger(clock)
    begun: EventData = opened()
    ledger.append((ONE, begun), (OTHER, begun))
    return ledger


def asked_for(ledger: Ledger, stream: str = ONE) -> str:
    """A stake that a process asked for before it died."""
    return ledger.intents.ask(f"{stream}/deal/1", stream, "p", "debit", STAKE).reference


def ask(ledger: Ledger, wallet: MemoryWallet, patience_seconds: float) -> str:
    wanted = FundsRequest(f"{ONE}/deal/1", ONE, "p", STAKE, 0)
    return ask_first(ledger.intents, wallet, wanted, patience_seconds=patience_seconds)


def never(*_: Any) -> None:
    raise AssertionError("nobody was to be waited for")


def test_what_may_be_on_its_way_is_left_alone_and_not_a_moment_longer(
    ledger: Ledger, clock: HandClock
) -> None:
    wallet = MemoryWallet(1_000)
    wallet.debit("p", STAKE, asked_for(ledger))
    clock.moment += IN_FLIGHT - timedelta.resolution
    assert settle_open(ledger, wallet, older_than=IN_FLIGHT) == []
    assert len(ledger.intents.open()) == 1
    clock.moment += timedelta.resolution
    assert settle_open(ledger, wallet, older_than=IN_FLIGHT) == []
    assert ledger.intents.open() == []
    assert wallet.balance_minor("p") == 1_000


def test_a_cancellation_that_is_owed_is_tried_again_however_new_it_is(ledger: Ledger) -> None:
    wallet = Mute(1_000)
    asked_for(ledger)
    (owed,) = settle_open(ledger, wallet)
    assert [each.state for each in ledger.intents.open()] == ["dropped"]
    assert [each.reference for each in settle_open(ledger, wallet, older_than=IN_FLIGHT)] == [
        owed.reference
    ]
    wallet.is_mute = False
    assert settle_open(ledger, wallet, older_than=IN_FLIGHT) == []
    assert ledger.intents.open() == []


def test_a_stake_given_up_before_is_cancelled_first_and_not_waited_for(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoeproof.replay.wallet.intents.time.sleep", never)
    before = asked_for(ledger)
    ledger.intents.drop(before)
    assert ask(ledger, MemoryWallet(1_000), 60) != before
    assert [each.state for each in ledger.intents.all()] == ["cancelled", "asked"]


def test_a_stake_given_up_whose_wallet_is_mute_bars_the_next(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoeproof.replay.wallet.intents.time.sleep", never)
    ledger.intents.drop(asked_for(ledger))
    with pytest.raises(IntentOpen):
        ask(ledger, Mute(1_000), 60)


def test_a_stake_of_the_same_round_is_waited_for_and_then_taken_for_dead(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr("shoeproof.replay.wallet.intents.time.sleep", waited.append)
    asked_for(ledger)
    ask(ledger, MemoryWallet(1_000), 0.01)
    assert waited
    assert [each.state for each in ledger.intents.all()] == ["cancelled", "asked"]


def test_a_stake_of_another_round_is_never_taken_for_dead(ledger: Ledger) -> None:
    asked_for(ledger, OTHER)
    with pytest.raises(IntentOpen):
        ask(ledger, MemoryWallet(1_000), 0)
    assert [(each.stream, each.state) for each in ledger.intents.all()] == [(OTHER, "asked")]
