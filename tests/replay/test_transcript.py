"""A recorded round as `.round` text: what was offered is written down with it."""

import pytest
from hypothesis import given, settings

from shoeproof.ledger.leaf.events import DecisionOffered
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.rounds.replayer import Replay
from shoeproof.replay.wallet.wallet import MemoryWallet
from shoeproof.replay.written.adjudicate import Judgement, adjudicate
from shoeproof.replay.written.round_text import OfferMove, StopMove, read_round
from shoeproof.replay.written.transcript import as_round_text
from tests.replay.helpers import new_ledger
from tests.replay.lies_of_play import PLAY
from tests.replay.live import replayed, sit_down
from tests.replay.lying_table import tell
from tests.strategies import Sitting, sittings

_ledger = new_ledger()

TOLD_BY_THE_TEXT = {
    "dealer standing on soft 17 in Zappit": "card_missing",
    "split offered after a hit": "offer_not_allowed",
    "insurance left out of the offer": "offer_withheld",
    "zap withheld": "offer_withheld",
    "double barred for a reason that bars none": "offer_withheld",
    "cash out offered off the table": "cash_out_offer_wrong",
    "a hand asked again after it stood": "offer_not_allowed",
}


def _offers(replay: Replay) -> list[DecisionOffered]:
    said = [each.recorded.event.data for each in replay.steps]
    return [each for each in said if isinstance(each, DecisionOffered)]


def _judge(text: str) -> Judgement:
    read = read_round(text.encode())
    return adjudicate(read, GAMES[read.game].rules, {})


@settings(max_examples=60)
@given(sittings())
def test_what_was_offered_is_written_and_judged_clean(sitting: Sitting) -> None:
    """Also where too little money barred an act, or the player hid cash out."""
    wallet = None if sitting.balance_minor is None else MemoryWallet(sitting.balance_minor)
    replay = replayed(_ledger, sit_down(_ledger, sitting, wallet))
    text = as_round_text(replay)
    offers = _offers(replay)
    assert text.startswith(f'format = "round/v{2 if offers else 1}"')
    written = [move for move in read_round(text.encode()).moves if isinstance(move, OfferMove)]
    assert [(move.hand, list(move.acts), dict(move.barred)) for move in written] == [
        (offer.hand, offer.legal, offer.barred) for offer in offers
    ]
    assert [move.shown_minor for move in written] == [offer.cash_out_minor for offer in offers]
    judgement = _judge(text)
    assert not judgement.findings
    assert judgement.complete
    assert sorted(judgement.bets, key=str) == sorted(replay.expected, key=str)


@pytest.mark.parametrize("name", TOLD_BY_THE_TEXT)
def test_a_fault_of_an_offer_or_of_the_dealer_s_end_is_in_the_text(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tell(PLAY[name], name, monkeypatch)
    text = as_round_text(told.replay)
    found = [each.code for each in _judge(text).findings]
    assert found == [TOLD_BY_THE_TEXT[name]]
    stops = StopMove() in read_round(text.encode()).moves
    assert stops == (TOLD_BY_THE_TEXT[name] == "card_missing")
