"""The sweep: what is due is done once, whoever runs it, however often, whatever kills it."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.errors import KeyUnusable
from shoeproof.ledger.leaf.events import DecisionMade, RoundClosed, RoundVoided, ServiceStopped
from shoeproof.ledger.verify.whole import verify
from shoeproof.replay.audit.one_by_one import audit
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.live.batch import Batch
from shoeproof.replay.live.resume import resume_round
from shoeproof.replay.live.sweep import SweepResult, sweep
from shoeproof.replay.live.table import LiveTable
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.replay.faults import SETTINGS, STAKES, Floor, asked
from tests.replay.helpers import ORIGIN, PROJECT, HandClock, Played


@pytest.fixture
def nba() -> Floor:
    return Floor("nba")


def _did(result: SweepResult) -> list[str]:
    return [each.did for each in result.swept]


def test_what_is_due_is_done_and_nothing_else(nba: Floor) -> None:
    old = nba.deal(asked)
    laid = nba.table().open_round("laid")
    laid.place(STAKES)
    nba.clock.forward(minutes=10)
    young = nba.deal(asked)
    nba.game = "zappit"
    other = nba.deal(asked)
    nba.clock.forward(minutes=10)
    result = sweep(nba.ledger)
    assert result.open_rounds == 4
    assert {each.round: each.did for each in result.swept} == {
        old.round_id: "stood",
        laid.round_id: "returned",
    }
    assert {each.default_due for each in result.swept} == {"2026-01-02T12:20:00.000000Z"}
    assert result.next_due == "2026-01-02T12:30:00.000000Z"
    assert {row.round for row in nba.ledger.rounds(state="open")} == {
        young.round_id,
        other.round_id,
    }
    assert not nba.codes()
    assert not verify(nba.ledger, workers=1).findings


def test_a_sweep_after_a_sweep_does_nothing(nba: Floor) -> None:
    for _ in range(5):
        nba.deal(asked)
    nba.clock.forward(minutes=20)
    assert len(sweep(nba.ledger).swept) == 5
    size = nba.ledger.size()
    again = sweep(nba.ledger)
    assert (again.swept, again.skipped, nba.ledger.size()) == ((), (), size)


def test_at_19_59_999999_nothing_is_due(nba: Floor) -> None:
    nba.deal(asked)
    nba.clock.forward(minutes=20, microseconds=-1)
    assert not sweep(nba.ledger).swept
    nba.clock.forward(microseconds=1)
    assert _did(sweep(nba.ledger)) == ["stood"]


def test_while_the_service_stands_still_nothing_is_due(nba: Floor) -> None:
    nba.deal(asked)
    nba.operate(ServiceStopped(3, None, None))
    nba.clock.forward(hours=3)
    result = sweep(nba.ledger)
    assert (result.swept, result.next_due) == ((), None)


def test_the_wallet_is_credited_once(nba: Floor) -> None:
    def wins(moves: list[Played]) -> bool:
        return asked(moves) and moves[-1].after.dealer.total > 21

    wallet = MemoryWallet(1_000)
    live = nba.deal(wins, wallet=wallet)
    nba.clock.forward(minutes=20)
    assert _did(sweep(nba.ledger, wallet=wallet)) == ["stood"]
    assert not sweep(nba.ledger, wallet=wallet).swept
    assert wallet.balance_minor(live.player) == 1_100


def test_a_player_who_comes_first_keeps_the_decision(
    nba: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sweep read the round before; it is pinned to what it read, the other rounds are not."""
    quick, slow = nba.deal(asked), nba.deal(asked)
    nba.clock.forward(minutes=20)
    write = Batch.flush

    def meanwhile(batch: Batch) -> int:
        monkeypatch.undo()
        live = resume_round(nba.ledger, quick.round_id)
        nba.clock.forward(minutes=-1)
        assert isinstance(live.due, Decide)
        live.decide(live.due.hand, "stand")
        nba.clock.forward(minutes=1)
        return write(batch)

    monkeypatch.setattr(Batch, "flush", meanwhile)
    result = sweep(nba.ledger)
    assert [each.round for each in result.swept] == [slow.round_id]
    assert [each.round for each in result.skipped] == [quick.round_id]
    assert nba.acts(quick)[-1][2] == "player"
    assert nba.acts(slow)[-1][2] == "system"


