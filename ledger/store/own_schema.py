"""Whether a database's tables, indexes and triggers are those that `shoeproof.ledger.store.schema`
makes.

The writer of a database chose its schema. A view in the place of a table could answer each read
otherwise, and other collations or generated columns could as well. So nothing is read from a store
before its schema was held to ours, which is made afresh from the statements themselves.
"""

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

from shoeproof.ledger.store import schema

SELECT_OBJECTS = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
SELECT_ENCODING = "PRAGMA encoding"

_BESIDE: Final = ("index", "trigger")

Objects: TypeAlias = list[tuple[Any, ...]]
"""Rows of SELECT_OBJECTS."""


def objections(found: Objects, encoding: str) -> list[str]:
    """Return what of an SQLite database's schema is not a ledger's, in words; nothing where all is.

    Statements are compared letter by letter, as SQLite keeps them.
    """
    if encoding != "UTF-8":
        return [f"its text is in {encoding}, which sorts differently"]
    named = [(f"{kind} {name}", (kind, name, table, sql)) for kind, name, table, sql in found]
    return differences(named, [(f"{row[0]} {row[1]}", row) for row in _own_objects()])


def differences(
    found: Collection[tuple[str, object]], own: Collection[tuple[str, object]]
) -> list[str]:
    """Return in what things by their names, which may come twice, differ from a ledger's own.

    Tables come first: where one is another, so are its indexes and triggers. Where an index or a
    trigger is missing no read is answered otherwise: what its removal was for is found by other
    checks.
    """
    expected = dict(own)
    lines = [
        f"{name} is missing"
        for name in expected
        if name not in dict(found) and not name.startswith(_BESIDE)
    ]
    for name, thing in found:
        if name not in expected:
            lines.append(f"{name} does not belong to a ledger")
        elif thing != expected[name]:
            lines.append(f"{name} is not as it was made")
    return sorted(lines, key=lambda line: (line.startswith(_BESIDE), line))


@cache
def _own_objects() -> Objects:
    with closing(_made_afresh()) as connection:
        return connection.execute(SELECT_OBJECTS).fetchall()


def _made_afresh() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    for statement in schema.CREATE_TABLES:
        connection.execute(statement)
    return connection


class Column(NamedTuple):
    """A column of a table: its name, SQLite's type, and whether it may be NULL."""

    name: str
    type: str
    is_nullable: bool


class Table(NamedTuple):
    """A table: its columns in order, and the columns of each unique index, the key's among them."""

    name: str
    columns: tuple[Column, ...]
    unique: frozenset[tuple[str | None, ...]]


class Index(NamedTuple):
    """An index that was made by name: its table, its columns, and whether it is of some rows.

    A column is None where it is an expression.
    """

    name: str
    table: str
    columns: tuple[str | None, ...]
    is_partial: bool


class OwnSchema(NamedTuple):
    """What a ledger's tables and indexes are, whatever the database."""

    tables: tuple[Table, ...]
    indexes: tuple[Index, ...]


@cache
def own() -> OwnSchema:
    """Return what the statements that make a ledger's tables come to."""
    with closing(_made_afresh()) as connection:
        names = [name for kind, name, _, _ in _own_objects() if kind == "table"]
        indexes = [each for name in names for each in _indexes(connection, name)]
        return OwnSchema(
            tuple(_table(connection, name) for name in names),
            tuple(index for index, is_by_name in indexes if is_by_name),
        )


def _table(connection: sqlite3.Connection, name: str) -> Table:
    rows = connection.execute(f"PRAGMA table_info({name})").fetchall()
    key = tuple(row[1] for row in sorted(rows, key=lambda row: int(row[5])) if row[5])
    return Table(
        name,
        tuple(Column(row[1], row[2], not (row[3] or row[5])) for row in rows),
        frozenset(
            {key} | {index.columns for index, by_name in _indexes(connection, name) if not by_name}
        ),
    )


def _indexes(connection: sqlite3.Connection, table: str) -> Iterator[tuple[Index, bool]]:
    """Yield each index of a table, and whether it was made by name rather than by a constraint."""
    for _, name, _, origin, is_partial in connection.execute(f"PRAGMA index_list({table})"):
        columns = tuple(row[2] for row in connection.execute(f"PRAGMA index_info({name})"))
        yield Index(name, table, columns, bool(is_partial)), origin == "c"
