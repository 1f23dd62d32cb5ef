"""Every event is told in words, with its amounts as people write them."""

import pytest

from shoeproof.ledger.leaf.events import (
    Awarded,
    BetResettled,
    BetSettled,
    CardDealt,
    ConnectionLost,
    DecisionMade,
    DecisionOffered,
    DisputeDecided,
    DisputeOpened,
    EventData,
    GameDisabled,
    HoleCardShown,
    Refunded,
    RoundClosed,
    WinHeld,
)
from shoeproof.replay.engine.cards import FACE_DOWN
from shoeproof.replay.engine.round import apply, open_round
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.rounds.narrative import actor_of, describe

DEADLINE = "2026-01-02T03:24:05.000000Z"

SENTENCES: list[tuple[EventData, str, str]] = [
    (CardDealt(0, "s1", "Td"), "dealer", "s1 gets 10♦"),
    (CardDealt(0, "s1", "zz"), "dealer", "s1 gets 'zz'"),
    (CardDealt(3, "dealer"), "dealer", "dealer gets a card face down"),
    (HoleCardShown("As"), "dealer", "shows the hole card A♠"),
    (DecisionMade("s1", "double", "player", None, 1_250, None), "player",
     "s1 double, stakes 12.50 EUR more"),
    (DecisionMade("s1", "stand", "system", "timer", 0, None), "system", "s1 stand (timer)"),
    (DecisionMade("s1", "stand", None, None, 0, None), "NOBODY", "s1 stand"),
    (DecisionOffered("s1", ["hit", "stand"], {"double": "funds"}, 95, DEADLINE), "system",
     "offers s1: hit, stand (cash out pays 0.95 EUR) · double barred: funds · until 03:24:05 UTC"),
    (ConnectionLost(2, None, None), "system", "connection lost: cause 2, loss of communication"),
    (GameDisabled(6, "nba", "drill"), "system",
     "game disabled of nba: cause 6, game disabled (drill)"),
    (BetSettled("s1", "s1", "main", 100, 250, "natural", None), "system",
     "settles main of s1: 1.00 EUR → 2.50 EUR (natural)"),
    (RoundClosed(100, 250), "system", "round closed: staked 1.00 EUR, paid 2.50 EUR"),
    (WinHeld("r", 1_000_001, "above 10,000.00"), "system",
     "holds a win of 10,000.01 EUR: above 10,000.00"),
    (DisputeOpened("r", "settlement", "paid 1:1", [], None), "staff",
     "dispute opened, claim: settlement (paid 1:1)"),
    (DisputeDecided("r", [], "c", "upheld", "resettle", None, 50, 1), "staff",
     "dispute decided: complaint upheld, each bet is paid what is due, 0.50 EUR paid"),
    (DisputeDecided("r", [], "c", "rejected", "honour", None, 0, 1), "staff",
     "dispute decided: complaint rejected, the result stands"),
    (DisputeDecided("r", [], "c", "upheld", "refer", None, 0, 1), "staff",
     "dispute decided: referred to an adjudicator"),
    (DisputeDecided("r", [], "c", "rejected", "award", "A-7", 2_000, 2), "staff",
     "dispute decided: 20.00 EUR awarded by an adjudicator (reference A-7); 2 persons must sign"),
    (DisputeDecided("r", [], "goodwill: a long wait", "rejected", "goodwill", None, 500, 1),
     "staff", "dispute decided: 5.00 EUR given, goodwill: a long wait"),
    (DisputeDecided("r", [], "withdrawn by the player", "upheld", "withdraw", None, 0, 1),
     "staff", "dispute decided: withdrawn by the player"),
    (Awarded("r", None, None, 500, "EUR", None), "staff", "pays 5.00 EUR beyond what is due"),
    (Awarded("r", "s1", "main", 500, "EUR", None), "staff",
     "pays 5.00 EUR beyond what is due for main of s1"),
    (BetResettled("r", "s1", "s1", "main", 100, 200, 250, "natural", None), "staff",
     "resettles main of s1: 2.00 EUR → 2.50 EUR (natural)"),
    (Refunded("r", "s1", "main", 100, None), "staff", "refunds 1.00 EUR of main of s1"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "actor", "sentence"), SENTENCES)
def test_an_event_is_told_in_words(data: EventData, actor: str, sentence: str) -> None:
    assert (actor_of(data), describe(data, None, "EUR")) == (actor, sentence)


def test_a_card_tells_the_total_it_makes() -> None:
    state = open_round(GAMES["nba"].rules, {"s1": {"main": 100}})
    for card in ("Ac", "7h", "6d", FACE_DOWN):
        state = apply(state, card)
    assert describe(CardDealt(2, "s1", "6d"), state, "EUR") == "s1 gets 6♦, soft 17"
