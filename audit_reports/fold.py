"""The fold: what a round's events, one after another, make of its rows.

The rows of a round depend on the events of its stream alone, and going on needs nothing but those
rows. So it makes no difference where a projection stops and starts again. Nothing is judged here:
a round that breaks its rules is counted as recorded, and replay says what is wrong with it. What
cannot be understood is passed over: the first deal stands, and nothing counts after the end.
"""

from collections.abc import Iterable
from datetime import datetime

import msgspec

from ledger import StoredLeaf
from ledger.clock import parse_time
from ledger.envelope import Event, read_event, split_leaf
from ledger.events import (
    BetResettled,
    BetSettled,
    DealRequested,
    DecisionMade,
    Mode,
    Refunded,
    RoundClosed,
    RoundOpened,
    RoundVoided,
    RulesAdded,
    Stakes,
    StakesPlaced,
)
from ledger.rounds import RoundState
from replay.engine.hand import DOUBLE, INSURANCE, SPLIT
from replay.engine.outcomes import INSURANCE_BET, MAIN
from replay.engine.rules import rules_digest, rules_from_data
from replay.errors import RulesError

_READ = {
    cls.__name__
    for cls in (
        BetResettled, BetSettled, DealRequested, DecisionMade, Refunded, RoundClosed, RoundOpened,
        RoundVoided, RulesAdded, StakesPlaced,
    )
}  # fmt: skip
"""The events that say something of money; the others only lengthen their round."""


class RoundRow(msgspec.Struct):
    """A row of the table `rounds`, as `tables.sql` describes it; times are UTC without a zone."""

    first_leaf: int
    last_leaf: int
    round: str
    rules_digest: str
    operator: str | None
    table_name: str | None
    channel: str | None
    player: str
    currency: str
    mode: Mode
    state: RoundState
    opened_at: datetime
    dealt_at: datetime | None = None
    closed_at: datetime | None = None
    staked_minor: int = 0
    paid_minor: int = 0
    refunded_minor: int | None = None


class BetRow(msgspec.Struct):
    """A row of the table `bets`, as `tables.sql` describes it."""

    first_leaf: int
    leaf_index: int
    seat: str
    hand: str
    bet: str
    initial_stake_minor: int
    stake_minor: int
    paid_minor: int | None = None
    line: str | None = None


class DecisionRow(msgspec.Struct, frozen=True):
    """A row of the table `decisions`, as `tables.sql` describes it."""

    leaf_index: int
    round: str
    hand: str
    bet: str
    paid_minor: int | None
    refunded_minor: int | None


class Changes(msgspec.Struct, frozen=True):
    """What leaves changed: rounds, decided disputes, and new rule sets, digest to game."""

    rounds: list["RoundRows"]
    decisions: list[DecisionRow]
    rule_sets: dict[str, str]


class RoundRows(msgspec.Struct):
    """A round's row and those of its bets by hand and bet.

    `is_stored` says that the tables hold an earlier state of them.
    """

    round: RoundRow
    bets: dict[tuple[str, str], BetRow]
    is_stored: bool = False

    def take(self, data: object, at: datetime, leaf_index: int) -> None:
        """Take in the next event of the round."""
        match data:
            case StakesPlaced() if self.round.dealt_at is None:
                self._lay(data.stakes, leaf_index)
            case DealRequested() if self.round.dealt_at is None:
                self.round.dealt_at = at
                self._lay(data.stakes, leaf_index)
            case DecisionMade():
                self._decide(data, leaf_index)
            case BetSettled():
                self._settle(data, leaf_index)
            case RoundClosed():
                self.round.state, self.round.closed_at = "closed", at
            case RoundVoided():
                self.round.state, self.round.closed_at = "void", at
                self.round.refunded_minor = sum(each.amount_minor for each in data.refunds)

    def sum_up(self) -> None:
        """Bring the round's sums in line with its bets."""
        self.round.staked_minor = sum(bet.stake_minor for bet in self.bets.values())
        self.round.paid_minor = sum(bet.paid_minor or 0 for bet in self.bets.values())

    def _lay(self, stakes: Stakes, leaf_index: int) -> None:
        self.bets = {}
        for seat, chips in stakes.items():
            for bet, stake in chips.items():
                self._add(leaf_index, seat, seat, bet, stake, stake)

    def _decide(self, made: DecisionMade, leaf_index: int) -> None:
        if made.act == INSURANCE:
            added = made.added_stake_minor
            self._add(leaf_index, made.hand, made.hand, INSURANCE_BET, added, added)
            return
        held = self.bets.get((made.hand, MAIN))
        if held is None:
            return
        if made.act == DOUBLE:
            held.stake_minor += made.added_stake_minor
            held.leaf_index = leaf_index
        elif made.act == SPLIT:
            del self.bets[made.hand, MAIN]
            seat = held.seat
            initial, stake = held.initial_stake_minor, held.stake_minor
            self._add(leaf_index, seat, f"{seat}.1", MAIN, initial, stake)
            self._add(leaf_index, seat, f"{seat}.2", MAIN, 0, made.added_stake_minor)

    def _settle(self, settled: BetSettled, leaf_index: int) -> None:
        row = self.bets.get((settled.hand, settled.bet))
        if row is None:
            # A bet nobody announced, as where a decision is missing: where the seat has a bet of
            # that kind already, its initial stake is counted there.
            known = any(
                (row.seat, row.bet) == (settled.seat, settled.bet) for row in self.bets.values()
            )
            initial = 0 if known else settled.stake_minor
            row = self._add(leaf_index, settled.seat, settled.hand, settled.bet, initial, 0)
        row.leaf_index = leaf_index
        row.stake_minor = settled.stake_minor
        row.paid_minor = (row.paid_minor or 0) + settled.paid_minor
        row.line = settled.line

    def _add(
        self, leaf_index: int, seat: str, hand: str, bet: str, initial: int, stake: int
    ) -> BetRow:
        row = BetRow(self.round.first_leaf, leaf_index, seat, hand, bet, initial, stake)
        self.bets[hand, bet] = row
        return row


