"""The sweep: what a scheduler calls to do what policies have the system do for absent players.

It may be run as often as wanted and by several processes at once. Every round is pinned to the last
event that was read of it, so that of two sweeps, or a sweep and a player, one comes first and the
other changes nothing. What was killed half-way is whole as far as it came, and goes on at the next.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Literal, TypeAlias

import msgspec

from ledger import Ledger, Recorded
from ledger.clock import format_time
from ledger.errors import StreamConflict
from replay.batch import Batch
from replay.errors import ReplayError
from replay.live_round import LiveRound
from replay.open_rounds import OpenRounds
from replay.resume import Resumption
from replay.waiting import waiting_of
from replay.wallet import Wallet

ROUNDS_A_BATCH = 100
"""Rounds ended in one transaction: most of the gain, and little to do again after a conflict."""

Deed: TypeAlias = Literal["stood", "returned", "finished"]
"""What was done: every open hand stood, stakes without a deal returned, or a round that waited for
nobody played to its end."""


class Swept(msgspec.Struct, frozen=True):
    """A round that was ended, and what it came to, in minor units of its currency.

    `default_due` is when it was due, None where no input had been open.
    """

    round: str
    player: str
    did: Deed
    default_due: str | None
    paid_minor: int
    held_minor: int
    currency: str


class Skipped(msgspec.Struct, frozen=True):
    """A round that was due and was left as it is."""

    round: str
    why: str


class SweepResult(msgspec.Struct, frozen=True):
    """What a sweep did at the time `at`: of `open_rounds` some were due, `next_due` comes next."""

    at: str
    open_rounds: int
    swept: tuple[Swept, ...]
    skipped: tuple[Skipped, ...]
    next_due: str | None


def sweep(
    ledger: Ledger,
    *,
    wallet: Wallet | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> SweepResult:
    """Do in every open round what is due by the ledger's clock.

    With a `wallet`, which cannot take back what a transaction of many rounds could not write, each
    round is written by itself. `progress` is told rounds done and rounds due. Raises KeyUnusable
    where a key to sign with is missing, and the store's errors; what was swept before stays.
    """
    now = ledger.now()
    rows = ledger.rounds(state="open")
    open_rounds = OpenRounds(ledger, now)
    due: list[tuple[list[Recorded], datetime | None]] = []
    later: list[datetime] = []
    for events in open_rounds.read(rows):
        waiting = waiting_of(events)
        moment = open_rounds.due(events, waiting)
        if waiting.dealt and not waiting.offered:
            due.append((events, None))
        elif moment is not None and moment <= now:
            due.append((events, moment))
        elif moment is not None:
            later.append(moment)
    broom = _Broom(ledger, wallet)
    for first in range(0, len(due), ROUNDS_A_BATCH):
        broom.sweep(due[first : first + ROUNDS_A_BATCH])
        if progress is not None:
            progress(len(broom.swept) + len(broom.skipped), len(due))
    return SweepResult(
        at=format_time(now),
        open_rounds=len(rows),
        swept=tuple(broom.swept),
        skipped=tuple(broom.skipped),
        next_due=format_time(min(later)) if later else None,
    )


class _Broom:
    """Ends rounds, many in one transaction, and each by itself where that does not go."""

    def __init__(self, ledger: Ledger, wallet: Wallet | None) -> None:
        self.swept: list[Swept] = []
        self.skipped: list[Skipped] = []
        self._ledger = ledger
        self._batch = Batch(ledger)
        self._many = Resumption(ledger, journal=self._batch)
        self._single = Resumption(ledger, wallet=wallet)
        self._singly = wallet is not None

    def sweep(self, due: Sequence[tuple[list[Recorded], datetime | None]]) -> None:
        """End some rounds, given by their events and when it was due."""
        if not self._singly:
            swept, skipped = self._end(due, self._many)
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
            swept, skipped = self._end([(again, moment)], self._single)
            self.swept += swept
            self.skipped += skipped

    def _end(
        self, due: Sequence[tuple[list[Recorded], datetime | None]], resumption: Resumption
    ) -> tuple[list[Swept], list[Skipped]]:
        swept, skipped = [], []
        for events, moment in due:
            round_id = events[0].event.stream
            try:
                live = resumption.resume(events)
                done = live.apply_due()
            except StreamConflict:
                skipped.append(Skipped(round_id, "it went on elsewhere"))
            except ReplayError as error:
                skipped.append(Skipped(round_id, str(error)))
            else:
                if done:
                    swept.append(_told(live, moment))
                else:
                    skipped.append(Skipped(round_id, "it is not due any more"))
        return swept, skipped


def _told(live: LiveRound, due: datetime | None) -> Swept:
    did: Deed = "returned" if live.state is None else "finished" if due is None else "stood"
    return Swept(
        round=live.round_id,
        player=live.player,
        did=did,
        default_due=None if due is None else format_time(due),
        paid_minor=sum(bet.paid_minor for bet in live.settled),
        held_minor=live.held_minor,
        currency=live.table.settings.currency,
    )
