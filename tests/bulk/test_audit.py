"""The bulk audit's report is the scalar one's, however the leaves are cut, shared, interrupted."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.errors import WorkersLost
from shoeproof.ledger.verify import workers
from shoeproof.ledger.verify.batch import LeafBatch
from shoeproof.replay.audit.one_by_one import audit as scalar_audit
from shoeproof.replay.bulk import pool
from shoeproof.replay.bulk.audit import audit
from shoeproof.replay.bulk.ranges import RangeJudge, RangeReport
from shoeproof.replay.errors import ProgressUnusable
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.interruptions.check import circumstances_of
from shoeproof.replay.rounds.catalogue import add_published_games
from tests.bulk.ledgers import damage, interleaved
from tests.bulk.other_events import ASIDES, ELSEWHERE
from tests.replay.helpers import ORIGIN, new_ledger
from tests.replay.lies_of_money import MONEY
from tests.replay.lies_of_play import PLAY
from tests.replay.lying_table import tell

LIES = PLAY | MONEY


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    """A ledger in memory with every kind of trouble, in ranges' way."""
    made = new_ledger()
    interleaved(made, Random(7), 120)
    damage(made)
    interleaved(made, Random(8), 40)
    return made


@pytest.mark.parametrize("partitions", [1, 2, 8, 50, 700])
def test_the_report_is_the_same_however_cut(ledger: Ledger, partitions: int) -> None:
    expected = scalar_audit(ledger)
    assert len(expected.findings) > 5
    assert expected.open_rounds
    assert expected.void_rounds
    assert audit(ledger, partitions=partitions).rounds == expected


def test_interruptions_holds_and_disputes_are_among_the_rounds(ledger: Ledger) -> None:
    """So the reports held to each other here tell the same with them."""
    met = {leaf.topic for leaf in ledger.leaves()}
    assert {type(each).__name__ for each in ASIDES} <= met
    beside = {type(each).__name__ for each in ELSEWHERE if each.kind not in ("keys", "policies")}
    assert beside <= met


@pytest.mark.parametrize("only", [*GAMES, "unknown"])
def test_one_game_alone(ledger: Ledger, only: str) -> None:
    expected = scalar_audit(ledger, only=only)
    assert audit(ledger, partitions=5, only=only).rounds == expected
    assert expected.closed_rounds < scalar_audit(ledger).closed_rounds


@pytest.mark.parametrize("name", ["wrong card dealt", "natural paid 1:1", "two settlements"])
def test_a_lie_in_a_ledger(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = tell(LIES[name], name, monkeypatch)
    for partitions in (1, 2, 8, 1000):
        assert audit(told.ledger, partitions=partitions).rounds == scalar_audit(told.ledger)


@pytest.fixture(scope="module")
def on_disk(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    made = Ledger.init(tmp_path_factory.mktemp("bulk") / "ledger", ORIGIN)
    add_published_games(made)
    interleaved(made, Random(9), 60)
    return made


def test_worker_processes_come_to_the_same(on_disk: Ledger) -> None:
    told: list[tuple[int, int]] = []
    result = audit(on_disk, lambda done, size: told.append((done, size)), workers=2, partitions=8)
    assert result.rounds == scalar_audit(on_disk)
    assert told[-1] == (on_disk.size(), on_disk.size())


def test_a_worker_that_dies_takes_nothing_with_it(
    on_disk: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed: list[int] = []
    real = workers._in_order

    def kill_one(workers: Any, *rest: Any) -> Iterator[Any]:
        for report in real(workers, *rest):
            yield report
            if not killed:
                killed.append(min(workers._processes))
                os.kill(killed[0], signal.SIGKILL)

    monkeypatch.setattr(workers, "_in_order", kill_one)
    assert audit(on_disk, workers=2, partitions=12).rounds == scalar_audit(on_disk)
    assert killed


def test_workers_that_always_die_are_an_error(
    on_disk: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "_judge_share", _die)
    with pytest.raises(WorkersLost, match="died 3 times"):
        audit(on_disk, workers=2, partitions=2)


def _die(start: int, stop: int) -> None:
    os._exit(1)


class _Interrupt(Exception):
    pass


@pytest.mark.parametrize("after", [1, 3, 7])
def test_an_interrupted_audit_goes_on(ledger: Ledger, tmp_path: Path, after: int) -> None:
    notes = tmp_path / "notes.json"
    told: list[int] = []

    def interrupt(done: int, size: int) -> None:
        told.append(done)
        if len(told) == after:
            raise _Interrupt

    with pytest.raises(_Interrupt):
        audit(ledger, interrupt, partitions=8, notes=notes)
    again: list[int] = []
    result = audit(ledger, lambda done, size: again.append(done), partitions=8, notes=notes)
    assert result.rounds == scalar_audit(ledger)
    assert again[0] >= told[-1]
    assert not notes.exists()


def test_a_ledger_that_grows_is_audited_to_its_first_size(monkeypatch: pytest.MonkeyPatch) -> None:
    growing = new_ledger()
    interleaved(growing, Random(11), 20)
    expected = scalar_audit(growing)

    def grow(done: int, size: int) -> None:
        interleaved(growing, Random(done), 3)

    assert audit(growing, grow, partitions=4).rounds == expected


def _interrupted(ledger: Ledger, notes: Path) -> None:
    def interrupt(done: int, size: int) -> None:
        raise _Interrupt

    with pytest.raises(_Interrupt):
        audit(ledger, interrupt, partitions=3, notes=notes)


def test_notes_of_another_audit_are_refused(ledger: Ledger, tmp_path: Path) -> None:
    notes = tmp_path / "notes.json"
    _interrupted(ledger, notes)
    with pytest.raises(ProgressUnusable, match="another audit"):
        audit(ledger, only="zero", notes=notes)
    other = new_ledger()
    with pytest.raises(ProgressUnusable, match="has changed"):
        audit(other, notes=notes)
    notes.write_text("{")
    with pytest.raises(ProgressUnusable, match="no notes"):
        audit(ledger, notes=notes)
    assert notes.read_text() == "{"


def test_notes_that_cannot_be_written_are_refused_at_the_start(
    ledger: Ledger, tmp_path: Path
) -> None:
    def progress(done: int, size: int) -> None:
        pytest.fail("a range was judged")

    with pytest.raises(ProgressUnusable, match="cannot be written"):
        audit(ledger, progress, partitions=3, notes=tmp_path / "none" / "notes.json")


def test_an_empty_range_says_nothing() -> None:
    report = RangeJudge({}, circumstances_of(new_ledger())).judge(LeafBatch.of_leaves([]), 5, 5)
    assert report == RangeReport(5, 5, 0, [], [], [], [])
