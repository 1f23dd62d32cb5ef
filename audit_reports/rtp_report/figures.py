"""The figures a report rests on: all that is asked of the tables is asked here."""

from collections.abc import Sequence
from datetime import UTC, datetime
from fractions import Fraction
from typing import Final, Protocol

import msgspec

from audit_reports.errors import ReportError
from audit_reports.luck import PART_COLUMNS
from audit_reports.rtp_report.model import Approved
from audit_reports.rtp_report.records import (
    ApprovedReturn,
    BetKey,
    Cell,
    Extent,
    GrowthStep,
    HeldRound,
    PartSum,
    Returned,
    VoidedBet,
    WrongBet,
)
from audit_reports.rtp_report.spans import PERIODS
from audit_reports.sql import Record
from audit_reports.statistics.sums import BetSums, LuckSums
from replay.luck.kinds import LUCK

SLICES: Final = ("table", "player", "channel", "stake_band", "day", "week", "month")
"""What figures can be made by, besides game, rules, currency and bet, which are always apart."""

QUERIES: Final = (
    "rtp_slices", "rtp_parts", "rtp_returns", "rtp_growth", "rtp_voids",
    "rtp_held", "rtp_wrong", "rtp_extent", "rtp_par_sheets",
)  # fmt: skip
"""The files of `queries/` that a report's figures come from."""


class Relations(Protocol):
    """Tables of a ledger as the queries read them."""

    def query(self, name: str, kind: type[Record], **parameters: object) -> list[Record]:
        """Return all rows of `queries/<name>.sql` as records."""


class PartSums(msgspec.Struct, frozen=True):
    """Sums of one part of a bet over a day's rounds, `moved` of which it was not nil in."""

    moved: int
    sums: LuckSums


class Scope(msgspec.Struct, frozen=True):
    """What a report is about: rounds that ended from `begin` on and before `end`, both UTC.

    Raises ReportError for a period that ends before it begins.
    """

    begin: datetime | None = None
    end: datetime | None = None

    def __post_init__(self) -> None:
        """Refuse a period that there is not."""
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

    `parts` are by bet, part (`luck_hit`) and day, `returns` by bet and day, `growth` is in steps
    for a chart, `approved` by game, rules digest and bet.
    """

    scope: Scope
    extents: list[Extent]
    totals: list[Cell]
    days: list[Cell]
    slices: dict[tuple[str, ...], list[Cell]]
    parts: dict[BetKey, dict[str, dict[str, PartSums]]]
    returns: dict[BetKey, dict[str, dict[Fraction, int]]]
    growth: dict[BetKey, list[BetSums]]
    voids: list[VoidedBet]
    held: list[HeldRound]
    wrong: list[WrongBet]
    approved: dict[tuple[str, str, str], Approved]


def read_slices(text: str) -> tuple[str, ...]:
    """Return what `table,day` names; raise ReportError for what there is not, or not together."""
    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if name not in SLICES:
            raise ReportError(f"nothing can be shown by {name!r}; there is {', '.join(SLICES)}")
    if len(set(names) & set(PERIODS)) > 1:
        raise ReportError(f"{text!r} names several periods: give one of {', '.join(PERIODS)}")
    return tuple(dict.fromkeys(names))


def figures(tables: Relations, scope: Scope, by: Sequence[tuple[str, ...]] = ()) -> Figures:
    """Return the figures of a scope, in slices by each of `by`."""
    period = scope.period
    return Figures(
        scope=scope,
        extents=tables.query("rtp_extent", Extent, **period),
        totals=cells(tables, scope),
        days=cells(tables, scope, ("day",)),
        slices={names: cells(tables, scope, names) for names in by},
        parts=_parts(tables.query("rtp_parts", PartSum, **period)),
        returns=_returns(tables.query("rtp_returns", Returned, **period)),
        growth=_growth(tables.query("rtp_growth", GrowthStep, **period)),
        voids=tables.query("rtp_voids", VoidedBet, **period),
        held=tables.query("rtp_held", HeldRound, end=period["end"]),
        wrong=tables.query("rtp_wrong", WrongBet, **period),
        approved={
            (each.game, each.rules_digest, each.bet): Approved(
                each.id, each.date, each.sha256, each.percent
            )
            for each in tables.query("rtp_par_sheets", ApprovedReturn)
        },
    )


def cells(tables: Relations, scope: Scope, by: tuple[str, ...] = ()) -> list[Cell]:
    """Return the figures of every bet in every slice, the main bet of each game first."""
    return tables.query("rtp_slices", Cell, by=list(by), **scope.period)


def _parts(rows: Sequence[PartSum]) -> dict[BetKey, dict[str, dict[str, PartSums]]]:
    found: dict[BetKey, dict[str, dict[str, dict[str, float]]]] = {}
    for row in rows:
        name, _, part = row.sum_of.partition("_")
        by_part = found.setdefault(row.key, {})
        by_part.setdefault(part, {}).setdefault(row.day, {})[name] = row.amount
    return {
        key: {
            part: {day: _part_sums(sums) for day, sums in by_part[part].items()}
            for part in PART_COLUMNS
            if part in by_part
        }
        for key, by_part in found.items()
    }


def _part_sums(sums: dict[str, float]) -> PartSums:
    moved = int(sums.get("moved", 0))
    values = (sums.get(name, 0.0) for name in ("total", "squares", "fourths"))
    return PartSums(moved, LuckSums(moved, *values))


def _returns(rows: Sequence[Returned]) -> dict[BetKey, dict[str, dict[Fraction, int]]]:
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
