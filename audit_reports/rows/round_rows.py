"""The fold: how a round's events, one after another, make its rows.

The rows of a round depend on the leaves of its stream alone, and on the rules that stood in the
ledger before it. So it makes no difference where a projection stops and starts again: a round that
goes on is made from its first leaf once more. Nothing is judged here: a round that breaks its rules
is counted as recorded, and replay says what is wrong with it. What cannot be understood is passed
over: the first deal stands, and nothing counts after the end.
"""

from collections.abc import Iterable

import msgspec

from shoeproof.audit_reports.rows.funds import Split, add, funds_of_deal, funds_of_move, wallet_rows
from shoeproof.audit_reports.rows.offers import barred_rows
from shoeproof.audit_reports.rows.records import (
    BetRow,
    CardRow,
    DecisionRow,
    OfferRow,
    RoundRow,
    WalletRow,
)
from shoeproof.audit_reports.rows.said import Said
from shoeproof.audit_reports.rows.shoes import CommittedShoe
from shoeproof.ledger.leaf.events import (
    BetSettled,
    CardDealt,
    DealRequested,
    DecisionMade,
    DecisionOffered,
    Funds,
    HoleCardShown,
    RoundClosed,
    RoundOpened,
    RoundVoided,
    ShoeCommitted,
    ShoeRevealed,
    Stakes,
    StakesPlaced,
)
from shoeproof.replay.currency import unit_of
from shoeproof.replay.engine.hand import DOUBLE, INSURANCE, SPLIT
from shoeproof.replay.engine.outcomes import INSURANCE_BET, MAIN
from shoeproof.replay.engine.round import DEALER

READ = frozenset(
    cls.__name__
    for cls in (
        BetSettled, CardDealt, DealRequested, DecisionMade, DecisionOffered, HoleCardShown,
        RoundClosed, RoundOpened, RoundVoided, ShoeCommitted, ShoeRevealed, StakesPlaced,
    )
)  # fmt: skip
"""The events of a round that say something for a table; the others only lengthen it."""

_INITIAL_CARDS = 2
"""Of a seat, which are all face up; the dealer has one face up, and one face down in some games."""


