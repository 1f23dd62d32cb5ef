"""Collect the turns of many rounds and write them to the ledger in one transaction."""

from collections.abc import Mapping
from datetime import datetime

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import EventData
from shoeproof.ledger.store.round_index import Alone


class Batch:
    """A journal that holds turns back until `flush`, all dated when the first was taken.

    For simulations, imports and sweeps alone: a card shown before its turn is durable is a card
    that a crash can take back.
    """

    def __init__(self, ledger: Ledger) -> None:
        """Collect for `ledger`."""
        self._ledger = ledger
        self._moment: datetime | None = None
        self._drafts: list[tuple[str, EventData]] = []
        self._after: dict[str, int] = {}
        self._begun: set[str] = set()

    def now(self) -> datetime:
        """Return the time that all of the batch is dated."""
        if self._moment is None:
            self._moment = self._ledger.now()
        return self._moment

    def append(
        self,
        *drafts: tuple[str, EventData],
        at: datetime | None = None,
        after: Mapping[str, int] | None = None,
        alone: Alone | None = None,
    ) -> None:
        """Take the events of one turn; nobody else opens rounds here, so `alone` is not needed."""
        for stream, seq in (after or {}).items():
            # What follows in the batch follows what was collected, not what the ledger has.
            if stream not in self._begun:
                self._after[stream] = seq
        self._begun.update(stream for stream, _ in drafts)
        self._drafts.extend(drafts)

    def flush(self) -> int:
        """Write what was collected, all or none, and return how many events that were.

        Raises what `Ledger.append` raises; the batch is then empty, for its turns to be made again.
        """
        drafts, after, moment = self._drafts, self._after, self._moment
        self._drafts, self._after, self._begun, self._moment = [], {}, set(), None
        if drafts:
            self._ledger.append(*drafts, at=moment, after=after)
        return len(drafts)
