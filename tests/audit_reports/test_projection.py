"""Tables that go on where they stopped, and leaves that never reach them."""

import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import pytest

from shoeproof.audit_reports.errors import LeafRefused, ProjectionUnavailable
from shoeproof.audit_reports.rows import verified as verification
from shoeproof.audit_reports.tables import projection as projections
from shoeproof.audit_reports.tables.projection import open_projection
from shoeproof.ledger import Ledger
from shoeproof.ledger.findings import KEY_NOT_VALID, PREV_MISMATCH, SEQ_GAP, SIGNATURE_INVALID
from shoeproof.ledger.leaf.events import (
    Awarded,
    ConnectionLost,
    DealRequested,
    DisputeOpened,
    EventData,
    Funds,
    KeyRevoked,
    ServiceStopped,
    StakesPlaced,
)
from shoeproof.ledger.leaf.streams import OPERATIONS_STREAM
from shoeproof.replay.live.players import make_player
from shoeproof.replay.live.simulation import simulate
from shoeproof.replay.live.table import TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from tests.audit_reports.helpers import (
    begun,
    closed,
    contents,
    counted,
    doubled_push,
    go_on,
    made,
    new_round,
    play,
    settled,
    simple,
    split_and_doubled,
    voided,
)
from tests.ledger.helpers import alter, free_of_constraints, tampering

SPLIT = split_and_doubled()


def interleaved() -> list[tuple[int, EventData]]:
    """Events of several rounds, event by event in turn."""
    placed = [*begun({})[:2], StakesPlaced({"s1": {"main": 7}}), *begun({"s1": {"main": 9}})[2:]]
    rounds = [SPLIT, doubled_push(), voided(), simple(0, mode="fun"), placed, begun({})[:1]]
    longest = max(map(len, rounds))
    return [
        (number, events[place])
        for place in range(longest)
        for number, events in enumerate(rounds)
        if place < len(events)
    ]


def record_of_every_kind(ledger: Ledger) -> None:
    """Rounds played at a table, rounds in turn with all others, and what stands by itself."""
    settings = TableSettings(limits={"main": (1, 10_000)}, currency="EUR")
    rules = current_rules(ledger, "nba")
    simulate(ledger, rules, settings, {"s1": {"main": 100}}, make_player("basic", 1), 8)
    ids = [new_round() for _ in range(6)]
    for number, data in interleaved():
        ledger.append((ids[number], data))
    ledger.append((ids[4], ConnectionLost(2, None, None)))
    ledger.append((OPERATIONS_STREAM, ServiceStopped(3, None, None)))
    ledger.append((f"disputes/{ids[1]}", DisputeOpened(ids[1], "settlement", None, [], None)))
    # The wallet takes 3.00 for a stake of 1.00 in a round that goes on, and gives 9.00 for 5.00.
    taken = Funds("debit", 300, 0, None, "accepted", None)
    opened, committed, _, *rest = simple(0)
    lying = new_round()
    for data in (opened, committed, DealRequested({"s1": {"main": 100}}, "", taken), *rest):
        ledger.append((lying, data))
    given = Awarded(lying, None, None, 500, "EUR", Funds("credit", 900, 0, None, None, None))
    ledger.append((f"disputes/{lying}", given))


def test_tables_made_bit_by_bit_equal_tables_made_at_once(ledger: Ledger) -> None:
    ids = [new_round() for _ in range(6)]
    for number, data in interleaved():
        ledger.append((ids[number], data))
        with open_projection(ledger) as projection:
            state = projection.update()
            bit_by_bit = contents(projection)
    assert state.start == ledger.size() - 1
    with open_projection(ledger, rebuild=True) as projection:
        assert projection.update().start == 0
        assert contents(projection) == bit_by_bit
    assert len(bit_by_bit["rounds"]) == 6
    assert len(bit_by_bit["rule_sets"]) == 3


def test_an_update_stopped_at_any_commit_goes_on_to_the_same_tables(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "RUN", 3)
    monkeypatch.setattr(projections, "COMMIT_LEAVES", 5)
    ids = [new_round() for _ in range(6)]
    for number, data in interleaved():
        ledger.append((ids[number], data))

    class Stopped(Exception):
        pass

    def stop_after(leaves: int) -> Any:
        def progress(done: int, size: int) -> None:
            if done >= leaves:
                raise Stopped

        return progress

    stops = 0
    for leaves in range(0, ledger.size() - 1, 4):
        with open_projection(ledger) as projection, pytest.raises(Stopped):
            projection.update(stop_after(leaves))
        stops += 1
    with open_projection(ledger) as projection:
        state = projection.update()
        assert 0 < state.start < state.size
        in_parts = contents(projection)
    with open_projection(ledger, rebuild=True) as projection:
        projection.update()
        assert contents(projection) == in_parts
    assert stops > 5


