"""A player's evening at a real table, with what is altered on its way into the ledger."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import msgspec

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import BetSettled, CardDealt, EventData
from shoeproof.replay.disputes.complaints.assess import assess_complaint
from shoeproof.replay.disputes.complaints.cases import Complaint
from shoeproof.replay.disputes.complaints.gather import gather_complaint
from shoeproof.replay.disputes.complaints.open import open_complaint
from shoeproof.replay.disputes.complaints.records import ComplaintAssessment
from shoeproof.replay.disputes.complaints.statement import StatementLine
from shoeproof.replay.live.table import LiveTable
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.disputes.live import (
    SETTINGS,
    STAKES,
    Altering,
    Change,
    as_it_was,
    play_out,
    settled_as,
)

EIGHT = datetime(2026, 1, 31, 19, tzinfo=UTC)
"""When the evening begins: eight o'clock in Malta."""

MIDNIGHT = datetime(2026, 1, 31, 23, tzinfo=UTC)


def swap_cards(data: EventData) -> EventData:
    """Record another card than was dealt to the dealer face up."""
    if not isinstance(data, CardDealt) or data.receiver != "dealer" or data.shoe_index > 3:
        return data
    if not isinstance(data.card, str):
        return data
    other = "6c" if data.card[0] != "6" else "5c"
    return msgspec.structs.replace(data, card=other)


class Evening:
    """A ledger whose clock goes a second with every question, and the table of one player."""

    def __init__(self, wallet: MemoryWallet | None = None, player: str = "p-1") -> None:
        self.moment = EIGHT
        self.player = player
        self.wallet = wallet
        self.ledger = Ledger.in_memory("tests.example/spans", clock=self._tick)
        add_published_games(self.ledger)

    def _tick(self) -> datetime:
        self.moment += timedelta(seconds=1)
        return self.moment

    def play(
        self, rounds: int = 1, *, change: Change = as_it_was, player: str | None = None
    ) -> list[str]:
        """Play rounds that stand on everything, and return their ids."""
        rules = current_rules(self.ledger, "nba")
        journal = Altering(self.ledger, change)
        table = LiveTable(self.ledger, rules, SETTINGS, wallet=self.wallet, journal=journal)
        played = []
        for _ in range(rounds):
            played.append(play_out(table.open_round(player or self.player), STAKES))
        return played

    def play_until(self, wanted: Callable[[BetSettled], bool], change: Change) -> str:
        """Play rounds until a bet of one was settled as wanted, and return its id."""
        for _ in range(500):
            (round_id,) = self.play(change=change)
            if settled_as(self.ledger, round_id, wanted):
                return round_id
        raise AssertionError("no round came out as wanted")

    def complain(self, claim: str = "this is rigged") -> Complaint:
        """Open a complaint about the whole evening."""
        return open_complaint(
            self.ledger,
            claim,
            player=self.player,
            begin=EIGHT,
            end=MIDNIGHT,
            zone="Europe/Malta",
        )

    def assess(self, complaint: Complaint, *statement: StatementLine) -> ComplaintAssessment:
        return assess_complaint(gather_complaint(self.ledger, complaint.id), statement)
