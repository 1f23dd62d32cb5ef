"""Zero, Note on large wins: more than 10,000.00 GBP waits for a person; stakes never do."""

from typing import Any

import pytest
from msgspec.structs import replace

from shoeproof.ledger.errors import KeyUnusable, StreamConflict
from shoeproof.ledger.leaf.events import BetSettled, WinHeld, WinReleased
from shoeproof.ledger.verify.whole import verify
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.errors import DisputeRefused, InputRefusedError
from shoeproof.replay.interruptions.check import HeldAndReleased, circumstances_of
from shoeproof.replay.interruptions.holds import held_wins, release_win
from shoeproof.replay.live.live_round import LiveRound
from shoeproof.replay.wallet.wallet import AnyWallet, MemoryWallet
from tests.replay.faults import Floor
from tests.replay.helpers import Draft, Played

OPENING = 10_000_000
POUNDS = 100


def wins_even_money(moves: list[Played]) -> bool:
    return moves[-1].after.dealer.total > 21 and [
        move.symbol for move in moves if isinstance(move.before.due, Decide)
    ] == ["stand"]


def won(floor: Floor, stake_minor: int, wallet: AnyWallet | None = None) -> LiveRound:
    live = floor.deal(wins_even_money, stakes={"s1": {"main": stake_minor}}, wallet=wallet)
    live.decide("s1", "stand")
    return live


def test_a_net_win_of_10_000_00_exactly_is_not_held() -> None:
    floor, wallet = Floor("zero"), MemoryWallet(OPENING)
    live = won(floor, 10_000 * POUNDS, wallet)
    assert live.held_minor == 0
    assert not held_wins(floor.ledger)
    assert wallet.balance_minor(live.player) == OPENING + 10_000 * POUNDS
    assert not floor.codes()


def test_a_net_win_of_10_000_01_is_held_and_the_stake_comes_back() -> None:
    floor, wallet = Floor("zero"), MemoryWallet(OPENING)
    live = won(floor, 10_000 * POUNDS + 1, wallet)
    assert live.held_minor == 10_000 * POUNDS + 1
    assert wallet.balance_minor(live.player) == OPENING
    [settled] = floor.said(live, BetSettled)
    assert settled.paid_minor == 2 * (10_000 * POUNDS + 1)
    assert (settled.funds.cash_minor, settled.funds.answer) == (10_000 * POUNDS + 1, "held")
    [held] = held_wins(floor.ledger)
    assert (held.amount_minor, held.released_at) == (10_000 * POUNDS + 1, None)
    last = floor.ledger.events(live.round_id)[-1]
    [hold] = floor.ledger.events(f"holds/{live.round_id}")
    assert hold.leaf_index == last.leaf_index - 1
    assert not floor.codes()
    assert not verify(floor.ledger, workers=1).findings


def test_a_held_win_is_released_once_by_the_staff() -> None:
    floor, wallet = Floor("zero"), MemoryWallet(OPENING)
    live = won(floor, 15_000 * POUNDS, wallet)
    floor.clock.forward(days=1)
    released = release_win(floor.ledger, live.round_id, wallet=wallet)
    assert released.amount_minor == 15_000 * POUNDS
    [held] = held_wins(floor.ledger)
    assert (held.released_at, held.left_minor) == ("2026-01-03T12:00:00.000000Z", 0)
    assert wallet.balance_minor(live.player) == OPENING + 15_000 * POUNDS
    event = floor.ledger.events(f"holds/{live.round_id}")[-1].event
    assert isinstance(event.data, WinReleased)
    assert event.data.signer == "staff"
    with pytest.raises(InputRefusedError, match="released before, 2026-01-03"):
        release_win(floor.ledger, live.round_id, wallet=wallet)
    assert wallet.balance_minor(live.player) == OPENING + 15_000 * POUNDS
    assert not floor.codes()


def test_without_the_staff_s_key_nothing_is_released_or_credited() -> None:
    floor, wallet = Floor("zero"), MemoryWallet(OPENING)
    live = won(floor, 15_000 * POUNDS, wallet)
    floor.ledger.sign_with("staff", floor.ledger.signer("engine"))
    with pytest.raises(KeyUnusable):
        release_win(floor.ledger, live.round_id, wallet=wallet)
    assert wallet.balance_minor(live.player) == OPENING


