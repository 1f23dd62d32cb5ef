"""A round being played: takes stakes and decisions, deals from its shoe, records every turn.

What happens between two inputs of the player is one transaction; `deal` and `decide` return, and a
card may be shown, only once it is durable. Every time is the journal's, taken once a turn: what is
judged late is judged by the time it is recorded with. Where the policy's default is due it comes
first: whatever the player sends then is refused, and the default applied, in one transaction.

Where a wallet pays, what was won is asked for once the turn that decided it is written, and
recorded, with the next offer or the end of the round, in a transaction that follows
(`shoeproof.replay.live.till`). One round is one at a time: of two inputs that rest on one view, by
threads or by processes, the second is refused, and the round shows what the first came to.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Literal, NoReturn

from shoeproof.ledger.errors import StreamClosed, StreamConflict
from shoeproof.ledger.leaf.clock import format_time
from shoeproof.ledger.leaf.events import (
    ConnectionLost,
    ConnectionRestored,
    DealRequested,
    DecisionMade,
    EventData,
    InputRefused,
    StakesPlaced,
    ViewAcknowledged,
)
from shoeproof.replay.engine.round import (
    Decide,
    Stakes,
    added_stake_minor,
    apply,
    describe,
    open_round,
    stakes_minor,
)
from shoeproof.replay.errors import InputOvertaken, InputRefusedError
from shoeproof.replay.interruptions.waiting import Outage, default_due
from shoeproof.replay.live.in_play import RoundInPlay
from shoeproof.replay.live.turn import ASIDES, plain_stakes

LOSS_OF_COMMUNICATION = 2

_TRIES = 20


class LiveRound(RoundInPlay):
    """One round being played; threads may share it."""

    # What the player does

    # `view_seq` is the `seq` that the player's view rests on, where the caller knows it. An input
    # that was taken at that view before is a retry: it returns, and the round shows what it came
    # to, also where another process had taken it. Another input at an old view is overtaken.

    def place(self, stakes: Stakes, *, view_seq: int | None = None) -> None:
        """Record the chips laid so far.

        Raises StakeRefused for stakes the table cannot take, InputOvertaken and InputRefusedError.
        """
        laid = StakesPlaced(plain_stakes(stakes))
        with self._input("place stakes", view_seq):
            if self._was_taken(view_seq, lambda data: data == laid):
                return
            moment = self._begin("place stakes")
            self.table.check_stakes(stakes)
            self._write([laid], moment)
            self._placed = laid.stakes

    def deal(
        self, stakes: Stakes, client_seed: bytes = b"", *, view_seq: int | None = None
    ) -> None:
        """Take the final stakes, deal, and play on until a decision is due or the round is over.

        `client_seed` is the player's part of the shoe, at most 64 bytes. Raises StakeRefused for
        stakes that the table or the wallet does not take, ShoeError for a client seed that is too
        long, InputOvertaken and InputRefusedError. What the wallet raises comes through: where it
        was asked for the stake nothing is dealt; where it was asked for a payment the turn stands,
        and `settle_up` asks again.
        """
        asked = plain_stakes(stakes), client_seed.hex()
        with self._input("deal", view_seq):
            if self._was_taken(view_seq, lambda data: _dealt(data) == asked):
                return
            moment = self._begin("deal")
            self.table.check_stakes(stakes)
            self.restore_shoe(client_seed)
            state = open_round(self.table.rules, stakes)
            staked = stakes_minor(stakes)
            funds = self._till.debit(staked, "deal", self._last_seq)
            requested = DealRequested(*asked, funds)
            self._finish_turn(state, [requested], moment)

    def decide(self, hand: str, act: str, *, view_seq: int | None = None) -> None:
        """Take a decision of `hand` and play on until the next is due or the round is over.

        Raises InputRefusedError, and records the refusal, when no such decision is due, the act is
        not offered, or the default was due before: then it is applied. Raises InputOvertaken where
        another input came first, and what `deal` does about money.
        """
        came = f"{hand} {act}"
        with self._input(came, view_seq):
            if self._was_taken(view_seq, lambda data: _decided(data) == (hand, act)):
                return
            moment, due = self._now(), self.due
            if self.state is None or not isinstance(due, Decide):
                self._refuse(came, "closed", "no decision is due in this round", moment)
            self._refuse_late(came, moment)
            if due.hand != hand or act not in self.offered:
                wanted = f"{describe(due)} is due; offered: {', '.join(self.offered)}"
                self._refuse(came, "illegal", wanted, moment)
            added, state = added_stake_minor(self.state, act), apply(self.state, act)
            funds = self._till.debit(added, f"{hand}-{act}", self._last_seq) if added else None
            made = DecisionMade(hand, act, "player", None, added, funds)
            self._finish_turn(state, [made], moment)

    def acknowledge(self, leaf_index: int) -> None:
        """Record the last leaf that the player's device says it showed.

        Raises InputRefusedError, and records the refusal, where the ledger has no such leaf.
        """
        with self._one:
            if not 0 <= leaf_index < self.table.ledger.size():
                why = "the ledger has no such leaf"
                self._refuse(f"acknowledging leaf {leaf_index}", "illegal", why, self._now())
            self._aside(ViewAcknowledged(leaf_index))

    # What happens to the round

    def lose_connection(self, cause: int = LOSS_OF_COMMUNICATION, note: str | None = None) -> None:
        """Record that the player's connection was lost, by its cause code (`events.Incident`)."""
        self._aside(ConnectionLost(cause, None, note))

    def restore_connection(
        self, cause: int = LOSS_OF_COMMUNICATION, note: str | None = None
    ) -> None:
        """Record that the connection is back; chips laid without a deal go back where they are to.

        Where the default was due before, it is applied instead: look at `is_over`.
        """
        restored = ConnectionRestored(cause, None, note)
        goes_back = self.policy is not None and self.policy.stakes_before_deal == "returned"
        with self._one:
            if self.state is None and goes_back and self.waiting.laid and not self.is_over:
                self._return_stakes([restored], self._now(), "connection restored")
            else:
                self._aside(restored)

    def apply_due(self, outages: Iterable[Outage] | None = None) -> bool:
        """Do what the policy requires of the system now, and tell whether there was anything.

        Stakes without a deal go back, open hands stand, open questions of insurance are declined. A
        round in which no input is open any more is dealt and settled to its end. `outages` are
        what puts the default off, where the caller has read it.
        """
        with self._one:
            if self.is_over:
                return False
            moment = self._now()
            if self.state is not None and not isinstance(self.due, Decide):
                self._finish_turn(self.state, [], moment)
                return True
            if self.is_unpaid:
                self.settle_up()
                return True
            if outages is None:
                due = self.default_due(moment)
            else:
                due = default_due(self.waiting, self.policy, outages, moment)
            if due is None or moment < due:
                return False
            self._apply_default([], moment)
            return True

    # What is refused, and what is written

    @contextmanager
    def _input(self, came: str, view_seq: int | None) -> Iterator[None]:
        """Take one input of the player at a time; refuse it if its view is out of date."""
        view, acts = self._last_seq if view_seq is None else view_seq, self._acts
        with self._one:
            try:
                if self._acts != acts and view_seq is None:
                    raise StreamConflict("another thread's input came first")
                self._catch_up(view_seq)
                yield
            except (StreamConflict, StreamClosed) as error:
                if isinstance(error, InputRefusedError):
                    raise
                self._refuse_overtaken(came, view, error)

    def _catch_up(self, view_seq: int | None) -> None:
        """Read the round again after a write that failed: it may have been written."""
        if self._is_stale and self._refresh() and view_seq is None:
            raise StreamConflict("the round had gone on")
        self._till.mend()
        self.settle_up()

    def _was_taken(self, view_seq: int | None, is_it: Callable[[EventData], bool]) -> bool:
        """Tell whether this very input was taken at this view before.

        Raises StreamConflict where another one was.
        """
        if view_seq is None:
            return False
        after = [
            each.event.data
            for each in self.table.ledger.events_after(self.round_id, view_seq)
            if not isinstance(each.event.data, ASIDES)
        ]
        if not after:
            return False
        if is_it(after[0]):
            if self._last_seq <= view_seq:
                self._refresh()
                self.settle_up()
            return True
        raise StreamConflict("another input came first")

    def _refuse_overtaken(self, came: str, view: int, error: Exception) -> NoReturn:
        acts = self._acts
        for _ in range(_TRIES):
            went_on = self._refresh() or self._acts != acts
            if self.is_over or not went_on:
                break
            try:
                self._write([InputRefused(came, "overtaken", view)], self._now())
                break
            except StreamConflict:
                continue
        # What the wallet does not answer now is asked for again with the next input.
        with suppress(Exception):
            self.settle_up()
        stands = "the round is over"
        if not self.is_over:
            offered = ", ".join(self.offered) or "nothing yet"
            stands = f"{describe(self.due) if self.due else 'a deal'} is due; offered: {offered}"
        raise InputOvertaken(
            f"{came} was refused: another input of this round came first; {stands}"
        ) from error

    def _begin(self, what: str) -> datetime:
        moment = self._now()
        if self.state is not None or self.is_over:
            why = "the round is void" if self.state is None else "the cards are dealt"
            self._refuse(what, "closed", why, moment)
        if self.waiting.laid:
            self._refuse_late(what, moment)
        return moment

    def _refuse_late(self, came: str, moment: datetime) -> None:
        due = self.default_due(moment)
        if due is None or moment < due:
            return
        self._apply_default([InputRefused(came, "late")], moment)
        done = "the stakes go back" if self.state is None else "the system stood"
        raise InputRefusedError(
            f"{came} was refused: it came at {format_time(moment)}, and what is done for a player"
            f" who does not play was due at {format_time(due)}: {done}"
        )

    def _refuse(
        self, came: str, reason: Literal["illegal", "closed"], why: str, moment: datetime
    ) -> NoReturn:
        if not self.is_over:
            self._write([InputRefused(came, reason)], moment)
        raise InputRefusedError(f"{came} was refused: {why}")

    def _aside(self, data: EventData) -> None:
        with self._one:
            for _ in range(_TRIES):
                if self._is_stale:
                    self._refresh()
                if self.is_over:
                    raise InputRefusedError(
                        f"the round {self.round_id} has ended: nothing may follow"
                    )
                moment = self._now()
                due = self.default_due(moment)
                try:
                    if due is not None and moment >= due:
                        self._apply_default([], moment)
                    else:
                        self._write([data], moment)
                    return
                except (StreamConflict, StreamClosed):
                    self._is_stale = True
            raise InputOvertaken(f"the round {self.round_id} goes on elsewhere: try again")


def _dealt(data: EventData) -> tuple[Stakes, str] | None:
    return (data.stakes, data.client_seed) if isinstance(data, DealRequested) else None


def _decided(data: EventData) -> tuple[str, str] | None:
    if isinstance(data, DecisionMade) and data.actor == "player":
        return data.hand, data.act
    return None
