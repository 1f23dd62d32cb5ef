"""What the queries of a report return, row by row, as records with the names of their columns."""

from datetime import datetime
from typing import NamedTuple

import msgspec

from audit_reports.statistics.sums import BetSums


class BetKey(NamedTuple):
    """What is never summed across; `game` is None where no readable rules have the digest."""

    game: str | None
    rules_digest: str
    currency: str
    bet: str


class OfBet(msgspec.Struct, frozen=True, kw_only=True):
    """A row about one bet of one game."""

    game: str | None
    rules_digest: str
    currency: str
    bet: str

    @property
    def key(self) -> BetKey:
        """Return which bet the row is about."""
        return BetKey(self.game, self.rules_digest, self.currency, self.bet)


class PartTotals(msgspec.Struct, frozen=True, gc=False):
    """All luck, its square summed over rounds and kinds, and all skill; minor units."""

    luck_minor: float
    luck_squares: float
    skill_minor: float


class Cell(OfBet, frozen=True, kw_only=True, gc=False):
    """A row of `rtp_slices`: a bet's figures in one slice; amounts are minor units.

    `sums`, `players` and `hands` are of closed rounds; of these `followed_rounds` could be taken
    apart, with `followed_minor` of initial stakes, `start_minor` to be returned in the mean and
    `error_minor` paid too much at the table. `wrong_rounds` were not paid as the rules say and
    stay so, by `wrong_minor` in all. `resettled_minor` is what disputes added to what was paid.
    `parts` is all luck and skill of the rounds that could be followed.
    Cash and incentive stakes are None where no round records them.
    """

    slice: dict[str, str | None]
    players: int
    hands: int
    sums: BetSums
    voided_rounds: int
    voided_minor: int
    open_rounds: int
    held_minor: int
    resettled_rounds: int
    resettled_minor: int
    cash_minor: int | None
    incentive_minor: int | None
    followed_rounds: int
    followed_minor: int
    start_minor: float
    error_minor: int
    wrong_rounds: int
    wrong_minor: int
    parts: PartTotals


class PartSum(OfBet, frozen=True, kw_only=True):
    """A row of `rtp_parts`: one sum over a day's rounds, `sum_of` such as `squares_luck_hit`."""

    day: str
    sum_of: str
    amount: float


class Returned(OfBet, frozen=True, kw_only=True):
    """A row of `rtp_returns`: how many rounds of a day returned a fraction of a bet's stakes."""

    day: str
    numerator: int
    denominator: int
    rounds: int


class GrowthStep(OfBet, frozen=True, kw_only=True):
    """A row of `rtp_growth`: a bet's sums over one step of a chart."""

    step: int
    sums: BetSums


class VoidedBet(OfBet, frozen=True, kw_only=True):
    """A row of `rtp_voids`: a bet of a void round.

    `would_have_paid_minor` is None where nobody can know.
    """

    leaf_index: int
    round: str
    table: str | None
    closed_at: datetime | None
    staked_minor: int
    would_have_paid_minor: int | None


class HeldRound(msgspec.Struct, frozen=True):
    """A row of `rtp_held`: a round that has not ended, with the stakes it has not settled."""

    leaf_index: int
    round: str
    game: str | None
    currency: str
    table: str | None
    opened_at: datetime
    held_minor: int


class WrongBet(OfBet, frozen=True, kw_only=True):
    """A row of `rtp_wrong`: a bet paid otherwise than the rules say, or than at the table.

    `error_minor` is what the table paid too much, None where the round could not be followed.
    """

    leaf_index: int
    round: str
    table: str | None
    closed_at: datetime
    recorded_paid_minor: int
    paid_minor: int
    error_minor: int | None
    resettled: bool


class Extent(msgspec.Struct, frozen=True):
    """A row of `rtp_extent`: the rounds of an operator as recorded, None where none is."""

    operator: str | None
    rounds: int
    first_leaf: int
    last_leaf: int
    first_ended: datetime
    last_ended: datetime


class ApprovedReturn(msgspec.Struct, frozen=True):
    """A row of `rtp_par_sheets`: a bet's return that was approved, in percent."""

    game: str
    rules_digest: str
    bet: str
    id: str
    date: str
    sha256: str
    percent: str