class Fold:
    """All rounds that are open, and what changed since it was last asked."""

    def __init__(self, open_rounds: Iterable[RoundRow], open_bets: Iterable[BetRow]) -> None:
        """Go on from the rows of the rounds that have not ended."""
        by_leaf = {row.first_leaf: RoundRows(row, {}, is_stored=True) for row in open_rounds}
        for bet in open_bets:
            by_leaf[bet.first_leaf].bets[bet.hand, bet.bet] = bet
        self._open = {rows.round.round: rows for rows in by_leaf.values()}
        self._changed: dict[int, RoundRows] = {}
        self._decisions: list[DecisionRow] = []
        self._rule_sets: dict[str, str] = {}

    def take(self, leaf: StoredLeaf) -> None:
        """Take in the next leaf, which must be verified."""
        event = _event(leaf) if leaf.topic in _READ else None
        if event is not None and isinstance(event.data, RulesAdded):
            self._add_rules(event.data)
        elif event is not None and isinstance(event.data, BetResettled | Refunded):
            self._decisions.append(_decision(event.data, leaf.leaf_index))
        elif event is not None and isinstance(event.data, RoundOpened) and event.seq == 0:
            opened = _opened(event.data, event, leaf.leaf_index)
            self._open[leaf.stream] = RoundRows(opened, {})
        rows = self._open.get(leaf.stream)
        if rows is None:
            return
        rows.round.last_leaf = leaf.leaf_index
        self._changed[rows.round.first_leaf] = rows
        if event is not None:
            rows.take(event.data, _moment(event), leaf.leaf_index)
        if rows.round.state != "open":
            del self._open[leaf.stream]

    def changed(self) -> Changes:
        """Return what changed since this was last asked."""
        rows, rule_sets = list(self._changed.values()), self._rule_sets
        decisions, self._decisions = self._decisions, []
        self._changed, self._rule_sets = {}, {}
        for each in rows:
            each.sum_up()
        return Changes(rows, decisions, rule_sets)

    def _add_rules(self, added: RulesAdded) -> None:
        try:
            rules = rules_from_data(added.rules)
        except RulesError:
            return
        self._rule_sets[rules_digest(rules)] = rules.id


def _decision(data: BetResettled | Refunded, leaf_index: int) -> DecisionRow:
    paid, refunded = (
        (data.paid_minor, None) if isinstance(data, BetResettled) else (None, data.amount_minor)
    )
    return DecisionRow(leaf_index, data.round, data.hand, data.bet, paid, refunded)


def _event(leaf: StoredLeaf) -> Event:
    return read_event(split_leaf(leaf.state).payload)


def _moment(event: Event) -> datetime:
    return parse_time(event.at).replace(tzinfo=None)


def _opened(data: RoundOpened, event: Event, leaf_index: int) -> RoundRow:
    return RoundRow(
        first_leaf=leaf_index,
        last_leaf=leaf_index,
        round=event.stream,
        rules_digest=data.rules_digest,
        operator=data.operator,
        table_name=data.table,
        channel=data.channel,
        player=data.player,
        currency=data.currency,
        mode=data.mode,
        state="open",
        opened_at=_moment(event),
    )
