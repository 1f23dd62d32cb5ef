"""On a Dask cluster the audit comes to the same report, also when workers are killed in it."""

import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from shutil import copytree
from typing import Any

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.errors import WorkersLost
from shoeproof.replay.audit.one_by_one import audit as scalar_audit
from shoeproof.replay.bulk.audit import audit
from shoeproof.replay.bulk.export import parquet
from shoeproof.replay.bulk.export.folder import Folder
from shoeproof.replay.bulk.export.parquet import audit_parquet
from shoeproof.replay.bulk.export.write import export_parquet
from shoeproof.replay.errors import ClusterUnusable, ExportUnusable
from shoeproof.replay.rounds.catalogue import add_published_games
from tests.bulk.helpers import of_the_play
from tests.bulk.ledgers import damage, interleaved
from tests.replay.helpers import ORIGIN, new_ledger


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait longer for workers than an auditor would: others may use the machine."""
    monkeypatch.setattr("shoeproof.replay.bulk.cluster._WORKERS_IN", 180)


def _ledger_at(path: Path, rounds: int = 40) -> Ledger:
    made = Ledger.init(path, ORIGIN)
    add_published_games(made)
    interleaved(made, Random(31), rounds)
    return made


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    made = _ledger_at(tmp_path_factory.mktemp("cluster") / "ledger")
    damage(made)
    return made


@pytest.fixture(scope="module")
def export(ledger: Ledger, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cluster") / "rounds"
    export_parquet(ledger, folder, rounds_a_part=9)
    return folder


def _die(died: Path | None) -> None:
    """Kill the worker this runs in, as the operating system would: once where `died` is a file."""
    if died is None or not died.exists():
        if died is not None:
            died.touch()
        os.kill(os.getpid(), signal.SIGKILL)


def _deadly(
    fetch: Callable[[int, int], list[Any]], place: int, died: Path | None, start: int, stop: int
) -> Any:
    leaves = fetch(start, stop)
    # One leaf alone is fetched to see that this is the ledger, before there is any work.
    if start <= place < stop and stop - start > 1:
        _die(died)
    return leaves


@pytest.mark.parametrize("partitions", [1, 2, 8])
def test_the_report_is_the_same_with_a_worker_killed_in_the_middle(
    ledger: Ledger, scheduler: str, partitions: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = scalar_audit(ledger)
    assert len(expected.findings) > 5
    assert expected.open_rounds
    died = tmp_path / "died"
    deadly = partial(_deadly, ledger.store.rows_fetcher(), ledger.size() // 2, died)
    monkeypatch.setattr(ledger.store, "rows_fetcher", lambda: deadly)
    told: list[tuple[int, int]] = []
    result = audit(
        ledger,
        lambda done, size: told.append((done, size)),
        scheduler=scheduler,
        partitions=partitions,
    )
    assert result.rounds == expected
    assert died.exists()
    assert told[-1] == (ledger.size(), ledger.size())
    assert len(told) == partitions


class _DeadlyFolder(Folder):
    """A folder at whose second part a worker dies."""

    died = Path()

    def __reduce__(self) -> tuple[Any, ...]:
        return _deadly_folder, (self.name, self.died)

    def read(self, name: str) -> bytes:
        data = super().read(name)
        if name == "symbols-00001.parquet":
            _die(self.died)
        return data


def _deadly_folder(name: str, died: Path) -> Folder:
    folder = _DeadlyFolder(name)
    folder.died = died
    return folder


def test_an_export_comes_to_the_same_with_a_worker_killed_in_the_middle(
    ledger: Ledger, export: Path, scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    died = tmp_path / "died"
    monkeypatch.setattr(_DeadlyFolder, "died", died)
    monkeypatch.setattr(parquet, "Folder", _DeadlyFolder)
    assert audit_parquet(export, scheduler=scheduler) == of_the_play(scalar_audit(ledger))
    assert died.exists()


def test_a_share_on_which_every_worker_dies_is_an_error(
    ledger: Ledger, scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    deadly = partial(_deadly, ledger.store.rows_fetcher(), 0, None)
    monkeypatch.setattr(ledger.store, "rows_fetcher", lambda: deadly)
    with pytest.raises(WorkersLost, match="begins at 0"):
        audit(ledger, scheduler=scheduler, partitions=3)


def test_a_scheduler_that_goes_away(ledger: Ledger, caplog: pytest.LogCaptureFixture) -> None:
    distributed = pytest.importorskip("distributed", reason="a cluster needs the extra `cluster`")
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False}
    with (
        distributed.LocalCluster(
            silence_logs=60, dashboard_address="127.0.0.1:0", **options
        ) as cluster,
        pytest.raises(ClusterUnusable, match="has gone away"),
    ):
        audit(
            ledger,
            lambda done, size: cluster.close(),
            scheduler=cluster.scheduler_address,
            partitions=900,
        )
    assert "distributed.client" not in {each.name for each in caplog.records if each.exc_info}


def test_a_cluster_without_workers(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed", reason="a cluster needs the extra `cluster`")
    monkeypatch.setattr("shoeproof.replay.bulk.cluster._WORKERS_IN", 0.2)
    with (
        distributed.LocalCluster(
            n_workers=0, silence_logs=60, dashboard_address="127.0.0.1:0"
        ) as cluster,
        pytest.raises(ClusterUnusable, match="has no workers"),
    ):
        audit(ledger, scheduler=cluster.scheduler_address)


def test_what_a_worker_refuses_reaches_the_auditor(
    export: Path, scheduler: str, tmp_path: Path
) -> None:
    folder = tmp_path / "rounds"
    copytree(export, folder)
    (folder / "rounds-00001.parquet").unlink()
    with pytest.raises(ExportUnusable, match="rounds-00001"):
        audit_parquet(folder, scheduler=scheduler)


def test_workers_that_find_another_ledger_in_its_place(
    ledger: Ledger, scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = _ledger_at(tmp_path / "older", 5)
    monkeypatch.setattr(ledger.store, "rows_fetcher", older.store.rows_fetcher)
    with pytest.raises(ClusterUnusable, match="does not reach this ledger"):
        audit(ledger, scheduler=scheduler)


def test_what_no_other_process_can_see(scheduler: str) -> None:
    with pytest.raises(ClusterUnusable, match="in memory"):
        audit(new_ledger(), scheduler=scheduler)
    export_parquet(new_ledger(), "memory://unseen")
    with pytest.raises(ExportUnusable, match="no cluster can see it"):
        audit_parquet("memory://unseen", scheduler=scheduler)


def test_a_ledger_in_postgres(scheduler: str, postgres_url: str, tmp_path: Path) -> None:
    made = Ledger.init(tmp_path / "ledger", ORIGIN, database_url=postgres_url)
    add_published_games(made)
    interleaved(made, Random(32), 8)
    assert audit(made, scheduler=scheduler, partitions=3).rounds == scalar_audit(made)


def test_stores_open_by_absolute_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _ledger_at(tmp_path / "ledger", 1).close()
    with Ledger.open(Path("ledger")) as opened:
        assert str(tmp_path) in opened.store.database
    assert Folder("rounds").name == str(tmp_path / "rounds")
