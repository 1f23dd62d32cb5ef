"""Work over ranges of leaves goes on when a worker dies, and ends with who asked for it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from shoeproof.ledger.errors import WorkersLost
from shoeproof.ledger.verify.workers import SHARED_FROM, Fetch, over_leaves

STEP = SHARED_FROM // 4
RANGES = [(first, first + STEP) for first in range(0, SHARED_FROM, STEP)]
STARTED = "at work"


def nothing(start: int, stop: int) -> list[bytes]:
    return []


def bounds(fetch: Fetch[list[bytes]], start: int, stop: int) -> tuple[int, int]:
    return start, stop


def die_once(fetch: Fetch[list[bytes]], start: int, stop: int) -> tuple[int, int]:
    mark = Path(os.environ["MARK"])
    if start == RANGES[2][0] and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return start, stop


def die(fetch: Fetch[list[bytes]], start: int, stop: int) -> tuple[int, int]:
    os.kill(os.getpid(), signal.SIGKILL)
    return start, stop


def test_ranges_of_a_worker_that_died_are_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARK", str(tmp_path / "died"))
    done = list(over_leaves(die_once, nothing, nothing, RANGES, 2))
    assert (tmp_path / "died").exists()
    assert done == RANGES


def test_workers_that_always_die_are_an_error() -> None:
    with pytest.raises(WorkersLost, match="died 3 times on the share that begins at 0"):
        list(over_leaves(die, nothing, nothing, RANGES, 2))


def test_workers_end_with_a_process_that_was_killed() -> None:
    killed = subprocess.Popen(
        [sys.executable, "-m", "tests.ledger.test_workers"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert killed.stdout is not None
    assert killed.stdout.readline().strip() == STARTED
    killed.kill()
    # Workers hold the pipe open, so that it ends when the last of them does.
    assert killed.communicate(timeout=600)[0] == ""


if __name__ == "__main__":
    work = over_leaves(bounds, nothing, nothing, RANGES, 2)
    next(work)
    print(STARTED, flush=True)
    signal.pause()
