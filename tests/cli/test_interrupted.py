"""Ctrl-C ends every command with 130 and no traceback, and so does a program still loading."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Shoeproof
from tests.cli.test_dispute import Place, made, opened, place

__all__ = ["made", "place"]

INTERRUPTED = (130, -signal.SIGINT)
"""Python itself ends by the signal, to a shell 130 as well, where that came within an `exec`."""


@pytest.fixture
def call(shoeproof: Shoeproof, place: Place) -> Shoeproof:
    return lambda *words: shoeproof("dispute", *words, "--ledger", place.path)


def test_ctrl_c_at_a_question(
    call: Shoeproof, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> str:
        raise KeyboardInterrupt

    case = opened(call, place.lost)
    monkeypatch.setattr("shoeproof.cli.commands.dispute.decide._somebody_is_here", lambda: None)
    monkeypatch.setattr("typer._click.termui.visible_prompt_func", interrupt)
    result = call("reject", case, "--key", "ann")
    assert (result.code, result.out) == (130, "")
    assert "Traceback" not in result.err


def test_findings_are_no_interruption(call: Shoeproof, place: Place) -> None:
    assert call("assess", place.underpaid).code == 1


def started(*words: object, alone: bool = False) -> "subprocess.Popen[bytes]":
    """Start the program, `alone` in a group of its own, as a shell starts each command."""
    command = [sys.executable, "-m", "shoeproof", *map(str, words)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=alone
    )


def children(process: int) -> list[str]:
    return Path(f"/proc/{process}/task/{process}/children").read_text().split()


@pytest.mark.parametrize("seconds", [0.25, 0.5])
def test_ctrl_c_while_the_program_loads(seconds: float) -> None:
    with started("theory", "zappit", "--readings") as process:
        deadline = time.monotonic() + 30
        # What is loaded last before the commands shows that Python itself is up.
        while b"msgspec" not in Path(f"/proc/{process.pid}/maps").read_bytes():
            assert time.monotonic() < deadline
            time.sleep(0.005)
        time.sleep(seconds)
        os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode in INTERRUPTED, errors
    assert b"Traceback" not in errors


def test_the_package_is_a_program() -> None:
    with started("--version") as process:
        out, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, b"")
    assert out.startswith(b"shoeproof ")


@pytest.mark.parametrize("seconds", [0.2, 0.6, 1.2])
def test_ctrl_c_while_workers_start(played: Path, seconds: float) -> None:
    """A terminal sends it to the workers as well, which load what the program has loaded."""
    with started("audit", "--workers", "2", "--ledger", played, alone=True) as process:
        while len(children(process.pid)) < 2 and process.poll() is None:
            time.sleep(0.005)
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    # It may have ended before.
    assert process.returncode in (*INTERRUPTED, 0), errors
    assert errors == b""
