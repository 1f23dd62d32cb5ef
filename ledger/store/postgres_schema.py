"""Whether a PostgreSQL database's tables, indexes and triggers are a ledger's (`own_schema`).

The catalogue is asked by the names that our statements use, as the search path resolves them for
whoever asks: a view that only the auditor's role comes upon is found. Tables of others beside ours
are nobody's concern.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from shoeproof.ledger.store.own_schema import differences, own

Query: TypeAlias = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]

_PATH: Final = "SELECT pg_catalog.current_schemas(true)"

_OURS: Final = """WITH ours AS (
    SELECT c.* FROM unnest(?::text[]) AS names (name)
    JOIN pg_class c ON c.oid = to_regclass(name))
"""

_TABLES: Final = (
    _OURS
    + """SELECT c.relname::text, c.relkind::text, c.relpersistence::text, m.amname::text,
    c.relhasrules OR c.relrowsecurity OR c.relispartition
    OR EXISTS (SELECT FROM pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent))
    OR EXISTS (SELECT FROM pg_constraint o WHERE o.conrelid = c.oid AND o.contype IN ('c','f','x'))
    FROM ours c LEFT JOIN pg_am m ON m.oid = c.relam"""
)
_COLUMNS: Final = (
    _OURS
    + """SELECT c.relname::text, a.attname::text, t.typname::text, a.attnotnull,
    t.typnamespace = 'pg_catalog'::regnamespace AND a.attgenerated = '' AND NOT a.atthasdef
    AND a.attcollation = t.typcollation
    FROM ours c JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid
    WHERE a.attnum > 0 AND NOT a.attisdropped ORDER BY c.relname, a.attnum"""
)
_INDEXES: Final = (
    _OURS
    + """SELECT c.relname::text, d.relname::text, i.indisunique,
    ARRAY(SELECT (SELECT a.attname::text FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum = k.attnum AND k.attnum > 0)
        FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k (attnum, place) ORDER BY k.place),
    i.indpred IS NOT NULL,
    i.indisvalid AND i.indisready AND i.indimmediate AND m.amname = 'btree' AND NOT EXISTS (
        SELECT FROM unnest(i.indclass::oid[]) AS k (class) JOIN pg_opclass o ON o.oid = k.class
        WHERE o.opcnamespace <> 'pg_catalog'::regnamespace OR NOT o.opcdefault)
    FROM ours c JOIN pg_index i ON i.indrelid = c.oid JOIN pg_class d ON d.oid = i.indexrelid
    JOIN pg_am m ON m.oid = d.relam"""
)
_TRIGGERS: Final = (
    _OURS
    + """SELECT c.relname::text, g.tgname::text, g.tgenabled::text, g.tgtype,
    g.tgqual IS NOT NULL, l.lanname::text, p.prosrc::text
    FROM ours c JOIN pg_trigger g ON g.tgrelid = c.oid JOIN pg_proc p ON p.oid = g.tgfoid
    JOIN pg_language l ON l.oid = p.prolang WHERE NOT g.tgisinternal"""
)

_TYPES: Final = {"INTEGER": "int8", "TEXT": "text", "BLOB": "bytea"}
_ACTS: Final = {"INSERT": 4, "DELETE": 8, "UPDATE": 16, "TRUNCATE": 32}
_ROW, _BEFORE = 1, 2  # as are the acts, bits of pg_trigger.tgtype

_function = re.compile(r"CREATE FUNCTION (\w+)\(\) .*?\$\$(.*)\$\$", re.DOTALL).match
_trigger = re.compile(
    r"CREATE TRIGGER (\w+) BEFORE ([A-Z ]+?) ON (\w+)( FOR EACH ROW)?\s+(WHEN )?.*"
    r"EXECUTE FUNCTION (\w+)\(\)",
    re.DOTALL,
).match


def objections(query: Query, triggers: Sequence[str]) -> list[str] | None:
    """Return what of a database's schema is not a ledger's; None where nothing is there at all.

    `triggers` are the statements that make the functions and triggers of a ledger.
    """
    path = query(_PATH, ())[0][0]
    if path[:1] != ["pg_catalog"]:
        return ["its search path has others' functions before PostgreSQL's own"]
    names = [table.name for table in own().tables]
    tables = query(_TABLES, (names,))
    if not tables:
        return None
    return [
        *differences(
            [(f"table {name}", tuple(rest)) for name, *rest in tables],
            [(f"table {name}", ("r", "p", "heap", False)) for name in names],
        ),
        *differences(list(_columns(query(_COLUMNS, (names,)))), list(_own_columns())),
        *differences(list(_indexes(query(_INDEXES, (names,)))), list(_own_indexes())),
        *differences(
            # One that is disabled is as good as missing.
            [
                (f"trigger {row[1]}", (row[0], *row[2:]))
                for row in query(_TRIGGERS, (names,))
                if row[2] != "D"
            ],
            list(_own_triggers(triggers)),
        ),
    ]


def _columns(rows: list[tuple[Any, ...]]) -> Iterator[tuple[str, object]]:
    places: dict[str, int] = {}
    for table, name, *rest in rows:
        place = places[table] = places.get(table, 0) + 1
        yield f"column {table}.{name}", (place, *rest)


def _own_columns() -> Iterator[tuple[str, object]]:
    for table in own().tables:
        for place, (name, kind, is_nullable) in enumerate(table.columns, 1):
            yield f"column {table.name}.{name}", (place, _TYPES[kind], not is_nullable, True)


def _indexes(rows: list[tuple[Any, ...]]) -> Iterator[tuple[str, object]]:
    for table, name, is_unique, columns, is_partial, is_plain in rows:
        if is_unique:
            yield _unique(table, columns), (is_partial, is_plain)
        else:
            yield f"index {name}", (table, tuple(columns), is_partial, is_plain)


def _own_indexes() -> Iterator[tuple[str, object]]:
    for table in own().tables:
        for columns in table.unique:
            yield _unique(table.name, columns), (False, True)
    for index in own().indexes:
        yield f"index {index.name}", (index.table, index.columns, index.is_partial, True)


def _unique(table: str, columns: Sequence[str | None]) -> str:
    return f"unique index of {table} by {', '.join(map(str, columns))}"


def _own_triggers(statements: Sequence[str]) -> Iterator[tuple[str, object]]:
    bodies = {found[1]: found[2] for found in map(_function, statements) if found is not None}
    for found in map(_trigger, statements):
        if found is not None:
            name, acts, table, each_row, when, function = found.groups()
            kind = _BEFORE | (_ROW if each_row else 0)
            for act in acts.split(" OR "):
                kind |= _ACTS[act]
            yield f"trigger {name}", (table, "O", kind, bool(when), "plpgsql", bodies[function])
