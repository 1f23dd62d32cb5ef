"""The operator's wallet as the live table sees it, and one that holds play money in memory."""

from collections.abc import Sequence
from typing import Protocol

from ledger import Recorded
from ledger.events import Funds


class Wallet(Protocol):
    """Moves a player's money; called while a turn is being made up, before it is committed.

    `reference` names the movement uniquely: a repeated call is the same movement, and one whose
    turn could not be written is cancelled. After a crash between the two, movements whose reference
    no event of the ledger carries are the ones to cancel.
    """

    def balance_minor(self, player: str) -> int | None:
        """Return what the player can still stake, None when the wallet does not say."""

    def debit(self, player: str, amount_minor: int, reference: str) -> Funds:
        """Take a stake."""

    def credit(self, player: str, amount_minor: int, reference: str) -> Funds:
        """Pay out."""

    def cancel(self, player: str, reference: str) -> None:
        """Undo the movement of that reference; one that never was is no error."""


class MemoryWallet:
    """A wallet of play money; every player begins with the same balance."""

    def __init__(self, opening_balance_minor: int) -> None:
        """Give every player `opening_balance_minor` to begin with."""
        self._opening_minor = opening_balance_minor
        self._balances: dict[str, int] = {}
        self._moved: dict[str, tuple[int, Funds]] = {}

    def balance_minor(self, player: str) -> int:
        """Return what the player has left."""
        return self._balances.get(player, self._opening_minor)

    def debit(self, player: str, amount_minor: int, reference: str) -> Funds:
        """Take a stake."""
        return self._move(player, -amount_minor, reference)

    def credit(self, player: str, amount_minor: int, reference: str) -> Funds:
        """Pay out."""
        return self._move(player, amount_minor, reference)

    def cancel(self, player: str, reference: str) -> None:
        """Undo a movement."""
        change_minor, _ = self._moved.pop(reference, (0, None))
        self._balances[player] = self.balance_minor(player) - change_minor

    def _move(self, player: str, change_minor: int, reference: str) -> Funds:
        if reference in self._moved:
            return self._moved[reference][1]
        after = self.balance_minor(player) + change_minor
        self._balances[player] = after
        answer = Funds(
            direction="debit" if change_minor < 0 else "credit",
            cash_minor=abs(change_minor),
            incentive_minor=0,
            transaction=reference,
            answer="accepted",
            balance_after_minor=after,
        )
        self._moved[reference] = (change_minor, answer)
        return answer


def recorded_balance_minor(events: Sequence[Recorded]) -> int | None:
    """Return the balance that the last recorded movement of money left, None where none says."""
    for recorded in reversed(events):
        funds = getattr(recorded.event.data, "funds", None)
        if isinstance(funds, Funds) and funds.balance_after_minor is not None:
            return funds.balance_after_minor
    return None
