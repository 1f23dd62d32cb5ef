"""Rounds of a real table that records money otherwise than the rules pay it."""

from collections.abc import Callable, Mapping
from datetime import datetime

import msgspec

from ledger import Ledger
from ledger.events import BetSettled, EventData, RoundClosed
from ledger.rounds import Alone
from replay.catalogue import current_rules
from replay.engine.hand import STAND
from replay.engine.round import Decide, Stakes
from replay.table import LiveTable, TableSettings

SETTINGS = TableSettings(
    limits={"main": (1, 1_000_000)}, currency="EUR", table="t-1", build="build-7"
)


class Misrecording:
    """A journal that changes what is settled on its way into the ledger, and the totals with it."""

    def __init__(self, ledger: Ledger, change: Callable[[BetSettled], BetSettled]) -> None:
        self._ledger = ledger
        self._change = change
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
        if isinstance(data, BetSettled):
            data = self._change(data)
            self._paid[round_id] = self._paid.get(round_id, 0) + data.paid_minor
        elif isinstance(data, RoundClosed):
            paid = self._paid.get(round_id, 0)
            data = msgspec.structs.replace(data, total_paid_minor=paid)
        return data


def underpay(settled: BetSettled) -> BetSettled:
    """Pay half of every win."""
    won = max(0, settled.paid_minor - settled.stake_minor)
    return msgspec.structs.replace(settled, paid_minor=settled.paid_minor - won // 2)


def honest(settled: BetSettled) -> BetSettled:
    return settled


def play(
    ledger: Ledger,
    wanted: Callable[[BetSettled], bool],
    *,
    change: Callable[[BetSettled], BetSettled] = honest,
    stakes: Stakes | None = None,
    game: str = "nba",
    player: str = "p-1",
) -> str:
    """Play rounds until the main bet of one was settled as wanted, and return its id."""
    rules = current_rules(ledger, game)
    table = LiveTable(ledger, rules, SETTINGS, journal=Misrecording(ledger, change))
    for _ in range(500):
        live = table.open_round(player)
        live.deal(stakes or {"s1": {"main": 1_000}})
        while isinstance(live.due, Decide):
            live.decide(live.due.hand, STAND if STAND in live.offered else live.offered[-1])
        for recorded in ledger.events(live.round_id):
            data = recorded.event.data
            if isinstance(data, BetSettled) and data.bet == "main" and wanted(data):
                return live.round_id
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