def test_a_round_that_contradicts_its_rules_is_left_and_named(nba: Floor) -> None:
    live = nba.deal(asked)
    nba.ledger.append((live.round_id, DecisionMade("s1", "zap", "player", None, 0, None)))
    whole = nba.deal(asked)
    nba.clock.forward(minutes=20)
    result = sweep(nba.ledger)
    assert [each.round for each in result.swept] == [whole.round_id]
    [skipped] = result.skipped
    assert skipped.round == live.round_id
    assert "illegal_decision" in skipped.why


def test_a_foreign_round_in_which_no_input_is_open_is_finished() -> None:
    """Zero: no input is open, so the round is settled and the win credited.

    Turns are whole here; a record that broke off after the player's last act is another system's.
    """
    floor = Floor("zero")
    live = floor.deal(asked)
    floor.ledger.append((live.round_id, DecisionMade("s1", "stand", "player", None, 0, None)))
    assert _did(sweep(floor.ledger)) == ["finished"]
    assert isinstance(floor.said(live, RoundClosed)[0], RoundClosed)
    assert not floor.codes()


def test_without_the_staff_s_key_stakes_do_not_go_back(tmp_path: Path) -> None:
    clock = HandClock()
    path = tmp_path / "ledger"
    with Ledger.init(path, ORIGIN, clock=clock) as ledger:
        add_published_games(ledger)
        live = Floor("nba", ledger=ledger).table().open_round("p-1")
        live.place(STAKES)
    (path / "keys" / "staff.pem").unlink()
    clock.forward(minutes=20)
    with Ledger.open(path, clock=clock) as ledger:
        with pytest.raises(KeyUnusable):
            sweep(ledger)
        assert not any(
            isinstance(each.event.data, RoundVoided) for each in ledger.events(live.round_id)
        )


# Several processes, and one that is killed

_OPEN = 300


def _waiting_ledger(path: Path) -> None:
    clock = HandClock()
    with Ledger.init(path, ORIGIN, clock=clock) as ledger:
        add_published_games(ledger)
        batch = Batch(ledger)
        table = LiveTable(ledger, current_rules(ledger, "nba"), SETTINGS, journal=batch)
        for number in range(_OPEN):
            table.open_round(f"p-{number}").deal(STAKES)
        batch.flush()


def _sweep_in(path: Path, barrier: Any, answers: Any) -> None:
    with Ledger.open(path) as ledger:
        barrier.wait()
        answers.put({each.round for each in sweep(ledger).swept})


def test_two_processes_that_sweep_at_once_share_the_rounds(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    _waiting_ledger(path)
    with Ledger.open(path) as ledger:
        due = {row.round for row in ledger.rounds(state="open")}
    context = multiprocessing.get_context("spawn")
    barrier, answers = context.Barrier(2), context.Queue()
    workers = [context.Process(target=_sweep_in, args=(path, barrier, answers)) for _ in range(2)]
    for worker in workers:
        worker.start()
    first, second = (answers.get(timeout=500) for _ in workers)
    for worker in workers:
        worker.join()
    assert not first & second
    with Ledger.open(path) as ledger:
        left = {row.round for row in ledger.rounds(state="open")}
        assert (first | second) == due - left
        assert sweep(ledger).open_rounds == len(left)
        assert not audit(ledger).findings
        assert not verify(ledger, workers=1).findings


_SWEEPER = """
import sys
from pathlib import Path
from shoeproof.ledger import Ledger
from shoeproof.replay.live.sweep import sweep
with Ledger.open(Path(sys.argv[1])) as ledger:
    print("ready", flush=True)
    sweep(ledger)
"""


@pytest.mark.parametrize("wait", [0.0, 0.05, 0.12])
def test_a_sweep_killed_at_any_point_is_whole_and_goes_on_at_the_next(
    wait: float, tmp_path: Path
) -> None:
    path = tmp_path / "ledger"
    _waiting_ledger(path)
    process = subprocess.Popen(
        [sys.executable, "-c", _SWEEPER, str(path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(wait)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with Ledger.open(path) as ledger:
        left = [row.round for row in ledger.rounds(state="open")]
        for round_id in left[:3]:
            assert isinstance(resume_round(ledger, round_id).due, Decide)
        assert len(sweep(ledger).swept) == len(left)
        assert not ledger.rounds(state="open")
        assert not audit(ledger).findings
        assert not verify(ledger, workers=1).findings
