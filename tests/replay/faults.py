"""A live table whose clock is set by hand, over a ledger in memory."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import DecisionMade, EventData, Incident
from shoeproof.ledger.leaf.streams import OPERATIONS_STREAM
from shoeproof.replay.audit.one_by_one import audit
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.engine.shoe import Shoe
from shoeproof.replay.games.policies import POLICIES, Default
from shoeproof.replay.live.live_round import LiveRound
from shoeproof.replay.live.table import LiveTable, TableSettings
from shoeproof.replay.rounds.catalogue import add_policy, current_rules
from shoeproof.replay.wallet.wallet import AnyWallet
from tests.replay.helpers import HandClock, Played, new_ledger, play, prefer
from tests.replay.lying import STAND
from tests.replay.lying_table import Alter, AlteringJournal, Lie

LARGE = 2_000_000
SETTINGS = TableSettings(limits={"main": (1, LARGE)}, currency="GBP", table="t-1")
STAKES = {"s1": {"main": 100}}

ZERO_DEFAULT = replace(
    POLICIES["zero"],
    default=Default(
        act="stand",
        insurance="decline",
        after_seconds=600,
        says="a player away for ten minutes stands",
        disclosed_in="operator's terms, 7.2",
        disclosed_on="2025-06-01",
    ),
)
"""An operator's policy for Zero: a disclosed default that runs from a loss alone."""


class Floor:
    """A ledger, its clock, and rounds played there; `alter` changes what is recorded of them."""

    def __init__(self, game: str = "nba", *, ledger: Ledger | None = None) -> None:
        self.clock = HandClock()
        self.ledger = new_ledger(self.clock) if ledger is None else ledger
        self.game = game
        self.players = 0
        self.alter: Callable[[], Alter] | None = None

    def table(self, wallet: AnyWallet | None = None) -> LiveTable:
        rules = current_rules(self.ledger, self.game)
        journal = None
        if self.alter is not None:
            lie = Lie(game=self.game, findings=[], choose=STAND, alter=self.alter)
            journal = AlteringJournal(self.ledger, lie)
        return LiveTable(self.ledger, rules, SETTINGS, wallet=wallet, journal=journal)

    def deal(
        self,
        wanted: Callable[[list[Played]], bool] = lambda moves: True,
        *,
        stakes: dict[str, dict[str, int]] = STAKES,
        acts: tuple[str, ...] = ("stand", "decline"),
        wallet: AnyWallet | None = None,
    ) -> LiveRound:
        """Deal a round that comes to what is wanted when these acts are taken where allowed."""
        self.players += 1
        live = self.table(wallet).open_round(f"p-{self.players}")
        rules, digest = live.table.rules, live.table.digest
        for number in range(200_000):
            client_seed = number.to_bytes(4, "big")
            shoe = Shoe(live._seed, live.round_id, digest, client_seed, rules.decks)
            cards = (shoe[place] for place in range(400))
            moves = list(play(rules, stakes, cards, prefer(*acts)))
            if wanted(moves):
                live.deal(stakes, client_seed)
                return live
        raise AssertionError("no shoe gives the occasion")

    def operate(self, event: Incident) -> None:
        self.ledger.append((OPERATIONS_STREAM, event))

    def said(self, live: LiveRound, kind: type[EventData]) -> list[Any]:
        """What the round's events of one kind say."""
        events = self.ledger.events(live.round_id)
        return [each.event.data for each in events if isinstance(each.event.data, kind)]

    def acts(self, live: LiveRound) -> list[tuple[str, str, str | None]]:
        return [(made.hand, made.act, made.actor) for made in self.said(live, DecisionMade)]

    def codes(self) -> list[str]:
        """The codes that an audit of the ledger finds."""
        return [finding.code for finding in audit(self.ledger).findings]


def with_zero_default() -> Floor:
    floor = Floor("zero")
    add_policy(floor.ledger, ZERO_DEFAULT)
    return floor


def asked(moves: list[Played]) -> bool:
    """The player is asked how to play, and not about insurance before."""
    offers = [move.before.due for move in moves if isinstance(move.before.due, Decide)]
    return bool(offers) and "stand" in offers[0].legal


def insured(moves: list[Played]) -> bool:
    """Insurance is offered and the dealer has no natural."""
    offers = [move.before.due for move in moves if isinstance(move.before.due, Decide)]
    return bool(offers) and "insurance" in offers[0].legal and not moves[-1].after.dealer.natural
