"""The live table: what it records, when, and what it does where it cannot."""

from random import Random

import pytest
from hypothesis import given, settings

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import (
    BetSettled,
    DealRequested,
    DecisionOffered,
    EventData,
    Funds,
    InputRefused,
    RoundClosed,
    ShoeCommitted,
    ShoeRevealed,
)
from shoeproof.ledger.verify.whole import verify
from shoeproof.replay.engine.round import Decide, Settle
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.errors import (
    InputRefusedError,
    SettingsRefused,
    ShoeError,
    StakeRefused,
    UnknownGame,
)
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.live.batch import Batch
from shoeproof.replay.live.players import PLAYERS, make_player
from shoeproof.replay.live.table import LiveTable, TableSettings
from shoeproof.replay.wallet.wallet import MemoryWallet
from shoeproof.replay.written.adjudicate import adjudicate
from shoeproof.replay.written.round_text import read_round
from shoeproof.replay.written.transcript import as_round_text
from tests.replay.helpers import new_ledger
from tests.replay.live import (
    SETTINGS,
    STAKES,
    FailingJournal,
    Spy,
    open_decision,
    play_on,
    replayed,
    sit_down,
    table,
)
from tests.replay.lying import ruling
from tests.strategies import Sitting, sittings

ROUNDS = 40

_shared_ledger = new_ledger()


@pytest.fixture
def ledger() -> Ledger:
    return new_ledger()


def _data(ledger: Ledger, round_id: str) -> list[EventData]:
    return [recorded.event.data for recorded in ledger.events(round_id)]


# Replay of any played round equals it


@settings(max_examples=250)
@given(sittings())
def test_replay_of_any_played_round_equals_it(sitting: Sitting) -> None:
    balance = sitting.balance_minor
    wallet = None if balance is None else MemoryWallet(balance)
    live = sit_down(_shared_ledger, sitting, wallet)
    replay = replayed(_shared_ledger, live)
    assert not replay.findings
    assert replay.judged
    assert replay.state == live.state
    assert {(bet.hand, bet.bet, bet.stake_minor, bet.line) for bet in replay.expected} == {
        (bet.hand, bet.bet, bet.stake_minor, bet.line) for bet in live.settled
    }
    paid = {bet: data.paid_minor for bet, data in replay.settled.items()}
    assert paid == {(bet.hand, bet.bet): bet.paid_minor for bet in live.settled}
    assert isinstance(replay.ending, RoundClosed)
    if wallet is not None and balance is not None:
        change = replay.ending.total_paid_minor - replay.ending.total_staked_minor
        assert wallet.balance_minor("p-1") == balance + change >= 0


@settings(max_examples=60)
@given(sittings())
def test_a_recorded_round_written_as_text_is_judged_as_it_was_paid(sitting: Sitting) -> None:
    live = sit_down(_shared_ledger, sitting, None)
    replay = replayed(_shared_ledger, live)
    text = read_round(as_round_text(replay).encode())
    assert text.stakes == sitting.stakes
    assert text.expect == {(bet.hand, bet.bet): bet.paid_minor for bet in replay.expected}
    judgement = adjudicate(text, GAMES[sitting.game].rules, {})
    assert not judgement.findings
    assert judgement.complete
    assert sorted(judgement.bets, key=str) == sorted(replay.expected, key=str)


@pytest.mark.parametrize("game", sorted(GAMES))
@pytest.mark.parametrize("player", sorted(PLAYERS))
def test_every_simulated_player_plays_by_the_rules(game: str, player: str) -> None:
    choose = make_player(player, 7)
    batch = Batch(_shared_ledger)
    live_table = LiveTable(
        _shared_ledger, GAMES[game].rules, SETTINGS, journal=batch, wallet=MemoryWallet(10**9)
    )
    rounds = []
    for _ in range(ROUNDS):
        live = live_table.open_round("p-2")
        live.deal({"s1": {"main": 101}, "s3": {"main": 1}})
        while isinstance(live.due, Decide):
            assert live.state is not None
            live.decide(live.due.hand, choose(live.state, live.due.hand, live.offered))
        rounds.append(live)
    assert batch.flush() > 10 * ROUNDS
    assert batch.flush() == 0
    assert not any(replayed(_shared_ledger, live).findings for live in rounds)