class RoundRows(msgspec.Struct):
    """The rows a round comes to; bets by hand and bet."""

    round: RoundRow
    bets: dict[tuple[str, str], BetRow] = {}
    decisions: list[DecisionRow] = []
    cards: list[CardRow] = []
    wallet: list[WalletRow] = []
    legal: dict[str, list[str]] = {}
    barred: list[OfferRow] = []
    balance_minor: int | None = None
    shoe: CommittedShoe = msgspec.field(default_factory=CommittedShoe)

    def take(self, event: Said) -> None:
        """Take in the next event of the round."""
        leaf_index, at, data = event
        if isinstance(data, DealRequested | DecisionMade | BetSettled) and data.funds is not None:
            stated = data.funds.balance_after_minor
            self.balance_minor = self.balance_minor if stated is None else stated
        match data:
            case CardDealt():
                self._deal(data, leaf_index)
            case DecisionOffered():
                self.legal[data.hand] = data.legal
                if data.barred:
                    self._bar(data, leaf_index)
            case DecisionMade():
                self._note(data, event)
                self._decide(data, leaf_index)
                self._hold_to_wallet(event)
            case BetSettled():
                self._settle(data, leaf_index)
                self._hold_to_wallet(event)
            case StakesPlaced() if self.round.dealt_at is None:
                self._lay(data.stakes, None, leaf_index)
            case DealRequested() if self.round.dealt_at is None:
                self.round.dealt_at = at
                self._lay(data.stakes, data.funds, leaf_index)
                self._hold_to_wallet(event)
            case HoleCardShown():
                self._show(data, leaf_index)
            case ShoeCommitted():
                self.shoe.commit(data.commitment, is_late=bool(self.bets or self.round.dealt_at))
            case ShoeRevealed():
                self.shoe.seed = data.seed
            case RoundClosed():
                self.round.state, self.round.closed_at = "closed", at
                self.round.closed_staked_minor = data.total_staked_minor
                self.round.closed_paid_minor = data.total_paid_minor
            case RoundVoided():
                self.round.state, self.round.closed_at = "void", at
                self.round.refunded_minor = sum(each.amount_minor for each in data.refunds)
                self._void(data, leaf_index)
                self._hold_to_wallet(event)

    def sum_up(self) -> None:
        """Bring the round's sums in line with its bets, and say what became of its shoe."""
        this = self.round
        this.shoe = self.shoe.state(
            this.round, this.rules_digest, this.state, is_dealt=bool(self.cards)
        )
        this.seed_print = self.shoe.seed_print
        self.round.staked_minor = sum(bet.stake_minor for bet in self.bets.values())
        self.round.paid_minor = sum(bet.paid_minor or 0 for bet in self.bets.values())

    def _deal(self, dealt: CardDealt, leaf_index: int) -> None:
        card = dealt.card if isinstance(dealt.card, str) else None
        before = sum(each.receiver == dealt.receiver for each in self.cards)
        if dealt.receiver == DEALER:
            is_initial = not before or (before == 1 and card is None)
        else:
            # After a split the hands have names of their own, which are not seats'.
            is_initial = before < _INITIAL_CARDS and "." not in dealt.receiver
        self.cards.append(
            CardRow(
                self.round.first_leaf, leaf_index, self.round.round, dealt.receiver,
                dealt.shoe_index, card, leaf_index if card else None, is_initial,
            )
        )  # fmt: skip

    def _show(self, shown: HoleCardShown, leaf_index: int) -> None:
        for each in self.cards:
            if each.receiver == DEALER and each.card is None:
                each.card, each.shown_leaf = shown.card, leaf_index
                return

    def _bar(self, offered: DecisionOffered, leaf_index: int) -> None:
        held = self.bets.get((offered.hand, MAIN))
        stake = None if held is None else held.stake_minor
        first = self.round.first_leaf
        self.barred += barred_rows(offered, first, leaf_index, stake, self.balance_minor)

    def _note(self, made: DecisionMade, event: Said) -> None:
        self.decisions.append(
            DecisionRow(
                self.round.first_leaf, event.leaf_index, self.round.round, event.at, made.hand,
                made.act, made.actor, made.reason, made.added_stake_minor,
                self.legal.get(made.hand),
            )
        )  # fmt: skip

    def _lay(self, stakes: Stakes, funds: Funds | None, leaf_index: int) -> None:
        self.bets = {}
        apart = funds_of_deal(funds, stakes)
        for seat, chips in stakes.items():
            for bet, stake in chips.items():
                self._add(leaf_index, seat, seat, bet, stake, stake, apart[seat, bet])

    def _decide(self, made: DecisionMade, leaf_index: int) -> None:
        added = made.added_stake_minor
        apart = funds_of_move(made.funds, added)
        if made.act == INSURANCE:
            self._add(leaf_index, made.hand, made.hand, INSURANCE_BET, added, added, apart)
            return
        held = self.bets.get((made.hand, MAIN))
        if held is None:
            return
        if made.act == DOUBLE:
            held.laid_minor += added
            held.stake_minor += added
            held.leaf_index = leaf_index
            _set_staked_funds(held, add(_staked_funds(held), apart))
        elif made.act == SPLIT:
            del self.bets[made.hand, MAIN]
            seat = held.seat
            initial, stake = held.initial_stake_minor, held.stake_minor
            first, second = f"{seat}.1", f"{seat}.2"
            self._add(leaf_index, seat, first, MAIN, initial, stake, _staked_funds(held))
            self._add(leaf_index, seat, second, MAIN, 0, added, apart)

    def _settle(self, settled: BetSettled, leaf_index: int) -> None:
        row = self.bets.get((settled.hand, settled.bet))
        if row is None:
            # A bet nobody announced, as where a decision is missing: where the seat has a bet of
            # that kind already, its initial stake is counted there.
            known = any(
                (row.seat, row.bet) == (settled.seat, settled.bet) for row in self.bets.values()
            )
            initial = 0 if known else settled.stake_minor
            row = self._add(leaf_index, settled.seat, settled.hand, settled.bet, initial, 0, None)
        row.leaf_index = leaf_index
        if row.stake_minor != settled.stake_minor:
            row.stake_minor = settled.stake_minor
            _set_staked_funds(row, None)
        before: Split = (0, 0) if row.paid_minor is None else _paid_funds(row)
        row.paid_minor = (row.paid_minor or 0) + settled.paid_minor
        apart = add(before, funds_of_move(settled.funds, settled.paid_minor))
        row.cash_paid_minor, row.incentive_paid_minor = apart or (None, None)
        row.line = settled.line

    def _void(self, voided: RoundVoided, leaf_index: int) -> None:
        for bet in self.bets.values():
            if bet.paid_minor is None:
                bet.refunded_minor, bet.leaf_index = 0, leaf_index
        for each in voided.refunds:
            row = self.bets.get((each.hand, each.bet))
            if row is None:
                # A bet that the round does not have was given back money all the same.
                seat = each.hand.partition(".")[0]
                row = self._add(leaf_index, seat, each.hand, each.bet, 0, 0, None)
            before: Split = (0, 0) if not row.refunded_minor else _refunded_funds(row)
            row.refunded_minor = (row.refunded_minor or 0) + each.amount_minor
            apart = add(before, funds_of_move(each.funds, each.amount_minor))
            row.cash_refunded_minor, row.incentive_refunded_minor = apart or (None, None)
            row.leaf_index = leaf_index

    def _hold_to_wallet(self, event: Said) -> None:
        first, fun = self.round.first_leaf, self.round.mode == "fun"
        self.wallet += wallet_rows(event, self.round.round, first, fun=fun)

    def _add(
        self, leaf_index: int, seat: str, hand: str, bet: str, initial: int, stake: int,
        apart: Split,
    ) -> BetRow:  # fmt: skip
        row = BetRow(self.round.first_leaf, leaf_index, seat, hand, bet, initial, stake, stake)
        _set_staked_funds(row, apart)
        self.bets[hand, bet] = row
        return row


