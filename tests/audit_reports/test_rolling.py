"""Rolling 30 days and stake bands judged by themselves, at levels that hold over daily looks."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from msgspec.structs import replace

from shoeproof.audit_reports.inspection.weigh import of_game
from shoeproof.audit_reports.rtp_report import rolling
from shoeproof.audit_reports.rtp_report.alarms import alarms
from shoeproof.audit_reports.rtp_report.build import build_games
from shoeproof.audit_reports.rtp_report.figures import Scope, cells, figures
from shoeproof.audit_reports.rtp_report.model import GameReport, Row
from shoeproof.audit_reports.rtp_report.records import SliceRow, summed
from shoeproof.audit_reports.rtp_report.rolling import WINDOW, accused_windows, windows_of
from shoeproof.audit_reports.rtp_report.slices import judged_row
from shoeproof.audit_reports.rtp_report.theoretical import theoretical
from shoeproof.replay.engine.rules import rules_digest
from shoeproof.replay.games.published import GAMES
from tests.audit_reports.simulated import BEGUN, LEAVES_A_ROUND, SimulatedTables, simulated_rows
from tests.bench.false_alarms import figures_of, pools, years_of
from tests.luck.simulator import HONEST, Crooked

DAYS = 90
A_DAY = 60


@dataclass
class Made:
    """Tables and what a page of them says."""

    tables: SimulatedTables
    report: GameReport


def rows_of(
    rigged: Crooked, begin: int, days: int, rounds: int, times: Sequence[int] | None = None
) -> pa.Table:
    """Rounds of some days, which begin `begin` days after the first."""
    made = simulated_rows(
        "zero", "basic", rounds, seed=begin + days, crooked=rigged, days=days, times=times
    )  # fmt: skip
    for name in ("opened_at", "closed_at"):
        moved = [each + timedelta(days=begin) for each in made[name].to_pylist()]
        made = made.set_column(made.schema.get_field_index(name), name, pa.array(moved))
    for name in ("first_leaf", "last_leaf"):
        moved = [each + begin * 1000 * LEAVES_A_ROUND for each in made[name].to_pylist()]
        made = made.set_column(made.schema.get_field_index(name), name, pa.array(moved))
    return made


def page(rows: list[pa.Table], last: date, *by: str) -> Made:
    rules = GAMES["zero"].rules
    tables = SimulatedTables(pa.concat_tables(rows))
    found = figures(tables, Scope(), [(each,) for each in by])
    (report,) = build_games(found, {rules_digest(rules): theoretical(rules)}, last)
    return Made(tables, report)


def day(number: int) -> date:
    return (BEGUN + timedelta(days=number)).date()


@cache
def honest() -> Made:
    return page([rows_of(HONEST, 0, DAYS, DAYS * A_DAY)], day(DAYS - 1), "day", "stake_band")


def main_of(rows: tuple[Row, ...]) -> list[Row]:
    return [row for row in rows if row.bet == "main"]


@pytest.mark.parametrize("number", [0, 12, 29, 30, 61, DAYS - 1])
def test_a_window_is_what_a_count_of_its_days_alone_says(number: int) -> None:
    begin = max(0, number - WINDOW + 1)
    first, end = (datetime.fromisoformat(f"{day(n)}T00:00Z") for n in (begin, number + 1))
    scope = Scope(first, end)
    (alone,) = [each for each in cells(honest().tables, scope) if each.key.bet == "main"]
    (row,) = [
        row
        for row in main_of(honest().report.slices["day"])
        if row.slice["day"] == day(number).isoformat()
    ]
    assert row.rolling is not None
    assert row.rolling.rounds == alone.sums.rounds == A_DAY * (number + 1 - begin)
    assert row.rolling.initial_minor == alone.sums.initial
    assert row.rolling.rtp_on_initial_stakes == pytest.approx(
        float(alone.sums.rtp_on_initial_stakes or 0), abs=1e-6
    )
    z = alone.parts.luck_minor / alone.parts.luck_squares**0.5
    assert row.rolling.luck_z == pytest.approx(z, abs=1e-6)


def test_cells_summed_are_the_cell_of_all_their_rounds() -> None:
    tables = honest().tables
    (whole,) = [each for each in cells(tables, Scope()) if each.key.bet == "main"]
    of_days = [each for each in cells(tables, Scope(), ("day",)) if each.key.bet == "main"]
    found = summed(of_days)
    assert (found.sums, found.counted) == (whole.sums, whole.counted)
    for name, luck in found.unit_luck.items():
        assert luck.total == pytest.approx(whole.unit_luck[name].total)
        assert luck.squares == pytest.approx(whole.unit_luck[name].squares)
    assert found.start_minor == pytest.approx(whole.start_minor)


def test_an_honest_page_has_a_word_on_its_last_30_days() -> None:
    (window,) = [each for each in honest().report.rolling if each.bet == "main"]
    assert (window.first, window.last) == (day(DAYS - WINDOW).isoformat(), day(89).isoformat())
    assert window.word == "no evidence against"
    assert honest().report.word == "no evidence against"


def test_days_without_rounds_take_the_window_on() -> None:
    made = page([rows_of(HONEST, 0, 20, 1_200)], day(40))
    (window,) = [each for each in made.report.rolling if each.bet == "main"]
    assert (window.first, window.last) == (day(11).isoformat(), day(40).isoformat())
    assert window.rounds == 9 * A_DAY
    assert page([rows_of(HONEST, 0, 20, 1_200)], day(60)).report.rolling == ()


def test_a_month_of_cheating_is_named_by_its_window_after_it_ended() -> None:
    rows = [
        rows_of(HONEST, 0, 60, 3_600),
        rows_of(Crooked(busts_taken=0.5), 60, 30, 1_800),
        rows_of(HONEST, 90, 40, 2_400),
    ]
    made = page(rows, day(129), "day")
    word = {row.slice["day"]: row.rolling for row in main_of(made.report.slices["day"])}
    before, then, after = (word[day(number).isoformat()] for number in (59, 91, 129))
    assert before is not None
    assert then is not None
    assert after is not None
    assert (before.word, then.word) == ("no evidence against", "out of range")
    assert after.word == "no evidence against"
    assert made.report.word == "out of range"
    assert [bet.word for bet in made.report.bets if bet.row.bet == "main"] == [
        "no evidence against"
    ]
    (left,) = made.report.left
    raised = alarms([made.report])
    assert [str(each.note).partition(" of zero")[0] for each in raised] == [
        "out of range: 30 days of the main bet"
    ]
    assert f"to {left.last}; busts of the dealer" in str(raised[0].note)
    (found,) = of_game(made.report)
    assert (found.weight, found.rounds) == ("wrong", left.rounds)
    (told,) = [why for why in made.report.why if why.startswith("30 days to ")]
    first = min(
        name for name, each in word.items() if each and each.word == "out of range" and name
    )
    assert told.startswith(f"30 days to {first}, main: ")


def test_levels_of_all_windows_sum_to_no_more_than_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A year's windows have half of it, two years' two thirds: 1/2 + 1/6 + … comes to 1."""
    spent: list[float] = []

    def judged(cell: SliceRow, level: float) -> Row:
        spent.append(level)
        return judged_row(cell, level)

    monkeypatch.setattr(rolling, "judged_row", judged)
    (one,) = [each for each in cells(honest().tables, Scope(), ("day",)) if each.key.bet == "main"][
        :1
    ]
    days = [replace(one, slice={"day": day(number).isoformat()}) for number in range(730)]
    windows_of(days, one, None, 0.05)
    assert sum(spent[:365]) == pytest.approx(0.025)
    assert sum(spent) == pytest.approx(0.05 * 2 / 3)


def test_a_stake_band_is_judged_by_itself() -> None:
    usual = rows_of(HONEST, 0, 30, 4_000, times=[1] * 4_000)
    rigged = rows_of(Crooked(busts_taken=0.5), 0, 30, 3_000, times=[100] * 3_000)
    bands = {
        row.slice["stake_band"]: row.word
        for row in main_of(page([usual, rigged], day(29), "stake_band").report.slices["stake_band"])
    }
    low, high = sorted(bands, key=lambda band: int(band or 0))
    assert int(high or 0) == int(low or 0) + 2
    assert (bands[low], bands[high]) == ("no evidence against", "out of range")


def test_windows_of_honest_years_are_not_out_of_range_on_any_day() -> None:
    """At the whole page's one in twenty a year, four honest ones would all pass with 81%."""
    random = np.random.default_rng(21)
    made = pools(random, 6_000)
    for _ in range(4):
        counted = figures_of(list(years_of(made, 40, random)))
        mine = next(cell for cell in counted.totals if cell.key.game == "zero")
        windows = windows_of(counted.days, mine, None, 0.05)
        assert len(windows["main"]) == 365
        assert list(accused_windows(windows)) == []
