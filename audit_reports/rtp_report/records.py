"""What the queries of a report return, row by row, as records with the names of their columns."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec

from shoeproof.audit_reports.rows.luck import UNIT_COLUMNS
from shoeproof.audit_reports.statistics.sums import BetSums, CountSums, LuckSums
from shoeproof.ledger.leaf.events import Mode
from shoeproof.replay.luck.counts import BILLION, COUNT_KINDS, COUNT_SUMS

MILLION: Final = 1_000_000
"""Luck for a unit of stake is summed in whole millionths."""


class BetKey(NamedTuple):
    """What is never summed across; `game` is None where no readable rules have the digest."""

    game: str | None
    rules_digest: str
    currency: str
    bet: str


_ADDED_UP: Final = (
    "hands", "voided_rounds", "voided_minor", "open_rounds", "held_minor", "resettled_rounds",
    "resettled_minor", "followed_rounds", "followed_minor", "unfollowed_rounds", "start_minor",
    "error_minor", "wrong_rounds", "wrong_minor", "underpaid_minor",
)  # fmt: skip
"""The fields of a cell that are plain sums over its rounds."""


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


class SliceRow(OfBet, frozen=True, kw_only=True, gc=False):
    """A row of `rtp_slices`: a bet's figures in one slice; amounts are minor units.

    `sums`, `players` and `hands` are of closed rounds; of these `followed_rounds` could be taken
    apart, with `followed_minor` of initial stakes, `start_minor` to be returned in the mean and
    `error_minor` paid too much at the table; `unfollowed_rounds` could not, though they were played
    out. `wrong_rounds` were not paid as the rules say and stay so, by `wrong_minor` in all, hands
    of them having been paid `underpaid_minor` too little. `resettled_minor` is what disputes added
    to what was paid.
    `parts` is all luck and skill of the rounds that could be followed. Sums of luck for a unit of
    stake, by UNIT_COLUMNS, and counts are None where no round was followed: see `unit_luck` and
    `counted`.
    Cash and incentive stakes are None where no round records them. `last_leaf` is the last of the
    closed rounds' leaves, −1 of none.
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
    unfollowed_rounds: int
    start_minor: float
    error_minor: int
    wrong_rounds: int
    wrong_minor: int
    underpaid_minor: int
    parts: PartTotals
    unit_totals: list[float | None]
    unit_squares: list[float | None]
    unit_fourths: list[float | None]
    counts: list[int | None]
    last_leaf: int = -1

    @property
    def overpaid_minor(self) -> int:
        """Return what hands were paid too much in all."""
        return self.wrong_minor + self.underpaid_minor

    @property
    def unit_luck(self) -> dict[str, LuckSums]:
        """Return luck for a unit of stake, by UNIT_COLUMNS."""
        sums = zip(self.unit_totals, self.unit_squares, self.unit_fourths, strict=True)
        return {
            name: luck_of_units(self.followed_rounds, *(each or 0.0 for each in of_kind))
            for name, of_kind in zip(UNIT_COLUMNS, sums, strict=True)
        }

    @property
    def counted(self) -> dict[str, CountSums]:
        """Return how often each of COUNT_KINDS came, and should have."""
        size = len(COUNT_SUMS)
        return {
            kind: count_sums(*(each or 0 for each in self.counts[size * n : size * (n + 1)]))
            for n, kind in enumerate(COUNT_KINDS)
        }


def summed(cells: Sequence[SliceRow]) -> SliceRow:
    """Return the figures of one bet's cells together, under the first one's key and slice.

    Players may be the same in several of them: their number is not known, and 0.
    """
    first = cells[0]
    found: dict[str, Any] = {name: sum(getattr(each, name) for each in cells) for name in _ADDED_UP}
    found |= {
        name: [sum(each or 0 for each in of_kind) for of_kind in zip(*lists, strict=True)]
        for name in ("unit_totals", "unit_squares", "unit_fourths", "counts")
        if (lists := [getattr(each, name) for each in cells])
    }
    for name in ("cash_minor", "incentive_minor"):
        known = [amount for each in cells if (amount := getattr(each, name)) is not None]
        found[name] = sum(known) if known else None
    parts = [msgspec.structs.astuple(each.parts) for each in cells]
    return msgspec.structs.replace(
        first,
        players=0,
        sums=sum((each.sums for each in cells), BetSums()),
        last_leaf=max(each.last_leaf for each in cells),
        parts=PartTotals(*map(sum, zip(*parts, strict=True))),
        **found,
    )


def luck_of_units(rounds: int, total: float, squares: float, fourths: float) -> LuckSums:
    """Return sums of luck for a unit of stake, from those of whole millionths.

    Of the fourth powers they are the squares of the squares, these in whole millionths too.
    """
    return LuckSums(rounds, total / MILLION, squares / MILLION**2, fourths / MILLION**2)


