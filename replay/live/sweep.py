"""The sweep: a scheduler calls it to do what policies require for absent players.

It may be run as often as wanted and by several processes at once. Every round is pinned to the last
event that was read of it, so that of two sweeps, or a sweep and a player, one comes first and the
other changes nothing. What was killed half-way is whole as far as it came, and goes on at the next.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Literal, TypeAlias

import msgspec

from shoeproof.ledger import Ledger, Recorded
from shoeproof.ledger.errors import LedgerError, StreamConflict
from shoeproof.ledger.leaf.clock import format_time
from shoeproof.ledger.leaf.events import BetSettled
from shoeproof.replay.errors import ReplayError
from shoeproof.replay.interruptions.waiting import waiting_of
from shoeproof.replay.live.batch import Batch
from shoeproof.replay.live.live_round import LiveRound
from shoeproof.replay.live.open_rounds import OpenRounds
from shoeproof.replay.live.resume import take_up
from shoeproof.replay.rounds.wallet_check import has_wallet
from shoeproof.replay.wallet.intents import IN_FLIGHT, settle_open
from shoeproof.replay.wallet.wallet import AnyWallet

ROUNDS_A_BATCH = 250
"""Rounds ended in one transaction: most of the gain, and little to do again after a conflict."""

Deed: TypeAlias = Literal["stood", "returned", "finished", "paid"]
"""What was done: every open hand stood, stakes without a deal returned, a round that waited for
nobody played to its end, or paid what it had come to and goes on."""


_Due: TypeAlias = tuple[list[Recorded], datetime | None]
"""A round's events, and when it was due; None where no input is open in it."""


class Swept(msgspec.Struct, frozen=True):
    """A round that was ended, and its result, in minor units of its currency.

    `default_due` is when it was due, None where no input had been open. `by_hand_minor` is what is
    to be paid by hand: the round's stakes were debited by a wallet, and none was asked to pay.
    """

    round: str
    player: str
    did: Deed
    default_due: str | None
    paid_minor: int
    held_minor: int
    by_hand_minor: int
    currency: str


class Skipped(msgspec.Struct, frozen=True):
    """A round that was due and was left as it is."""

    round: str
    why: str


class SweepResult(msgspec.Struct, frozen=True):
    """What a sweep did at the time `at`: of `open_rounds` some were due, `next_due` comes next.

    `owed` are the references of movements that a wallet has still to cancel.
    """

    at: str
    open_rounds: int
    swept: tuple[Swept, ...]
    skipped: tuple[Skipped, ...]
    next_due: str | None
    owed: tuple[str, ...] = ()


def sweep(
    ledger: Ledger,
    *,
    wallet: AnyWallet | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> SweepResult:
    """Do what is due by the ledger's clock in every open round.

    With a `wallet` each round is written by itself, and what was asked of the wallet in turns that
    were never written is cancelled. `progress` is told rounds looked at and rounds in all. Raises
    KeyUnusable where a key to sign with is missing, ClockStepped where this host's clock leapt
    since the last sweep, SigningRefused for a restored copy of a ledger, which knows of nothing
    what became of it, and the store's errors; what was swept before stays.
    """
    ledger.growth.check()
    now = ledger.now()
    ledger.look_again()
    owed = [] if wallet is None else settle_open(ledger, wallet, older_than=IN_FLIGHT)
    rows = ledger.rounds(state="open")
    open_rounds = OpenRounds(ledger, now)
    broom = _Broom(ledger, open_rounds, wallet)
    next_due: datetime | None = None
    due: list[_Due] = []
    for number, events in enumerate(open_rounds.read(rows), start=1):
        waiting = waiting_of(events)
        moment = open_rounds.due(events, waiting)
        if waiting.dealt and not waiting.offered:
            due.append((events, None))
        elif moment is not None and moment <= now:
            due.append((events, moment))
        elif moment is not None:
            next_due = moment if next_due is None else min(moment, next_due)
        if len(due) == ROUNDS_A_BATCH:
            broom.sweep(due)
            due = []
        if progress is not None:
            progress(number, len(rows))
    broom.sweep(due)
    return SweepResult(
        at=format_time(now),
        open_rounds=len(rows),
        swept=tuple(broom.swept),
        skipped=tuple(broom.skipped),
        next_due=None if next_due is None else format_time(next_due),
        owed=tuple(intent.reference for intent in owed),
    )


class _Broom:
    """Ends rounds, many in one transaction, or one by one if that fails."""

    def __init__(self, ledger: Ledger, open_rounds: OpenRounds, wallet: AnyWallet | None) -> None:
        self._open_rounds = open_rounds
        self.swept: list[Swept] = []
        self.skipped: list[Skipped] = []
        self._ledger = ledger
        self._batch = Batch(ledger)
        self._wallet = wallet

    def _by_hand_minor(self, events: Sequence[Recorded], live: LiveRound) -> int:
        """Return what a round came to now for which no wallet was asked, though one debited."""
        if self._wallet is not None or not has_wallet(events):
            return 0
        before = sum(
            each.event.data.paid_minor for each in events if isinstance(each.event.data, BetSettled)
        )
        return sum(bet.paid_minor for bet in live.settled) - before - live.held_minor

    def sweep(self, due: Sequence[_Due]) -> None:
        """End some rounds."""
        if self._wallet is None:
            swept, skipped = self._end(due, self._batch)
            try:
                self._batch.flush()
            except StreamConflict:
                pass
            else:
                self.swept += swept
                self.skipped += skipped
                return
        for events, moment in due:
            again = self._ledger.events(events[0].event.stream)
            swept, skipped = self._end([(again, moment)])
            self.swept += swept
            self.skipped += skipped

    def _end(
        self, due: Sequence[_Due], journal: Batch | None = None
    ) -> tuple[list[Swept], list[Skipped]]:
        swept, skipped = [], []
        for events, moment in due:
            round_id = events[0].event.stream
            try:
                live = take_up(self._ledger, events, wallet=self._wallet, journal=journal)
                done = live.apply_due(self._open_rounds.outages(events))
            except StreamConflict:
                skipped.append(Skipped(round_id, "it went on elsewhere"))
            except ReplayError as error:
                skipped.append(Skipped(round_id, str(error)))
            except LedgerError:
                raise
            except Exception as error:
                if self._wallet is None:
                    raise
                why = f"the wallet did not answer, and is asked again: {one_line(error)}"
                skipped.append(Skipped(round_id, why))
            else:
                if done:
                    swept.append(_told(live, moment, self._by_hand_minor(events, live)))
                else:
                    skipped.append(Skipped(round_id, "it is no longer due"))
        return swept, skipped


def one_line(error: Exception) -> str:
    """Return what an error says, in one line."""
    return " ".join(str(error).split()) or type(error).__name__


def _told(live: LiveRound, due: datetime | None, by_hand_minor: int) -> Swept:
    did: Deed = "returned" if live.state is None else "finished" if due is None else "stood"
    if not live.is_over:
        did = "paid"
    return Swept(
        round=live.round_id,
        player=live.player,
        did=did,
        default_due=None if due is None else format_time(due),
        paid_minor=sum(bet.paid_minor for bet in live.settled),
        held_minor=live.held_minor,
        by_hand_minor=by_hand_minor,
        currency=live.table.settings.unit,
    )
