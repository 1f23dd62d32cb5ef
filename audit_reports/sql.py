"""The SQL of this package, which stands in files so that an auditor can read and run it."""

from functools import cache
from importlib.resources import files


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
