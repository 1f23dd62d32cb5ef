"""Approved returns: read whole, or refused in one line that names the sheet."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit_reports.errors import ParSheetRefused
from audit_reports.par_sheets import read_par_sheets
from audit_reports.tables import open_tables
from ledger import Ledger
from tests.audit_reports.helpers import ZAPPIT

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
        (lambda sheet: [{**sheet, "percent": "NaN"}], "percent is out of reach"),
        (lambda sheet: [{**sheet, "percent": "-1"}], "percent is out of reach"),
        (lambda sheet: [sheet, sheet], "sheet 2: a sheet before it speaks of main"),
    ],
)
def test_what_is_no_sheet_is_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], says: str
) -> None:
    with pytest.raises(ParSheetRefused, match=says):
        read_par_sheets(written(tmp_path, change(SHEET)))


def test_what_is_no_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "par.json"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ParSheetRefused):
        read_par_sheets(path)
