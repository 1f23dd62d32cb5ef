"""The figures a report rests on: every query of the tables starts here."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from typing import Final, Protocol, TypeVar

import msgspec

from shoeproof.audit_reports.errors import ReportError
from shoeproof.audit_reports.rows.luck import ALL_LUCK, PART_COLUMNS, UNIT, UNIT_COLUMNS
from shoeproof.audit_reports.rtp_report.model import Approved, Shuffle
from shoeproof.audit_reports.rtp_report.records import (
    ApprovedReturn,
    AwardRow,
    BetKey,
    Extent,
    FunLuck,
    GrowthStep,
    HeldRound,
    OffersOfAct,
    PartlyRefunded,
    PartSum,
    ReturnCount,
    RoundCounts,
    ShoesOfGame,
    SliceRow,
    VoidedBet,
    VoidOutcomes,
    WalletBet,
    WrongBet,
    count_sums,
    luck_of_units,
)
from shoeproof.audit_reports.rtp_report.spans import PERIODS
from shoeproof.audit_reports.statistics.sums import BetSums, CountSums, LuckSums
from shoeproof.audit_reports.tables.sql import Record
from shoeproof.replay.luck.counts import COUNT_KINDS, COUNT_SUMS
from shoeproof.replay.luck.kinds import LUCK

SLICES: Final = ("ledger", "table", "player", "channel", "stake_band", "day", "week", "month")
"""What figures can be grouped by, besides game, rules, currency and bet, which are always apart."""

QUERIES: Final = (
    "rtp_slices", "rtp_parts", "rtp_returns", "rtp_growth", "rtp_voids",
    "rtp_held", "rtp_wrong", "rtp_wallet", "rtp_awards", "rtp_extent", "rtp_par_sheets",
    "rtp_offers", "rtp_void_outcomes", "rtp_refunds", "rtp_shoes", "rtp_rounds", "rtp_fun",
)  # fmt: skip
"""The files of `queries/` that a report's figures come from."""


Kind = TypeVar("Kind")


class Relations(Protocol):
    """Tables of a ledger as the queries read them."""

    def query(self, name: str, kind: type[Record], **parameters: object) -> list[Record]:
        """Return all rows of `queries/<name>.sql` as records."""


class PartSums(msgspec.Struct, frozen=True):
    """Sums of one part of a bet over a day's rounds; it was not zero in `moved` of them."""

    moved: int
    sums: LuckSums


