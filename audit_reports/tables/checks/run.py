"""The checks run, and what they found."""

from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from shoeproof.audit_reports.tables.views import Tables

MOST_ROWS = 100
"""How many rows of a check are kept; all are counted."""


class TableCheck(NamedTuple):
    """A check by name: what it asks, and its SELECT."""

    name: str
    asks: str
    select: str


class CheckResult(NamedTuple):
    """What a check found: how many rows, and the first of them by the names of their columns."""

    name: str
    asks: str
    total: int
    rows: list[dict[str, Any]]

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return self._asdict()


@cache
def checks() -> tuple[TableCheck, ...]:
    """Return every check in `checks/`, by name."""
    folder = files("shoeproof.audit_reports.tables.checks")
    texts = {
        each.name.removesuffix(".sql"): each.read_text("utf-8")
        for each in folder.iterdir()
        if each.name.endswith(".sql")
    }
    return tuple(TableCheck(name, _asks(texts[name]), texts[name]) for name in sorted(texts))


def run_checks(tables: Tables) -> list[CheckResult]:
    """Return what the checks found, nothing for those that found nothing. Raises QueryRefused."""
    found: list[CheckResult] = []
    for name, asks, select in checks():
        rows = tables.ask(select)
        if rows.num_rows:
            found.append(
                CheckResult(name, asks, rows.num_rows, rows.slice(0, MOST_ROWS).to_pylist())
            )
    return found


def _asks(text: str) -> str:
    lines = (line.removeprefix("-- ") for line in text.splitlines() if line.startswith("--"))
    return " ".join(lines)