@pytest.mark.parametrize("leaves", [1, 2, 3, 7, 20])
def test_rows_do_not_depend_on_the_ranges_in_which_leaves_are_checked(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, leaves: int
) -> None:
    record_of_every_kind(ledger)
    with open_projection(ledger) as projection:
        projection.update()
        at_once = contents(projection)
    monkeypatch.setattr(verification, "RUN", leaves)
    with open_projection(ledger, rebuild=True) as projection:
        projection.update()
        assert contents(projection) == at_once
    assert all(
        rows for table, rows in at_once.items() if table not in ("would_have_paid", "offers_apart")
    )


def test_worker_processes_make_the_same_rows(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    record_of_every_kind(ledger)
    with open_projection(ledger) as projection:
        projection.update()
        here = contents(projection)
    monkeypatch.setattr(verification, "SHARED_FROM", 0)
    monkeypatch.setattr(verification, "SHARED_RUN", 40)
    monkeypatch.setattr("shoeproof.ledger.verify.workers.SHARED_FROM", 0)
    with open_projection(ledger, rebuild=True) as projection:
        projection.update()
        assert contents(projection) == here


@pytest.mark.parametrize("statement", ["DELETE", "INSERT INTO projected", "commit"])
def test_a_failure_inside_the_transaction_leaves_the_tables_as_they_were(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    round_id = play(ledger, begun({"s1": {"main": 100}}))
    with open_projection(ledger) as projection:
        projection.update()
        before = contents(projection)
        go_on(ledger, round_id, closed([settled("s1", 100, 200)]))

        class Failing:
            def __init__(self, tables: duckdb.DuckDBPyConnection) -> None:
                self._tables = tables

            def __getattr__(self, name: str) -> Any:
                if name == statement:
                    raise KeyboardInterrupt
                return getattr(self._tables, name)

            def execute(self, text: str, *arguments: Any) -> Any:
                if text.startswith(statement):
                    raise KeyboardInterrupt
                return self._tables.execute(text, *arguments)

        tables = projection._tables
        with monkeypatch.context() as failing:
            failing.setattr(projection, "_tables", Failing(tables))
            failing.setattr(projection._model, "database", Failing(tables))
            with pytest.raises(KeyboardInterrupt):
                projection.update()
        assert contents(projection) == before
        projection.update()
        assert counted(projection)[0][1] == 200


def test_an_update_with_nothing_new_changes_nothing(ledger: Ledger) -> None:
    play(ledger, simple(200))
    with open_projection(ledger) as projection:
        projection.update()
        before = contents(projection)
        state = projection.update()
        assert state.start == state.size == ledger.size()
        assert contents(projection) == before


def test_progress_ends_at_the_size(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "RUN", 3)
    play(ledger, SPLIT)
    told: list[tuple[int, int]] = []
    with open_projection(ledger) as projection:
        projection.update(lambda done, size: told.append((done, size)))
    assert told[-1] == (ledger.size(), ledger.size())
    assert len(told) > 3


def test_a_forged_leaf_never_reaches_a_table(
    ledger: Ledger, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "RUN", 1)
    monkeypatch.setattr(projections, "COMMIT_LEAVES", 1)
    play(ledger, simple(200))
    last = ledger.size() - 3
    ledger.close()
    alter(path, last, b'"paid_minor":200', b'"paid_minor":900')
    with Ledger.open(path) as opened, open_projection(opened) as projection:
        for _ in range(2):
            with pytest.raises(LeafRefused, match=rf"^leaf {last} of .*signature") as refused:
                projection.update()
            assert refused.value.finding.code == SIGNATURE_INVALID
            assert [paid for _, paid, _ in counted(projection)] == [0]


def test_a_removed_event_of_a_round_begun_earlier_is_noticed(ledger: Ledger, path: Path) -> None:
    round_id = play(ledger, begun({"s1": {"main": 100}}))
    with open_projection(ledger) as projection:
        projection.update()
    start = ledger.size()
    go_on(ledger, round_id, [made("s1", "double", 100), settled("s1", 200, 0)])
    ledger.close()
    with tampering(path) as connection:
        connection.execute("DELETE FROM leaves WHERE leaf_index = ?", (start,))
        connection.execute("UPDATE leaves SET leaf_index = leaf_index - 1 WHERE leaf_index > ?",
                           (start,))  # fmt: skip
    with (
        Ledger.open(path) as opened,
        open_projection(opened) as projection,
        pytest.raises(LeafRefused) as refused,
    ):
        projection.update()
    assert refused.value.finding.code == SEQ_GAP
    assert refused.value.finding.leaf_index == start


@pytest.mark.parametrize(("cached", "code"), [(False, SIGNATURE_INVALID), (True, PREV_MISMATCH)])
def test_an_event_altered_under_a_round_that_goes_on_is_noticed(
    ledger: Ledger, path: Path, *, cached: bool, code: str
) -> None:
    """Read again it is named itself; left unread it does not fit what follows on it."""
    round_id = play(ledger, begun({"s1": {"main": 100}}))
    altered = ledger.size() - 1
    play(ledger, simple(0))
    with open_projection(ledger) as projection:
        projection.update()
    go_on(ledger, round_id, [settled("s1", 100, 0)])
    ledger.close()
    alter(path, altered, b'"card":"Td"', b'"card":"9d"')
    with (
        Ledger.open(path) as opened,
        open_projection(opened, cached=cached) as projection,
        pytest.raises(LeafRefused) as refused,
    ):
        projection.update()
    assert refused.value.finding.code == code


@pytest.mark.parametrize("workers", [1, 2])
def test_leaves_altered_after_they_were_counted_are_read_again(
    ledger: Ledger, path: Path, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: workers)
    altered = ledger.size() + 2
    play(ledger, simple(0))
    play(ledger, simple(200))
    with open_projection(ledger) as projection:
        size = projection.update().size
    ledger.close()
    alter(path, altered, b'"main":100', b'"main":900')
    with Ledger.open(path) as opened:
        with open_projection(opened, cached=True) as projection:
            assert projection.update().size == size
        with open_projection(opened) as projection, pytest.raises(LeafRefused) as refused:
            projection.update()
    assert refused.value.finding.leaf_index == altered


def _copy_leaves(connection: sqlite3.Connection, first: int, last: int) -> None:
    """Append copies of stored leaves, as somebody without any key can."""
    with free_of_constraints(connection):
        for leaf_index in range(first, last + 1):
            cursor = connection.execute(
                """INSERT INTO loose SELECT NULL, originator_id, originator_version, topic,
                state FROM loose JOIN leaves USING (event_rowid) WHERE leaf_index = ?""",
                (leaf_index,),
            )
            connection.execute(
                "INSERT INTO leaves SELECT MAX(leaf_index) + 1, ? FROM leaves", (cursor.lastrowid,)
            )


@pytest.mark.parametrize("projected_before", [False, True])
@pytest.mark.parametrize("part", [slice(0, None), slice(4, 5)])
def test_a_round_copied_to_the_end_is_not_counted_twice(
    ledger: Ledger, path: Path, *, projected_before: bool, part: slice
) -> None:
    start = ledger.size()
    play(ledger, simple(0))
    copied = range(start, ledger.size())[part]
    if projected_before:
        with open_projection(ledger) as projection:
            projection.update()
    end = ledger.size()
    ledger.close()
    with tampering(path) as connection:
        _copy_leaves(connection, copied[0], copied[-1])
    with (
        Ledger.open(path) as opened,
        open_projection(opened) as projection,
        pytest.raises(LeafRefused) as refused,
    ):
        projection.update()
    assert (refused.value.finding.code, refused.value.finding.leaf_index) == (SEQ_GAP, end)


def test_an_event_after_the_close_counts_for_nothing(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    round_id = play(ledger, simple(0))
    with open_projection(ledger) as projection:
        projection.update()
        before = contents(projection)
        head = ledger._heads.find(ledger.store.head, round_id, settled("s1", 100, 900))
        monkeypatch.setitem(ledger._heads, round_id, head._replace(is_closed=False))
        ledger.append((round_id, settled("s1", 100, 900)))
        projection.update()
        assert contents(projection)["bets"] == before["bets"]


def test_an_event_long_after_the_close_does_not_open_the_round_again(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "RUN", 5)
    monkeypatch.setattr(projections, "COMMIT_LEAVES", 1)
    events = simple(200)
    round_id = play(ledger, events[:4])
    with open_projection(ledger) as projection:
        projection.update()
        go_on(ledger, round_id, events[4:])
        for _ in range(3):
            play(ledger, simple(0))
        head = ledger._heads.find(ledger.store.head, round_id, settled("s1", 100, 900))
        monkeypatch.setitem(ledger._heads, round_id, head._replace(is_closed=False))
        ledger.append((round_id, settled("s1", 100, 900)))
        projection.update()
        assert {row[12] for row in contents(projection)["rounds"]} == {"closed"}
        going_on = contents(projection)
    with open_projection(ledger, rebuild=True) as projection:
        projection.update()
        assert contents(projection) == going_on


def test_a_key_revoked_into_the_past_takes_what_it_signed_out_of_the_tables(
    ledger: Ledger,
) -> None:
    play(ledger, simple(200))
    with open_projection(ledger) as projection:
        projection.update()
        key = ledger.signer("settlement")
        first = ledger.size() - 3
        ledger.append(("keys", KeyRevoked(key.name, key.key_id_hex, first, "stolen")))
        with pytest.raises(LeafRefused) as refused:
            projection.update()
        assert (refused.value.finding.code, refused.value.finding.leaf_index) == (
            KEY_NOT_VALID,
            first,
        )
        assert contents(projection)["rounds"] == []


def test_a_key_revoked_from_now_on_leaves_the_tables(ledger: Ledger) -> None:
    play(ledger, simple(200))
    with open_projection(ledger) as projection:
        size = projection.update().size
        key = ledger.signer("settlement")
        ledger.append(("keys", KeyRevoked(key.name, key.key_id_hex, ledger.size(), "retired")))
        assert projection.update().start == size
        assert len(contents(projection)["rounds"]) == 1


def test_the_tables_of_another_ledger_are_made_anew(
    ledger: Ledger, path: Path, tmp_path: Path
) -> None:
    play(ledger, simple(200))
    with open_projection(ledger) as projection:
        projection.update()
    with Ledger.init(tmp_path / "other", "ledger.example/bj") as other:
        add_published_games(other)
        for _ in range(3):
            play(other, simple(0))
        shutil.copytree(path / "projection", tmp_path / "other" / "projection")
        with open_projection(other) as projection:
            assert projection.update().start == 0
            assert counted(projection) == [(3, 0, 0)]


def test_the_tables_of_a_longer_past_are_made_anew(
    ledger: Ledger, path: Path, tmp_path: Path
) -> None:
    play(ledger, simple(200))
    ledger.close()
    shutil.copytree(path, tmp_path / "backup")
    with Ledger.open(path) as opened:
        play(opened, simple(0))
        with open_projection(opened) as projection:
            projection.update()
    shutil.copytree(path / "projection", tmp_path / "backup" / "projection")
    with Ledger.open(tmp_path / "backup") as restored, open_projection(restored) as projection:
        assert projection.update().start == 0
        assert counted(projection)[0][0] == 1


@pytest.mark.parametrize("column", ["format", "origin"])
def test_tables_of_another_format_or_origin_are_made_anew(ledger: Ledger, column: str) -> None:
    with open_projection(ledger) as projection:
        projection.update()
        projection._tables.execute(f"UPDATE projected SET {column} = '99'")
        assert projection.update().start == 0


def test_a_damaged_file_is_refused_and_can_be_rebuilt(ledger: Ledger, path: Path) -> None:
    play(ledger, simple(200))
    (path / "projection").mkdir()
    (path / "projection" / "rtp.duckdb").write_bytes(b"not a database" * 1000)
    with pytest.raises(ProjectionUnavailable, match="run this again with --rebuild"):
        open_projection(ledger)
    with open_projection(ledger, rebuild=True) as projection:
        projection.update()
        assert counted(projection)[0][0] == 1


def test_where_nothing_may_be_written_the_tables_are_in_memory(
    ledger: Ledger, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(ledger, simple(200))
    access = os.access
    monkeypatch.setattr(os, "access", lambda target, mode: mode != os.W_OK and access(target, mode))
    with open_projection(ledger) as projection:
        assert projection.update().path is None
        assert counted(projection)[0][0] == 1
    assert not (path / "projection" / "rtp.duckdb").exists()


def test_where_no_directory_can_be_made_the_tables_are_in_memory(
    ledger: Ledger, path: Path
) -> None:
    (path / "projection").write_text("in the way")
    with open_projection(ledger) as projection:
        assert projection.update().path is None


def test_a_ledger_in_memory_has_its_tables_in_memory() -> None:
    with Ledger.in_memory("ledger.example/bj") as ledger:
        add_published_games(ledger)
        play(ledger, simple(200))
        with open_projection(ledger) as projection:
            state = projection.update()
            assert (state.path, state.size) == (None, ledger.size())
            assert counted(projection) == [(1, 200, 0)]
