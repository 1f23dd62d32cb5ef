"""The rows of the projection's tables, as `tables.sql` describes them.

Times are ISO 8601 text without a zone, in UTC; amounts are minor units.
"""

import msgspec

from ledger.events import Mode
from ledger.rounds import RoundState


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


class WouldHavePaidRow(msgspec.Struct):
    """A row of `would_have_paid`."""

    first_leaf: int
    bet: str
    would_have_paid_minor: int
