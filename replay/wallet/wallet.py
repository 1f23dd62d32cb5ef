"""The operator's wallet as the live table sees it, what it may answer, and one in memory."""

from collections.abc import Sequence
from typing import Final, Protocol, TypeAlias, runtime_checkable

from shoeproof.ledger import Recorded
from shoeproof.ledger.leaf.events import Funds, Mode, RoundOpened
from shoeproof.ledger.store.intents import Direction
from shoeproof.replay.currency import unit_of

HELD: Final = "held"
"""The wallet's answer where part of a payment waits for verification and is not credited yet."""

ACCEPTED: Final = frozenset(
    {
        "accepted", "approved", "completed", "confirmed", "done", "ok", "processed", "settled",
        "success", "successful", "succeeded", HELD,
    }
)  # fmt: skip
"""The answers that are acceptances, in any case. An adapter maps its wallet's own words to
`accepted`, `declined` and `held`; whatever is not in this list moved nothing.
"""


def is_accepted(answer: str | None) -> bool:
    """Tell whether an answer lets a movement stand; None, where nothing was answered, refuses none.

    Whether an answer may be missing is for `wallet_check` to say.
    """
    return answer is None or answer.strip().lower() in ACCEPTED


def is_held(funds: Funds) -> bool:
    """Tell whether the wallet said that part of a payment waits."""
    return funds.answer is not None and funds.answer.strip().lower() == HELD


class Wallet(Protocol):
    """Moves a player's money.

    `reference` names a movement uniquely: a repeated call is the same movement and has the same
    answer. A reference that was cancelled is never used again, and a movement that comes in after
    its cancellation overtook it moves nothing. A wallet that does not answer, or not so that it is
    certain what it did, raises: the movement is then cancelled, or a payment asked for again.
    """

    def balance_minor(self, player: str) -> int | None:
        """Return what the player can still stake, None when the wallet does not say."""

    def debit(self, player: str, amount_minor: int, reference: str) -> Funds:
        """Take a stake."""

    def credit(self, player: str, amount_minor: int, reference: str) -> Funds:
        """Pay out."""

    def cancel(self, player: str, reference: str) -> None:
        """Undo the movement of that reference; undoing one that never was is not an error."""


@runtime_checkable
class OperatorsWallet(Protocol):
    """A wallet of all rounds of an operator, which is asked in the currency of each.

    It moves money, so it is never used for a round played for fun.
    """

    def in_unit(self, unit: str) -> Wallet:
        """Return it as the wallet of amounts of this unit (`shoeproof.replay.currency`)."""

    def cancel(self, player: str, reference: str) -> None:
        """Undo the movement of that reference; undoing one that never was is not an error."""


AnyWallet: TypeAlias = Wallet | OperatorsWallet


def in_unit(wallet: AnyWallet | None, unit: str, mode: Mode = "real") -> Wallet | None:
    """Return the wallet that amounts of a unit are moved by, None where none is."""
    if not isinstance(wallet, OperatorsWallet):
        return wallet
    return wallet.in_unit(unit) if mode == "real" else None


def for_round(wallet: AnyWallet | None, opened: RoundOpened) -> Wallet | None:
    """Return the wallet that a round's money is moved by, None where none is."""
    return in_unit(wallet, unit_of(opened), opened.mode)


class MemoryWallet:
    """A wallet in memory; every player begins with the same balance.

    Where it is not `of_money`, no operator's wallet stands behind it and its movements bear no
    answer: so play for fun is recorded.
    """

    def __init__(self, opening_balance_minor: int, *, of_money: bool = True) -> None:
        """Give every player `opening_balance_minor` to begin with."""
        self._opening_minor = opening_balance_minor
        self._answer = "accepted" if of_money else None
        self._balances: dict[str, int] = {}
        self._moved: dict[str, tuple[int, Funds]] = {}
        self._cancelled: set[str] = set()

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
        """Undo a movement, also one that comes in later."""
        self._cancelled.add(reference)
        change_minor, _ = self._moved.pop(reference, (0, None))
        self._balances[player] = self.balance_minor(player) - change_minor

    def _move(self, player: str, change_minor: int, reference: str) -> Funds:
        if reference in self._moved:
            return self._moved[reference][1]
        if reference in self._cancelled:
            direction: Direction = "debit" if change_minor < 0 else "credit"
            return Funds(direction, abs(change_minor), 0, None, "declined", None)
        after = self.balance_minor(player) + change_minor
        self._balances[player] = after
        answer = Funds(
            direction="debit" if change_minor < 0 else "credit",
            cash_minor=abs(change_minor),
            incentive_minor=0,
            transaction=reference,
            answer=self._answer,
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
