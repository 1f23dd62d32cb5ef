"""Approved returns: read whole, or refused in one line that names the sheet."""

import json
from collections.abc import Callable
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from shoeproof.audit_reports.errors import ParSheetRefused
from shoeproof.audit_reports.rtp_report.from_ledger import ReportRequest, report_on
from shoeproof.audit_reports.rtp_report.model import Approved, RtpReport
from shoeproof.audit_reports.rtp_report.theoretical import theoretical
from shoeproof.audit_reports.tables.par_sheets import ParSheet, prints, read_par_sheets
from shoeproof.audit_reports.tables.views import open_tables
from shoeproof.ledger import Ledger
from shoeproof.replay.games.game import Game
from shoeproof.replay.games.published import GAMES
from tests.audit_reports.helpers import NBA, ZAPPIT, play, simple

SHEET: dict[str, Any] = {
    "id": "PAR-7",
    "date": "2026-01-31",
    "sha256": "ab" * 32,
    "game": "zappit",
    "rules_digest": ZAPPIT,
    "bet": "main",
    "percent": "98.87",
}


def written(folder: Path, sheets: object) -> Path:
    path = folder / "par.json"
    path.write_text(json.dumps(sheets))
    return path


def test_sheets_become_a_table(ledger: Ledger, tmp_path: Path) -> None:
    sheets = read_par_sheets(written(tmp_path, [SHEET, SHEET | {"bet": "insurance"}]))
    with open_tables(ledger, par_sheets=sheets) as tables:
        answer = tables.ask("SELECT * REPLACE (date::VARCHAR AS date) FROM par_sheets ORDER BY bet")
        assert answer.to_pylist() == [SHEET | {"bet": "insurance"}, SHEET]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda sheet: {}, "is not a list of PAR sheets"),
        (lambda sheet: [{**sheet, "more": 1}], "is not a list of PAR sheets"),
        (lambda sheet: [{**sheet, "date": "soon"}], "is not a list of PAR sheets"),
        (lambda sheet: [{**sheet, "sha256": "ab"}], "sheet 1: sha256 is not a SHA-256"),
        (lambda sheet: [{**sheet, "rules_digest": "X" * 64}], "rules_digest is not a SHA-256"),
        (lambda sheet: [{**sheet, "percent": "high"}], "percent 'high' is not a decimal number"),
        (lambda sheet: [{**sheet, "percent": "NaN"}], "'NaN' is not a decimal number"),
        (lambda sheet: [{**sheet, "percent": "-1"}], "'-1' is not a decimal number"),
        (
            lambda sheet: [{**sheet, "percent": "98.8" + 9 * "7" + 9 * "0"}],
            "is not a decimal number",
        ),
        (lambda sheet: [{**sheet, "percent": "9_9"}], "'9_9' is not a decimal number"),
        (lambda sheet: [{**sheet, "percent": "\uff19\uff19"}], "is not a decimal number"),
        (lambda sheet: [{**sheet, "percent": "0.9929"}], "percent 0.9929 is not between 1 and 200"),
        (lambda sheet: [{**sheet, "percent": "250"}], "percent 250 is not between 1 and 200"),
        (lambda sheet: [sheet, sheet], "sheet 2: an earlier sheet is about main"),
    ],
)
def test_what_is_no_sheet_is_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], says: str
) -> None:
    with pytest.raises(ParSheetRefused, match=says):
        read_par_sheets(written(tmp_path, change(SHEET)))


@pytest.mark.parametrize("change", [{}, {"bet": "mian"}, {"game": "zero"}])
def test_a_sheet_stands_beside_its_bet_or_is_named(
    ledger: Ledger, tmp_path: Path, change: dict[str, str]
) -> None:
    play(ledger, simple(200))
    sheets = read_par_sheets(written(tmp_path, [SHEET | change]))
    with open_tables(ledger, par_sheets=sheets) as tables:
        report = report_on([ledger], tables, ReportRequest(shuffle_tests=False))
    approved = report.games[0].bets[0].approved
    named = [each for each in report.findings if "PAR-7" in each]
    assert (approved is None, len(named)) == (bool(change), bool(change))
    assert all("no round of that was counted" in each for each in named)


