"""Published segments: the same however they were made, whole at any stop, refused when altered."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from shoeproof.audit_reports.errors import SegmentsRefused
from shoeproof.audit_reports.rtp_report.figures import Scope, cells
from shoeproof.audit_reports.tables import segments as publishing
from shoeproof.audit_reports.tables.projection import open_projection
from shoeproof.audit_reports.tables.segments import FORMAT, MANIFEST, TABLES, read_manifest
from shoeproof.audit_reports.tables.views import open_tables, read_tables
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import BetResettled, ConnectionLost
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.replay.rounds.catalogue import add_published_games
from tests.audit_reports.helpers import (
    NBA,
    begun,
    cells_of,
    closed,
    counted,
    go_on,
    play,
    settled,
    simple,
    split_and_doubled,
    voided,
)
from tests.replay.helpers import HandClock


@pytest.fixture
def folder(path: Path) -> Path:
    return path / "projection" / "segments"


def named(folder: Path) -> dict[str, str]:
    found = read_manifest(folder)
    assert found is not None
    return {each.path: each.sha256 for each in found[0].segments}


def rows(folder: Path) -> dict[str, list[Any]]:
    with read_tables(folder) as tables:
        return {
            name: tables.ask(f"FROM {name} ORDER BY ALL").to_pylist()
            for name in (*TABLES, "par_sheets")
        }


def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publishing, "PART_LEAVES", 16)
    monkeypatch.setattr(publishing, "TAIL_LEAVES", 4)


def resettle(ledger: Ledger, round_id: str) -> None:
    data = BetResettled(round_id, "s1", "s1", "main", 100, 200, 250, "natural", None)
    ledger.append((f"disputes/{round_id}", data))


def test_segments_made_bit_by_bit_are_those_made_at_once(
    ledger: Ledger, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_files(monkeypatch)
    first = play(ledger, simple(200))
    open_round = play(ledger, [*begun({"s1": {"main": 100}}), ConnectionLost(2, None, None)])
    steps: list[Callable[[], object]] = [
        lambda: None,
        lambda: play(ledger, split_and_doubled()),
        lambda: play(ledger, simple(0, digest=NBA)),
        lambda: play(ledger, simple(0, digest="ab" * 32)),
        lambda: sign_checkpoint(ledger),
        lambda: resettle(ledger, first),
        lambda: play(ledger, voided()),
        lambda: go_on(ledger, open_round, closed([settled("s1", 100, 200)])),
    ]
    for step in steps:
        step()
        with open_tables(ledger) as tables:
            assert tables.size == ledger.size()
    bit_by_bit, contents = named(folder), rows(folder)
    with open_tables(ledger, rebuild=True):
        pass
    assert named(folder) == bit_by_bit
    assert rows(folder) == contents
    assert len([path for path in bit_by_bit if path.startswith("round_bets/game=zappit")]) > 2
    assert any(path.startswith("rounds/game=unknown/month=") for path in bit_by_bit)
    (resettled,) = [row for row in contents["round_bets"] if row["round"] == first]
    assert (resettled["paid_minor"], resettled["recorded_paid_minor"]) == (250, 200)


def test_segments_lie_by_game_and_month_and_are_packed_by_zstd(folder: Path) -> None:
    clock = HandClock()
    with Ledger.init(folder.parent.parent, "ledger.example/bj", clock=clock) as made:
        add_published_games(made)
        play(made, simple(200))
        clock.forward(days=31)
        play(made, simple(0))
        play(made, simple(0, digest=NBA))
        open_tables(made).close()
    months = [f"{clock.moment - timedelta(days=31):%Y-%m}", f"{clock.moment:%Y-%m}"]
    for table in ("rounds", "bets", "round_bets"):
        parts = [path for path in named(folder) if path.startswith(f"{table}/game=")]
        assert sorted(path.rpartition("/")[0] for path in parts) == [
            f"{table}/game=nba/month={months[1]}",
            *(f"{table}/game=zappit/month={month}" for month in months),
        ]
        for path in parts:
            group = pq.ParquetFile(folder / path).metadata.row_group(0)
            packed = {group.column(n).compression for n in range(group.num_columns)}
            assert packed == {"ZSTD"}


def test_an_update_writes_only_the_ranges_that_changed(
    ledger: Ledger, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_files(monkeypatch)
    for _ in range(6):
        play(ledger, simple(200))
    open_tables(ledger).close()
    before = {path: (folder / path).stat().st_mtime_ns for path in named(folder)}
    first = ledger.size()
    play(ledger, simple(0))
    assert first // 16 == ledger.size() // 16
    open_tables(ledger).close()
    after = {path: (folder / path).stat().st_mtime_ns for path in named(folder)}
    kept = [path for path, moment in after.items() if before.get(path) == moment]
    assert len(kept) > len(before) // 2
    changed = {path.rpartition("/")[2].rpartition("-")[0] for path in set(after) - set(kept)}
    assert changed == {f"tail-{first // 4}"}


def test_files_of_the_tail_become_a_part_when_its_leaves_are_there(
    ledger: Ledger, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_files(monkeypatch)
    sizes = []
    while ledger.size() < 60:
        play(ledger, simple(200))
        open_tables(ledger).close()
        sizes.append(ledger.size())
        files = [path.rpartition("/")[2].split("-") for path in named(folder) if "game=" in path]
        whole = ledger.size() // 16
        assert {int(n) for kind, n, _ in files if kind == "part"} <= set(range(whole))
        assert {int(n) // 4 for kind, n, _ in files if kind == "tail"} <= {whole}
        assert len(rows(folder)["rounds"]) == len(sizes)
    assert len({size // 16 for size in sizes}) > 2


def test_nothing_new_publishes_nothing(ledger: Ledger, folder: Path) -> None:
    play(ledger, simple(200))
    open_tables(ledger).close()
    before = (folder / MANIFEST).stat().st_mtime_ns
    open_tables(ledger).close()
    assert (folder / MANIFEST).stat().st_mtime_ns == before


def test_figures_from_segments_are_those_of_the_tables(ledger: Ledger) -> None:
    play(ledger, simple(200))
    resettle(ledger, play(ledger, simple(200)))
    play(ledger, voided())
    play(ledger, begun({"s1": {"main": 70}}))
    found = [
        (cell.sums.rounds, cell.sums.paid, cell.open_rounds, cell.voided_rounds)
        for cell in cells_of(ledger)
    ]
    assert found == [(2, 450, 1, 1)]
    with open_projection(ledger) as projection:
        assert counted(projection) == [each[:3] for each in found]


def test_an_empty_ledger_has_every_table_without_rows() -> None:
    with (
        Ledger.in_memory("ledger.example/bj") as ledger,
        open_tables(ledger) as tables,
    ):
        for table in (*TABLES, "par_sheets"):
            assert tables.ask(f"FROM {table}").num_rows == 0
        assert cells(tables, Scope()) == []


def test_each_row_says_which_checkpoint_vouches_for_it(ledger: Ledger) -> None:
    play(ledger, simple(200))
    sign_checkpoint(ledger)
    covered = ledger.size()
    play(ledger, simple(0))
    with open_tables(ledger) as tables:
        assert tables.checkpoint_size == covered
        for table in ("rounds", "round_bets", "bets", "cards"):
            column = "last_leaf" if table.startswith("round") else "leaf_index"
            answer = tables.ask(f"SELECT checkpoint_size FROM {table} ORDER BY {column}")
            assert answer["checkpoint_size"].to_pylist() == [covered, None]


@pytest.mark.parametrize("table", ["round_bets", "cards", "disputes"])
def test_an_altered_segment_is_refused(ledger: Ledger, folder: Path, table: str) -> None:
    play(ledger, simple(200))
    open_tables(ledger).close()
    path = sorted((folder / table).rglob("*.parquet"))[0]
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(SegmentsRefused, match="not what was published: make it again"):
        read_tables(folder)
    open_tables(ledger, rebuild=True).close()
    read_tables(folder).close()


def test_a_missing_segment_is_refused(ledger: Ledger, folder: Path) -> None:
    play(ledger, simple(200))
    open_tables(ledger).close()
    next((folder / "rounds").rglob("tail-*")).unlink()
    with pytest.raises(SegmentsRefused, match="cannot be read"):
        open_tables(ledger)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda data: b"{", "is not a manifest"),
        (lambda data: data.replace(b'"format": %d' % FORMAT, b'"format": 99'), "has the format 99"),
        (lambda data: data.replace(b'"path": "rounds/', b'"path": "../rounds/'), "is outside"),
        (lambda data: data.replace(b'"path": "rounds/', b'"path": "rounds/\\u0000'), "null byte"),
    ],
)
def test_a_damaged_manifest_is_refused_and_made_anew(
    ledger: Ledger, folder: Path, change: Callable[[bytes], bytes], says: str
) -> None:
    play(ledger, simple(200))
    open_tables(ledger).close()
    manifest = folder / MANIFEST
    data = manifest.read_bytes()
    manifest.write_bytes(change(data))
    assert manifest.read_bytes() != data
    with pytest.raises(SegmentsRefused, match=says):
        read_tables(folder)
    open_tables(ledger, rebuild=True).close()
    assert manifest.read_bytes() == data


def test_where_nothing_was_published_it_is_said(tmp_path: Path) -> None:
    with pytest.raises(SegmentsRefused, match="has no manifest: run"):
        read_tables(tmp_path)


def test_the_segments_of_a_longer_past_are_made_anew(
    ledger: Ledger, folder: Path, path: Path
) -> None:
    play(ledger, simple(200))
    open_tables(ledger).close()
    manifest = json.loads((folder / MANIFEST).read_bytes())
    manifest["size"] += 100
    (folder / MANIFEST).write_text(json.dumps(manifest))
    with open_tables(ledger) as tables:
        assert tables.size == ledger.size()


def test_who_reads_the_earlier_segments_goes_on_reading(ledger: Ledger, folder: Path) -> None:
    play(ledger, simple(200))
    open_tables(ledger).close()
    with read_tables(folder) as reading:
        play(ledger, simple(0))
        open_tables(ledger).close()
        assert cells(reading, Scope())[0].sums.rounds == 1
    play(ledger, simple(0))
    open_tables(ledger).close()
    play(ledger, simple(0))
    open_tables(ledger).close()
    found = {str(path.relative_to(folder)) for path in folder.rglob("*.parquet")}
    assert len([path for path in found if path.startswith("round_bets/game")]) == 2
    assert set(named(folder)) < found


KILLED = """
import os, signal, sys
from pathlib import Path
from shoeproof.audit_reports.tables import segments
from shoeproof.audit_reports.tables.views import open_tables
from shoeproof.ledger import Ledger

step, count = int(sys.argv[2]), 0
def counted(real):
    def call(*arguments, **options):
        global count
        count += 1
        if count == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **options)
    return call
segments._write = counted(segments._write)
segments.write_durably = counted(segments.write_durably)
segments._remove_unnamed = counted(segments._remove_unnamed)
with Ledger.open(Path(sys.argv[1])) as ledger:
    open_tables(ledger).close()
"""


@pytest.mark.parametrize("step", [1, 3, 9, 10, 11])
def test_killed_anywhere_the_old_segments_stand_or_the_new_ones(
    ledger: Ledger, path: Path, folder: Path, step: int
) -> None:
    play(ledger, simple(200))
    open_tables(ledger).close()
    before = rows(folder)
    play(ledger, simple(0))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(path), str(step)], env=environment, check=False
    )
    after = rows(folder)
    assert (killed.returncode, step) in [(-signal.SIGKILL, step), (0, 11)]
    assert (after == before) == (step < 10)
    open_tables(ledger).close()
    going_on = rows(folder)
    open_tables(ledger, rebuild=True).close()
    assert rows(folder) == going_on
    assert len(going_on["rounds"]) == 2
