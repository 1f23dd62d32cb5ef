"""Values of an answer that files and screens have no form for, spelled out as DuckDB writes them.

Python has no date after the year 9999, no time of day 24:00, no infinite moment, and takes an
unsigned 128-bit integer for a signed one; Parquet has no interval. To cast a value to text within
the database is the one way that says each as it is.
"""

from collections.abc import Collection
from typing import Any, Final

import duckdb
from duckdb.sqltypes import DuckDBPyType

PLAIN: Final = frozenset(
    {
        "boolean", "tinyint", "smallint", "integer", "bigint", "hugeint", "utinyint", "usmallint",
        "uinteger", "ubigint", "float", "double", "decimal", "varchar",
    }
)  # fmt: skip
"""Types whose values Python, JSON and CSV have too."""

ANYWHERE: Final = PLAIN | {"blob", "date", "timestamp", "timestamp with time zone"}
"""Types that Parquet has as well."""

_NESTED: Final = ("list", "array", "struct", "map")


def spelled(asked: duckdb.DuckDBPyRelation, native: Collection[str]) -> duckdb.DuckDBPyRelation:
    """Return a relation with all but the `native` types, by their DuckDB names, made text.

    Lists, structures and maps stay what they are and have their elements spelled.
    """
    return asked.project(
        ", ".join(
            f"{_quoted(name)}::{_cast(kind, native)} AS {_quoted(name)}"
            for name, kind in zip(asked.columns, asked.types, strict=True)
        )
    )


def _cast(kind: DuckDBPyType, native: Collection[str]) -> str:
    if kind.id in native:
        return str(kind)
    inside: list[tuple[str, Any]] = kind.children if kind.id in _NESTED else []
    match kind.id, inside:
        case "list", ((_, child),):
            return f"{_cast(child, native)}[]"
        case "array", ((_, child), (_, length)):
            return f"{_cast(child, native)}[{length}]"
        case "struct", fields:
            told = ", ".join(f"{_quoted(name)} {_cast(each, native)}" for name, each in fields)
            return f"STRUCT({told})"
        case "map", ((_, key), (_, value)):
            return f"MAP({_cast(key, native)}, {_cast(value, native)})"
    return "VARCHAR"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
