"""What a round in play needs of the table over it: where its turns are written, and what binds
it.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import EventData
from shoeproof.ledger.store.round_index import Alone
from shoeproof.replay.engine.round import Stakes
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.interruptions.waiting import Outage
from shoeproof.replay.wallet.wallet import Wallet


class Journal(Protocol):
    """Where a turn is written: a ledger, or a batch that is written to one later."""

    def now(self) -> datetime:
        """Return the time of what is written next, by the ledger's clock."""

    def append(
        self,
        *drafts: tuple[str, EventData],
        at: datetime | None = None,
        after: Mapping[str, int] | None = None,
        alone: Alone | None = None,
    ) -> object:
        """Write the events of one turn, all or none, dated `at`.

        `after` maps the round to the last `seq` its player's view rests on; `alone` is what must
        hold of the player's open rounds.
        """


class Currency(Protocol):
    """The currency a table plays in."""

    @property
    def currency(self) -> str:
        """Its code."""

    @property
    def unit(self) -> str:
        """The unit of the table's amounts (`shoeproof.replay.currency`)."""


class Table(Protocol):
    """What a round asks of its table; `shoeproof.replay.live.table.LiveTable` is one."""

    ledger: Ledger
    journal: Journal
    rules: Rules
    digest: str
    wallet: Wallet | None

    @property
    def settings(self) -> Currency:
        """The currency, among what else the table records with each round."""

    def check_in_service(self) -> None:
        """Raise InputRefusedError where the game or the service is recorded as out of service."""

    def outages(self, round_id: str) -> tuple[Outage, ...]:
        """Return what puts off the default of a round of this table."""

    def check_stakes(self, stakes: Stakes) -> None:
        """Raise StakeRefused for stakes that the rules or the table's limits do not allow."""
