"""No cell of a CSV is a formula, whatever a name begins with, and numbers stay numbers."""

import ast
import csv
from decimal import Decimal
from io import StringIO
from pathlib import Path

import pytest

from shoeproof.audit_reports.pages.cells import safe_cell, write_rows

ROOT = Path(__file__).parents[2]

FORMULAS = [
    "=1+1",
    "=HYPERLINK(\"http://x\",\"win\")",
    "+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+1)",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "\x00=1+1",
    "\u200b=1+1",
    "\ufeff=1+1",
    "\xa0=1+1",
    "  =1+1",
    "'=1+1",
    '"=1+1',
    "\uff1d1+1",
    "\uff0b1+1",
    "\uff0d1+1",
    "\uff20SUM(1)",
    "-",
    "a;=1+1",
    "a; =1+1",
    'a";=1+1',
    "a\t=1+1",
    "a\r\n=1+1",
    "a|=1+1",
]  # fmt: skip


BEGINS = tuple("=+-@\uff1d\uff0b\uff0d\uff20")


def cells_of(text: str, delimiter: str = ",") -> list[str]:
    return [cell for row in csv.reader(StringIO(text), delimiter=delimiter) for cell in row]


@pytest.mark.parametrize("text", FORMULAS, ids=ascii)
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"], ids=ascii)
def test_formula_is_text_whichever_mark_ends_a_cell(text: str, delimiter: str) -> None:
    out = StringIO()
    write_rows(out, [text, "n"], [{text: text, "n": 1}])
    for cell in cells_of(out.getvalue(), delimiter):
        assert not cell.strip().strip("\"'").strip().startswith(BEGINS) or (
            cell.strip().startswith("'")
        ), cell
        assert cell.isprintable()


@pytest.mark.parametrize(
    ("number", "cell"),
    [(-5, "-5"), (-0.25, "-0.25"), (Decimal("-0.10"), "-0.10"), (Decimal("-1E-9"), "-0.000000001")],
)
def test_number_stays_a_number_and_a_name_of_digits_a_name(number: object, cell: str) -> None:
    assert str(safe_cell(number)) == cell
    assert safe_cell(cell) == f"'{cell}"


def test_nothing_stays_nothing_and_a_missing_column_is_empty() -> None:
    out = StringIO()
    write_rows(out, ["a", "b"], [{"a": None}], first="# a, b")
    assert out.getvalue() == '"# a, b"\r\na,b\r\n,\r\n'


def test_csv_is_written_in_one_place() -> None:
    """A writer of one's own would be one more place to forget it in."""
    own = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for package in ("ledger", "replay", "audit_reports", "cli")
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and node.attr in ("writer", "DictWriter", "to_csv", "write_csv")
        and isinstance(node.value, ast.Name)
        and path.name != "cells.py"
    ]
    assert own == []
