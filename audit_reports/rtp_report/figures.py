"""The figures a report rests on, as records: all that is asked of the tables is asked here."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from fractions import Fraction
from typing import Any, Final, NamedTuple, Protocol, Self, TypeAlias

import msgspec

from audit_reports.errors import ReportError
from audit_reports.luck import PART_COLUMNS
from audit_reports.rtp_report.model import Approved
from audit_reports.rtp_report.spans import PERIODS, span_name
from audit_reports.statistics.sums import BetSums, LuckSums
from replay.engine.outcomes import MAIN
from replay.luck.kinds import LUCK

SLICES: Final = ("table", "player", "channel", "stake_band", "day", "week", "month")
"""What figures can be made by, besides game, rules, currency and bet, which are always apart."""

QUERIES: Final = (
    "rtp_slices", "rtp_parts", "rtp_returns", "rtp_growth", "rtp_voids",
    "rtp_held", "rtp_wrong", "rtp_extent", "rtp_par_sheets",
)  # fmt: skip
"""The files of `queries/` that a report's figures come from."""


Record: TypeAlias = dict[str, Any]
"""A row of an answer by the names of its columns."""


class Relations(Protocol):
    """Tables of a ledger as the queries read them."""

    def query(self, name: str, **parameters: Any) -> list[Record]:
        """Return all rows of `queries/<name>.sql`."""


class BetKey(NamedTuple):
    """What is never summed across; `game` is None where no readable rules have the digest."""

    game: str | None
    rules_digest: str
    currency: str
    bet: str

    @classmethod
    def of(cls, record: Record) -> Self:
        """Return the key of a query's row."""
        return cls(*(record[name] for name in cls._fields))


class PartTotals(msgspec.Struct, frozen=True):
    """All luck, its square summed over rounds and kinds, and all skill; minor units."""

    luck_minor: float = 0.0
    luck_squares: float = 0.0
    skill_minor: float = 0.0


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """A bet's figures in one slice; amounts are minor units.

    `sums`, `players` and `hands` are of closed rounds; of these `followed_rounds` could be taken
    apart, with `followed_minor` of initial stakes, `start_minor` to be returned in the mean and
    `error_minor` paid too much at the table. `wrong_rounds` were not paid as the rules say and
    stay so, by `wrong_minor` in all. `resettled_minor` is what disputes added to what was paid.
    `parts` is all luck and skill of the rounds that could be followed.
    Cash and incentive stakes are None where no round records them.
    """

    key: BetKey
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


class PartSums(msgspec.Struct, frozen=True):
    """Sums of one part of a bet over a day's rounds, `moved` of which it was not nil in."""

    moved: int
    sums: LuckSums


class VoidedBet(msgspec.Struct, frozen=True):
    """A bet of a void round; `would_have_paid_minor` is None where nobody can know."""

    leaf_index: int
    round: str
    game: str | None
    rules_digest: str
    currency: str
    bet: str
    table: str | None
    closed_at: datetime | None
    staked_minor: int
    would_have_paid_minor: int | None


class HeldRound(msgspec.Struct, frozen=True):
    """A round that has not ended, with the stakes it has not settled."""

    leaf_index: int
    round: str
    game: str | None
    currency: str
    table: str | None
    opened_at: datetime
    held_minor: int


class WrongBet(msgspec.Struct, frozen=True):
    """A bet paid otherwise than the rules say, or otherwise after a dispute than at the table.

    `error_minor` is what the table paid too much, None where the round could not be followed.
    """

    leaf_index: int
    round: str
    game: str | None
    rules_digest: str
    currency: str
    bet: str
    closed_at: datetime
    recorded_paid_minor: int
    paid_minor: int
    error_minor: int | None
    resettled: bool


