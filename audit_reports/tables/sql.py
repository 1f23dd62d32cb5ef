"""The SQL of this package, which stands in files so that an auditor can read and run it."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final, TypeVar

import duckdb
import msgspec

from shoeproof.audit_reports.tables import memory

Record = TypeVar("Record", bound=msgspec.Struct)

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    # All that is used is bundled; nothing is ever fetched.
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}


IN_MEMORY: Final = ":memory:"


def connect(file: str = IN_MEMORY, *, spill: str = "") -> duckdb.DuckDBPyConnection:
    """Return a connection that fetches nothing and draws nothing; raises duckdb.Error.

    What does not fit into memory goes beside the file; of a database in memory into the folder
    `spill`, and where there is none it is refused. DuckDB by itself would make a folder wherever
    it was started.
    """
    database = duckdb.connect(file, config=_CONFIG)
    # A long statement would draw its bar into what is printed.
    database.execute("SET enable_progress_bar = false")
    if file == IN_MEMORY:
        database.execute(f"SET temp_directory = {text(spill)}")
    else:
        # The maker of the file may have made views in it that read files elsewhere.
        database.execute("SET enable_external_access = false")
    limit = memory.for_database()
    if limit is not None:
        database.execute(f"SET memory_limit = '{limit}B'")
    return database


def text(value: str) -> str:
    """Return a text as SQL writes it."""
    return "'" + value.replace("'", "''") + "'"


@cache
def query(name: str) -> str:
    """Return the text of `queries/<name>.sql`: one SELECT, under a comment on what it answers."""
    return (
        files("shoeproof.audit_reports.tables")
        .joinpath("queries", f"{name}.sql")
        .read_text("utf-8")
    )


@cache
def statements(name: str) -> str:
    """Return the statements of `<name>.sql`, which define tables or macros under comments on them.

    `tables` makes the projection's tables, empty, in place of any before; `sums` defines for one
    connection how rounds are summed by day.
    """
    return files("shoeproof.audit_reports.tables").joinpath(f"{name}.sql").read_text("utf-8")


def records(
    database: duckdb.DuckDBPyConnection,
    name: str,
    kind: type[Record],
    parameters: Mapping[str, object],
) -> list[Record]:
    """Return all rows of `queries/<name>.sql` as records with the names of its columns.

    They come as JSON, which holds numbers of any size and is read at once into what `kind` says.
    Raises duckdb.Error, and msgspec.ValidationError for rows that are not such records.
    """
    rows = f"SELECT to_json(row)::VARCHAR FROM (\n{query(name)}\n) AS row"
    read = msgspec.json.Decoder(kind).decode
    return [read(row) for (row,) in database.execute(rows, parameters or None).fetchall()]
