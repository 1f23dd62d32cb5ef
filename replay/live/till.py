"""A round's movements of money: each asked for by a reference of its own, and known to the store
before the wallet hears of it.

A stake is debited before its turn is written, and cancelled where the turn is not. A payment is
credited after what decided it is written: what is paid is certain by then, its reference is that of
its bet, and it is asked for again, by the process that goes on with the round, until it is
recorded. Where turns do not go to the ledger itself, neither holds: payments are made before the
turn is passed on, and all of a turn is taken back together.
"""

import secrets
from collections.abc import Iterable
from contextlib import suppress

import msgspec

from shoeproof.ledger.errors import IntentOpen
from shoeproof.ledger.leaf.events import BetSettled, Funds
from shoeproof.ledger.store.intents import Intents
from shoeproof.replay.currency import amount_text
from shoeproof.replay.errors import StakeRefused
from shoeproof.replay.rounds.money_check import moves
from shoeproof.replay.wallet.intents import PATIENCE_SECONDS, FundsRequest, ask_first, give_up
from shoeproof.replay.wallet.wallet import HELD, Wallet, is_accepted


class Till:
    """Moves one player's money for one round; without a wallet every movement is unknown."""

    def __init__(
        self,
        wallet: Wallet | None,
        player: str,
        round_id: str,
        currency: str,
        intents: Intents | None,
    ) -> None:
        """Move money by `wallet`; `currency` is the round's.

        `intents` are the ledger's, None where turns do not go to the ledger itself.
        """
        self._wallet, self._player = wallet, player
        self._round_id, self._currency = round_id, currency
        self._intents = intents
        self._moved: list[str] = []
        self._owed: list[str] = []

    @property
    def pays_after(self) -> bool:
        """Whether payments are asked for once what decided them is written."""
        return self._wallet is not None and self._intents is not None

    @property
    def asked(self) -> tuple[str, ...]:
        """The references that the turn's events settle."""
        return tuple(self._moved) if self._intents is not None else ()

    def balance_minor(self) -> int | None:
        """Return what the player can still stake, None where that cannot be had."""
        if self._wallet is not None:
            # A player who stakes more than there is hears so from the debit.
            with suppress(Exception):
                balance = self._wallet.balance_minor(self._player)
                # An answer without an amount says as little as no answer.
                return balance if isinstance(balance, int) else None
        return None

    def debit(self, amount_minor: int, what: str, after_seq: int) -> Funds | None:
        """Take a stake and return what the wallet answers.

        `after_seq` is the last event of the round that the player saw. Raises StakeRefused where
        the balance is too low, or the wallet declines or moves another amount, and what the wallet
        raises: nothing is played on a stake that was not taken, and what may have been moved is
        cancelled.
        """
        if self._wallet is None:
            return None
        balance = self.balance_minor()
        if balance is not None and balance < amount_minor:
            stake, left = self._text(amount_minor), self._text(balance)
            raise StakeRefused(f"the stake is {stake}, the balance only {left}")
        self.mend()
        scope = f"{self._round_id}/{what}/{after_seq + 1}"
        reference = self._reference(self._wallet, scope, amount_minor, after_seq)
        try:
            funds = self._wallet.debit(self._player, amount_minor, reference)
            self._must_be_moved(funds, amount_minor)
        except BaseException:
            self.take_back()
            raise
        return msgspec.structs.replace(funds, reference=reference)

    def _must_be_moved(self, funds: Funds, amount_minor: int) -> None:
        stake = self._text(amount_minor)
        if not is_accepted(funds.answer):
            raise StakeRefused(f"the wallet answered {funds.answer!r} to the stake of {stake}")
        # A journal of one's own is passed what the wallet says, whatever that is.
        if self._intents is not None and not moves(funds, "debit", amount_minor):
            moved = self._text(funds.total_minor)
            raise StakeRefused(f"the wallet reports a {funds.direction} of {moved} for {stake}")

    def pay(self, due: Iterable[BetSettled], held_minor: int) -> list[BetSettled]:
        """Pay settlements and return them with the wallet's answers.

        The first `held_minor` of them are not paid: they wait for a person's verification.
        """
        if self._wallet is None:
            return list(due)
        # The balance that a wallet names may or may not hold a stake that is being taken back.
        names_balance = self._intents is None or self._intents.all_recorded(self._round_id)
        paid = []
        for bet in due:
            kept = min(held_minor, bet.paid_minor)
            held_minor -= kept
            funds = None
            if bet.paid_minor > kept:
                funds = self._credit(self._wallet, bet, bet.paid_minor - kept)
                if not names_balance:
                    funds = msgspec.structs.replace(funds, balance_after_minor=None)
            if kept:
                moved = funds or Funds("credit", 0, 0, None, None, None)
                funds = msgspec.structs.replace(moved, answer=HELD)
            paid.append(msgspec.structs.replace(bet, funds=funds))
        return paid

    def _credit(self, wallet: Wallet, bet: BetSettled, amount_minor: int) -> Funds:
        reference = f"{self._round_id}/paid-{bet.hand}-{bet.bet}"
        if self._intents is None:
            reference = self._reference(wallet, reference, amount_minor, 0)
        else:
            self._intents.must_stand()
        funds = wallet.credit(self._player, amount_minor, reference)
        return msgspec.structs.replace(funds, reference=reference)

    def keep(self) -> None:
        """Let the turn's movements stand: it is written."""
        self._moved.clear()

    def take_back(self) -> None:
        """Cancel the turn's movements, unless it was written after all."""
        moved, self._moved = self._moved, []
        if self._intents is not None:
            self._owed += moved
            self.mend()
        elif self._wallet is not None:
            for reference in moved:
                self._wallet.cancel(self._player, reference)

    def mend(self) -> None:
        """Cancel what could not be cancelled before."""
        if self._wallet is not None and self._intents is not None:
            intents, wallet, player = self._intents, self._wallet, self._player
            self._owed = [each for each in self._owed if not give_up(intents, wallet, player, each)]

    def _reference(self, wallet: Wallet, scope: str, amount_minor: int, after_seq: int) -> str:
        if self._intents is not None:
            asked = FundsRequest(scope, self._round_id, self._player, amount_minor, after_seq)
            # What this process itself could not give up is waited for by nobody.
            patience = 0.0 if self._owed else PATIENCE_SECONDS
            try:
                reference = ask_first(self._intents, wallet, asked, patience_seconds=patience)
            except IntentOpen as error:
                # While what was taken before may still be there, the balance would tell.
                raise StakeRefused(f"try again when the wallet answers: {error}") from error
        else:
            # Of two processes that make one turn, the one refused cancels what it moved: its own.
            reference = f"{scope}.{secrets.token_hex(4)}"
        self._moved.append(reference)
        return reference

    def _text(self, minor: int) -> str:
        return amount_text(minor, self._currency)
