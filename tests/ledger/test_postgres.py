"""What only PostgreSQL has: roles that may add and change nothing, and its own ways to fail."""

import re
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from shoeproof.ledger.errors import LedgerExists, NotALedger, StoreUnavailable, UnsupportedFormat
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.store.directory import DATABASE_VARIABLE
from shoeproof.ledger.verify.whole import verify
from shoeproof.needs import NotInstalled
from tests.ledger.helpers import FIRST, ORIGIN, ROUND, opened, play, round_id

psycopg = pytest.importorskip("psycopg", reason="PostgreSQL needs the extra `postgres`")

README = Path(__file__).parents[2] / "ledger" / "README.md"


@pytest.fixture
def stored(path: Path, postgres_url: str) -> str:
    """The URL of a database that holds one short round."""
    with Ledger.init(path, ORIGIN, database_url=postgres_url) as ledger:
        play(ledger)
    return postgres_url


def as_user(url: str, user: str) -> str:
    return url.replace("postgres:@", f"{user}:@")


@pytest.fixture
def roles(stored: str) -> str:
    """The same, with the roles that the README says how to make."""
    [block] = re.findall(r"```sql\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    with psycopg.connect(stored, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS shoeproof_writer, shoeproof_auditor")
        connection.execute(block)
    return stored


def test_writer_adds_and_changes_nothing(roles: str, path: Path) -> None:
    url = as_user(roles, "shoeproof_writer")
    with Ledger.open(path, database_url=url) as ledger:
        assert ledger.store.query("SELECT current_user") == [("shoeproof_writer",)]
        play(ledger, "019b7ca9-8c88-7b3e-9c55-2f6d8a1b4c5e")
        sign_checkpoint(ledger)
        for table, column in (("stored_events", "state"), ("leaves", "event_rowid")):
            for statement in (
                f"UPDATE {table} SET {column} = NULL",
                f"DELETE FROM {table}",
                f"TRUNCATE {table} CASCADE",
                f"ALTER TABLE {table} DISABLE TRIGGER ALL",
                f"DROP TABLE {table}",
            ):
                with pytest.raises(StoreUnavailable, match="read-only"):
                    ledger.store.query(statement)
        assert verify(ledger).findings == []
    with psycopg.connect(roles) as connection:
        # So that the role can be dropped: its rights end with the database.
        connection.execute("DROP OWNED BY shoeproof_writer, shoeproof_auditor")


def test_auditor_reads_and_adds_nothing(roles: str) -> None:
    url = as_user(roles, "shoeproof_auditor")
    with Ledger.open_url(url) as ledger:
        assert (ledger.origin, ledger.size()) == (ORIGIN, FIRST + 8)
        assert verify(ledger).findings == []
        assert len(ledger.rounds(state="closed")) == 1
        with pytest.raises(StoreUnavailable, match="read-only"):
            ledger.store.query("INSERT INTO leaves VALUES (99, 99)")
    with psycopg.connect(roles) as connection:
        connection.execute("DROP OWNED BY shoeproof_writer, shoeproof_auditor")


@pytest.mark.parametrize("table", ["stored_events", "leaves", "tiles"])
def test_owner_truncates_nothing(stored: str, table: str) -> None:
    with (
        psycopg.connect(stored) as connection,
        pytest.raises(psycopg.errors.RaiseException, match="only ever added to"),
    ):
        connection.execute(f"TRUNCATE {table}")


def test_database_that_holds_a_ledger_already(stored: str, tmp_path: Path) -> None:
    with pytest.raises(LedgerExists, match="already"):
        Ledger.init(tmp_path / "second", ORIGIN, database_url=stored)
    assert not (tmp_path / "second").exists()
    with Ledger.open_url(stored) as ledger:
        assert ledger.size() == FIRST + 8


def test_database_without_a_ledger(postgres_url: str) -> None:
    with pytest.raises(NotALedger, match="holds no ledger"):
        Ledger.open_url(postgres_url)


def test_server_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="refused"):
        Ledger.init(tmp_path / "new", ORIGIN, database_url="postgresql://a@127.0.0.1:1/b")
    assert list(tmp_path.iterdir()) == []


