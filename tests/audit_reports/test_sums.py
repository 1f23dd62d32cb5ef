"""Sums by day: those of the rounds one by one, to the unit, whatever part of a day is asked for."""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from audit_reports.luck import PART_COLUMNS
from audit_reports.rtp_report.figures import Scope, cells, figures
from audit_reports.rtp_report.records import Cell
from audit_reports.statistics.sums import BetSums
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
    is_followed = state == "closed" and random.random() < 0.8
    parts = {name: random.uniform(-stake, stake) for name in PART_COLUMNS}
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
        "would_have_paid_minor": None, "resettled": random.random() < 0.1,
        "start_minor": 0.5 * stake if is_followed else None,
        "error_minor": float(random.choice((0, 0, 7))) if is_followed else None,
        "wrong_hands": random.choice((0, 0, 1, 2)) if is_followed else None,
        **{name: value if is_followed else None for name, value in parts.items()},
    }  # fmt: skip


def made(rows: list[dict[str, Any]]) -> SimulatedTables:
    schema = pa.Table.from_pylist(rows).schema
    for name in ("operator", *TEXTS):
        schema = schema.set(schema.get_field_index(name), pa.field(name, pa.string()))
    nullable = ("cash_staked_minor", "incentive_staked_minor", "would_have_paid_minor")
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
    wrong = [each for each in followed if each["wrong_hands"] and not each["resettled"]]
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
        "followed_minor": sum(each["initial_minor"] for each in followed),
        "error_minor": sum(each["error_minor"] for each in followed),
        "wrong_rounds": len(wrong),
        "wrong_minor": sum(each["error_minor"] for each in wrong),
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
    found: dict[Any, Cell] = {
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
    for each in chosen(rows, scope):
        if each["state"] == "closed" and each["start_minor"] is not None:
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


def test_sums_of_luck_do_not_depend_on_the_order_of_rows(rows: list[dict[str, Any]]) -> None:
    shuffled = rows.copy()
    Random(5).shuffle(shuffled)
    scope = Scope(*PERIODS["parts of two days around one"])
    assert figures(made(shuffled), scope).parts == figures(made(rows), scope).parts


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
