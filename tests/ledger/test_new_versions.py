"""What an older reader makes of newer leaves, and a newer reader of older ones (README, "How events
may change").
"""

import json

import msgspec
import pytest

from shoeproof.ledger import Ledger, findings
from shoeproof.ledger.leaf import canonical
from shoeproof.ledger.leaf.envelope import Event, payload
from shoeproof.ledger.leaf.events import CardDealt, EventData
from shoeproof.ledger.verify.whole import verify
from tests.ledger.helpers import (
    FIRST,
    ORIGIN,
    OTHER_ROUND,
    TickingClock,
    append_raw,
    codes,
    play,
)

CARD = CardDealt(1, "dealer", "7c")


class CardDealtLater(EventData, frozen=True):
    """The same event in a later release, which adds a field by the rule."""

    shoe_index: int
    receiver: str
    card: str | msgspec.UnsetType = msgspec.UNSET
    camera: str | msgspec.UnsetType = msgspec.UNSET


@pytest.mark.parametrize(
    "change",
    [
        {"v": 2},
        {"type": "CardBurnt"},
        {"data": {"camera": "c-2", "card": "7c", "receiver": "dealer", "shoe_index": 1}},
    ],
    ids=["a new version", "a new event", "a new field"],
)
def test_an_older_reader_reports_the_leaf_and_goes_on(change: dict[str, object]) -> None:
    ledger = Ledger.in_memory(ORIGIN, clock=TickingClock())
    play(ledger, length=3)
    last = ledger.events(ledger.rounds()[0].round)[-1]
    at, prev = "2026-01-02T03:05:00.000000Z", last.leaf_hash.hex()
    event = Event(1, ORIGIN, last.event.stream, 3, "CardDealt", at, prev, CARD)
    text = canonical.encode(json.loads(payload(event)) | change)
    append_raw(ledger, CARD, seq=3, prev=prev, text=text)
    play(ledger, OTHER_ROUND)
    result = verify(ledger)
    assert codes(result) == [(FIRST + 3, findings.EVENT_UNREADABLE)]
    assert result.size == FIRST + 4 + 8


def test_a_newer_reader_finds_an_older_leaf_canonical() -> None:
    older = msgspec.json.encode(CARD, order="sorted")
    newer = msgspec.json.decode(older, type=CardDealtLater)
    assert canonical.encode(newer) == older
