"""Attackers who make the database another than a ledger's, so that it answers as they like."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from shoeproof.ledger import findings
from shoeproof.ledger.errors import StoreDamaged
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.verify.fsck import fsck
from shoeproof.ledger.verify.whole import verify
from tests.attacks.conftest import Scene
from tests.ledger.helpers import ORIGIN, play

VIEW = """ALTER TABLE {table} RENAME TO hidden;
    CREATE VIEW {table} AS SELECT * FROM hidden WHERE random() > 0;"""

SQLITE = {
    "view for events": (VIEW.format(table="stored_events"), "table hidden does not belong"),
    "view for leaves": (VIEW.format(table="leaves"), "table hidden does not belong"),
    "view for rounds": (VIEW.format(table="rounds"), "table hidden does not belong"),
    "one more view": ("CREATE VIEW more AS SELECT 1", "view more does not belong"),
    "one more table": ("CREATE TABLE more (x)", "table more does not belong"),
    "one more trigger": (
        "CREATE TRIGGER more AFTER INSERT ON leaves BEGIN DELETE FROM rounds; END",
        "trigger more does not belong",
    ),
    "one more index": ("CREATE INDEX more ON leaves (event_rowid)", "index more does not belong"),
    "statistics": ("ANALYZE", "sqlite_stat"),
    "another trigger": (
        "DROP TRIGGER leaves_are_dense; CREATE TRIGGER leaves_are_dense BEFORE INSERT ON leaves"
        " BEGIN SELECT 1; END",
        "trigger leaves_are_dense is not as it was made",
    ),
    "another collation": (
        "DROP TABLE rounds; CREATE TABLE rounds (round TEXT PRIMARY KEY COLLATE NOCASE)",
        "table rounds is not as it was made",
    ),
    "a generated column": (
        "ALTER TABLE intents ADD COLUMN more AS (amount_minor + 1) VIRTUAL",
        "table intents is not as it was made",
    ),
    "a virtual table": ("CREATE VIRTUAL TABLE more USING fts5 (x)", "more does not belong"),
    "a table that is virtual": (
        "DROP TABLE rounds; CREATE VIRTUAL TABLE rounds USING fts5 (round, state)",
        "table rounds is not as it was made",
    ),
}


@pytest.mark.parametrize("name", SQLITE)
def test_schema_of_another_making(scene: Scene, name: str) -> None:
    script, told = SQLITE[name]
    with closing(sqlite3.connect(scene.path / "events.sqlite")) as connection:
        connection.executescript(script)
    for read in (verify, Ledger.open):
        with pytest.raises(StoreDamaged, match=told):
            read(scene.path)


def test_schema_whose_text_was_edited(scene: Scene) -> None:
    """What SQLite takes for the statement that made a table decides how it is read."""
    with closing(sqlite3.connect(scene.path / "events.sqlite")) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_master SET sql = replace(sql, 'topic TEXT', 'topic INT')"
            " WHERE name = 'stored_events'"
        )
    with pytest.raises(StoreDamaged, match="table stored_events is not as it was made"):
        verify(scene.path)


def test_text_in_another_encoding(scene: Scene, tmp_path: Path) -> None:
    """Streams would come in another order, and a prefix be another range."""
    other = tmp_path / "other"
    with (
        closing(sqlite3.connect(scene.path / "events.sqlite")) as source,
        closing(sqlite3.connect(other)) as target,
    ):
        target.execute("PRAGMA encoding = 'UTF-16le'")
        target.executescript(";\n".join(source.iterdump()))
    (scene.path / "events.sqlite").unlink()
    other.rename(scene.path / "events.sqlite")
    with pytest.raises(StoreDamaged, match="UTF-16"):
        verify(scene.path)


def test_index_altered_by_one_byte(scene: Scene) -> None:
    """Its order still holds, and it names a row that is not there: a look-up misses a round."""
    database = scene.path / "events.sqlite"
    with closing(sqlite3.connect(database)) as connection:
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'rounds_by_player'"
        ).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    content = database.read_bytes()
    start = content.index(b"p-7f", (page - 1) * size)
    assert start < page * size
    database.write_bytes(content[: start + 3] + b"g" + content[start + 4 :])
    with Ledger.open(scene.path) as ledger:
        found = fsck(ledger, public_key=scene.public_key).findings
    assert findings.DATABASE_DAMAGED in {each.code for each in found}


POSTGRES = {
    "view for events": (VIEW.format(table="stored_events"), "table stored_events"),
    "view for whom it is shown to": (
        "CREATE SCHEMA postgres; CREATE VIEW postgres.stored_events AS"
        " SELECT * FROM public.stored_events WHERE random() < 0.5",
        "table stored_events",
    ),
    "table for whom it is shown to": (
        "CREATE SCHEMA postgres; CREATE TABLE postgres.rounds (round TEXT PRIMARY KEY)",
        "column rounds.closed_at is missing",
    ),
    "rows hidden from a role": (
        "ALTER TABLE leaves ENABLE ROW LEVEL SECURITY",
        "table leaves is not as it was made",
    ),
    "rows of a table that inherits": (
        "CREATE TABLE more () INHERITS (leaves)",
        "table leaves is not as it was made",
    ),
    "a rule": ("CREATE RULE more AS ON INSERT TO leaves DO ALSO SELECT 1", "table leaves is not"),
    "unlogged": ("ALTER TABLE rounds SET UNLOGGED", "table rounds is not as it was made"),
    "one more column": (
        "ALTER TABLE tiles ADD COLUMN more TEXT GENERATED ALWAYS AS ('x') STORED",
        "column tiles.more does not belong",
    ),
    "another type": (
        "ALTER TABLE rounds ALTER COLUMN state TYPE VARCHAR(9)",
        "column rounds.state is not as it was made",
    ),
    "another collation": (
        'ALTER TABLE rounds ALTER COLUMN player TYPE TEXT COLLATE "C"',
        "column rounds.player is not as it was made",
    ),
    "a default": (
        "ALTER TABLE rounds ALTER COLUMN state SET DEFAULT 'closed'",
        "column rounds.state is not as it was made",
    ),
    "one more index": ("CREATE INDEX more ON leaves (event_rowid)", "index more does not belong"),
    "another index": (
        "DROP INDEX rounds_by_time; CREATE INDEX rounds_by_time ON rounds (closed_at)",
        "index rounds_by_time is not as it was made",
    ),
    "a constraint gone": (
        "ALTER TABLE leaves DROP CONSTRAINT leaves_event_rowid_key",
        "unique index of leaves by event_rowid is missing",
    ),
    "one more constraint": (
        "ALTER TABLE leaves ADD CHECK (leaf_index < 100)",
        "table leaves is not as it was made",
    ),
    "one more trigger": (
        "CREATE TRIGGER more BEFORE INSERT ON leaves EXECUTE FUNCTION refuse_change()",
        "trigger more does not belong",
    ),
    "another function": (
        "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RETURN NULL; END $$",
        "is not as it was made",
    ),
    "others' functions": (
        "CREATE SCHEMA evil; CREATE FUNCTION evil.length(bytea) RETURNS int LANGUAGE sql AS"
        " 'SELECT 1'; ALTER ROLE postgres IN DATABASE {name}"
        " SET search_path = evil, pg_catalog, public",
        "others' functions",
    ),
}


@pytest.mark.parametrize("name", POSTGRES)
def test_schema_of_another_making_in_postgresql(path: Path, postgres_url: str, name: str) -> None:
    import psycopg

    script, told = POSTGRES[name]
    with Ledger.init(path, ORIGIN, database_url=postgres_url) as ledger:
        play(ledger)
    assert verify(path).findings == []
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(script.replace("{name}", connection.info.dbname))
    with pytest.raises(StoreDamaged, match=told):
        verify(path)
    with pytest.raises(StoreDamaged, match=told):
        Ledger.open_url(postgres_url)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger"