def rows_of(stream: str, events: Iterable[Said], game: str | None) -> RoundRows | None:
    """Return what the events of a stream come to, in order; None where they open no round.

    `game` is the one its rules are for. What stands after the end only lengthens the round.
    """
    rows: RoundRows | None = None
    for event in events:
        if rows is None:
            if not isinstance(event.data, RoundOpened):
                return None
            rows = RoundRows(_opened(stream, event.data, event, game))
        elif rows.round.state == "open":
            rows.take(event)
    if rows is not None:
        rows.sum_up()
    return rows


def _opened(stream: str, data: RoundOpened, event: Said, game: str | None) -> RoundRow:
    return RoundRow(
        first_leaf=event.leaf_index,
        last_leaf=event.leaf_index,
        round=stream,
        game=game,
        rules_digest=data.rules_digest,
        operator=data.operator,
        table_name=data.table,
        channel=data.channel,
        build=data.build,
        player=data.player,
        currency=unit_of(data),
        exponent=data.exponent,
        mode=data.mode,
        state="open",
        opened_at=event.at,
    )


def _staked_funds(row: BetRow) -> Split:
    if row.cash_staked_minor is None or row.incentive_staked_minor is None:
        return None
    return row.cash_staked_minor, row.incentive_staked_minor


def _paid_funds(row: BetRow) -> Split:
    if row.cash_paid_minor is None or row.incentive_paid_minor is None:
        return None
    return row.cash_paid_minor, row.incentive_paid_minor


def _refunded_funds(row: BetRow) -> Split:
    if row.cash_refunded_minor is None or row.incentive_refunded_minor is None:
        return None
    return row.cash_refunded_minor, row.incentive_refunded_minor


def _set_staked_funds(row: BetRow, apart: Split) -> None:
    row.cash_staked_minor, row.incentive_staked_minor = apart or (None, None)
