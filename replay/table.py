"""The live table: takes stakes and decisions, deals from a committed shoe, records every turn.

What happens between two inputs of the player is one transaction; `deal` and `decide` return, and a
card may be shown, only once it is durable. The seed is drawn and sealed before any stake, so a
crash at any point leaves a round that `LiveTable.resume` continues from the same shoe.
"""

import secrets
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, NoReturn, Protocol

import msgspec

from ledger import Ledger
from ledger.events import (
    Actor,
    BetSettled,
    CardDealt,
    DealerChecked,
    DealRequested,
    DecisionMade,
    DecisionOffered,
    EventData,
    Funds,
    HoleCardShown,
    InputRefused,
    Limit,
    Mode,
    RoundClosed,
    RoundOpened,
    ShoeCommitted,
    ShoeRevealed,
    StakesPlaced,
)
from ledger.sealing import seal_seed
from replay.catalogue import current_policy
from replay.engine.cards import FACE_DOWN
from replay.engine.dealer import makes_natural
from replay.engine.hand import CASH_OUT, DOUBLE, INSURANCE, SPLIT, Act
from replay.engine.outcomes import Outcome, outcomes
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
    check_stakes,
    describe,
    open_round,
)
from replay.engine.rules import Rules, rules_digest
from replay.engine.shoe import SEED_BYTES, Shoe, commitment
from replay.errors import InputRefusedError, StakeRefused, UnknownGame
from replay.limits import outside_limits
from replay.policies import policy_digest
from replay.round_id import new_round_id
from replay.wallet import Wallet


class TableSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a table records with each round.

    `limits` maps bets to (least, most) in minor units; a bet it leaves out has none, and the round
    says so.
    """

    limits: dict[str, tuple[int | None, int | None]]
    currency: str
    mode: Mode = "real"
    operator: str | None = None
    table: str | None = None
    channel: str | None = None
    build: str | None = None


class Journal(Protocol):
    """Where a turn is written: a ledger, or a batch that is written to one later."""

    def append(
        self, *drafts: tuple[str, EventData], after: Mapping[str, int] | None = None
    ) -> object:
        """Write the events of one turn, all or none.

        `after` maps the round to the last `seq` its player's view rests on.
        """


def draw_seed() -> bytes:
    """Return 32 bytes from the operating system's generator."""
    return secrets.token_bytes(SEED_BYTES)


class LiveTable:
    """One game's table over one ledger."""

    def __init__(
        self,
        ledger: Ledger,
        rules: Rules,
        settings: TableSettings,
        *,
        wallet: Wallet | None = None,
        journal: Journal | None = None,
        seeds: Callable[[], bytes] = draw_seed,
    ) -> None:
        """Open a table; raises UnknownGame when the ledger does not carry these rules.

        Without a `wallet`, movements of money are recorded as unknown. `journal` is the ledger
        unless turns are to be collected first; `seeds` is replaced by tests alone.
        """
        self.ledger = ledger
        self.rules = rules
        limits = {bet: settings.limits.get(bet, (None, None)) for bet in rules.bets}
        self.settings = msgspec.structs.replace(settings, limits=limits)
        self.wallet = wallet
        self.journal: Journal = ledger if journal is None else journal
        self.digest = rules_digest(rules)
        self._seeds = seeds
        if self.digest not in ledger.rules():
            raise UnknownGame(f"the ledger does not carry the rules {self.digest}; add them first")
        policy = current_policy(ledger, rules.id)
        self._policy_digest = None if policy is None else policy_digest(policy)
        self._seal_public_key = ledger.seal_public_key()

    def open_round(self, player: str, session: str | None = None) -> "LiveRound":
        """Commit to a fresh shoe and return the round, ready for stakes.

        `player` is the operator's opaque name for the player.
        """
        seed, round_id = self._seeds(), new_round_id()
        committed = commitment(round_id, self.digest, seed)
        escrow_key = self.ledger.escrow_public_key
        escrow = None if escrow_key is None else seal_seed(seed, escrow_key, committed)
        settings = self.settings
        self.journal.append(
            (
                round_id,
                RoundOpened(
                    rules_digest=self.digest,
                    policy_digest=self._policy_digest,
                    operator=settings.operator,
                    table=settings.table,
                    session=session,
                    channel=settings.channel,
                    mode=settings.mode,
                    player=player,
                    currency=settings.currency,
                    limits={bet: Limit(*bounds) for bet, bounds in settings.limits.items()},
                    build=settings.build,
                ),
            ),
            (
                round_id,
                ShoeCommitted(
                    commitment=committed.hex(),
                    sealed_seed=seal_seed(seed, self._seal_public_key, committed),
                    escrow_sealed_seed=escrow,
                ),
            ),
        )
        return LiveRound(self, round_id, player, seed)

    def check_stakes(self, stakes: Stakes) -> None:
        """Raise StakeRefused for stakes that the rules or the table's limits do not allow."""
        check_stakes(self.rules, stakes)
        outside = outside_limits(self.settings.limits, stakes)
        if outside:
            raise StakeRefused("; ".join(outside))


