"""The SQL of this package, which stands in files so that an auditor can read and run it."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import duckdb


@cache
def query(name: str) -> str:
    """Return the text of `queries/<name>.sql`: one SELECT, under a comment on what it answers."""
    return files("audit_reports").joinpath("queries", f"{name}.sql").read_text("utf-8")


@cache
def tables() -> str:
    """Return the statements that make the projection's tables, empty, in place of any before."""
    return files("audit_reports").joinpath("tables.sql").read_text("utf-8")


@cache
def sums() -> str:
    """Return the statements that define how rounds are summed by day, for one connection."""
    return files("audit_reports").joinpath("sums.sql").read_text("utf-8")


def records(
    database: duckdb.DuckDBPyConnection, name: str, parameters: Mapping[str, object]
) -> list[dict[str, Any]]:
    """Return all rows of `queries/<name>.sql` by the names of its columns; raises duckdb.Error."""
    found = database.execute(query(name), parameters or None)
    names = [column[0] for column in found.description or ()]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]
