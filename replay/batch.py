"""Collect the turns of many rounds and write them to the ledger in one transaction."""

from collections.abc import Mapping

from ledger import Ledger
from ledger.events import EventData


class Batch:
    """A journal that holds turns back until `flush`.

    For simulations and imports alone: a card shown before its turn is durable is a card that a
    crash can take back.
    """

    def __init__(self, ledger: Ledger) -> None:
        """Collect for `ledger`."""
        self._ledger = ledger
        self._drafts: list[tuple[str, EventData]] = []

    def append(
        self, *drafts: tuple[str, EventData], after: Mapping[str, int] | None = None
    ) -> None:
        """Take the events of one turn; nobody else plays these rounds, so `after` says nothing."""
        self._drafts.extend(drafts)

    def flush(self) -> int:
        """Write what was collected, all or none, and return how many events that were."""
        count = len(self._drafts)
        if count:
            self._ledger.append(*self._drafts)
            self._drafts.clear()
        return count