class Extent(msgspec.Struct, frozen=True):
    """The rounds of an operator as recorded, None where none is."""

    operator: str | None
    rounds: int
    first_leaf: int
    last_leaf: int
    first_ended: datetime
    last_ended: datetime


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
    for a chart, `approved` by     game, rules digest and bet.
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
        extents=[Extent(**row) for row in tables.query("rtp_extent", **period)],
        totals=cells(tables, scope),
        days=cells(tables, scope, ("day",)),
        slices={names: cells(tables, scope, names) for names in by},
        parts=_parts(tables.query("rtp_parts", **period)),
        returns=_returns(tables.query("rtp_returns", **period)),
        growth=_growth(tables.query("rtp_growth", **period)),
        voids=[VoidedBet(**row) for row in tables.query("rtp_voids", **period)],
        held=[HeldRound(**row) for row in tables.query("rtp_held", end=period["end"])],
        wrong=[WrongBet(**row) for row in tables.query("rtp_wrong", **period)],
        approved={
            (row["game"], row["rules_digest"], row["bet"]): Approved(
                row["id"], row["date"], row["sha256"], row["percent"]
            )
            for row in tables.query("rtp_par_sheets")
        },
    )


def cells(tables: Relations, scope: Scope, by: tuple[str, ...] = ()) -> list[Cell]:
    """Return the figures of every bet in every slice, the main bet of each game first."""
    # An empty list has no type that a name could be looked up in.
    rows = tables.query("rtp_slices", by=list(by) or [""], **scope.period)
    found = [_cell(by, row) for row in rows]
    return sorted(found, key=lambda cell: in_order(cell.key))


def in_order(key: BetKey) -> tuple[str, str, str, bool, str]:
    """Return what bets are sorted by: the main bet of each game first."""
    return key.game or "~", key.rules_digest, key.currency, key.bet != MAIN, key.bet


def _cell(by: Sequence[str], row: Record) -> Cell:
    # Sums over no closed round, or none that was void, are null.
    counted = {name: value or 0 for name, value in row.items()}
    return Cell(
        key=BetKey.of(row),
        slice={name: _slice(name, row) for name in by},
        players=counted["players"],
        hands=counted["hands"],
        sums=_bet_sums(counted),
        voided_rounds=counted["voided_rounds"],
        voided_minor=counted["voided_minor"],
        open_rounds=counted["open_rounds"],
        held_minor=counted["held_minor"],
        resettled_rounds=counted["resettled_rounds"],
        resettled_minor=counted["resettled_minor"],
        cash_minor=row["cash_minor"],
        incentive_minor=row["incentive_minor"],
        followed_rounds=counted["followed_rounds"],
        followed_minor=counted["followed_minor"],
        start_minor=float(counted["start_minor"]),
        error_minor=round(counted["error_minor"]),
        wrong_rounds=counted["wrong_rounds"],
        wrong_minor=round(counted["wrong_minor"]),
        parts=PartTotals(
            float(counted["luck"]), float(counted["luck_luck"]), float(counted["skill"])
        ),
    )


def _bet_sums(row: Record) -> BetSums:
    return BetSums(**{name: int(row[name]) for name in BetSums.__struct_fields__})


def _slice(name: str, row: Record) -> str | None:
    """Return what a row's slice is called, by the columns that the query has for it."""
    if name in PERIODS:
        begun: date | None = row["period_slice"]
        return None if begun is None else span_name(name, begun)
    value: str | None = row[f"{name}_slice"]
    return value


def _parts(rows: list[Record]) -> dict[BetKey, dict[str, dict[str, PartSums]]]:
    found: dict[BetKey, dict[str, dict[str, dict[str, float]]]] = {}
    for row in rows:
        name, _, part = row["sum_of"].partition("_")
        by_part = found.setdefault(BetKey.of(row), {})
        by_part.setdefault(part, {}).setdefault(str(row["day"]), {})[name] = row["amount"]
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


def _returns(rows: list[Record]) -> dict[BetKey, dict[str, dict[Fraction, int]]]:
    found: dict[BetKey, dict[str, dict[Fraction, int]]] = {}
    for row in rows:
        of_day = found.setdefault(BetKey.of(row), {}).setdefault(str(row["day"]), {})
        of_day[Fraction(row["numerator"], row["denominator"])] = row["rounds"]
    return found


def _growth(rows: list[Record]) -> dict[BetKey, list[BetSums]]:
    found: dict[BetKey, list[BetSums]] = {}
    for row in rows:
        found.setdefault(BetKey.of(row), []).append(_bet_sums(row))
    return found


def is_luck(part: str) -> bool:
    """Tell whether a part's column is one of luck."""
    return part.startswith(f"{LUCK}_")
