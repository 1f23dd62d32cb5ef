"""Rounds of a real table that records money otherwise than the rules pay it."""

from collections.abc import Callable, Mapping
from datetime import datetime

import msgspec

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import BetSettled, EventData, RoundClosed
from shoeproof.ledger.store.round_index import Alone
from shoeproof.replay.engine.hand import STAND
from shoeproof.replay.engine.round import Decide, Stakes
from shoeproof.replay.live.live_round import LiveRound
from shoeproof.replay.live.table import LiveTable, TableSettings
from shoeproof.replay.rounds.catalogue import current_rules

SETTINGS = TableSettings(
    limits={"main": (1, 2_000_000)}, currency="EUR", table="t-1", build="build-7"
)


STAKES: Stakes = {"s1": {"main": 1_000}}

Change = Callable[[EventData], EventData]


class Altering:
    """A journal that changes events on their way into the ledger, and the totals with them."""

    def __init__(self, ledger: Ledger, change: Change) -> None:
        self._ledger, self._change = ledger, change
        self._paid: dict[str, int] = {}

    def now(self) -> datetime:
        return self._ledger.now()

    def append(
        self,
        *drafts: tuple[str, EventData],
        at: datetime | None = None,
        after: Mapping[str, int] | None = None,
        alone: Alone | None = None,
    ) -> None:
        altered = [(stream, self._altered(stream, data)) for stream, data in drafts]
        self._ledger.append(*altered, at=at, after=after, alone=alone)

    def _altered(self, round_id: str, data: EventData) -> EventData:
        data = self._change(data)
        if isinstance(data, BetSettled):
            self._paid[round_id] = self._paid.get(round_id, 0) + data.paid_minor
        elif isinstance(data, RoundClosed):
            paid = self._paid.get(round_id, 0)
            data = msgspec.structs.replace(data, total_paid_minor=paid)
        return data


def as_it_was(data: EventData) -> EventData:
    return data


def underpay(data: EventData) -> EventData:
    """Pay half of every win."""
    if not isinstance(data, BetSettled) or not won(data):
        return data
    half = (data.paid_minor - data.stake_minor) // 2
    return msgspec.structs.replace(data, paid_minor=data.paid_minor - half)


def play_out(live: LiveRound, stakes: Stakes) -> str:
    """Deal, stand on everything, and return the round's id."""
    live.deal(stakes)
    while isinstance(live.due, Decide):
        live.decide(live.due.hand, STAND if STAND in live.offered else live.offered[-1])
    return live.round_id


def settled_as(ledger: Ledger, round_id: str, wanted: Callable[[BetSettled], bool]) -> bool:
    """Tell whether a bet of a round was settled as wanted."""
    data = [each.event.data for each in ledger.events(round_id)]
    return any(isinstance(each, BetSettled) and wanted(each) for each in data)


def play(
    ledger: Ledger,
    wanted: Callable[[BetSettled], bool],
    *,
    change: Change = as_it_was,
    stakes: Stakes | None = None,
    game: str = "nba",
    player: str = "p-1",
    currency: str = SETTINGS.currency,
) -> str:
    """Play rounds until the main bet of one was settled as wanted, and return its id."""
    rules = current_rules(ledger, game)
    settings = msgspec.structs.replace(SETTINGS, currency=currency)
    table = LiveTable(ledger, rules, settings, journal=Altering(ledger, change))
    for _ in range(500):
        round_id = play_out(table.open_round(player), stakes or STAKES)
        if settled_as(ledger, round_id, lambda bet: bet.bet == "main" and wanted(bet)):
            return round_id
    raise AssertionError("no round came out as wanted")


def won(settled: BetSettled) -> bool:
    """Say whether more than the stake was paid."""
    return settled.paid_minor > settled.stake_minor


def lost(settled: BetSettled) -> bool:
    return settled.paid_minor == 0


def open_round(ledger: Ledger, game: str = "nba", stake_minor: int = 1_000) -> str:
    """Leave a round that waits for a decision, and return its id."""
    table = LiveTable(ledger, current_rules(ledger, game), SETTINGS)
    for _ in range(500):
        live = table.open_round("p-1")
        live.deal({"s1": {"main": stake_minor}})
        if isinstance(live.due, Decide):
            return live.round_id
    raise AssertionError("no round waited")