def test_locked_by_another_program(
    stored: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shoeproof.ledger.store import postgres

    turn = tuple(each.replace("'5s'", "'50ms'") for each in postgres._TAKE_TURN)
    monkeypatch.setattr(postgres, "_TAKE_TURN", turn)
    with psycopg.connect(stored) as other, Ledger.open(path) as ledger:
        other.execute("SELECT pg_advisory_xact_lock('stored_events'::regclass::oid::bigint)")
        with pytest.raises(StoreUnavailable, match="locked by another program"):
            ledger.append(("019b7ca9-8c88-7b3e-9c55-2f6d8a1b4c5f", opened()))
        other.rollback()
        ledger.append(("019b7ca9-8c88-7b3e-9c55-2f6d8a1b4c5f", opened()))


@pytest.mark.parametrize("first", ["read", "written"])
def test_server_that_ended_every_connection_is_connected_to_again(
    stored: str, path: Path, first: str
) -> None:
    with Ledger.open(path) as ledger, ThreadPoolExecutor(4) as threads:
        # So many at once that several connections are in the pool, all to be lost.
        waits = threads.map(ledger.store.query, ["SELECT 1 FROM pg_sleep(0.2)"] * 4)
        assert len(list(waits)) == 4
        with psycopg.connect(stored, autocommit=True) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        if first == "read":
            assert len(ledger.events(ROUND)) == 8
        else:
            assert ledger.store.write(lambda transaction: transaction.size) == FIRST + 8
        ledger.append(("019b7ca9-8c88-7b3e-9c55-2f6d8a1b4c5f", opened()))
        assert verify(ledger).findings == []


def test_database_whose_defaults_are_against_us(stored: str, path: Path) -> None:
    """A snapshot older than the lock would miss what others wrote while it was waited for."""
    with psycopg.connect(stored, autocommit=True) as connection:
        for setting in (
            "default_transaction_isolation = 'serializable'",
            "synchronous_commit = off",
        ):
            name = connection.info.dbname
            connection.execute(f"ALTER DATABASE {name} SET {setting}")
    with Ledger.open(path) as one, Ledger.open(path) as other:
        assert one.store.query("SHOW synchronous_commit") == [("off",)]
        for number in range(5):
            play(one, round_id(number), length=2)
            play(other, round_id(100 + number), length=2)
        assert verify(one).findings == []


def test_url_stands_nowhere_in_the_directory(stored: str, path: Path) -> None:
    """The directory is not secret, and is copied to whoever audits."""
    assert stored
    assert 'store = "postgresql"\n' in (path / "ledger.toml").read_text()
    assert not [each for each in path.rglob("*") if each.is_file() and b"://" in each.read_bytes()]


def test_directory_alone_does_not_say_where(
    stored: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(DATABASE_VARIABLE)
    with pytest.raises(StoreUnavailable, match=DATABASE_VARIABLE):
        Ledger.open(path)
    with Ledger.open(path, database_url=stored) as ledger:
        assert ledger.size() == FIRST + 8
    monkeypatch.setenv(DATABASE_VARIABLE, "mysql://a@localhost/b")
    with pytest.raises(UnsupportedFormat, match="not a PostgreSQL URL"):
        Ledger.open(path)


def test_database_of_another_ledger(stored: str, path: Path, tmp_path: Path) -> None:
    """Whoever names the wrong one must not add one ledger's events to another's."""
    other = shutil.copytree(path, tmp_path / "other")
    settings = other / "ledger.toml"
    settings.write_text(settings.read_text().replace(ORIGIN, "other.example/bj"))
    with pytest.raises(NotALedger, match=f"holds {ORIGIN}"):
        Ledger.open(other, database_url=stored)


def test_subscription_is_told_of_what_is_appended(stored: str, path: Path) -> None:
    with Ledger.open(path) as ledger, ledger.store.recorder.subscribe(gt=FIRST + 6) as told:
        # A subscription is not told of what came while it began to listen.
        listening = "SELECT 1 FROM pg_stat_activity WHERE query LIKE ?"
        while not ledger.store.query(listening, ("LISTEN %",)):
            time.sleep(0.01)
        ledger.append(("019b7ca9-8c88-7b3e-9c55-2f6d8a1b4c5f", opened()))
        assert [next(told).id for _ in range(3)] == [FIRST + 7, FIRST + 8, FIRST + 9]


def test_program_that_was_installed_without_postgres(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(NotInstalled, match=r"pip install 'shoeproof\[postgres\]'"):
        Ledger.init(tmp_path / "new", ORIGIN, database_url="postgresql://a@localhost/b")