def test_a_simulated_player_is_reproducible_from_its_seed() -> None:
    offers = [["hit", "stand", "double"]] * 50
    live = open_decision(table(_shared_ledger))
    assert live.state is not None
    first, again, other = (
        [player(live.state, "s1", offer) for offer in offers]
        for player in (make_player("random", 1), make_player("random", 1), make_player("random", 2))
    )
    assert first == again != other


# What is recorded, and when


def test_a_turn_is_one_transaction(ledger: Ledger) -> None:
    spy = Spy(ledger)
    live = open_decision(table(ledger, journal=spy))
    turns = len(spy.turns)
    decisions = 0
    while isinstance(live.due, Decide):
        live.decide(live.due.hand, "hit" if "hit" in live.offered else "decline")
        decisions += 1
    assert len(spy.turns) == turns + decisions


def test_an_offer_is_the_last_event_of_its_turn(ledger: Ledger) -> None:
    spy = Spy(ledger)
    live_table = table(ledger, journal=spy)
    for number in range(ROUNDS):
        live = live_table.open_round("p-1")
        live.deal(STAKES)
        play_on(live, Random(number))
    offering = [turn for turn in spy.turns if any(isinstance(e, DecisionOffered) for e in turn)]
    assert offering
    for turn in offering:
        assert isinstance(turn[-1], DecisionOffered)
        assert sum(isinstance(data, DecisionOffered) for data in turn) == 1


def test_the_shoe_is_committed_to_before_stakes_and_revealed_after_settlement(
    ledger: Ledger,
) -> None:
    live = table(ledger).open_round("p-1")
    live.place(STAKES)
    live.deal(STAKES)
    play_on(live, Random(1))
    kinds = [type(data) for data in _data(ledger, live.round_id)]
    assert kinds.index(ShoeCommitted) == 1
    assert kinds[-2:] == [ShoeRevealed, RoundClosed]
    assert BetSettled in kinds
    assert max(i for i, kind in enumerate(kinds) if kind is BetSettled) == len(kinds) - 3


def test_nothing_recorded_betrays_a_card_to_come(ledger: Ledger) -> None:
    seed = bytes(range(32))
    live = open_decision(table(ledger, journal=Spy(ledger), seeds=lambda: seed))
    stored = b"".join(recorded.leaf for recorded in ledger.events(live.round_id))
    assert seed.hex().encode() not in stored
    assert stored.count(b'"receiver":"dealer"') == 2
    assert stored.count(b'"card"') == 3
    assert "hole" not in str(live.state).replace("hole_natural", "")


def test_the_decided_turn_settles_its_bets(ledger: Ledger) -> None:
    """Side bets are settled after the initial deal, while the hand is still open."""
    live_table = table(ledger)
    for _ in range(50):
        live = live_table.open_round("p-1")
        live.deal({"s1": {"main": 100, "perfect_pairs": 10}})
        if isinstance(live.due, Decide):
            break
    data = _data(ledger, live.round_id)
    assert isinstance(data[-1], DecisionOffered)
    assert isinstance(data[-2], BetSettled)
    assert data[-2].bet == "perfect_pairs"


def test_every_leaf_of_played_rounds_verifies(ledger: Ledger) -> None:
    for game in GAMES:
        play_on(open_decision(table(ledger, game)), Random(2))
    assert not verify(ledger, workers=1).findings


# Refusals


def test_an_act_that_is_not_offered_is_refused_and_changes_nothing(ledger: Ledger) -> None:
    live = open_decision(table(ledger), "double")
    state, offered, size = live.state, live.offered, ledger.size()
    for hand, act in (("s1", "zap"), ("s2", "hit"), ("s1", "insurance"), ("s1.1", "stand")):
        with pytest.raises(InputRefusedError, match="was refused"):
            live.decide(hand, act)
        refused = _data(ledger, live.round_id)[-1]
        assert refused == InputRefused(f"{hand} {act}", "illegal")
    assert ledger.size() == size + 4
    assert (live.state, live.offered) == (state, offered)
    live.decide("s1", "double")
    play_on(live, Random(3))
    assert not replayed(ledger, live).findings


def test_a_decision_before_the_deal_is_refused(ledger: Ledger) -> None:
    live = table(ledger).open_round("p-1")
    with pytest.raises(InputRefusedError):
        live.decide("s1", "hit")
    assert _data(ledger, live.round_id)[-1] == InputRefused("s1 hit", "closed")
    live.deal(STAKES)
    play_on(live, Random(3))
    assert not replayed(ledger, live).findings


