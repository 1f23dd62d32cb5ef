"""PAR sheets: the theoretical returns that were approved, as the operator hands them over.

A file is JSON: a list of objects with `id` (the sheet's own), `date` (ISO 8601), `sha256` (of the
document, lower hex), `game`, `rules_digest`, `bet` and `percent` (a decimal number as text).
"""

import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Final

import msgspec
import pyarrow as pa

from shoeproof.audit_reports.errors import ParSheetRefused
from shoeproof.ledger.files.foreign import read_json

_is_sha256 = re.compile(r"[0-9a-f]{64}").fullmatch
_is_decimal = re.compile(r"[0-9]{1,3}(\.[0-9]{1,12})?").fullmatch
_SMALLEST: Final = 1
"""A sheet that approves less in percent has the return as a fraction."""
_LARGEST: Final = 200


class ParSheet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one approved sheet says about one bet; `percent` is the return on initial stakes."""

    id: str
    date: date
    sha256: str
    game: str
    rules_digest: str
    bet: str
    percent: str


def read_par_sheets(path: Path) -> list[ParSheet]:
    """Return the sheets in a file; raises ParSheetRefused if it holds none, and OSError.

    No two may be about the same bet under the same rules.
    """
    try:
        sheets = read_json(path.read_bytes(), list[ParSheet])
    except ValueError as error:
        raise ParSheetRefused(f"{path} is not a list of PAR sheets: {error}") from error
    seen: set[tuple[str, str]] = set()
    for place, sheet in enumerate(sheets):
        wrong = _fault(sheet)
        if (sheet.rules_digest, sheet.bet) in seen:
            wrong = f"an earlier sheet is about {sheet.bet} under the same rules"
        if wrong:
            raise ParSheetRefused(f"{path}: sheet {place + 1}: {wrong}")
        seen.add((sheet.rules_digest, sheet.bet))
    return sheets


def par_sheet_rows(sheets: Sequence[ParSheet]) -> pa.Table:
    """Return sheets as rows of the table `par_sheets`."""
    types = {"date": pa.date32()}
    columns = {
        name: pa.array([getattr(each, name) for each in sheets], types.get(name, pa.string()))
        for name in ParSheet.__struct_fields__
    }
    return pa.table(columns)


def prints(percent: str, value: Fraction) -> bool:
    """Tell whether a percentage, a plain decimal, is a return as it would be printed.

    It is where the return comes to it when rounded, half up or half to even, or cut off: which of
    these it was, no sheet says. Rounded up it is another figure, as 100 is for 99.29. `value` is a
    fraction of the initial stakes.
    """
    unit = Fraction(1, 10 ** len(percent.partition(".")[2]))
    places = 100 * value / unit
    printed = {floor(places), floor(places + Fraction(1, 2)), round(places)}
    return Fraction(percent) / unit in printed


def _fault(sheet: ParSheet) -> str:
    for name in ("sha256", "rules_digest"):
        if _is_sha256(getattr(sheet, name)) is None:
            return f"{name} is not a SHA-256 in lower hex"
    if _is_decimal(sheet.percent) is None:
        return f"percent {sheet.percent!r} is not a decimal number such as 99.29"
    if not _SMALLEST <= Decimal(sheet.percent) <= _LARGEST:
        return f"percent {sheet.percent} is not between {_SMALLEST} and {_LARGEST}"
    return ""
