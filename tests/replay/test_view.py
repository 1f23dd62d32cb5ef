"""The player's view: what was shown, what is due, and nothing that is to come."""

from random import Random

import msgspec
import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.errors import UnknownStream
from shoeproof.ledger.leaf.clock import format_time
from shoeproof.ledger.leaf.events import CardDealt, HoleCardShown, ShoeCommitted
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.errors import RoundUnreadable
from shoeproof.replay.live.live_round import LiveRound
from shoeproof.replay.live.view import RoundView, view_of
from shoeproof.replay.rounds.catalogue import add_published_games
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.replay.helpers import ORIGIN
from tests.replay.live import STAKES, table


def check(ledger: Ledger, live: LiveRound) -> RoundView:
    """Hold a view to the live round and to the events it rests on, and return it."""
    view = view_of(ledger, live.round_id)
    events = ledger.events(live.round_id)
    text = msgspec.json.encode(view).decode()
    shown = {
        each.event.data.card
        for each in events
        if isinstance(each.event.data, CardDealt | HoleCardShown)
    }
    told = {card for hand in view.hands for card in hand.cards} | set(view.dealer)
    assert told - {None} <= shown
    assert any(isinstance(each.event.data, HoleCardShown) for each in events) or (
        live.state is None or None in view.dealer or len(view.dealer) == 1 or view.is_over
    )
    assert (live._seed.hex() in text) is view.is_over
    assert (view.seq, view.leaf_index) == (live.seq, events[-1].leaf_index)
    assert view.due.legal == (live.offered if isinstance(live.due, Decide) else ())
    assert [bet.paid_minor for bet in view.settled] == [bet.paid_minor for bet in live.settled]
    assert view.is_over is live.is_over
    due = None if live.is_over else live.default_due()
    assert view.deadline == (None if due is None else format_time(due))
    if live.state is not None:
        assert [hand.cards for hand in view.hands] == [each.cards for each in live.state.hands]
    return view


@pytest.mark.parametrize("game", ["zappit", "zero", "nba"])
def test_a_view_at_every_step_of_many_rounds(game: str) -> None:
    random, hidden = Random(11), 0
    with Ledger.in_memory(ORIGIN) as ledger:
        add_published_games(ledger)
        live_table = table(ledger, game, wallet=MemoryWallet(1_000_000))
        for _ in range(25):
            live = live_table.open_round("p")
            view = check(ledger, live)
            committed = ledger.events(live.round_id)[1].event.data
            assert isinstance(committed, ShoeCommitted)
            assert (view.due.what, view.commitment) == ("stakes", committed.commitment)
            assert view.limits["main"].max_minor == 10_000
            live.place(STAKES)
            assert check(ledger, live).stakes == STAKES
            live.deal(STAKES)
            while isinstance(live.due, Decide):
                view = check(ledger, live)
                assert (view.due.what, view.due.hand) == ("decision", live.due.hand)
                hidden += None in view.dealer
                live.decide(live.due.hand, random.choice(live.offered))
            assert check(ledger, live).due.what == "nothing"
    assert hidden or game != "nba"


def test_an_act_there_is_no_money_for_is_barred_and_the_view_says_why() -> None:
    with Ledger.in_memory(ORIGIN) as ledger:
        add_published_games(ledger)
        live_table = table(ledger, wallet=MemoryWallet(100))
        for number in range(200):
            live = live_table.open_round(f"p-{number}")
            live.deal(STAKES)
            if isinstance(live.due, Decide) and "double" in live.due.legal:
                assert check(ledger, live).due.barred["double"] == "funds"
                return
    raise AssertionError("no double was ever legal")


def test_what_is_no_round_has_no_view() -> None:
    with Ledger.in_memory(ORIGIN) as ledger:
        with pytest.raises(RoundUnreadable):
            view_of(ledger, "keys")
        with pytest.raises(UnknownStream):
            view_of(ledger, "none")