def test_stakes_after_the_deal_are_refused(ledger: Ledger) -> None:
    live = open_decision(table(ledger))
    for again in (live.place, live.deal):
        with pytest.raises(InputRefusedError, match="the cards are dealt"):
            again(STAKES)
        assert isinstance(_data(ledger, live.round_id)[-1], InputRefused)


def test_nothing_follows_in_a_closed_round(ledger: Ledger) -> None:
    live = open_decision(table(ledger))
    play_on(live, Random(4))
    assert isinstance(live.due, Settle)
    size = ledger.size()
    with pytest.raises(InputRefusedError):
        live.decide("s1", "hit")
    with pytest.raises(InputRefusedError):
        live.deal(STAKES)
    assert ledger.size() == size
    assert not replayed(ledger, live).findings


BAD_STAKES: dict[str, dict[str, dict[str, int]]] = {
    "none": {},
    "zero": {"s1": {"main": 0}},
    "negative": {"s1": {"main": -5}},
    "over-the-limit": {"s1": {"main": 10_001}},
    "side-bet-over-the-limit": {"s1": {"main": 100, "perfect_pairs": 10_001}},
    "side-bet-without-main": {"s1": {"perfect_pairs": 100}},
    "unknown-bet": {"s1": {"main": 100, "lucky": 100}},
    "unknown-seat": {"s6": {"main": 100}},
}


@pytest.mark.parametrize("name", BAD_STAKES)
def test_stakes_refused(name: str, ledger: Ledger) -> None:
    live = table(ledger).open_round("p-1")
    size = ledger.size()
    for take in (live.place, live.deal):
        with pytest.raises(StakeRefused):
            take(BAD_STAKES[name])
    assert ledger.size() == size
    assert live.state is None
    live.deal(STAKES)
    play_on(live, Random(5))
    assert not replayed(ledger, live).findings


@pytest.mark.parametrize("limits", [(500, 100), (None, 0), (1, -1)])
def test_limits_that_no_stake_lies_within_are_refused(limits: tuple[int | None, int]) -> None:
    with pytest.raises(SettingsRefused, match="no main stake is within the limits"):
        TableSettings(limits={"main": limits}, currency="EUR")


def test_a_misspelt_bet_does_not_go_without_its_limits(ledger: Ledger) -> None:
    misspelt = TableSettings(limits={"main": (1, 9), "perfect_pair": (1, 9)}, currency="EUR")
    with pytest.raises(SettingsRefused, match="no game has a bet 'perfect_pair'; there is main, "):
        LiveTable(ledger, GAMES["nba"].rules, misspelt)


def test_tables_of_several_games_may_share_limits(ledger: Ledger) -> None:
    both = TableSettings(limits={"main": (1, 9), "perfect_pairs": (1, 9)}, currency="EUR")
    assert LiveTable(ledger, GAMES["zappit"].rules, both).settings.limits == {"main": (1, 9)}


def test_a_stake_above_the_balance_is_refused_and_not_debited(ledger: Ledger) -> None:
    wallet = MemoryWallet(99)
    live = table(ledger, wallet=wallet).open_round("p-1")
    size = ledger.size()
    with pytest.raises(StakeRefused, match=r"the balance only 0\.99"):
        live.deal(STAKES)
    assert (ledger.size(), wallet.balance_minor("p-1")) == (size, 99)


def test_a_client_seed_that_is_too_long_is_refused_and_not_debited(ledger: Ledger) -> None:
    wallet = MemoryWallet(1_000)
    live = table(ledger, wallet=wallet).open_round("p-1")
    with pytest.raises(ShoeError):
        live.deal(STAKES, bytes(65))
    assert wallet.balance_minor("p-1") == 1_000
    live.deal(STAKES, bytes(64))
    play_on(live, Random(6))
    assert not replayed(ledger, live).findings


def test_acts_that_cost_more_than_the_balance_are_barred(ledger: Ledger) -> None:
    live = None
    for number in range(200):
        live = table(ledger, wallet=MemoryWallet(150)).open_round(f"p-{number}")
        live.deal(STAKES)
        if isinstance(live.due, Decide) and "double" in live.due.legal:
            break
    assert live is not None
    offer = _data(ledger, live.round_id)[-1]
    assert isinstance(offer, DecisionOffered)
    assert offer.barred["double"] == "funds"
    assert "double" not in live.offered
    with pytest.raises(InputRefusedError):
        live.decide("s1", "double")
    play_on(live, Random(7))
    assert not replayed(ledger, live).findings