class Scope(msgspec.Struct, frozen=True):
    """What a report is about: rounds that ended from `begin` on and before `end`.

    Days, weeks and months are those of `zone`, an IANA name.

    Raises ReportError for a period that ends before it begins.
    """

    begin: datetime | None = None
    end: datetime | None = None
    zone: str = "UTC"

    def __post_init__(self) -> None:
        """Refuse an impossible period."""
        if self.begin is not None and self.end is not None and self.begin >= self.end:
            raise ReportError("the period ends before it begins: --from must come before --to")

    @property
    def period(self) -> dict[str, datetime | None]:
        """Return the bounds as parameters of a query, which knows UTC alone."""
        return {
            name: None if bound is None else bound.astimezone(UTC).replace(tzinfo=None)
            for name, bound in (("begin", self.begin), ("end", self.end))
        }


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was counted.

    `parts` are by bet, part (`luck_hit`) and day, and so are `luck`, which has each kind for a unit
    of stake (`unit_hit`) and all kinds together (`luck_all`), and `counts`, by event. `returns` are
    by bet and day, `growth` is in steps for a chart. Days are those of the scope's zone, in
    `days` and wherever sums are by day. `approved` is by game, rules digest and bet.
    `shuffle` is None where its tests were left out.
    """

    scope: Scope
    extents: list[Extent]
    totals: list[SliceRow]
    days: list[SliceRow]
    slices: dict[tuple[str, ...], list[SliceRow]]
    parts: dict[BetKey, dict[str, dict[str, PartSums]]]
    luck: dict[BetKey, dict[str, dict[str, LuckSums]]]
    counts: dict[BetKey, dict[str, dict[str, CountSums]]]
    returns: dict[BetKey, dict[str, dict[Fraction, int]]]
    growth: dict[BetKey, list[BetSums]]
    voids: list[VoidedBet]
    held: list[HeldRound]
    wrong: list[WrongBet]
    wallet: list[WalletBet]
    awards: list[AwardRow]
    offers: list[OffersOfAct]
    void_outcomes: dict[BetKey, VoidOutcomes]
    open_outcomes: dict[BetKey, VoidOutcomes]
    rounds: list[RoundCounts]
    fun: list[FunLuck]
    refunds: list[PartlyRefunded]
    shoes: list[ShoesOfGame]
    shuffle: Shuffle | None = None
    approved: dict[tuple[str, str, str], Approved]


def read_slices(text: str) -> tuple[str, ...]:
    """Return the slices that `table,day` names; raise ReportError for unknown or unfit ones."""
    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if name not in SLICES:
            raise ReportError(f"figures cannot be shown by {name!r}; there is {', '.join(SLICES)}")
    if len(set(names) & set(PERIODS)) > 1:
        raise ReportError(f"{text!r} names several periods: give one of {', '.join(PERIODS)}")
    return tuple(dict.fromkeys(names))


def figures(tables: Relations, scope: Scope, by: Sequence[tuple[str, ...]] = ()) -> Figures:
    """Return the figures of a scope, in slices by each of `by`."""
    period = scope.period
    zone = scope.zone
    sums = _sums(tables.query("rtp_parts", PartSum, zone=zone, **period))
    return Figures(
        scope=scope,
        extents=tables.query("rtp_extent", Extent, **period),
        totals=cells(tables, scope),
        days=cells(tables, scope, ("day",)),
        slices={names: cells(tables, scope, names) for names in by},
        parts=_chosen(sums, PART_COLUMNS, _part_sums),
        luck=_chosen(sums, (ALL_LUCK, *UNIT_COLUMNS), _luck_sums),
        counts=_chosen(sums, COUNT_KINDS, _count_sums),
        returns=_returns(tables.query("rtp_returns", ReturnCount, zone=zone, **period)),
        growth=_growth(tables.query("rtp_growth", GrowthStep, **period)),
        voids=tables.query("rtp_voids", VoidedBet, **period),
        held=tables.query("rtp_held", HeldRound, end=period["end"]),
        wrong=tables.query("rtp_wrong", WrongBet, **period),
        wallet=tables.query("rtp_wallet", WalletBet, **period),
        awards=tables.query("rtp_awards", AwardRow, **period),
        offers=tables.query("rtp_offers", OffersOfAct, **period),
        void_outcomes=_outcomes(tables, "void", period),
        open_outcomes=_outcomes(tables, "open", period),
        rounds=tables.query("rtp_rounds", RoundCounts, **period),
        fun=tables.query("rtp_fun", FunLuck, zone=zone, **period),
        refunds=tables.query("rtp_refunds", PartlyRefunded, **period),
        shoes=tables.query("rtp_shoes", ShoesOfGame, **period),
        approved={
            (each.game, each.rules_digest, each.bet): Approved(
                each.id, each.date, each.sha256, each.percent
            )
            for each in tables.query("rtp_par_sheets", ApprovedReturn)
        },
    )


def cells(tables: Relations, scope: Scope, by: tuple[str, ...] = ()) -> list[SliceRow]:
    """Return the figures of every bet in every slice, the main bet of each game first."""
    return tables.query("rtp_slices", SliceRow, by=list(by), zone=scope.zone, **scope.period)


def _outcomes(
    tables: Relations, state: str, period: Mapping[str, datetime | None]
) -> dict[BetKey, VoidOutcomes]:
    rows = tables.query("rtp_void_outcomes", VoidOutcomes, state=state, **period)
    return {each.key: each for each in rows}


Sums = dict[BetKey, dict[str, dict[str, dict[str, float]]]]
"""Sums by bet, by what was summed, by day, and by which sum of it."""


def _sums(rows: Sequence[PartSum]) -> Sums:
    found: Sums = {}
    for row in rows:
        name, _, part = row.sum_of.partition("_")
        of_part = found.setdefault(row.key, {}).setdefault(part, {})
        of_part.setdefault(row.day, {})[name] = row.amount
    return found


def _chosen(
    sums: Sums, names: Sequence[str], of: Callable[[str, Mapping[str, float]], Kind]
) -> dict[BetKey, dict[str, dict[str, Kind]]]:
    """Return those of the sums that are named, in that order, as what `of` makes of a day's."""
    return {
        key: {
            name: {day: of(name, each) for day, each in parts[name].items()}
            for name in names
            if name in parts
        }
        for key, parts in sums.items()
    }


def _part_sums(name: str, sums: Mapping[str, float]) -> PartSums:
    return PartSums(int(sums.get("moved", 0)), _luck_sums(name, sums))


def _luck_sums(name: str, sums: Mapping[str, float]) -> LuckSums:
    total, squares, fourths = (sums.get(each, 0.0) for each in ("total", "squares", "fourths"))
    if name.startswith(f"{UNIT}_"):
        return luck_of_units(int(sums.get("moved", 0)), total, squares, fourths)
    return LuckSums(int(sums.get("moved", 0)), total, squares, fourths)


def _count_sums(name: str, sums: Mapping[str, float]) -> CountSums:
    return count_sums(*(sums.get(each, 0) for each in COUNT_SUMS))


def _returns(rows: Sequence[ReturnCount]) -> dict[BetKey, dict[str, dict[Fraction, int]]]:
    found: dict[BetKey, dict[str, dict[Fraction, int]]] = {}
    for row in rows:
        of_day = found.setdefault(row.key, {}).setdefault(row.day, {})
        of_day[Fraction(row.numerator, row.denominator)] = row.rounds
    return found


def _growth(rows: Sequence[GrowthStep]) -> dict[BetKey, list[BetSums]]:
    found: dict[BetKey, list[BetSums]] = {}
    for row in rows:
        found.setdefault(row.key, []).append(row.sums)
    return found


def is_luck(part: str) -> bool:
    """Tell whether a part's column is one of luck."""
    return part.startswith(f"{LUCK}_")
