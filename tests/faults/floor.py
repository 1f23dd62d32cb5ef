"""A casino of which one part is rigged, and the rigging's own account of what it did.

The account is kept where the fault is made: what a settlement should have been stands there before
it is changed, so that the figures of a report are held to sums made without replay, assessment or
projection.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random
from typing import NamedTuple

from msgspec.structs import replace

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import BetSettled, EventData, Mode, RoundClosed
from shoeproof.ledger.store.round_index import Alone
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.engine.rules import Rules, rules_digest
from shoeproof.replay.live.journal import Journal
from shoeproof.replay.live.table import LiveTable, TableSettings, draw_seed
from shoeproof.replay.rounds.catalogue import add_published_games, add_rules, current_rules
from shoeproof.replay.wallet.wallet import Wallet

ORIGIN = "faults.example/blackjack"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

Rig = Callable[[BetSettled], BetSettled]
"""What a fault makes of a settlement."""


class Booked(NamedTuple):
    """One bet as the rigging saw it: what should have been paid, and what was."""

    round: str
    player: str
    at: datetime
    currency: str
    build: str | None
    table: str | None
    digest: str
    bet: str
    initial_minor: int
    staked_minor: int
    right_minor: int
    paid_minor: int

    @property
    def short_minor(self) -> int:
        return max(0, self.right_minor - self.paid_minor)

    @property
    def over_minor(self) -> int:
        return max(0, self.paid_minor - self.right_minor)


def rightly(settled: BetSettled) -> BetSettled:
    return settled


def six_to_five(settled: BetSettled) -> BetSettled:
    """Pay a natural 6:5 where 3:2 is due."""
    if settled.line != "natural":
        return settled
    return replace(settled, paid_minor=settled.stake_minor + settled.stake_minor * 6 // 5)


def short_on_splits(settled: BetSettled) -> BetSettled:
    """Pay each hand of a split that won a hundredth of its stake too little."""
    is_won = settled.paid_minor > settled.stake_minor
    if "." not in settled.hand or not is_won:
        return settled
    return replace(settled, paid_minor=settled.paid_minor - settled.stake_minor // 100)


def both_ways(settled: BetSettled) -> BetSettled:
    """Pay 3.00 too little for a win, and 3.00 for a loss: netted, it comes to next to nothing."""
    if settled.paid_minor > settled.stake_minor:
        return replace(settled, paid_minor=settled.paid_minor - 300)
    return replace(settled, paid_minor=settled.paid_minor + (300 if not settled.paid_minor else 0))


class _Rigged:
    """A journal that rigs settlements on their way into the ledger, and the totals with them."""

    def __init__(self, floor: "Floor", rig: Rig, settings: TableSettings, digest: str) -> None:
        self._floor, self._rig, self._settings, self._digest = floor, rig, settings, digest
        self._paid: dict[str, int] = {}
        self.player = ""

    def now(self) -> datetime:
        return self._floor.journal.now()

    def append(
        self,
        *drafts: tuple[str, EventData],
        at: datetime | None = None,
        after: Mapping[str, int] | None = None,
        alone: Alone | None = None,
    ) -> None:
        altered = [(stream, self._altered(stream, data)) for stream, data in drafts]
        self._floor.journal.append(*altered, at=at, after=after, alone=alone)

    def _altered(self, round_id: str, data: EventData) -> EventData:
        if isinstance(data, BetSettled):
            made = self._rig(data)
            self._paid[round_id] = self._paid.get(round_id, 0) + made.paid_minor
            self._floor.book(round_id, self.player, self._settings, self._digest, data, made)
            return made
        if isinstance(data, RoundClosed):
            return replace(data, total_paid_minor=self._paid.get(round_id, 0))
        return data


@dataclass
class Floor:
    """A ledger whose clock goes on by a minute a round, and the account of every bet."""

    ledger: Ledger
    journal: Journal
    moment: datetime = NOON
    booked: list[Booked] = field(default_factory=list)
    opened: dict[str, datetime] = field(default_factory=dict)
    random: Random = field(default_factory=lambda: Random(7))

    def play(
        self,
        rounds: int,
        *,
        rig: Rig = rightly,
        game: str | Rules = "nba",
        build: str | None = "1.4.1",
        table: str | None = "t-1",
        currency: str = "EUR",
        stake_minor: int = 1_000,
        players: int = 5,
        mode: Mode = "real",
        is_left_open: bool = False,
        least_short: int = 0,
        wallet: Wallet | None = None,
        seeds: Callable[[], bytes] = draw_seed,
    ) -> None:
        """Play rounds of different players, who split and hit at random.

        Further ones are played until the rigging paid too little for `least_short` bets.
        """
        rules = current_rules(self.ledger, game) if isinstance(game, str) else game
        settings = TableSettings(
            limits={"main": (1, 1_000_000)},
            currency=currency,
            table=table,
            build=build,
            mode=mode,
        )
        digest = rules_digest(rules)
        journal = _Rigged(self, rig, settings, digest)
        live_table = LiveTable(
            self.ledger, rules, settings, journal=journal, wallet=wallet, seeds=seeds
        )
        before = len(self.short())
        for number in count():
            if number >= rounds and len(self.short()) - before >= least_short:
                return
            self._round(live_table, journal, f"p-{number % players}", stake_minor, is_left_open)

    def _round(
        self, table: LiveTable, journal: _Rigged, player: str, stake_minor: int, is_left_open: bool
    ) -> None:
        self.moment += timedelta(minutes=1)
        journal.player = player
        live = table.open_round(player)
        self.opened[live.round_id] = self.moment
        live.deal({"s1": {"main": stake_minor}})
        while isinstance(live.due, Decide) and not is_left_open:
            live.decide(live.due.hand, self._choose(live.offered))

    def _choose(self, offered: tuple[str, ...] | list[str]) -> str:
        if "split" in offered:
            return "split"
        if "hit" in offered and self.random.random() < 0.3:
            return "hit"
        return "stand" if "stand" in offered else "decline"

    def book(
        self,
        round_id: str,
        player: str,
        settings: TableSettings,
        digest: str,
        right: BetSettled,
        made: BetSettled,
    ) -> None:
        """Keep account of one settlement as it should have been and as it was made."""
        is_first = not right.hand.endswith(".2")
        initial = right.stake_minor if is_first else 0
        self.booked.append(
            Booked(
                round_id, player, self.opened[round_id], settings.unit, settings.build,
                settings.table, digest, right.bet, initial, right.stake_minor, right.paid_minor,
                made.paid_minor,
            )
        )  # fmt: skip

    def short(self) -> list[Booked]:
        return self.where(lambda each: bool(each.short_minor))

    def wrong(self) -> list[Booked]:
        return self.where(lambda each: bool(each.short_minor or each.over_minor))

    def where(self, asked: Callable[[Booked], bool]) -> list[Booked]:
        return [each for each in self.booked if asked(each)]


def new_floor(ledger: Ledger | None = None, journal: Journal | None = None) -> Floor:
    """A floor over a ledger in memory, or over one on disk, with the published games.

    `journal` is where turns are written, the ledger itself unless they are collected first.
    """
    made: list[Floor] = []
    if ledger is None:
        ledger = Ledger.in_memory(ORIGIN, clock=lambda: made[0].moment if made else NOON)
        add_published_games(ledger)
    made.append(Floor(ledger, journal or ledger))
    return made[0]


def variant(floor: Floor) -> Rules:
    """Add a variant of NBA with six decks, under a digest of its own."""
    rules = replace(current_rules(floor.ledger, "nba"), decks=6)
    add_rules(floor.ledger, rules)
    return rules
