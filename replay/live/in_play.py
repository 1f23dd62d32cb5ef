"""How a live round is made: turns drawn from its shoe, written whole, and paid once they stand.

The turn is made up first and written then, and what could not be written has not happened: the same
cards come when it is made again. After any write that failed the round is read again before it goes
on, since the ledger alone knows what became of it.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from threading import RLock

from shoeproof.ledger.errors import StreamConflict
from shoeproof.ledger.leaf.clock import format_time, not_before, parse_time
from shoeproof.ledger.leaf.events import (
    BetSettled,
    CardDealt,
    DealerChecked,
    DecisionMade,
    DecisionOffered,
    EventData,
    HoleCardShown,
    Refund,
    RoundVoided,
    ShoeRevealed,
    WinHeld,
)
from shoeproof.ledger.leaf.streams import HOLDS_PREFIX
from shoeproof.replay.engine.cards import FACE_DOWN
from shoeproof.replay.engine.dealer import makes_natural
from shoeproof.replay.engine.hand import CASH_OUT, DECLINE, DOUBLE, INSURANCE, SPLIT, Act
from shoeproof.replay.engine.round import (
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
)
from shoeproof.replay.engine.shoe import Shoe
from shoeproof.replay.games.policies import Policy
from shoeproof.replay.interruptions.waiting import (
    Waiting,
    default_due,
    follow,
    held_minor,
    offer_deadline,
)
from shoeproof.replay.live.journal import Table
from shoeproof.replay.live.recorded_play import (
    LastEvent,
    RecordedPlay,
    has_ended,
    last_of,
    read_ended,
    read_play,
)
from shoeproof.replay.live.till import Till
from shoeproof.replay.live.turn import ASIDES, Made, Position, ending, newly_decided
from shoeproof.replay.rounds.money_check import FUNDS, HIDDEN

_TRIES = 5
"""How often a payment is recorded again where others went on with the round meanwhile."""


class RoundInPlay:
    """A round over its table, without what players and connections do to it.

    `state` is None until the deal. `hidden` holds acts the player chose not to be shown;
    `held_minor` is what of the win waits, at the end, for a person's verification.
    """

    def __init__(
        self,
        table: Table,
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
        self._is_revealed = False
        self._last_seq, self._last_at = 1, opened_at
        intents = table.ledger.intents if table.journal is table.ledger else None
        self._till = Till(table.wallet, player, round_id, table.settings.unit, intents)
        self._one = RLock()
        self._acts = 0
        self._is_stale = False

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
    def is_unpaid(self) -> bool:
        """Tell whether the wallet has yet to answer for something that was won (`settle_up`)."""
        return self._position is not None and self._position.is_unpaid

    @property
    def seq(self) -> int:
        """The `seq` of the round's last event: what a screen that shows the round now rests on."""
        return self._last_seq

    @property
    def is_over(self) -> bool:
        """Tell whether the round has ended, settled or void."""
        return self.waiting.ended

    def default_due(self, now: datetime | None = None) -> datetime | None:
        """Return when the system is to act for the player, None for never as far as is known.

        `now` is by default the journal's time.
        """
        now = now or self._now()
        due = default_due(self.waiting, self.policy, (), now)
        # Outages and decided cases only put it off: they are read where it would be due.
        if due is None or now < due:
            return due
        return default_due(self.waiting, self.policy, self.table.outages(self.round_id), now)

    def settle_up(self) -> None:
        """Ask the wallet to pay winnings that are not recorded as paid, and go on from there.

        Its errors are raised; the same is asked next time, by the same references.
        """
        with self._one:
            for _ in range(_TRIES):
                if not self.is_unpaid:
                    return
                try:
                    self._pay_and_go_on()
                except StreamConflict:
                    # Another process that went on with the round asked for the same, by the same
                    # references, and may have come to the next that is unpaid.
                    self._refresh()

    def _pay_and_go_on(self) -> None:
        position = self._position
        assert position is not None
        begun = self.waiting if self.waiting.by_default else None

        def make(at: datetime) -> Made:
            drafts: list[EventData] = []
            waiting = begun or Waiting(at, dealt=True)
            return self._settle(position.state, position.settled, drafts, waiting), drafts

        self._make_turn(make, self._now(), follows=True)

    # A round taken up again

    def go_on_from(self, play: RecordedPlay) -> None:
        """Put the round where its recorded events left it, with the same cards to come."""
        self._rest_on(play.last)
        self._is_revealed, self._next_index = play.is_revealed, play.replay.next_index
        self._position, self._hole = None, FACE_DOWN
        state, requested, hole = play.replay.state, play.replay.requested, play.replay.hole_index
        if state is None or requested is None:
            return
        self.restore_shoe(bytes.fromhex(requested.client_seed))
        settled = tuple(play.replay.settled.values())
        # Where the decision that is due was not offered rightly, nothing is: `offer_again` then.
        offered = play.replay.offered if play.replay.offer_is_right else ()
        unpaid = self._pays_after(newly_decided(state, settled))
        self._position = Position(state, settled, tuple(offered), unpaid)
        if hole is not None:
            assert self._shoe is not None
            self._hole = self._shoe[hole]

    def restore_shoe(self, client_seed: bytes) -> None:
        """Bind the sealed seed to the player's part."""
        rules = self.table.rules
        self._shoe = Shoe(self._seed, self.round_id, self.table.digest, client_seed, rules.decks)

    def _rest_on(self, last: LastEvent) -> None:
        """Rest on the round's events up to the last: what comes after another is refused."""
        self._last_seq, self._last_at = last.seq, last.at
        self.waiting, self._placed = last.waiting, last.placed

    def offer_again(self) -> None:
        """Offer the decision that is due where no right offer of it stands; the period starts
        again.

        Where the default is due that comes first, and nothing is offered.
        """
        self.settle_up()
        position, moment = self._position, self._now()
        if position is None or position.offered or position.is_unpaid:
            return
        if not isinstance(position.state.due, Decide):
            return
        due = self.default_due(moment)
        if due is not None and moment >= due:
            return
        begun = self.waiting if self.waiting.by_default else self.waiting._replace(since=moment)
        offer = self._offer(position.state, position.state.due, begun)
        self._write([offer], moment)
        self._position = position._replace(offered=tuple(offer.legal))

    # One turn

    def _finish_turn(self, state: RoundState, first: list[EventData], moment: datetime) -> None:
        def make(at: datetime) -> Made:
            drafts = list(first)
            return self._play_on(state, self.settled, drafts, Waiting(at, dealt=True)), drafts

        self._make_turn(make, moment, follows=True)
        self.settle_up()

    def _apply_default(self, first: list[EventData], moment: datetime) -> None:
        position, policy = self._position, self.policy
        assert policy is not None
        assert policy.default is not None
        default, why = policy.default, f"{policy.default.says} ({policy.default.disclosed_in})"
        if position is None:
            self._return_stakes(first, moment, why)
            return
        begun = self.waiting._replace(by_default=True)

        def make(_: datetime) -> Made:
            at, drafts = position, list(first)
            while isinstance(due := at.state.due, Decide):
                act = default.insurance if DECLINE in due.legal else default.act
                drafts.append(DecisionMade(due.hand, act, "system", why, 0, None))
                at = self._play_on(apply(at.state, act), at.settled, drafts, begun)
            return at, drafts

        self._make_turn(make, moment, follows=False)
        self.settle_up()

    def _return_stakes(self, drafts: list[EventData], moment: datetime, why: str) -> None:
        # Chips that were laid were not debited yet: what goes back moves no money.
        refunds = [
            Refund(seat, bet, minor)
            for seat, bets in self._placed.items()
            for bet, minor in bets.items()
        ]
        self._write([*drafts, ShoeRevealed(self._seed.hex()), RoundVoided(why, refunds)], moment)

    def _make_turn(
        self, make: Callable[[datetime], Made], moment: datetime, *, follows: bool
    ) -> None:
        """Draft a turn and write it; one that `follows` may come after harmless events."""
        before = self._next_index, self._hole
        while True:
            try:
                position, drafts = make(moment)
                self._write(drafts, moment, self._till.asked)
                break
            except BaseException as error:
                # What could not be written has not happened: the same cards come when it is
                # retried. What was asked for is cancelled, unless it was written after all.
                self._next_index, self._hole = before
                if follows and isinstance(error, StreamConflict) and self._passed_over():
                    moment = self._now()
                    continue
                self._till.take_back()
                raise
        self._till.keep()
        self._position = position

    def _play_on(
        self,
        state: RoundState,
        settled: tuple[BetSettled, ...],
        drafts: list[EventData],
        waiting: Waiting,
    ) -> Position:
        """Play to the next decision or the end, and draft every event.

        The bets decided by it are settled, unless it is to be paid once this is written. `waiting`
        is how the round waits for what is offered now.
        """
        state = self._play_out(state, drafts)
        if not self._pays_after(newly_decided(state, settled)):
            return self._settle(state, settled, drafts, waiting)
        if waiting.by_default and isinstance(state.due, Decide):
            drafts.append(self._offer(state, state.due, waiting))
        return Position(state, settled, (), is_unpaid=True)

    def _pays_after(self, due: Iterable[BetSettled]) -> bool:
        return self._till.pays_after and any(bet.paid_minor for bet in due)

    def _settle(
        self,
        state: RoundState,
        settled: tuple[BetSettled, ...],
        drafts: list[EventData],
        waiting: Waiting,
    ) -> Position:
        due = newly_decided(state, settled)
        over = not isinstance(state.due, Decide)
        currency = self.table.settings.currency
        held = held_minor(self.policy, [*settled, *due], len(settled), currency) if over else 0
        paid = self._till.pay(due, held)
        settled += tuple(paid)
        drafts += paid
        if isinstance(state.due, Decide):
            offer = self._offer(state, state.due, waiting)
            drafts.append(offer)
            return Position(state, settled, tuple(offer.legal))
        drafts += ending(settled, held, self.round_id, None if self._is_revealed else self._seed)
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
        barred = {act: HIDDEN for act in due.legal if act in self.hidden and act == CASH_OUT}
        costs = [act for act in due.legal if act in (DOUBLE, SPLIT, INSURANCE)]
        # A player who can do nothing that costs does not wait for a wallet to say what is left.
        balance = self._till.balance_minor() if costs else None
        if balance is not None:
            barred |= {act: FUNDS for act in costs if added_stake_minor(state, act) > balance}
        legal = [act for act in due.legal if act not in barred]
        cash_out = due.cash_out_minor if CASH_OUT in legal else None
        deadline = offer_deadline(waiting, self.policy)
        text = None if deadline is None else format_time(deadline)
        return DecisionOffered(due.hand, legal, barred, cash_out, text)

    # What is read again, and what is written

    def _refresh(self) -> bool:
        """Read the round again, and tell whether the play had gone on."""
        ledger = self.table.ledger
        before = self.state, self._placed, self.is_over
        events = ledger.events(self.round_id)
        if has_ended(events):
            replay = read_ended(ledger, events)
            if replay.state is not None:
                self._position = Position(replay.state, tuple(replay.settled.values()), ())
            self._rest_on(last_of(events))
        else:
            self.go_on_from(read_play(ledger, events))
        self._is_stale = False
        return before != (self.state, self._placed, self.is_over)

    def _passed_over(self) -> bool:
        """Follow what others wrote if it did not change the play; tell whether that is so."""
        since = self.table.ledger.events_after(self.round_id, self._last_seq)
        if not since or not all(isinstance(each.event.data, ASIDES) for each in since):
            return False
        for each in since:
            at = parse_time(each.event.at)
            self.waiting = follow(self.waiting, each.event.data, at)
            self._last_seq, self._last_at = each.event.seq, at
        return True

    def _now(self) -> datetime:
        """Return the journal's time, and never one before the round's last event."""
        return not_before(self.table.journal.now(), self._last_at)

    def _write(
        self, drafts: list[EventData], moment: datetime, records: tuple[str, ...] = ()
    ) -> None:
        if not drafts:
            return
        mine, holds = self.round_id, HOLDS_PREFIX + self.round_id
        journal = self.table.journal
        placed = [(holds if isinstance(draft, WinHeld) else mine, draft) for draft in drafts]
        try:
            if journal is self.table.ledger:
                after = {mine: self._last_seq}
                self.table.ledger.append(*placed, at=moment, after=after, records=records)
            else:
                journal.append(*placed, at=moment, after={mine: self._last_seq})
        except BaseException:
            # Whether it was written is not always known: the round is read again before it goes on.
            self._is_stale = journal is self.table.ledger
            raise
        for draft in drafts:
            if isinstance(draft, WinHeld):
                self.held_minor = draft.amount_minor
            else:
                self._last_seq += 1
            self.waiting = follow(self.waiting, draft, moment)
        self._last_at = max(self._last_at, moment)
        self._acts += any(not isinstance(draft, ASIDES) for draft in drafts)
