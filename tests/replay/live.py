"""A live table over a real ledger in memory, and who plays at it."""

from collections.abc import Callable
from itertools import count
from random import Random
from typing import Any

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import EventData
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.live.live_round import LiveRound
from shoeproof.replay.live.table import LiveTable, TableSettings
from shoeproof.replay.rounds.catalogue import current_rules, rules_by_digest
from shoeproof.replay.rounds.replayer import Replay, replay_round
from shoeproof.replay.wallet.wallet import Wallet
from tests.replay.helpers import Draft
from tests.strategies import Sitting

SETTINGS = TableSettings(
    limits={"main": (1, 10_000), "perfect_pairs": (1, 10_000)}, currency="EUR", table="t-1"
)
STAKES = {"s1": {"main": 100}}


_players = count(1)


class Spy:
    """A journal that remembers each turn it passes on."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.turns: list[list[EventData]] = []
        self.now = ledger.now

    def append(self, *drafts: Draft, **conditions: Any) -> None:
        self._ledger.append(*drafts, at=conditions["at"])
        self.turns.append([data for _, data in drafts])


class FailingJournal:
    """A journal whose next write fails as often as it is told; `loses` says it writes nothing."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.failures = 0
        self.now = ledger.now

    def append(self, *drafts: Draft, **conditions: Any) -> None:
        if self.failures:
            self.failures -= 1
            raise OSError("the disk is full")
        self._ledger.append(*drafts, **conditions)


def table(
    ledger: Ledger,
    game: str = "nba",
    *,
    wallet: Wallet | None = None,
    journal: Spy | FailingJournal | None = None,
    seeds: Callable[[], bytes] | None = None,
) -> LiveTable:
    rules = current_rules(ledger, game)
    if seeds is None:
        return LiveTable(ledger, rules, SETTINGS, wallet=wallet, journal=journal)
    return LiveTable(ledger, rules, SETTINGS, wallet=wallet, journal=journal, seeds=seeds)


def play_on(live: LiveRound, random: Random) -> None:
    """Take any offered act until the round is over."""
    while isinstance(live.due, Decide):
        live.decide(live.due.hand, random.choice(live.offered))


def open_decision(live_table: LiveTable, act: str | None = None) -> LiveRound:
    """A round that waits for a decision, one that offers `act` where that is given."""
    for _ in range(1_000):
        # A round that is left open bars its player from another.
        live = live_table.open_round(f"p-{next(_players)}")
        live.deal(STAKES)
        if isinstance(live.due, Decide) and (act is None or act in live.offered):
            return live
    raise AssertionError(f"no round came to a decision about {act}")


def sit_down(ledger: Ledger, sitting: Sitting, wallet: Wallet | None) -> LiveRound:
    """Play a whole round as a sitting says."""
    live = table(ledger, sitting.game, wallet=wallet).open_round("p-1")
    if sitting.hides_cash_out:
        live.hidden = frozenset({"cash-out"})
    live.deal(sitting.stakes, sitting.client_seed)
    play_on(live, sitting.random)
    return live


def replayed(ledger: Ledger, live: LiveRound) -> Replay:
    return replay_round(ledger.events(live.round_id), rules_by_digest(ledger))
