"""The rows of the projection's tables, as `tables.sql` describes them.

Times are ISO 8601 text without a zone, in UTC; amounts are minor units.
"""

import msgspec

from shoeproof.audit_reports.rows.shoes import ShoeState
from shoeproof.ledger.leaf.events import Mode
from shoeproof.ledger.store.round_index import RoundState


class RoundRow(msgspec.Struct):
    """A row of `rounds`."""

    first_leaf: int
    last_leaf: int
    round: str
    game: str | None
    rules_digest: str
    operator: str | None
    table_name: str | None
    channel: str | None
    build: str | None
    player: str
    currency: str
    mode: Mode
    state: RoundState
    opened_at: str
    dealt_at: str | None = None
    closed_at: str | None = None
    staked_minor: int = 0
    paid_minor: int = 0
    closed_staked_minor: int | None = None
    closed_paid_minor: int | None = None
    refunded_minor: int | None = None
    exponent: int | None = None
    shoe: ShoeState | None = None
    seed_print: int | None = None


class BetRow(msgspec.Struct):
    """A row of `bets`."""

    first_leaf: int
    leaf_index: int
    seat: str
    hand: str
    bet: str
    initial_stake_minor: int
    laid_minor: int
    stake_minor: int
    cash_staked_minor: int | None = None
    incentive_staked_minor: int | None = None
    paid_minor: int | None = None
    cash_paid_minor: int | None = None
    incentive_paid_minor: int | None = None
    line: str | None = None
    refunded_minor: int | None = None
    cash_refunded_minor: int | None = None
    incentive_refunded_minor: int | None = None


class DecisionRow(msgspec.Struct):
    """A row of `decisions`."""

    first_leaf: int
    leaf_index: int
    round: str
    recorded_at: str
    hand: str
    act: str
    actor: str | None
    reason: str | None
    added_stake_minor: int
    legal: list[str] | None


class CardRow(msgspec.Struct):
    """A row of `cards`."""

    first_leaf: int
    leaf_index: int
    round: str
    receiver: str
    shoe_index: int
    card: str | None
    shown_leaf: int | None
    is_initial: bool


class InterruptionRow(msgspec.Struct):
    """A row of `interruptions`."""

    leaf_index: int
    recorded_at: str
    event: str
    round: str | None
    cause: int
    scope: str | None
    note: str | None


class DisputeRow(msgspec.Struct, kw_only=True):
    """A row of `disputes`."""

    leaf_index: int
    recorded_at: str
    event: str
    round: str
    claim: str | None = None
    deadline: str | None = None
    verdict: str | None = None
    remedy: str | None = None
    clause: str | None = None
    reference: str | None = None
    keys_needed: int | None = None
    amount_minor: int | None = None
    hand: str | None = None
    bet: str | None = None
    stake_minor: int | None = None
    paid_before_minor: int | None = None
    paid_minor: int | None = None
    refunded_minor: int | None = None
    cash_minor: int | None = None
    incentive_minor: int | None = None
    currency: str | None = None
    case_number: int | None = None
    received: str | None = None
    player: str | None = None
    span_begin: str | None = None
    span_end: str | None = None
    zone: str | None = None
    missing_round: bool | None = None
    searched: list[str] | None = None


class WalletRow(msgspec.Struct):
    """A row of `wallet_differences`."""

    first_leaf: int | None
    leaf_index: int
    recorded_at: str
    round: str
    event: str
    hand: str | None
    bet: str | None
    direction: str
    booked_minor: int
    moved_minor: int
    answer: str | None


class WouldHavePaidRow(msgspec.Struct):
    """A row of `would_have_paid`."""

    first_leaf: int
    hand: str
    bet: str
    would_have_paid_minor: int
    is_over: bool


class OfferRow(msgspec.Struct):
    """A row of `offers_apart`."""

    first_leaf: int
    leaf_index: int
    hand: str
    act: str
    reason: str | None = None
    is_believed: bool = False
    balance_minor: int | None = None
    cost_minor: int | None = None
    shown_minor: int | None = None
    table_minor: int | None = None
