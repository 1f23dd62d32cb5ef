"""Two processes that would write one projection: the second waits, and not for ever."""

import time
from pathlib import Path
from threading import Thread

import duckdb
import pytest

from shoeproof.audit_reports.errors import ProjectionBusy, ProjectionUnavailable
from shoeproof.audit_reports.tables import read_model, sql
from shoeproof.audit_reports.tables.projection import open_projection
from shoeproof.ledger import Ledger
from shoeproof.ledger.files.durable import locked
from tests.audit_reports.helpers import held_by_another_process, let_go, play, simple


@pytest.mark.parametrize("rebuild", [False, True])
def test_a_projection_that_stays_busy_is_refused(
    ledger: Ledger, path: Path, monkeypatch: pytest.MonkeyPatch, rebuild: bool
) -> None:
    monkeypatch.setattr(read_model, "WAIT_SECONDS", 0.3)
    with held_by_another_process(path):
        begun = time.monotonic()
        with pytest.raises(ProjectionBusy, match="another process"):
            open_projection(ledger, rebuild=rebuild)
        assert time.monotonic() - begun >= 0.3
    open_projection(ledger).close()


@pytest.mark.parametrize("rebuild", [False, True])
def test_a_projection_that_another_process_writes_is_waited_for(
    ledger: Ledger, path: Path, rebuild: bool
) -> None:
    play(ledger, simple(200))
    told: list[int] = []
    with held_by_another_process(path) as other:

        def end_the_other() -> None:
            told.append(other.pid)
            let_go(other)

        with open_projection(ledger, rebuild=rebuild, waiting=end_the_other) as projection:
            assert projection.update().size == ledger.size()
            assert projection.path is not None
    assert told == [other.pid]


def test_who_does_not_wait_is_not_told_that_it_does(ledger: Ledger) -> None:
    told: list[int] = []
    open_projection(ledger, waiting=lambda: told.append(1)).close()
    assert told == []


@pytest.mark.parametrize("rebuild", [False, True])
def test_nobody_opens_what_another_may_be_about_to_remove(
    ledger: Ledger, path: Path, rebuild: bool
) -> None:
    open_projection(ledger).close()
    opened: list[int] = []

    def open_it() -> None:
        open_projection(ledger, rebuild=rebuild).close()
        opened.append(1)

    with locked(path / "projection"):
        other = Thread(target=open_it)
        other.start()
        other.join(0.5)
        assert opened == []
    other.join()
    assert opened == [1]


@pytest.mark.parametrize("written", [0, 4096, 8192])
def test_a_file_whose_maker_was_ended_at_its_headers_is_begun_anew(
    ledger: Ledger, path: Path, written: int
) -> None:
    play(ledger, simple(200))
    open_projection(ledger).close()
    file = path / "projection" / "rtp.duckdb"
    file.write_bytes(file.read_bytes()[:written])
    with open_projection(ledger) as projection:
        assert projection.update().size == ledger.size()


class FullDisk:
    """A database on a disk that has no room for what a transaction wrote."""

    def __init__(self, database: duckdb.DuckDBPyConnection) -> None:
        self._database = database

    def __getattr__(self, name: str) -> object:
        return getattr(self._database, name)

    def commit(self) -> None:
        self._database.rollback()
        raise duckdb.TransactionException("Failed to commit: No space left on device")


def test_a_full_disk_is_told_of_as_what_it_is(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = sql.connect
    monkeypatch.setattr(sql, "connect", lambda file: FullDisk(connect(file)))
    with (
        open_projection(ledger) as projection,
        pytest.raises(ProjectionUnavailable, match=r"No space left on device.*: make room"),
    ):
        projection.update()
