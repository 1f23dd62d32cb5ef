"""Approved returns: read whole, or refused in one line that names the sheet."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit_reports.errors import ParSheetRefused
from audit_reports.par_sheets import read_par_sheets
from audit_reports.rtp_report.from_ledger import Asked, report_on
from audit_reports.tables import open_tables
from ledger import Ledger
from tests.audit_reports.helpers import ZAPPIT, play, simple

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
        (lambda sheet: {}, "is no list of PAR sheets"),
        (lambda sheet: [{**sheet, "more": 1}], "is no list of PAR sheets"),
        (lambda sheet: [{**sheet, "date": "soon"}], "is no list of PAR sheets"),
        (lambda sheet: [{**sheet, "sha256": "ab"}], "sheet 1: sha256 is not a SHA-256"),
        (lambda sheet: [{**sheet, "rules_digest": "X" * 64}], "rules_digest is not a SHA-256"),
        (lambda sheet: [{**sheet, "percent": "high"}], "percent 'high' is no decimal number"),
        (lambda sheet: [{**sheet, "percent": "NaN"}], "'NaN' is no decimal number"),
        (lambda sheet: [{**sheet, "percent": "-1"}], "'-1' is no decimal number"),
        (lambda sheet: [{**sheet, "percent": "9_9"}], "'9_9' is no decimal number"),
        (lambda sheet: [{**sheet, "percent": "\uff19\uff19"}], "is no decimal number"),
        (lambda sheet: [{**sheet, "percent": "0.9929"}], "percent 0.9929 is not between 1 and 200"),
        (lambda sheet: [{**sheet, "percent": "250"}], "percent 250 is not between 1 and 200"),
        (lambda sheet: [sheet, sheet], "sheet 2: a sheet before it speaks of main"),
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
        report = report_on(ledger, tables, Asked(shuffle_tests=False))
    approved = report.games[0].bets[0].approved
    named = [each for each in report.findings if "PAR-7" in each]
    assert (approved is None, len(named)) == (bool(change), bool(change))
    assert all("no round of that was counted" in each for each in named)


def test_what_is_no_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "par.json"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ParSheetRefused):
        read_par_sheets(path)
