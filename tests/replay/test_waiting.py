"""How a round waits after each of its events: since when, for whom, and whether anyone is there."""

import pytest

from shoeproof.ledger.leaf.events import (
    Actor,
    ConnectionLost,
    ConnectionRestored,
    DealRequested,
    DecisionMade,
    DecisionOffered,
    EventData,
    RoundClosed,
    RoundVoided,
    ShoeRevealed,
    StakesPlaced,
)
from shoeproof.replay.interruptions.waiting import Waiting, follow
from tests.replay.helpers import NOON

OPENED = NOON.replace(hour=11)
LOST = Waiting(OPENED, laid=True, dealt=True, offered=True, lost=True)
BY_DEFAULT = Waiting(OPENED, laid=True, dealt=True, offered=True, by_default=True)
OFFER = DecisionOffered("s1", ["hit", "stand"], {}, None, None)


def made(actor: Actor | None) -> DecisionMade:
    return DecisionMade("s1", "stand", actor, None, 0, None)


@pytest.mark.parametrize(
    ("before", "data", "after"),
    [
        # Whoever lays chips, deals or decides is there.
        (
            Waiting(OPENED, lost=True),
            StakesPlaced({"s1": {"main": 100}}),
            Waiting(NOON, laid=True),
        ),
        (Waiting(OPENED, laid=True, lost=True), StakesPlaced({}), Waiting(NOON)),
        (
            Waiting(OPENED, laid=True, lost=True),
            DealRequested({"s1": {"main": 100}}, "", None),
            Waiting(NOON, laid=True, dealt=True),
        ),
        (LOST, made("player"), Waiting(NOON, laid=True, dealt=True)),
        (BY_DEFAULT, made("player"), Waiting(NOON, laid=True, dealt=True)),
        # What the system decides, and offers after that, begins no new period.
        (LOST, made("system"), LOST._replace(offered=False, by_default=True)),
        (BY_DEFAULT._replace(offered=False), OFFER, BY_DEFAULT),
        (
            Waiting(OPENED, laid=True, dealt=True),
            OFFER,
            Waiting(NOON, laid=True, dealt=True, offered=True),
        ),
        (LOST._replace(lost=False), ConnectionLost(2, None, None), LOST._replace(since=NOON)),
        (LOST, ConnectionRestored(2, None, None), LOST._replace(since=NOON, lost=False)),
        (LOST, RoundClosed(100, 0), LOST._replace(ended=True)),
        (LOST, RoundVoided("a malfunction", []), LOST._replace(ended=True)),
        (LOST, ShoeRevealed("ab" * 32), LOST),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, EventData) else "",
)
def test_how_a_round_waits_after_an_event(before: Waiting, data: EventData, after: Waiting) -> None:
    assert follow(before, data, NOON) == after