def count_sums(chances: float, came: float, expected: float, variance: float) -> CountSums:
    """Return the sums of an event, from those of whole billionths."""
    return CountSums(int(chances), int(came), expected / BILLION, variance / BILLION)


class PartSum(OfBet, frozen=True, kw_only=True):
    """A row of `rtp_parts`: one sum over a day's rounds, `sum_of` such as `squares_luck_hit`."""

    day: str
    sum_of: str
    amount: float


class ReturnCount(OfBet, frozen=True, kw_only=True):
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


class RoundCounts(msgspec.Struct, frozen=True, kw_only=True):
    """A row of `rtp_rounds`: what became of the rounds of a game that were opened."""

    game: str | None
    rules_digest: str
    currency: str
    opened: int
    counted: int
    void: int
    open: int
    fun: int
    unstaked: int


class FunLuck(msgspec.Struct, frozen=True, kw_only=True):
    """A row of `rtp_fun`: sums of a day's luck in play for fun, for a unit of stake."""

    game: str | None
    rules_digest: str
    currency: str
    day: str
    rounds: int
    total: float
    squares: float
    fourths: float


class VoidOutcomes(OfBet, frozen=True, kw_only=True):
    """A row of `rtp_void_outcomes`: what void or open bets would come to, beside those played.

    `known` bets, `known_staked_minor` on them, would have been paid `known_paid_minor`. Of them
    `ended` are of rounds that wanted no more decisions, and `won` of these would have won. Of the
    `played` bets `played_won` won.
    """

    voided: int
    known: int
    known_staked_minor: int
    known_paid_minor: int
    ended: int
    won: int
    played: int
    played_won: int


class PartlyRefunded(OfBet, frozen=True, kw_only=True):
    """A row of `rtp_refunds`: rounds of a bet for which part of the stake went back.

    They are counted, `back_minor` of `staked_minor` as paid; `leaf_index` begins the first of them.
    """

    rounds: int
    back_minor: int
    staked_minor: int
    leaf_index: int


class ShoesOfGame(msgspec.Struct, frozen=True, kw_only=True):
    """A row of `rtp_shoes`: what is wrong with the shoes of a game's rounds.

    Of `rounds` of whose shoe anything can be told `broken` revealed another seed than the one
    committed to, `late` committed after the stakes, `uncommitted` never or twice; `unrevealed`
    closed without their seed, and `repeated` had the seed of an earlier round. `leaf_index` begins
    the first of them, None without any.
    """

    game: str | None
    rules_digest: str
    currency: str
    rounds: int
    broken: int
    late: int
    uncommitted: int
    unrevealed: int
    repeated: int
    leaf_index: int | None


class OffersOfAct(msgspec.Struct, frozen=True, kw_only=True):
    """A row of `rtp_offers`: how often an act was offered and kept back, and shown at wrong values.

    `believed` bars are confirmed by a balance or the player's choice, `unborne` ones by no balance;
    `withheld` had no reason that may bar the act. `leaf_index` is the first that is not believed.
    """

    game: str | None
    rules_digest: str
    currency: str
    act: str
    offered: int
    believed: int
    unborne: int
    withheld: int
    low_offers: int
    low_minor: int
    high_offers: int
    high_minor: int
    leaf_index: int | None

    @property
    def kept_wrongly(self) -> int:
        """Return how many offers kept the act back without a reason that holds."""
        return self.unborne + self.withheld

    @property
    def due(self) -> int:
        """Return how many offers should have had the act: with it, or wrongly without it."""
        return self.offered + self.kept_wrongly


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
    """A row of `rtp_wrong`: a bet not paid as the rules say, or not as at the table.

    `error_minor` is what the table paid too much, None where nobody can know. Luck is told of
    rounds that could be followed (`is_followed`).
    """

    leaf_index: int
    round: str
    table: str | None
    closed_at: datetime
    recorded_paid_minor: int
    paid_minor: int
    error_minor: int | None
    resettled: bool
    is_followed: bool


class WalletBet(OfBet, frozen=True, kw_only=True):
    """A row of `rtp_wallet`: a bet for which the wallet moved amounts other than those booked.

    `net_minor` is what the player was moved more than is counted; `is_put_right` says that what was
    booked later made up for all of it, `is_counted` that the bet is in the return.
    """

    leaf_index: int
    round: str
    mode: Mode
    table: str | None
    closed_at: datetime | None
    movements: int
    net_minor: int
    is_put_right: bool
    is_counted: bool


class AwardRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of `rtp_awards`: money paid beyond what is due, by a decision.

    `round` may be a complaint, which has no game. `moved_minor` is what the wallet moved where that
    is another amount, else None.
    """

    leaf_index: int
    at: datetime
    round: str
    game: str | None
    currency: str
    hand: str | None
    bet: str | None
    amount_minor: int
    moved_minor: int | None
    remedy: str | None


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
