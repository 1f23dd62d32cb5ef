"""A round taken up again after a crash, at every point where one can happen."""

from pathlib import Path
from random import Random

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.errors import KeyUnusable, UnknownStream
from shoeproof.ledger.leaf.events import DecisionMade, DecisionOffered, RoundVoided, ShoeRevealed
from shoeproof.replay.engine.round import Decide, Settle
from shoeproof.replay.errors import InputRefusedError, RoundUnreadable
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.live.resume import resume_round
from shoeproof.replay.rounds.catalogue import add_published_games, rules_by_digest
from shoeproof.replay.rounds.replayer import replay_round
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.ledger.helpers import said
from tests.replay.helpers import ORIGIN, new_ledger
from tests.replay.live import STAKES, Spy, open_decision, play_on, replayed, table

TWO_SEATS = {"s1": {"main": 100}, "s3": {"main": 51}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "ledger"
    with Ledger.init(made, ORIGIN) as ledger:
        add_published_games(ledger)
    return made


@pytest.mark.parametrize("game", sorted(GAMES))
@pytest.mark.parametrize("shoe", range(2))
def test_a_round_goes_on_after_a_crash_at_any_point(game: str, shoe: int, path: Path) -> None:
    """Every turn is made by another process: after opening, laying chips, the deal, each act."""
    random = Random(shoe)
    with Ledger.open(path) as ledger:
        round_id = table(ledger, game).open_round("p-1", "session-1").round_id
    with Ledger.open(path) as ledger:
        resume_round(ledger, round_id).place(TWO_SEATS)
    with Ledger.open(path) as ledger:
        resume_round(ledger, round_id).deal(TWO_SEATS, bytes([shoe]))
    while True:
        with Ledger.open(path) as ledger:
            if ledger.rounds()[0].state == "closed":
                break
            live = resume_round(ledger, round_id)
            assert isinstance(live.due, Decide)
            assert set(live.offered) <= set(live.due.legal)
            live.decide(live.due.hand, random.choice(live.offered))
    with Ledger.open(path) as ledger:
        replay = replay_round(ledger.events(round_id), rules_by_digest(ledger))
        assert not replay.findings
        assert replay.state is not None
        assert isinstance(replay.state.due, Settle)
        assert [bet.paid_minor for bet in replay.expected] == [
            replay.settled[bet.hand, bet.bet].paid_minor for bet in replay.expected
        ]


def test_a_resumed_round_is_the_round_that_was_interrupted() -> None:
    ledger = new_ledger()
    live = open_decision(table(ledger, wallet=MemoryWallet(10_000)))
    again = resume_round(ledger, live.round_id, wallet=MemoryWallet(9_900))
    assert again.state == live.state
    assert again.offered == live.offered
    assert again.settled == live.settled
    assert (again.player, again.round_id) == (live.player, live.round_id)
    assert again.table.settings == live.table.settings
    play_on(again, Random(1))
    assert not replayed(ledger, again).findings


def test_two_resumptions_deal_the_same_cards(path: Path) -> None:
    """What a crash before the commit made up is made up again, card for card."""
    with Ledger.open(path) as ledger:
        live = open_decision(table(ledger, "zero"), "hit")
        lost = resume_round(ledger, live.round_id)
        spy = Spy(new_ledger())
        lost.table.journal = spy
        lost.decide("s1", "hit")
        made_up = [data for turn in spy.turns for data in turn]
        again = resume_round(ledger, live.round_id)
        before = ledger.size()
        again.decide("s1", "hit")
        turn = [
            said(recorded.event.data)
            for recorded in ledger.events(live.round_id)
            if recorded.leaf_index >= before
        ]
        assert turn == made_up


def test_a_refused_input_in_between_changes_nothing() -> None:
    ledger = new_ledger()
    live = open_decision(table(ledger))
    with pytest.raises(InputRefusedError):
        live.decide("s1", "zap")
    again = resume_round(ledger, live.round_id)
    assert again.offered == live.offered
    play_on(again, Random(2))
    assert not replayed(ledger, again).findings


def test_a_round_that_has_ended_is_not_taken_up() -> None:
    ledger = new_ledger()
    live = open_decision(table(ledger))
    play_on(live, Random(3))
    with pytest.raises(InputRefusedError, match="has ended"):
        resume_round(ledger, live.round_id)


def test_a_void_round_is_not_taken_up() -> None:
    ledger = new_ledger()
    live = table(ledger).open_round("p-1")
    seed = ShoeRevealed(live._seed.hex())
    ledger.append((live.round_id, seed), (live.round_id, RoundVoided("idle", [])))
    assert not replayed(ledger, live).findings
    with pytest.raises(InputRefusedError, match="has ended"):
        resume_round(ledger, live.round_id)


def test_a_round_that_contradicts_its_rules_is_not_taken_up() -> None:
    ledger = new_ledger()
    live = open_decision(table(ledger))
    ledger.append((live.round_id, DecisionMade("s1", "zap", "player", None, 0, None)))
    with pytest.raises(InputRefusedError, match="illegal_decision"):
        resume_round(ledger, live.round_id)


@pytest.mark.parametrize("stream", ["keys", "rules", "policies"])
def test_a_stream_that_is_no_round(stream: str) -> None:
    with pytest.raises(RoundUnreadable, match="is not a round"):
        resume_round(new_ledger(), stream)


def test_a_round_the_ledger_does_not_have() -> None:
    with pytest.raises(UnknownStream):
        resume_round(new_ledger(), "01936f3c-7a10-7b3e-9c55-2f6d8a1b4c5d")


def test_a_sealed_seed_opens_with_the_table_s_key_alone(path: Path) -> None:
    with Ledger.open(path) as ledger:
        round_id = open_decision(table(ledger)).round_id
    (path / "keys" / "seal.pem").unlink()
    with Ledger.open(path) as ledger, pytest.raises(KeyUnusable):
        resume_round(ledger, round_id)


def test_an_open_round_is_no_finding() -> None:
    ledger = new_ledger()
    live = open_decision(table(ledger))
    replay = replayed(ledger, live)
    assert not replay.findings
    assert replay.ending is None
    assert replay.offered == live.offered
    assert isinstance(ledger.events(live.round_id)[-1].event.data, DecisionOffered)
    unopened = table(ledger).open_round("p-1")
    assert not replayed(ledger, unopened).findings
    unopened.place(STAKES)
    assert not replayed(ledger, unopened).findings
