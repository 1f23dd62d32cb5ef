"""Sums by day: those of the rounds one by one, to the unit, whatever part of a day is asked for."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import pyarrow as pa
import pytest

from shoeproof.audit_reports.rows.luck import ALL_LUCK, COUNT_COLUMNS, PART_COLUMNS, UNIT_COLUMNS
from shoeproof.audit_reports.rtp_report.figures import Scope, cells, figures
from shoeproof.audit_reports.rtp_report.records import SliceRow
from shoeproof.audit_reports.statistics.sums import BetSums
from tests.audit_reports.simulated import SimulatedTables

LARGEST = 2**53 - 1
MIDNIGHT = datetime(2026, 3, 2, tzinfo=UTC)
HOUR = timedelta(hours=1)
SLICES = ((), ("day",), ("week", "table"), ("player",), ("stake_band", "channel"), ("month",))
PERIODS = {
    "all": (None, None),
    "whole days": (MIDNIGHT, MIDNIGHT + 48 * HOUR),
    "from noon": (MIDNIGHT + 12 * HOUR, None),
    "until noon": (None, MIDNIGHT + 12 * HOUR),
    "parts of two days around one": (MIDNIGHT - 5 * HOUR, MIDNIGHT + 31 * HOUR),
    "part of one day": (MIDNIGHT + 3 * HOUR, MIDNIGHT + 4 * HOUR),
    "up to the last microsecond": (MIDNIGHT, MIDNIGHT + 24 * HOUR - timedelta(microseconds=1)),
}
TEXTS = ("game", "rules_digest", "currency", "mode", "table_name", "channel", "player", "bet")


def row(number: int, random: Random, stake: int) -> dict[str, Any]:
    state = random.choices(("closed", "void", "open"), (8, 1, 1))[0]
    opened = MIDNIGHT.replace(tzinfo=None) + timedelta(seconds=random.randint(-200_000, 200_000))
    staked = stake * random.choice((1, 2))
    paid = random.choice((0, staked, 2 * staked)) if state == "closed" else 0
    # Also a round that was closed and then voided by a decision was followed.
    is_followed = state != "open" and random.random() < 0.8
    parts = {name: random.uniform(-stake, stake) for name in PART_COLUMNS}
    counts = {name: random.randint(0, 5) for name in COUNT_COLUMNS}
    cash = random.choice((None, staked))
    return {
        "first_leaf": 10 * number, "last_leaf": 10 * number + 9, "round": f"r-{number}",
        "game": random.choice(("zappit", None)), "rules_digest": "ab", "currency": "EUR",
        "mode": random.choice(("real", "real", "fun")), "operator": None,
        "table_name": random.choice(("t-1", "t-2", None)), "channel": random.choice(("web", "app")),
        "player": f"p-{random.randint(1, 9)}", "bet": random.choice(("main", "perfect_pairs")),
        "state": state, "opened_at": opened,
        "closed_at": None if state == "open" else opened + timedelta(seconds=40),
        "hands": random.randint(1, 3), "initial_minor": stake, "staked_minor": staked,
        "paid_minor": paid, "recorded_paid_minor": paid - random.choice((0, 0, 3)),
        "held_minor": staked if state == "open" else 0, "cash_staked_minor": cash,
        "incentive_staked_minor": None if cash is None else staked - cash,
        "would_have_paid_minor": None, "would_have_won": None,
        "part_back_minor": random.choice((None, 1)), "resettled": random.random() < 0.1,
        "played_out": state == "closed" and random.random() < 0.9,
        "start_minor": 0.5 * stake if is_followed else None,
        "error_minor": float(random.choice((0, 0, 7))) if is_followed else None,
        "underpaid_minor": float(random.choice((0, 0, 3))) if is_followed else None,
        "wrong_hands": random.choice((0, 0, 1, 2)) if is_followed else None,
        **{name: value if is_followed else None for name, value in (parts | counts).items()},
    }  # fmt: skip


def made(rows: list[dict[str, Any]]) -> SimulatedTables:
    schema = pa.Table.from_pylist(rows).schema
    for name in ("operator", *TEXTS):
        schema = schema.set(schema.get_field_index(name), pa.field(name, pa.string()))
    field = pa.field("would_have_won", pa.bool_())
    schema = schema.set(schema.get_field_index("would_have_won"), field)
    nullable = (
        "cash_staked_minor",
        "incentive_staked_minor",
        "would_have_paid_minor",
        "part_back_minor",
    )
    for name in nullable:
        schema = schema.set(schema.get_field_index(name), pa.field(name, pa.int64()))
    return SimulatedTables(pa.Table.from_pylist(rows, schema=schema))


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    random = Random(4)
    stakes = (1, 10, 99, 250, LARGEST // 2)
    return [row(number, random, random.choice(stakes)) for number in range(1500)]


@pytest.fixture(scope="module")
def tables(rows: list[dict[str, Any]]) -> SimulatedTables:
    return made(rows)


def ended(each: dict[str, Any]) -> datetime:
    moment: datetime = each["closed_at"] or each["opened_at"]
    return moment.replace(tzinfo=UTC)


def chosen(rows: list[dict[str, Any]], scope: Scope) -> list[dict[str, Any]]:
    begin = scope.begin or datetime.min.replace(tzinfo=UTC)
    end = scope.end or datetime.max.replace(tzinfo=UTC)
    return [each for each in rows if each["mode"] == "real" and begin <= ended(each) < end]


def followed(rows: list[dict[str, Any]], scope: Scope) -> list[dict[str, Any]]:
    """Those that were played out and could be taken apart."""
    played = [each for each in chosen(rows, scope) if each["state"] == "closed"]
    return [each for each in played if each["start_minor"] is not None]


def named(each: dict[str, Any], name: str) -> str | None:
    when = ended(each)
    values: dict[str, str | None] = {
        "table": each["table_name"],
        "player": each["player"],
        "channel": each["channel"],
        "stake_band": str(len(str(each["initial_minor"])) - 1),
        "day": f"{when:%Y-%m-%d}",
        "week": f"{when:%G-W%V}",
        "month": f"{when:%Y-%m}",
    }
    return values[name]


def one_by_one(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """What a cell says, counted without SQL."""
    played = [each for each in rows if each["state"] == "closed"]
    followed = [each for each in played if each["start_minor"] is not None]
    # A part of a stake that went back mends nothing.
    is_mended = [each["resettled"] and each["part_back_minor"] is None for each in followed]
    wrong = [
        each
        for each, mended in zip(followed, is_mended, strict=True)
        if each["wrong_hands"] and not mended
    ]
    cash = [each["cash_staked_minor"] for each in played if each["cash_staked_minor"] is not None]
    return {
        "sums": BetSums.of(
            (each["initial_minor"], each["staked_minor"], each["paid_minor"]) for each in played
        ),
        "players": len({each["player"] for each in played}),
        "hands": sum(each["hands"] for each in played),
        "voided_rounds": sum(each["state"] == "void" for each in rows),
        "voided_minor": sum(each["staked_minor"] for each in rows if each["state"] == "void"),
        "open_rounds": sum(each["state"] == "open" for each in rows),
        "held_minor": sum(each["held_minor"] for each in rows),
        "resettled_rounds": sum(each["resettled"] for each in played),
        "resettled_minor": sum(each["paid_minor"] - each["recorded_paid_minor"] for each in played),
        "cash_minor": sum(cash) if cash else None,
        "followed_rounds": len(followed),
        "unfollowed_rounds": sum(
            each["played_out"] and each["start_minor"] is None for each in played
        ),
        "followed_minor": sum(each["initial_minor"] for each in followed),
        "error_minor": sum(each["error_minor"] for each in followed),
        "wrong_rounds": len(wrong),
        "wrong_minor": sum(each["error_minor"] for each in wrong),
        "underpaid_minor": sum(each["underpaid_minor"] for each in wrong),
    }


@pytest.mark.parametrize("by", SLICES, ids=lambda by: ",".join(by) or "whole")
@pytest.mark.parametrize("period", PERIODS)
def test_slices_are_the_rounds_one_by_one(
    tables: SimulatedTables, rows: list[dict[str, Any]], period: str, by: tuple[str, ...]
) -> None:
    scope = Scope(*PERIODS[period])
    expected: dict[Any, list[dict[str, Any]]] = {}
    for each in chosen(rows, scope):
        key = each["game"], each["rules_digest"], each["currency"], each["bet"]
        expected.setdefault((key, tuple(named(each, name) for name in by)), []).append(each)
    found: dict[Any, SliceRow] = {
        (tuple(cell.key), tuple(cell.slice.values())): cell for cell in cells(tables, scope, by)
    }
    assert found.keys() == expected.keys()
    assert expected
    for key, mine in expected.items():
        for name, value in one_by_one(mine).items():
            assert getattr(found[key], name) == value, name


@pytest.mark.parametrize("period", PERIODS)
def test_luck_by_day_is_that_of_the_rounds_one_by_one(
    tables: SimulatedTables, rows: list[dict[str, Any]], period: str
) -> None:
    scope = Scope(*PERIODS[period])
    found = figures(tables, scope).parts
    expected: dict[Any, list[float]] = {}
    for each in followed(rows, scope):
        key = each["game"], "ab", "EUR", each["bet"]
        expected.setdefault((key, named(each, "day")), []).append(each["luck_hit"])
    days = {(tuple(key), day) for key, parts in found.items() for day in parts["luck_hit"]}
    assert days == expected.keys()
    for (key, day), values in expected.items():
        part = found[key]["luck_hit"][day]
        assert part.moved == len(values)
        assert part.sums.total == pytest.approx(sum(values), rel=1e-9)
        assert part.sums.squares == pytest.approx(sum(x**2 for x in values), rel=1e-9)
        assert part.sums.fourths == pytest.approx(sum(x**4 for x in values), rel=1e-9)


def unit_luck(each: dict[str, Any], name: str) -> float:
    """Luck for a unit of stake, to a millionth."""
    kind = name.removeprefix("unit_")
    of_all = sum(each[part] for part in PART_COLUMNS if part.startswith("luck_"))
    luck = of_all if kind == "all" else each[f"luck_{kind}"]
    return float(round(luck / each["initial_minor"], 6))


@pytest.mark.parametrize("by", [(), ("player",), ("week", "table")])
def test_luck_for_a_unit_of_stake_and_counts_are_those_of_the_rounds(
    tables: SimulatedTables, rows: list[dict[str, Any]], by: tuple[str, ...]
) -> None:
    scope = Scope(*PERIODS["parts of two days around one"])
    for cell in cells(tables, scope, by):
        mine = [
            each
            for each in followed(rows, scope)
            if (each["game"], each["bet"]) == (cell.key.game, cell.key.bet)
            and tuple(named(each, name) for name in by) == tuple(cell.slice.values())
        ]
        for name in UNIT_COLUMNS:
            values, found = [unit_luck(each, name) for each in mine], cell.unit_luck[name]
            assert found.total == pytest.approx(sum(values), abs=1e-5 * (1 + len(values)))
            assert found.squares == pytest.approx(sum(x**2 for x in values), rel=1e-4)
            assert found.fourths == pytest.approx(sum(x**4 for x in values), rel=1e-3, abs=1e-9)
        counted = cell.counted["dealer_bust"]
        for name, size in {"chances": 1, "came": 1, "expected": 1e9, "variance": 1e9}.items():
            assert (
                getattr(counted, name) == sum(each[f"{name}_dealer_bust"] for each in mine) / size
            )


def test_absurd_luck_is_no_error(rows: list[dict[str, Any]]) -> None:
    """A value shown for a hand may be anything, and what a card then changes with it."""
    absurd = [{**each, "luck_hit": 1e30} if each["start_minor"] else each for each in rows]
    (found,) = {cell.unit_luck["unit_hit"].total / cell.followed_rounds
                for cell in cells(made(absurd), Scope()) if cell.followed_rounds}  # fmt: skip
    assert found == 10_000


def test_all_luck_by_day_is_that_of_all_kinds(
    tables: SimulatedTables, rows: list[dict[str, Any]]
) -> None:
    found = figures(tables, Scope())
    for key, parts in found.luck.items():
        mine = [
            sum(each[part] for part in PART_COLUMNS if part.startswith("luck_"))
            for each in followed(rows, Scope())
            if (each["game"], each["bet"]) == (key.game, key.bet)
        ]
        sums = parts[ALL_LUCK].values()
        assert sum(each.rounds for each in sums) == len(mine)
        assert sum(each.squares for each in sums) == pytest.approx(sum(x**2 for x in mine))


def test_sums_of_luck_do_not_depend_on_the_order_of_rows(rows: list[dict[str, Any]]) -> None:
    shuffled = rows.copy()
    Random(5).shuffle(shuffled)
    scope = Scope(*PERIODS["parts of two days around one"])
    one, other = figures(made(shuffled), scope), figures(made(rows), scope)
    assert (one.parts, one.luck, one.counts) == (other.parts, other.luck, other.counts)


def test_squares_of_the_largest_amounts_are_exact() -> None:
    rows = [row(number, Random(number), LARGEST) for number in range(500)]
    for each in rows:
        each |= {"state": "closed", "mode": "real", "bet": "main", "game": "zappit"}
        each["closed_at"] = each["opened_at"]
    (cell,) = cells(made(rows), Scope())
    assert cell.sums.initial_initial == 500 * LARGEST**2
    wins = [each["paid_minor"] - each["staked_minor"] for each in rows]
    assert cell.sums.win_win == sum(win**2 for win in wins)


def test_a_sum_that_is_too_large_is_an_error_and_no_figure() -> None:
    rows = [row(number, Random(1), 2**63 - 1) for number in range(4)]
    for each in rows:
        each |= {"mode": "real", "staked_minor": 2**63 - 1, "paid_minor": 0, "held_minor": 0}
        each |= {"recorded_paid_minor": 0, "cash_staked_minor": None}
    with pytest.raises(duckdb.OutOfRangeException):
        made(rows)


@pytest.mark.parametrize("zone", ["Asia/Kolkata", "America/New_York", "Pacific/Kiritimati"])
@pytest.mark.parametrize("period", ["all", "from noon", "whole days"])
def test_slices_by_day_are_the_rounds_of_a_day_of_the_zone(
    tables: SimulatedTables, rows: list[dict[str, Any]], period: str, zone: str
) -> None:
    scope = Scope(*PERIODS[period], zone)
    expected = Counter(
        f"{ended(each).astimezone(ZoneInfo(zone)):%Y-%m-%d}"
        for each in chosen(rows, scope)
        if each["state"] == "closed"
    )
    found: Counter[str] = Counter()
    for cell in cells(tables, scope, ("day",)):
        found[cell.slice["day"] or ""] += cell.sums.rounds
    assert +found == expected


@pytest.mark.parametrize(
    ("zone", "begin"),
    [
        ("Europe/Malta", datetime(2026, 3, 28)),
        ("Europe/Malta", datetime(2026, 10, 24)),
        ("America/New_York", datetime(2026, 11, 1)),
        ("Pacific/Apia", datetime(2011, 12, 29)),
        ("Australia/Lord_Howe", datetime(2026, 4, 4)),
    ],
)
def test_clocks_change_when_they_do_elsewhere(
    tables: SimulatedTables, zone: str, begin: datetime
) -> None:
    """DuckDB's time zones and Python's are of the same rules, each by a table of its own."""
    moments = [begin + timedelta(minutes=15 * step) for step in range(200)]
    asked = "SELECT on_clocks_of(unnest($moments::TIMESTAMP[]), $zone)"
    shown = tables._database.execute(asked, {"moments": moments, "zone": zone}).fetchall()
    assert [each for (each,) in shown] == [
        each.replace(tzinfo=UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None) for each in moments
    ]