@pytest.mark.parametrize(
    ("percent", "value", "is_printed"),
    [
        ("98.71", "0.9871489", True),
        ("98.72", "0.9871489", False),  # rounded up it is another figure
        ("100", "0.9929", False),
        ("99", "0.9929", True),
        ("99.3", "0.9929", True),
        ("99.2", "0.9929", True),  # cut off
        ("98.70", "0.9871489", False),
        ("98.73", "0.9871489", False),
        ("98.715", "0.9871489", True),
        ("98.713", "0.9871489", False),
        ("99", "0.9871489", True),
        ("99.5", "0.9945", True),  # half up
        ("99.4", "0.9945", True),  # half to even, and cut off
        ("99.3", "0.994", False),  # a whole unit away
        ("100.00", "1.0000469", True),
        ("101", "1", False),
    ],
)
def test_a_percentage_is_a_return_as_it_is_printed(
    percent: str, value: str, is_printed: bool
) -> None:
    assert prints(percent, Fraction(value)) is is_printed


def the_sheet_of(ledger: Ledger, percent: str, digest: str, bet: str) -> tuple[RtpReport, Approved]:
    """A report with one sheet on a bet of the ledger's one game, and what it says of the sheet."""
    sheet = ParSheet("PAR-7", date(2026, 1, 31), "ab" * 32, "", digest, bet, percent)
    play(ledger, simple(200, digest=digest))
    with open_tables(ledger) as tables:
        game = tables.ask("SELECT DISTINCT game FROM rounds").to_pylist()[0]["game"]
    with open_tables(ledger, par_sheets=[replace(sheet, game=game)]) as tables:
        report = report_on([ledger], tables, ReportRequest(shuffle_tests=False))
    ((bet_report,),) = [game.bets for game in report.games]
    assert bet_report.approved is not None
    return report, bet_report.approved


OTHER = "the sheet is for other rules or another way to play"


@pytest.mark.parametrize(
    ("percent", "note"),
    [
        ("98.71", None),  # what the rules return
        ("98.715", None),
        ("98.87", None),  # what the page publishes
        ("98.9", None),
        ("98.80", f"the rules return 98.71%: {OTHER}"),
        ("98.7", None),
        ("97", f"the rules return 98.71%: {OTHER}"),
        ("98.8701", f"the rules return 98.7149%: {OTHER}"),
    ],
)
def test_an_approved_return_other_than_the_rules_return_is_a_finding(
    ledger: Ledger, percent: str, note: str | None
) -> None:
    report, approved = the_sheet_of(ledger, percent, ZAPPIT, "main")
    assert approved.note == note
    says = (
        f"PAR sheet PAR-7 approves {percent}% for the main bet of zappit under the rules {ZAPPIT}"
    )
    faults = report.findings[len(report.findings) - report.faults :]
    assert list(faults) == ([] if note is None else [f"{says}: {note}"])


def test_an_approved_return_moves_no_verdict(ledger: Ledger) -> None:
    (right, _), (other, approved) = (
        the_sheet_of(ledger, percent, NBA, "main") for percent in ("99.29", "96.80")
    )
    # Always cashing out returns 96.80%, by the page: another way to play.
    assert approved.note == f"the rules return 99.29%: {OTHER}"
    assert (other.word, other.headline) == (right.word, right.headline)
    assert (other.faults, right.faults) == (1, 0)


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_what_a_games_own_page_publishes_may_be_approved(game: Game) -> None:
    theories = theoretical(game.rules)
    # Always cashing out is no bet, so no sheet can be of it.
    published = {each.bet: each.percent for each in game.published if each.bet in theories}
    assert "main" in published
    for bet, percent in published.items():
        assert theories[bet].objection_to(percent) is None


def test_of_a_variant_the_pages_figure_is_as_good_as_any_other() -> None:
    """The rules of Zappit with eight decks return less than its page says of six."""
    variant = theoretical(replace(GAMES["zappit"].rules, decks=8))["main"]
    assert variant.published_percent is None
    assert OTHER in str(variant.objection_to("98.87"))
    assert variant.objection_to(f"{100 * variant.computed:.4f}") is None


def test_under_unknown_rules_nothing_is_compared(ledger: Ledger) -> None:
    sheet = ParSheet("PAR-7", date(2026, 1, 31), "ab" * 32, "", "ab" * 32, "main", "12.00")
    play(ledger, simple(200, digest="ab" * 32))
    with open_tables(ledger, par_sheets=[sheet]) as tables:
        report = report_on([ledger], tables, ReportRequest(shuffle_tests=False))
    assert (report.faults, report.games[0].bets[0].approved) == (0, Approved(
        "PAR-7", "2026-01-31", "ab" * 32, "12.00"
    ))  # fmt: skip


def test_what_is_no_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "par.json"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ParSheetRefused):
        read_par_sheets(path)
