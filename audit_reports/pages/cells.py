"""Rows as CSV that spreadsheets open (RFC 4180), in which no cell is a formula.

Players, operators and their files choose names, and a spreadsheet runs a cell that begins like a
formula (OWASP, CSV Injection). All CSV of this project is written here.
"""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Protocol

from shoeproof.ledger.files.printable import printable

_begins_formula = re.compile(r"(^|;|\|)(?=\s*[\"']?\s*[=+\-@\uff1d\uff0b\uff0d\uff20])")
"""At the beginning, or after what another country's spreadsheet takes for the end of a cell."""


class _Writes(Protocol):
    def write(self, text: str, /) -> object: ...


def write_rows(
    out: _Writes,
    columns: Sequence[str],
    rows: Iterable[Mapping[str, object]],
    *,
    first: str | None = None,
) -> None:
    """Write a header and rows as CSV, a cell empty where a row lacks its column.

    `first` is a remark that stands on a line of its own before the header.
    """
    writer = csv.writer(out, lineterminator="\r\n")
    if first is not None:
        writer.writerow([safe_cell(first)])
    writer.writerow([safe_cell(name) for name in columns])
    writer.writerows([safe_cell(row.get(name)) for name in columns] for row in rows)


def safe_cell(value: object) -> object:
    """Return a value as a cell that no spreadsheet takes for a formula.

    A number stays one. In text what does not print is written out, and what begins like a formula
    comes after an apostrophe.
    """
    if isinstance(value, Decimal):
        return f"{value:f}"
    if value is None or isinstance(value, int | float):
        return value
    return _begins_formula.sub(r"\1'", printable(str(value)))
