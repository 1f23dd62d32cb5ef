"""A round being played: takes stakes and decisions, deals from its shoe, records every turn.

What happens between two inputs of the player is one transaction; `deal` and `decide` return, and a
card may be shown, only once it is durable. Every time is the journal's, taken once a turn: what is
judged late is judged by the time it is recorded with. Where the policy's default is due it comes
first: whatever the player sends then is refused, and the default applied, in one transaction.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Literal, NamedTuple, NoReturn

from ledger.clock import format_time
from ledger.events import (
    HOLDS_PREFIX,
    BetSettled,
    CardDealt,
    ConnectionLost,
    ConnectionRestored,
    DealerChecked,
    DealRequested,
    DecisionMade,
    DecisionOffered,
    EventData,
    HoleCardShown,
    InputRefused,
    Refund,
    RoundClosed,
    RoundVoided,
    ShoeRevealed,
    StakesPlaced,
    ViewAcknowledged,
    WinHeld,
)
from replay.engine.cards import FACE_DOWN
from replay.engine.dealer import makes_natural
from replay.engine.hand import CASH_OUT, DECLINE, DOUBLE, INSURANCE, SPLIT, Act
from replay.engine.outcomes import outcomes
from replay.engine.round import (
    NATURAL,
    NO_NATURAL,
    Check,
    Deal,
    Decide,
    RoundState,
    Settle,
    Show,
    Stakes,
    added_stake_minor,
    apply,
    describe,
    open_round,
)
from replay.engine.shoe import Shoe
from replay.errors import InputRefusedError
from replay.policies import Policy
from replay.till import Till
from replay.waiting import Outage, Waiting, default_due, follow, held_minor, offer_deadline

if TYPE_CHECKING:
    from replay.table import LiveTable

LOSS_OF_COMMUNICATION = 2


class Position(NamedTuple):
    """Where a dealt round stands: its state, its settlements and the acts on offer."""

    state: RoundState
    settled: tuple[BetSettled, ...]
    offered: tuple[Act, ...]


class LiveRound:
    """One round being played. `state` is None until the deal.

    `hidden` holds acts the player chose not to be shown; `held_minor` is what of the win waits, at
    the end, for a person's verification.
    """

    def __init__(
        self,
        table: "LiveTable",
        round_id: str,
        player: str,
        seed: bytes,
        policy: Policy | None,
        opened_at: datetime,
    ) -> None:
        """Hold a round open; use `LiveTable.open_round` or `resume.resume_round`."""
        self.table = table
        self.round_id = round_id
        self.player = player
        self.policy = policy
        self.hidden: frozenset[Act] = frozenset()
        self.waiting = Waiting(opened_at)
        self._placed: Stakes = {}
        self.held_minor = 0
        self._position: Position | None = None
        self._seed = seed
        self._shoe: Shoe | None = None
        self._next_index = 0
        self._hole = FACE_DOWN
        self._last_seq = 1
        self._till = Till(table.wallet, player, round_id, table.settings.currency)

    @property
    def state(self) -> RoundState | None:
        """Return the state of the cards, None before the deal."""
        return None if self._position is None else self._position.state

    @property
    def settled(self) -> tuple[BetSettled, ...]:
        """Return the settlements so far."""
        return () if self._position is None else self._position.settled

    @property
    def due(self) -> Decide | Settle | None:
        """Return the decision that is due, Settle once the round is over, None before the deal."""
        due = None if self.state is None else self.state.due
        return due if isinstance(due, Decide | Settle) else None

    @property
    def offered(self) -> tuple[Act, ...]:
        """Return the acts the player may choose from now."""
        return () if self._position is None else self._position.offered

    @property
    def is_over(self) -> bool:
        """Tell whether the round has ended, settled or void."""
        return self.waiting.ended

    # What the player does

    def place(self, stakes: Stakes) -> None:
        """Record the chips laid so far; raises StakeRefused for stakes the table cannot take."""
        moment = self._begin("place stakes")
        self.table.check_stakes(stakes)
        self._write([StakesPlaced(_plain(stakes))], moment)
        self._placed = _plain(stakes)

    def deal(self, stakes: Stakes, client_seed: bytes = b"") -> None:
        """Take the final stakes, deal, and play on until a decision is due or the round is over.

        `client_seed` is the player's part of the shoe, at most 64 bytes. Raises StakeRefused for
        stakes the table cannot take and ShoeError for a client seed that is too long.
        """
        moment = self._begin("deal")
        self.table.check_stakes(stakes)
        self.restore_shoe(client_seed)
        state = open_round(self.table.rules, stakes)
        staked = sum(sum(bets.values()) for bets in stakes.values())
        funds = self._till.debit(staked, "deal")
        requested = DealRequested(_plain(stakes), client_seed.hex(), funds)
        self._finish_turn(state, [requested], moment)

    def decide(self, hand: str, act: Act) -> None:
        """Take a decision of `hand` and play on until the next is due or the round is over.

        Raises InputRefusedError, and records the refusal, when no such decision is due, the act is
        not offered, or the default was due before: then it is applied.
        """
        moment, due = self.table.journal.now(), self.due
        if self.state is None or not isinstance(due, Decide):
            self._refuse(f"{hand} {act}", "closed", "no decision is due in this round", moment)
        self._refuse_late(f"{hand} {act}", moment)
        if due.hand != hand or act not in self.offered:
            wanted = f"{describe(due)} is due; offered: {', '.join(self.offered)}"
            self._refuse(f"{hand} {act}", "illegal", wanted, moment)
        added = added_stake_minor(self.state, act)
        funds = self._till.debit(added, f"{hand}-{act}") if added else None
        made = DecisionMade(hand, act, "player", None, added, funds)
        self._finish_turn(apply(self.state, act), [made], moment)

    def acknowledge(self, leaf_index: int) -> None:
        """Record the last leaf that the player's device says it showed.

        Raises InputRefusedError, and records the refusal, where the ledger has no such leaf.
        """
        if not 0 <= leaf_index < self.table.ledger.size():
            why = "the ledger has no such leaf"
            moment = self.table.journal.now()
            self._refuse(f"acknowledging leaf {leaf_index}", "illegal", why, moment)
        self._aside(ViewAcknowledged(leaf_index))

    # What befalls the round

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
        if self.state is None and goes_back and self.waiting.laid and not self.is_over:
            self._return_stakes([restored], self.table.journal.now(), "connection restored")
        else:
            self._aside(restored)

    def default_due(self, now: datetime | None = None) -> datetime | None:
        """Return when the system is to act for the player, None for never as far as is known.

        `now` is by default the journal's time.
        """
        now = now or self.table.journal.now()
        due = default_due(self.waiting, self.policy, (), now)
        # What the service stood still only puts it off: it is read where it would be due.
        if due is None or now < due:
            return due
        return default_due(self.waiting, self.policy, self.table.outages(), now)

    def apply_due(self, outages: Iterable[Outage] | None = None) -> bool:
        """Do what the policy has the system do now, and tell whether there was anything.

        Stakes without a deal go back, open hands stand, open questions of insurance are declined. A
        round in which no input is open any more is dealt and settled to its end. `outages` are
        those of its table, where the caller has read them.
        """
        if self.is_over:
            return False
        moment = self.table.journal.now()
        if self.state is not None and not isinstance(self.due, Decide):
            self._finish_turn(self.state, [], moment)
            return True
        if outages is None:
            due = self.default_due(moment)
        else:
            due = default_due(self.waiting, self.policy, outages, moment)
        if due is None or moment < due:
            return False
        self._apply_default([], moment)
        return True

    # A round taken up again

    def restore_shoe(self, client_seed: bytes) -> None:
        """Bind the sealed seed to the player's part."""
        rules = self.table.rules
        self._shoe = Shoe(self._seed, self.round_id, self.table.digest, client_seed, rules.decks)

    def restore(
        self,
        state: RoundState,
        *,
        next_index: int,
        hole_index: int | None,
        offered: Iterable[Act],
        settled: Iterable[BetSettled],
    ) -> None:
        """Put the dealt round where its recorded events left it, with the same cards to come."""
        self._position = Position(state, tuple(settled), tuple(offered))
        self._next_index = next_index
        if self._shoe is not None and hole_index is not None:
            self._hole = self._shoe[hole_index]

    def follow(self, last_seq: int, waiting: Waiting, placed: Stakes) -> None:
        """Rest on the round's events up to `last_seq`: what comes after another is refused."""
        self._last_seq, self.waiting, self._placed = last_seq, waiting, placed

    # One turn

    def _finish_turn(self, state: RoundState, drafts: list[EventData], moment: datetime) -> None:
        def make() -> Position:
            return self._play_on(state, self.settled, drafts, Waiting(moment, dealt=True))

        self._make_turn(make, drafts, moment)

    def _apply_default(self, drafts: list[EventData], moment: datetime) -> None:
        position, policy = self._position, self.policy
        assert policy is not None
        assert policy.default is not None
        default, why = policy.default, f"{policy.default.says} ({policy.default.disclosed_in})"
        if position is None:
            self._return_stakes(drafts, moment, why)
            return
        begun = self.waiting._replace(by_default=True)

        def make() -> Position:
            at = position
            while isinstance(due := at.state.due, Decide):
                act = default.insurance if DECLINE in due.legal else default.act
                drafts.append(DecisionMade(due.hand, act, "system", why, 0, None))
                at = self._play_on(apply(at.state, act), at.settled, drafts, begun)
            return at

        self._make_turn(make, drafts, moment)

    def _return_stakes(self, drafts: list[EventData], moment: datetime, why: str) -> None:
        # Chips that were laid were not debited yet: what goes back moves no money.
        refunds = [
            Refund(seat, bet, minor)
            for seat, bets in self._placed.items()
            for bet, minor in bets.items()
        ]
        self._write([*drafts, ShoeRevealed(self._seed.hex()), RoundVoided(why, refunds)], moment)

    def _make_turn(
        self, make: Callable[[], Position], drafts: list[EventData], moment: datetime
    ) -> None:
        before = self._next_index, self._hole
        try:
            position = make()
            self._write(drafts, moment)
            self._position = position
        except BaseException:
            # What could not be written has not happened: the same cards come when it is retried,
            # and no money has moved.
            self._next_index, self._hole = before
            self._till.take_back()
            raise
        self._till.keep()

    def _play_on(
        self,
        state: RoundState,
        settled: tuple[BetSettled, ...],
        drafts: list[EventData],
        waiting: Waiting,
    ) -> Position:
        """Play to the next decision or the end, settle what that decided, and draft all of it.

        `waiting` is how the round waits for what is offered now.
        """
        state = self._play_out(state, drafts)
        due = _newly_decided(state, settled)
        over = not isinstance(state.due, Decide)
        held = held_minor(self.policy, [*settled, *due], len(settled)) if over else 0
        paid = self._till.pay(due, held)
        settled += tuple(paid)
        drafts += paid
        if isinstance(state.due, Decide):
            offer = self._offer(state, state.due, waiting)
            drafts.append(offer)
            return Position(state, settled, tuple(offer.legal))
        drafts.append(ShoeRevealed(self._seed.hex()))
        if held:
            drafts.append(WinHeld(self.round_id, held, "the net win awaits verification"))
        drafts.append(
            RoundClosed(
                sum(bet.stake_minor for bet in settled), sum(bet.paid_minor for bet in settled)
            )
        )
        return Position(state, settled, ())

    def _play_out(self, state: RoundState, drafts: list[EventData]) -> RoundState:
        while not isinstance(state.due, Decide | Settle):
            due = state.due
            if isinstance(due, Deal):
                index, card = self._draw()
                if due.down:
                    self._hole = card
                    drafts.append(CardDealt(index, due.receiver))
                    state = apply(state, FACE_DOWN)
                else:
                    drafts.append(CardDealt(index, due.receiver, card))
                    state = apply(state, card)
            elif isinstance(due, Check):
                natural = makes_natural(state.dealer, self._hole)
                drafts.append(DealerChecked(natural))
                state = apply(state, NATURAL if natural else NO_NATURAL)
            elif isinstance(due, Show):
                drafts.append(HoleCardShown(self._hole))
                state = apply(state, self._hole)
        return state

    def _draw(self) -> tuple[int, str]:
        assert self._shoe is not None
        index = self._next_index
        self._next_index += 1
        return index, self._shoe[index]

    def _offer(self, state: RoundState, due: Decide, waiting: Waiting) -> DecisionOffered:
        barred = {act: "hidden" for act in due.legal if act in self.hidden and act == CASH_OUT}
        wallet = self.table.wallet
        balance = None if wallet is None else wallet.balance_minor(self.player)
        if balance is not None:
            for act in due.legal:
                if act in (DOUBLE, SPLIT, INSURANCE) and added_stake_minor(state, act) > balance:
                    barred[act] = "funds"
        legal = [act for act in due.legal if act not in barred]
        cash_out = due.cash_out_minor if CASH_OUT in legal else None
        deadline = offer_deadline(waiting, self.policy)
        text = None if deadline is None else format_time(deadline)
        return DecisionOffered(due.hand, legal, barred, cash_out, text)

    # What is refused, and what is written

    def _begin(self, what: str) -> datetime:
        moment = self.table.journal.now()
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
        if self.is_over:
            raise InputRefusedError(f"the round {self.round_id} has ended: nothing may follow")
        moment = self.table.journal.now()
        due = self.default_due(moment)
        if due is not None and moment >= due:
            self._apply_default([], moment)
        else:
            self._write([data], moment)

    def _write(self, drafts: list[EventData], moment: datetime) -> None:
        mine, holds = self.round_id, HOLDS_PREFIX + self.round_id
        self.table.journal.append(
            *[(holds if isinstance(draft, WinHeld) else mine, draft) for draft in drafts],
            at=moment,
            after={mine: self._last_seq},
        )
        for draft in drafts:
            if isinstance(draft, WinHeld):
                self.held_minor = draft.amount_minor
            else:
                self._last_seq += 1
            self.waiting = follow(self.waiting, draft, moment)


def _newly_decided(state: RoundState, settled: tuple[BetSettled, ...]) -> list[BetSettled]:
    """Return the settlements of the bets that are decided and not settled yet."""
    done = {(bet.hand, bet.bet) for bet in settled}
    return [
        BetSettled(
            bet.seat, bet.hand, bet.bet, bet.stake_minor, bet.paid_minor, bet.line or "", None
        )
        for bet in outcomes(state)
        if bet.paid_minor is not None and (bet.hand, bet.bet) not in done
    ]


def _plain(stakes: Stakes) -> dict[str, dict[str, int]]:
    return {seat: dict(bets) for seat, bets in stakes.items()}