class LiveRound:
    """One round being played. `state` is None until the deal.

    `hidden` holds acts the player chose not to be shown.
    """

    def __init__(self, table: LiveTable, round_id: str, player: str, seed: bytes) -> None:
        """Hold a round open; use `LiveTable.open_round` or `resume.resume_round`."""
        self.table = table
        self.round_id = round_id
        self.player = player
        self.hidden: frozenset[Act] = frozenset()
        self.state: RoundState | None = None
        self.settled: list[Outcome] = []
        self._seed = seed
        self._shoe: Shoe | None = None
        self._next_index = 0
        self._hole = FACE_DOWN
        self._offered: tuple[Act, ...] = ()
        self._last_seq = 1
        self._moved: list[str] = []

    @property
    def due(self) -> Decide | Settle | None:
        """Return the decision that is due, Settle once the round is over, None before the deal."""
        due = None if self.state is None else self.state.due
        return due if isinstance(due, Decide | Settle) else None

    @property
    def offered(self) -> tuple[Act, ...]:
        """Return the acts the player may choose from now."""
        return self._offered

    def place(self, stakes: Stakes) -> None:
        """Record the chips laid so far; raises StakeRefused for stakes the table cannot take."""
        self._refuse_after_deal("place stakes")
        self.table.check_stakes(stakes)
        self._write([StakesPlaced(_plain(stakes))])

    def deal(self, stakes: Stakes, client_seed: bytes = b"") -> None:
        """Take the final stakes, deal, and play on until a decision is due or the round is over.

        `client_seed` is the player's part of the shoe, at most 64 bytes. Raises StakeRefused for
        stakes the table cannot take and ShoeError for a client seed that is too long.
        """
        self._refuse_after_deal("deal")
        self.table.check_stakes(stakes)
        self.restore_shoe(client_seed)
        state = open_round(self.table.rules, stakes)
        staked = sum(sum(bets.values()) for bets in stakes.values())
        funds = self._debit(staked, "deal")
        requested = DealRequested(_plain(stakes), client_seed.hex(), funds)
        self._finish_turn(state, [requested])

    def decide(
        self, hand: str, act: Act, *, actor: Actor = "player", reason: str | None = None
    ) -> None:
        """Take a decision of `hand` and play on until the next is due or the round is over.

        Raises InputRefusedError, and records the refusal, when no such decision is due or the act
        is not offered.
        """
        state, due = self.state, self.due
        if state is None or not isinstance(due, Decide):
            self._refuse(f"{hand} {act}", "closed", "no decision is due in this round")
        if due.hand != hand or act not in self._offered:
            wanted = f"{describe(due)} is due; offered: {', '.join(self._offered)}"
            self._refuse(f"{hand} {act}", "illegal", wanted)
        added = added_stake_minor(state, act)
        funds = self._debit(added, f"{hand}-{act}") if added else None
        made = DecisionMade(hand, act, actor, reason, added, funds)
        self._finish_turn(apply(state, act), [made])

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
        settled: Iterable[Outcome],
    ) -> None:
        """Put the dealt round where its recorded events left it, with the same cards to come."""
        self.state = state
        self.settled = list(settled)
        self._next_index = next_index
        self._offered = tuple(offered)
        if self._shoe is not None and hole_index is not None:
            self._hole = self._shoe[hole_index]

    def _finish_turn(self, state: RoundState, drafts: list[EventData]) -> None:
        before = self._next_index, self._hole
        try:
            self._make_turn(state, drafts)
        except BaseException:
            # What could not be written has not happened: the same cards come when it is retried,
            # and no money has moved.
            self._next_index, self._hole = before
            if self.table.wallet is not None:
                for reference in self._moved:
                    self.table.wallet.cancel(self.player, reference)
            raise
        finally:
            self._moved.clear()

    def _make_turn(self, state: RoundState, drafts: list[EventData]) -> None:
        state = self._play_out(state, drafts)
        newly = self._newly_decided(state)
        drafts += [self._settlement(outcome) for outcome in newly]
        offered: tuple[Act, ...] = ()
        if isinstance(state.due, Decide):
            offer = self._offer(state, state.due)
            offered = tuple(offer.legal)
            drafts.append(offer)
        else:
            everything = [*self.settled, *newly]
            drafts.append(ShoeRevealed(self._seed.hex()))
            drafts.append(
                RoundClosed(
                    sum(bet.stake_minor for bet in everything),
                    sum(bet.paid_minor or 0 for bet in everything),
                )
            )
        self._write(drafts)
        self.state, self._offered = state, offered
        self.settled += newly

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

    def _newly_decided(self, state: RoundState) -> list[Outcome]:
        done = {(bet.hand, bet.bet) for bet in self.settled}
        return [
            bet
            for bet in outcomes(state)
            if bet.paid_minor is not None and (bet.hand, bet.bet) not in done
        ]

    def _settlement(self, bet: Outcome) -> BetSettled:
        paid = bet.paid_minor or 0
        wallet = self.table.wallet
        funds = None
        if wallet is not None and paid:
            reference = self._reference(f"paid-{bet.hand}-{bet.bet}")
            funds = wallet.credit(self.player, paid, reference)
        return BetSettled(bet.seat, bet.hand, bet.bet, bet.stake_minor, paid, bet.line or "", funds)

    def _offer(self, state: RoundState, due: Decide) -> DecisionOffered:
        barred = {act: "hidden" for act in due.legal if act in self.hidden and act == CASH_OUT}
        wallet = self.table.wallet
        balance = None if wallet is None else wallet.balance_minor(self.player)
        if balance is not None:
            for act in due.legal:
                if act in (DOUBLE, SPLIT, INSURANCE) and added_stake_minor(state, act) > balance:
                    barred[act] = "funds"
        legal = [act for act in due.legal if act not in barred]
        cash_out = due.cash_out_minor if CASH_OUT in legal else None
        return DecisionOffered(due.hand, legal, barred, cash_out, None)

    def _debit(self, amount_minor: int, what: str) -> Funds | None:
        wallet = self.table.wallet
        if wallet is None:
            return None
        balance = wallet.balance_minor(self.player)
        if balance is not None and balance < amount_minor:
            raise StakeRefused(f"the stake is {amount_minor}, the balance only {balance}")
        return wallet.debit(self.player, amount_minor, self._reference(what))

    def _reference(self, what: str) -> str:
        reference = f"{self.round_id}/{what}"
        self._moved.append(reference)
        return reference

    def _refuse_after_deal(self, what: str) -> None:
        if self.state is not None:
            self._refuse(what, "closed", "the cards are dealt")

    def _refuse(self, came: str, reason: Literal["illegal", "closed"], why: str) -> NoReturn:
        if not isinstance(self.due, Settle):
            self._write([InputRefused(came, reason)])
        raise InputRefusedError(f"{came} was refused: {why}")

    def follow(self, last_seq: int) -> None:
        """Rest on the round's events up to `last_seq`: what comes after another is refused."""
        self._last_seq = last_seq

    def _write(self, drafts: list[EventData]) -> None:
        self.table.journal.append(
            *[(self.round_id, draft) for draft in drafts], after={self.round_id: self._last_seq}
        )
        self._last_seq += len(drafts)


def _plain(stakes: Stakes) -> dict[str, dict[str, int]]:
    return {seat: dict(bets) for seat, bets in stakes.items()}