def test_of_two_releases_at_once_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    floor, wallet = Floor("zero"), MemoryWallet(OPENING)
    live = won(floor, 15_000 * POUNDS, wallet)
    credit = wallet.credit

    def meanwhile(player: str, amount_minor: int, reference: str) -> object:
        monkeypatch.undo()
        release_win(floor.ledger, live.round_id, wallet=wallet)
        return credit(player, amount_minor, reference)

    monkeypatch.setattr(wallet, "credit", meanwhile)
    with pytest.raises(StreamConflict):
        release_win(floor.ledger, live.round_id, wallet=wallet)
    assert wallet.balance_minor(live.player) == OPENING + 15_000 * POUNDS


def test_a_release_short_of_what_was_held_leaves_the_rest_due() -> None:
    floor, wallet = Floor("zero"), MemoryWallet(OPENING)
    live = won(floor, 15_000 * POUNDS, wallet)
    stream = f"holds/{live.round_id}"
    floor.ledger.append((stream, WinReleased(live.round_id, 4_000 * POUNDS, None)))
    [held] = held_wins(floor.ledger)
    assert (held.released_minor, held.left_minor) == (4_000 * POUNDS, 11_000 * POUNDS)
    assert held.released_at is None
    released = release_win(floor.ledger, live.round_id, wallet=wallet)
    assert released.amount_minor == 11_000 * POUNDS
    assert wallet.balance_minor(live.player) == OPENING + 11_000 * POUNDS
    with pytest.raises(InputRefusedError, match="released before"):
        release_win(floor.ledger, live.round_id, wallet=wallet)


def test_a_release_that_the_wallet_declines_is_not_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    floor, wallet = Floor("zero"), MemoryWallet(OPENING)
    live = won(floor, 15_000 * POUNDS, wallet)
    credit = wallet.credit

    def declined(player: str, amount_minor: int, reference: str) -> object:
        return replace(credit(player, amount_minor, reference), answer="declined")

    monkeypatch.setattr(wallet, "credit", declined)
    with pytest.raises(DisputeRefused, match=r"answered 'declined' to a credit of 15,000\.00"):
        release_win(floor.ledger, live.round_id, wallet=wallet)
    [held] = held_wins(floor.ledger)
    assert (held.released_at, wallet.balance_minor(live.player)) == (None, OPENING)


def test_a_round_without_a_held_win_has_none_to_release() -> None:
    floor = Floor("zero")
    live = won(floor, 100)
    with pytest.raises(InputRefusedError, match="no win of the round"):
        release_win(floor.ledger, live.round_id)


@pytest.mark.parametrize("game", ["nba", "zappit"])
def test_other_games_hold_nothing(game: str) -> None:
    floor = Floor(game)
    live = won(floor, 15_000 * POUNDS)
    assert live.held_minor == 0
    assert not floor.codes()


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        ({"amount_minor": 5}, "hold_mismatch"),
        ({"round": "01936f3c-7a10-7b3e-9c55-2f6d8a1b4c5d"}, "win_not_held"),
    ],
)
def test_a_hold_of_another_amount_or_round(
    change: dict[str, object], finding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    floor = Floor("zero")
    append = floor.ledger.append

    def lying(*drafts: Draft, **conditions: Any) -> object:
        changed = [
            (stream, replace(data, **change) if isinstance(data, WinHeld) else data)
            for stream, data in drafts
        ]
        return append(*changed, **conditions)

    monkeypatch.setattr(floor.ledger, "append", lying)
    won(floor, 15_000 * POUNDS)
    assert floor.codes() == [finding]


def test_a_small_win_that_was_held_all_the_same() -> None:
    floor = Floor("zero")
    live = won(floor, 100)
    floor.ledger.append((f"holds/{live.round_id}", WinHeld(live.round_id, 100, "a mood")))
    assert floor.codes() == ["hold_mismatch"]


def test_a_hold_at_leaf_n_is_no_circumstance_of_the_first_n() -> None:
    floor = Floor("zero")
    live = won(floor, 15_000 * POUNDS)
    [hold] = floor.ledger.events(f"holds/{live.round_id}")
    for round_id in (None, live.round_id):
        before = circumstances_of(floor.ledger, hold.leaf_index, round_id=round_id)
        assert before.holds == {}
        after = circumstances_of(floor.ledger, hold.leaf_index + 1, round_id=round_id)
        assert after.holds == {live.round_id: HeldAndReleased(15_000 * POUNDS, 0)}


def test_more_released_than_was_held() -> None:
    floor = Floor("zero")
    live = won(floor, 15_000 * POUNDS)
    stream = f"holds/{live.round_id}"
    for _ in range(2):
        floor.ledger.append((stream, WinReleased(live.round_id, 15_000 * POUNDS, None)))
    assert floor.codes() == ["hold_mismatch"]
