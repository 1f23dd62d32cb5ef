"""What was asked of a wallet and no event settles: it is cancelled, by its reference.

Every movement is an intent in the ledger's store before the wallet hears of it
(`shoeproof.ledger.store.intents`). Where its turn was not written, or the process died, the intent
is dropped first, so that no event can record the movement any more, and then the wallet is asked to
cancel it; whether that succeeds now or at the next occasion, it is asked again until it has
confirmed.
"""

import time
from contextlib import suppress
from datetime import timedelta
from typing import Final, NamedTuple

from shoeproof.ledger import Ledger
from shoeproof.ledger.errors import IntentOpen, LedgerError
from shoeproof.ledger.leaf.clock import parse_time
from shoeproof.ledger.store.intents import Intent, Intents
from shoeproof.replay.wallet.wallet import AnyWallet

IN_FLIGHT: Final = timedelta(minutes=2)
"""How long a movement may be under way in a running server before a sweep gives it up."""

PATIENCE_SECONDS: Final = 10.0
"""How long another process's stake for the same step is waited for."""

_PAUSE_SECONDS: Final = 0.02


class FundsRequest(NamedTuple):
    """A stake that is about to be asked for: `scope` is the step of the round, `after_seq` the last
    event of the round that the player saw.
    """

    scope: str
    round_id: str
    player: str
    amount_minor: int
    after_seq: int


def give_up(intents: Intents, wallet: AnyWallet, player: str, reference: str) -> bool:
    """Cancel a movement unless an event records it, and tell whether nothing is owed any longer.

    Neither a store nor a wallet that does not answer raises anything: what is owed stays owed.
    """
    try:
        if intents.drop(reference) != "dropped":
            return True
    except LedgerError:
        return False
    try:
        wallet.cancel(player, reference)
    except Exception:
        return False
    with suppress(LedgerError):
        intents.confirm(reference)
    return True


def settle_open(
    ledger: Ledger,
    wallet: AnyWallet,
    stream: str | None = None,
    *,
    older_than: timedelta = timedelta(0),
) -> list[Intent]:
    """Give up what was asked for one stream, or for all, and return what is owed still.

    What a turn in another process has asked for and not yet recorded is taken from it: that turn is
    refused. With `older_than` what was asked for since is left alone. Raises SigningRefused, and
    cancels nothing, where the ledger does not extend its guard.
    """
    ledger.growth.check()
    now = ledger.now()
    return [
        intent
        for intent in ledger.intents.open(stream)
        if (intent.state == "dropped" or now - parse_time(intent.asked_at) >= older_than)
        and not give_up(ledger.intents, wallet, intent.player, intent.reference)
    ]


def ask_first(
    intents: Intents,
    wallet: AnyWallet,
    intent: FundsRequest,
    *,
    patience_seconds: float = PATIENCE_SECONDS,
) -> str:
    """Write that a stake is about to be asked for, and return its reference.

    Another stake of the player goes first. Where it is of the same round, and comes to no end
    within `patience_seconds`, the process that asked for it is taken to have died; that of another
    round is its own table's business, and the sweep's. Raises StreamConflict where the round went
    on meanwhile, and IntentOpen where another stake is still not settled.
    """
    until = time.monotonic() + patience_seconds
    while True:
        late = time.monotonic() >= until
        try:
            return intents.ask(
                intent.scope,
                intent.round_id,
                intent.player,
                "debit",
                intent.amount_minor,
                {intent.round_id: intent.after_seq},
            ).reference
        except IntentOpen:
            mine = [
                each for each in intents.open(intent.round_id) if late or each.state == "dropped"
            ]
            gone = [give_up(intents, wallet, each.player, each.reference) for each in mine]
            if not all(gone) or (late and not gone):
                raise
            if not gone:
                time.sleep(_PAUSE_SECONDS)
