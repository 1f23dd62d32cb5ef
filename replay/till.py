"""A round's movements of money: each with a reference of its own, and all of a turn taken back
together when the turn cannot be written.
"""

import secrets
from collections.abc import Iterable

import msgspec

from ledger.events import BetSettled, Funds
from replay.currency import amount_text
from replay.errors import StakeRefused
from replay.money_check import HELD
from replay.wallet import Wallet


class Till:
    """Moves one player's money for one round; without a wallet every movement is unknown."""

    def __init__(self, wallet: Wallet | None, player: str, round_id: str, currency: str) -> None:
        """Move money by `wallet`; `currency` is the round's."""
        self._wallet, self._player = wallet, player
        self._round_id, self._currency = round_id, currency
        self._moved: list[str] = []
        self._token = ""

    def debit(self, amount_minor: int, what: str) -> Funds | None:
        """Take a stake and return what the wallet answers; StakeRefused where it is too low."""
        if self._wallet is None:
            return None
        balance = self._wallet.balance_minor(self._player)
        if balance is not None and balance < amount_minor:
            stake = amount_text(amount_minor, self._currency)
            left = amount_text(balance, self._currency)
            raise StakeRefused(f"the stake is {stake}, the balance only {left}")
        return self._wallet.debit(self._player, amount_minor, self._reference(what))

    def pay(self, due: Iterable[BetSettled], held_minor: int) -> list[BetSettled]:
        """Pay settlements and return them with the wallet's answers.

        The first `held_minor` of them are not paid: they wait for a person's verification.
        """
        if self._wallet is None:
            return list(due)
        paid = []
        for bet in due:
            kept = min(held_minor, bet.paid_minor)
            held_minor -= kept
            funds = None
            if bet.paid_minor > kept:
                reference = self._reference(f"paid-{bet.hand}-{bet.bet}")
                funds = self._wallet.credit(self._player, bet.paid_minor - kept, reference)
            if kept:
                moved = funds or Funds("credit", 0, 0, None, None, None)
                funds = msgspec.structs.replace(moved, answer=HELD)
            paid.append(msgspec.structs.replace(bet, funds=funds))
        return paid

    def keep(self) -> None:
        """Let the turn's movements stand: it is written."""
        self._moved.clear()

    def take_back(self) -> None:
        """Cancel the turn's movements: it could not be written."""
        if self._wallet is not None:
            for reference in self._moved:
                self._wallet.cancel(self._player, reference)
        self._moved.clear()

    def _reference(self, what: str) -> str:
        # Of two processes that make one turn, the one refused cancels what it moved: its own.
        self._token = self._token or secrets.token_hex(4)
        reference = f"{self._round_id}/{what}/{self._token}"
        self._moved.append(reference)
        return reference
