"""The operator's wallet as commands that pay ask it, and what they say where there is none."""

import os
from collections.abc import Iterable
from typing import Final

from shoeproof.cli.errors import say
from shoeproof.cli.screen.render import amount
from shoeproof.ledger import Recorded
from shoeproof.replay.rounds.wallet_check import has_wallet
from shoeproof.replay.wallet.http import HttpWallet

WALLET_VARIABLE: Final = "SHOEPROOF_WALLET"
"""The environment variable that holds the wallet's URL; no ledger's directory may say it."""

TOKEN_VARIABLE: Final = "SHOEPROOF_WALLET_TOKEN"
"""The environment variable that holds the bearer token the operator's wallet asks for."""


def operators_wallet() -> HttpWallet | None:
    """Return the operator's wallet, None where the environment names none."""
    url = os.environ.get(WALLET_VARIABLE)
    return None if not url else HttpWallet(url, token=os.environ.get(TOKEN_VARIABLE))


def pay_by_hand(amount_minor: int, currency: str, wallet: object, told: Iterable[Recorded]) -> None:
    """Say on stderr that an amount is to be paid by hand, where a wallet moved money before.

    `told` are the events of what is paid for. The ledger records such a payment as not answered
    for, which an audit finds until somebody proves it.
    """
    if wallet is None and amount_minor and has_wallet(list(told)):
        paid = amount(amount_minor, currency)
        say(
            f"{paid} is to be paid by hand: no wallet is configured, and the ledger records it as "
            "not answered for"
        )
