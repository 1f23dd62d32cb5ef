"""All days of a report are those of the zone asked for, held to a grouping in plain Python."""

from collections import Counter, defaultdict
from datetime import UTC
from fractions import Fraction
from zoneinfo import ZoneInfo

import pytest

from shoeproof.audit_reports.rows.luck import ALL_LUCK
from shoeproof.audit_reports.rtp_report.figures import Figures, Scope, figures
from shoeproof.replay.luck.counts import COUNT_KINDS
from shoeproof.replay.luck.kinds import LUCK_KINDS
from tests.audit_reports.simulated import SimulatedTables, simulated

ZONES = ("UTC", "Asia/Kolkata", "Pacific/Apia", "America/St_Johns")


@pytest.fixture(scope="module")
def tables() -> SimulatedTables:
    return simulated("nba", "basic", 400, seed=3, days=6)


def days_of(found: Figures) -> list[set[str]]:
    """The days that each thing summed by day has, of main bet and side bets together."""
    by_day = (found.parts, found.luck, found.counts, found.returns)
    named = {
        day
        for sums in by_day
        for parts in sums.values()
        for each in parts.values()
        for day in (each if sums is not found.returns else ())
    } | {day for days in found.returns.values() for day in days}
    return [{str(cell.slice["day"]) for cell in found.days}, {str(day) for day in named}]


@pytest.mark.parametrize("zone", ZONES)
def test_luck_counts_and_returns_are_by_days_of_the_zone(
    tables: SimulatedTables, zone: str
) -> None:
    found = figures(tables, Scope(zone=zone))
    rounds: dict[str, Counter[str]] = defaultdict(Counter)
    luck: dict[str, float] = defaultdict(float)
    returns: dict[str, Counter[Fraction]] = defaultdict(Counter)
    for row in tables.rows.to_pylist():
        day = row["closed_at"].replace(tzinfo=UTC).astimezone(ZoneInfo(zone)).date().isoformat()
        rounds[row["bet"]][day] += 1
        if row["bet"] == "main":
            luck[day] += sum(row[f"luck_{kind}"] for kind in LUCK_KINDS)
        if row["bet"] == "perfect_pairs":
            returns[day][Fraction(row["paid_minor"], row["staked_minor"])] += 1
    (main,) = {cell.key for cell in found.days if cell.key.bet == "main"}
    counted = {str(c.slice["day"]): c.sums.rounds for c in found.days if c.key == main}
    assert counted == dict(rounds["main"])
    together = {str(day): sums.total for day, sums in found.luck[main]["luck_all"].items()}
    assert together == pytest.approx({day: sum_ for day, sum_ in luck.items() if sum_})
    assert {kind in found.counts[main] for kind in COUNT_KINDS} == {True}
    (pairs,) = {key for key in found.returns if key.bet == "perfect_pairs"}
    assert {str(day): dict(each) for day, each in found.returns[pairs].items()} == {
        day: dict(each) for day, each in returns.items()
    }
    of_cells, of_sums = days_of(found)
    assert of_sums == of_cells


def test_another_zone_moves_days_and_no_sum(tables: SimulatedTables) -> None:
    utc, other = (figures(tables, Scope(zone=zone)) for zone in ("UTC", "Asia/Kolkata"))
    for key, parts in utc.luck.items():
        for name, by_day in parts.items():
            total = sum(each.total for each in by_day.values())
            assert sum(each.total for each in other.luck[key][name].values()) == pytest.approx(
                total, abs=1e-6
            )
    assert days_of(utc) != days_of(other)
    assert ALL_LUCK in next(iter(utc.luck.values()))