def test_cash_out_is_hidden_from_who_asked_not_to_see_it(ledger: Ledger) -> None:
    live_table = table(ledger)
    for _ in range(100):
        live = live_table.open_round("p-1")
        live.hidden = frozenset({"cash-out", "stand"})
        live.deal(STAKES)
        if isinstance(live.due, Decide) and "cash-out" in live.due.legal:
            break
        play_on(live, Random(8))
    offer = _data(ledger, live.round_id)[-1]
    assert isinstance(offer, DecisionOffered)
    assert offer.barred == {"cash-out": "hidden"}
    assert offer.cash_out_minor is None
    assert "stand" in live.offered
    play_on(live, Random(8))
    assert not replayed(ledger, live).findings


def test_rules_that_the_ledger_does_not_carry_cannot_be_dealt_by(ledger: Ledger) -> None:
    variant: Rules = ruling(decks=1)(GAMES["nba"].rules)
    with pytest.raises(UnknownGame, match="does not carry the rules"):
        LiveTable(ledger, variant, SETTINGS)


# A write that fails


def test_a_turn_that_could_not_be_written_is_dealt_again_with_the_same_cards(
    ledger: Ledger,
) -> None:
    journal = FailingJournal(ledger)
    live = table(ledger, journal=journal).open_round("p-1")
    failures = 0
    random = Random(9)

    def insist(turn: list[object]) -> None:
        nonlocal failures
        before = live.state, live.offered, live.settled, ledger.size()
        journal.failures = 2
        for _ in range(2):
            with pytest.raises(OSError, match="disk is full"):
                _make(turn)
            failures += 1
            assert (live.state, live.offered, live.settled, ledger.size()) == before
        _make(turn)

    def _make(turn: list[object]) -> None:
        if not turn:
            live.deal(STAKES, b"mine")
        else:
            live.decide(str(turn[0]), str(turn[1]))

    insist([])
    while isinstance(live.due, Decide):
        insist([live.due.hand, random.choice(live.offered)])
    assert failures >= 2
    assert not replayed(ledger, live).findings


def test_a_turn_written_again_takes_the_stake_once(ledger: Ledger) -> None:
    """The wallet knows a movement by its reference, so a retry moves nothing a second time."""
    journal, wallet = FailingJournal(ledger), MemoryWallet(1_000)
    live = table(ledger, journal=journal, wallet=wallet).open_round("p-1")
    journal.failures = 1
    with pytest.raises(OSError, match="disk is full"):
        live.deal(STAKES)
    live.deal(STAKES)
    play_on(live, Random(10))
    replay = replayed(ledger, live)
    assert isinstance(replay.ending, RoundClosed)
    change = replay.ending.total_paid_minor - replay.ending.total_staked_minor
    assert wallet.balance_minor("p-1") == 1_000 + change


def test_a_failed_opening_leaves_no_round(ledger: Ledger) -> None:
    journal = FailingJournal(ledger)
    journal.failures = 1
    size = ledger.size()
    with pytest.raises(OSError, match="disk is full"):
        table(ledger, journal=journal).open_round("p-1")
    assert ledger.size() == size
    assert not ledger.rounds()


def test_what_the_events_say_of_money(ledger: Ledger) -> None:
    wallet = MemoryWallet(1_000)
    live = table(ledger, wallet=wallet).open_round("p-1")
    live.deal(STAKES)
    requested = next(e for e in _data(ledger, live.round_id) if isinstance(e, DealRequested))
    assert requested.funds is not None
    assert (requested.funds.direction, requested.funds.cash_minor) == ("debit", 100)
    assert requested.funds.balance_after_minor == 900
    assert str(requested.funds.transaction).startswith(f"{live.round_id}/deal/")


class DecliningWallet(MemoryWallet):
    """A wallet that takes no stake."""

    def debit(self, player: str, amount_minor: int, reference: str) -> Funds:
        return Funds("debit", amount_minor, 0, reference, "declined", None)


def test_a_stake_that_the_wallet_declines_is_not_played() -> None:
    ledger = new_ledger()
    settings = TableSettings(limits={"main": (1, 10_000)}, currency="EUR")
    wallet = DecliningWallet(1_000)
    live = LiveTable(ledger, GAMES["nba"].rules, settings, wallet=wallet).open_round("p-1")
    with pytest.raises(StakeRefused, match="the wallet answered 'declined'"):
        live.deal({"s1": {"main": 100}})
    assert len(ledger.events(live.round_id)) == 2
