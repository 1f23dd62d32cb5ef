"""How much memory there is, by what the system's files say."""

from pathlib import Path

import pytest

from shoeproof.audit_reports.tables import memory, sql
from shoeproof.audit_reports.tables.projection import open_projection
from shoeproof.ledger import Ledger

GIB = 1 << 30


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A system with 8 GiB to spare, in no container."""
    meminfo = "MemTotal: 16777216 kB\nMemFree: 100 kB\nMemAvailable: 8388608 kB\nHugePages: 0\n"
    (tmp_path / "meminfo").write_text(meminfo)
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    return tmp_path


def contain(system: Path, limit: str) -> None:
    """Put the process into a container that uses 3 GiB, 2 of them to cache files."""
    (system / "memory.max").write_text(f"{limit}\n")
    (system / "memory.current").write_text(f"{3 * GIB}\n")
    (system / "memory.stat").write_text(f"anon {GIB}\nactive_file {GIB}\ninactive_file {GIB}\n")


def test_what_is_free_is_what_the_system_says(system: Path) -> None:
    assert memory.available() == 8 * GIB


@pytest.mark.parametrize(
    ("limit", "free"),
    [(str(4 * GIB), 3 * GIB), (str(64 * GIB), 8 * GIB), ("max", 8 * GIB), (str(GIB // 2), 0)],
)
def test_in_a_container_it_is_no_more_than_the_limit_leaves(
    system: Path, limit: str, free: int
) -> None:
    contain(system, limit)
    assert memory.available() == free


def test_where_nothing_is_said_no_limit_is_set(system: Path) -> None:
    (system / "meminfo").unlink()
    assert memory.available() is None
    assert (memory.for_database(), memory.for_answer()) == (None, None)
    with sql.connect() as database:
        ((limit,),) = database.execute("SELECT current_setting('memory_limit')").fetchall()
    assert limit.endswith("iB")


def test_a_database_may_use_a_share_of_it_and_a_little_always(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for free, limit in ((10 * GIB, "6.0 GiB"), (0, "128.0 MiB")):
        monkeypatch.setattr(memory, "available", lambda free=free: free)
        with sql.connect() as database:
            asked = "SELECT current_setting('memory_limit'), current_setting('temp_directory')"
            assert database.execute(asked).fetchall() == [(limit, "")]


def test_tables_in_memory_spill_into_a_folder_that_goes_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(memory, "available", lambda: 0)
    select = "CREATE TABLE large AS SELECT hash(i) AS h FROM range(30000000) of(i)"
    with Ledger.in_memory("memory.example/bj") as ledger, open_projection(ledger) as projection:
        database = projection._tables
        ((folder,),) = database.execute("SELECT current_setting('temp_directory')").fetchall()
        database.execute(select)
        assert list(Path(folder).iterdir())
    assert not Path(folder).exists()
    assert list(tmp_path.iterdir()) == []
