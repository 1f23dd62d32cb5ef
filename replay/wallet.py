"""The operator's wallet as the live table sees it, and one that holds play money in memory."""

from collections.abc import Sequence
from typing import Protocol

from ledger import Recorded
from ledger.events import Funds


class Wallet(Protocol):
    """Moves a player's money; called while a turn is being made up, before it is committed.

    `reference` names the movement uniquely, so that a repeated call can be recognised.
    """

    def balance_minor(self, player: str) -> int | None:
        """Return what the player can still stake, None when the wallet does not say."""

    def debit(self, player: str, amount_minor: int, reference: str) -> Funds:
        """Take a stake."""

    def credit(self, player: str, amount_minor: int, reference: str) -> Funds:
        """Pay out."""


class MemoryWallet:
    """A wallet of play money; every player begins with the same balance."""

    def __init__(self, opening_balance_minor: int) -> None:
        """Give every player `opening_balance_minor` to begin with."""
        self._opening_minor = opening_balance_minor
        self._balances: dict[str, int] = {}
        self._answers: dict[tuple[str, int], Funds] = {}

    def balance_minor(self, player: str) -> int:
        """Return what the player has left."""
        return self._balances.get(player, self._opening_minor)

    def debit(self, player: str, amount_minor: int, reference: str) -> Funds:
        """Take a stake."""
        return self._move(player, -amount_minor, reference)

    def credit(self, player: str, amount_minor: int, reference: str) -> Funds:
        """Pay out."""
        return self._move(player, amount_minor, reference)

    def _move(self, player: str, change_minor: int, reference: str) -> Funds:
        known = self._answers.get((reference, change_minor))
        if known is not None:
            return known
        after = self.balance_minor(player) + change_minor
        self._balances[player] = after
        answer = self._answers[reference, change_minor] = Funds(
            direction="debit" if change_minor < 0 else "credit",
            cash_minor=abs(change_minor),
            incentive_minor=0,
            transaction=reference,
            answer="accepted",
            balance_after_minor=after,
        )
        return answer


def recorded_balance_minor(events: Sequence[Recorded]) -> int | None:
    """Return the balance that the last recorded movement of money left, None where none says."""
    for recorded in reversed(events):
        funds = getattr(recorded.event.data, "funds", None)
        if isinstance(funds, Funds) and funds.balance_after_minor is not None:
            return funds.balance_after_minor
    return None
