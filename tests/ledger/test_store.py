"""The store on a real SQLite file: what it refuses, survives, and says when it fails."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from shoeproof.ledger.errors import (
    LedgerError,
    LedgerExists,
    NotALedger,
    StoreDamaged,
    StoreUnavailable,
    StreamClosed,
    StreamConflict,
    UnsupportedFormat,
)
from shoeproof.ledger.leaf.events import CardDealt
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.verify.whole import verify
from tests.ledger.helpers import FIRST, ORIGIN, OTHER_ROUND, ROUND, opened, play, short_round


def test_every_append_is_flushed_to_the_disk(ledger: Ledger) -> None:
    assert ledger.store.query("PRAGMA synchronous") == [(2,)]
    assert ledger.store.query("PRAGMA journal_mode") == [("wal",)]


def test_vacuum_leaves_every_leaf_in_its_place(played: Path) -> None:
    with closing(sqlite3.connect(played / "events.sqlite")) as connection:
        connection.execute("VACUUM")
    assert verify(played).findings == []


def test_environment_configures_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PERSISTENCE_MODULE", "STORE_PERSISTENCE_MODULE", "CIPHER_TOPIC"):
        monkeypatch.setenv(name, "eventsourcing.nonsense")
    monkeypatch.setenv("SQLITE_DBNAME", str(path.with_name("elsewhere")))
    monkeypatch.setenv("APPLICATION_RECORDER_TOPIC", "eventsourcing.nonsense:Recorder")
    monkeypatch.setenv("IS_SNAPSHOTTING_ENABLED", "y")
    with Ledger.init(path, ORIGIN) as ledger:
        assert ledger.size() == FIRST
    assert not path.with_name("elsewhere").exists()


def test_locked_by_another_program(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ledger.path is not None
    ledger.store.query("SELECT 1")
    monkeypatch.setattr("eventsourcing.sqlite.SQLITE3_DEFAULT_LOCK_TIMEOUT", 0.05)
    with (
        Ledger.open(ledger.path) as second,
        closing(sqlite3.connect(ledger.path / "events.sqlite")) as connection,
    ):
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked by another program"):
            second.append((ROUND, opened()))
        connection.rollback()
        assert second.append((ROUND, opened()))[0].leaf_index == FIRST


def test_read_only_database(played: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can be verified but not appended to, and nothing is left beside it."""
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)
    before = sorted(played.iterdir())
    assert verify(played).findings == []
    with Ledger.open(played) as ledger:
        assert len(ledger.events(ROUND)) == 8
        with pytest.raises(StoreUnavailable, match="read-only"):
            ledger.append((OTHER_ROUND, opened()))
    assert sorted(played.iterdir()) == before


def test_disk_full(ledger: Ledger) -> None:
    ledger.append((ROUND, opened()))
    factory: Any = ledger.store.factory  # of SQLite, whose datastore others do not have
    with factory.datastore.get_connection(commit=True) as connection:
        cursor = connection.cursor()
        cursor.execute("PRAGMA page_count")
        cursor.execute(f"PRAGMA max_page_count = {cursor.fetchone()[0]}")
    cards = [(ROUND, CardDealt(number, "s1", "Td")) for number in range(200)]
    with pytest.raises(StoreUnavailable, match="disk is full"):
        ledger.append(*cards)
    assert ledger.size() == FIRST + 1
    assert len(ledger.events(ROUND)) == 1
    assert verify(ledger).findings == []


@pytest.mark.parametrize("size", [0, 100, 5000, 20_000])
def test_truncated_database(played: Path, size: int) -> None:
    os.truncate(played / "events.sqlite", size)
    with pytest.raises(StoreDamaged, match="damaged: restore a copy"):
        verify(played)


def test_file_that_is_no_database(played: Path) -> None:
    (played / "events.sqlite").write_bytes(b"no database" * 1000)
    with pytest.raises(StoreDamaged, match="damaged"):
        Ledger.open(played)


def test_database_missing(played: Path) -> None:
    (played / "events.sqlite").unlink()
    with pytest.raises(NotALedger, match=r"events\.sqlite is missing"):
        Ledger.open(played)
    assert not (played / "events.sqlite").exists()


def test_newer_format(played: Path) -> None:
    settings = played / "ledger.toml"
    settings.write_text(settings.read_text().replace("format = 3", "format = 4"))
    with pytest.raises(UnsupportedFormat, match="has format 4"):
        Ledger.open(played)


def test_store_of_another_kind(played: Path) -> None:
    settings = played / "ledger.toml"
    settings.write_text(settings.read_text().replace("sqlite", "oracle"))
    with pytest.raises(UnsupportedFormat, match="oracle"):
        Ledger.open(played)


@pytest.mark.parametrize(
    "text", ["", "format = 3", "format", 'format = 3\nstore = 2\norigin = "a b"']
)
def test_settings_that_are_none(played: Path, text: str) -> None:
    (played / "ledger.toml").write_text(text)
    with pytest.raises(NotALedger):
        Ledger.open(played)


def test_directory_that_is_no_ledger(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(NotALedger, match=r"has no ledger\.toml"):
            Ledger.open(path)


def test_second_init_changes_nothing(played: Path) -> None:
    before = sorted(played.rglob("*"))
    with pytest.raises(LedgerExists):
        Ledger.init(played, ORIGIN)
    assert sorted(played.rglob("*")) == before
    assert verify(played).findings == []


def test_init_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="is not a valid name"):
        Ledger.init(tmp_path / "ledger", "two words")
    assert list(tmp_path.iterdir()) == []


def test_stream_appended_to_by_another_writer_first(ledger: Ledger) -> None:
    assert ledger.path is not None
    play(ledger, length=2)
    with Ledger.open(ledger.path) as first, Ledger.open(ledger.path) as second:
        first.append((ROUND, short_round()[2]))
        second.append((ROUND, short_round()[3]))
        with pytest.raises(StreamConflict):
            first.append((OTHER_ROUND, opened()), (ROUND, short_round()[4]))
        assert ledger.size() == FIRST + 4
        first.append((OTHER_ROUND, opened()), (ROUND, short_round()[4]))
    assert verify(ledger).findings == []


def test_closed_round_takes_nothing_more(ledger: Ledger) -> None:
    play(ledger)
    with pytest.raises(StreamClosed):
        ledger.append((ROUND, short_round()[4]))
    with pytest.raises(StreamClosed):
        ledger.append(*((OTHER_ROUND, data) for data in [*short_round(), short_round()[4]]))
    assert ledger.size() == FIRST + 8


def test_hidden_folder_that_can_be_entered(played: Path, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may list every folder")
    key = played / "keys" / "operator.pem"
    key.rename(tmp_path / "outside")
    key.symlink_to(tmp_path / "outside")
    key.parent.chmod(0o300)
    with pytest.raises((NotALedger, PermissionError)):
        Ledger.open(played)


def test_links_within_and_a_linked_ledger_are_used(played: Path, tmp_path: Path) -> None:
    (played / "keys").rename(played / "of-2026")
    (played / "keys").symlink_to("of-2026")
    (tmp_path / "linked").symlink_to(played)
    assert verify(tmp_path / "linked").findings == []
    with Ledger.open(tmp_path / "linked") as ledger:
        assert ledger.signer("engine")
