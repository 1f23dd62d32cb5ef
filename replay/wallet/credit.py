"""Wallet credits for events about to be recorded: all of them accepted, or all cancelled."""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import msgspec

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import Funds
from shoeproof.replay.currency import amount_text
from shoeproof.replay.errors import DisputeRefused
from shoeproof.replay.wallet.intents import IN_FLIGHT, give_up, settle_open
from shoeproof.replay.wallet.wallet import Wallet, is_accepted


class Credits(NamedTuple):
    """The wallet's answers by purpose, and the references that the events settle."""

    answers: Mapping[str, Funds]
    records: tuple[str, ...] = ()


@contextmanager
def credited(
    ledger: Ledger,
    stream: str,
    wallet: Wallet | None,
    player: str,
    amounts: Mapping[str, int],
    currency: str,
) -> Iterator[Credits]:
    """Credit amounts in minor units by what they are for, and give the wallet's answers.

    The block records in `stream` what they pay; where that does not come to stand, every credit is
    cancelled, now or at the next sweep. Without a wallet there are no answers: the payment is to be
    made by hand, and is recorded as not answered for. Raises DisputeRefused where the wallet
    declines, or moves another amount, and what the wallet raises.
    """
    if wallet is None:
        yield Credits({})
        return
    settle_open(ledger, wallet, stream, older_than=IN_FLIGHT)
    # A name of its own for each attempt: to cancel one that lost a race must not cancel the winner.
    token = secrets.token_hex(4)
    asked: list[str] = []
    try:
        answers = {}
        for what, minor in amounts.items():
            intent = ledger.intents.ask(f"{what}/{token}", stream, player, "credit", minor)
            asked.append(intent.reference)
            answer = wallet.credit(player, minor, intent.reference)
            _must_be_moved(answer, minor, currency)
            answers[what] = msgspec.structs.replace(answer, reference=intent.reference)
        yield Credits(answers, tuple(asked))
    except BaseException:
        for reference in asked:
            give_up(ledger.intents, wallet, player, reference)
        raise


def _must_be_moved(funds: Funds, minor: int, currency: str) -> None:
    wanted = amount_text(minor, currency)
    if not is_accepted(funds.answer):
        raise DisputeRefused(
            f"the wallet answered {funds.answer!r} to a credit of {wanted}: nothing was recorded, "
            "and no money moved; settle it with the wallet and decide again"
        )
    moved = funds.total_minor
    if funds.direction != "credit" or moved != minor:
        said = amount_text(moved, currency)
        raise DisputeRefused(
            f"the wallet reports a {funds.direction} of {said} for a credit of {wanted}: nothing "
            "was recorded, and the movement was cancelled"
        )
