"""Consoles of any encoding, faults of the program itself, and errors for machines."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Shoeproof

ROOT = Path(__file__).parents[2]
Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run Python code as a program of its own, whose temporary files lie in `tmp_path`."""

    def ran(code: str, *words: object, **environment: str) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            [sys.executable, "-c", code, *map(str, words)],
            cwd=ROOT, capture_output=True, check=False,
            env={**os.environ, "TMPDIR": str(tmp_path), **environment},
        )  # fmt: skip

    return ran


SHOEPROOF = "from shoeproof.cli.__main__ import run; run()"
FAULTY = f"import shoeproof.cli.main; shoeproof.cli.main.app = lambda **_: 1 / 0; {SHOEPROOF}"


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
def test_a_console_without_suits_is_told_them_by_letters(
    run: Run, shoeproof: Shoeproof, played: Path, encoding: str
) -> None:
    (row,) = json.loads(shoeproof("rounds", "--limit", 1, "--json", "--ledger", played).out)
    words = ("replay", row["round"], "--ledger", played)
    shown = run(SHOEPROOF, *words, PYTHONIOENCODING=encoding)
    assert (shown.returncode, shown.stderr) == (0, b"")
    text = shoeproof(*words).out
    dealt = next(line for line in text.splitlines() if line.startswith("dealer "))
    for suit, letter in zip("♠♥♦♣", "shdc", strict=True):
        dealt = dealt.replace(suit, letter)
    assert dealt.encode() in shown.stdout.splitlines()


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
@pytest.mark.parametrize("words", [("rules", "show", "nba"), ("rtp",), ("audit",), ("--no-♠",)])
def test_no_encoding_of_a_console_gives_a_traceback(
    run: Run, played: Path, words: tuple[str, ...], encoding: str
) -> None:
    shown = run(SHOEPROOF, *words, PYTHONIOENCODING=encoding, SHOEPROOF_LEDGER=str(played))
    assert shown.returncode in (0, 1, 2)
    assert shown.stderr == b"" or shown.returncode == 2
    assert b"Traceback" not in shown.stderr


def test_json_says_the_same_on_a_console_that_lacks_its_characters(run: Run) -> None:
    words = ("rules", "show", "nba", "--json")
    plain, ascii_only = (
        run(SHOEPROOF, *words, PYTHONIOENCODING=each) for each in ("utf-8", "ascii")
    )
    assert ascii_only.stdout.isascii()
    assert json.loads(ascii_only.stdout) == json.loads(plain.stdout)


def test_a_fault_of_the_program_is_one_line_and_a_file(run: Run, tmp_path: Path) -> None:
    done = run(FAULTY, "rounds")
    assert (done.returncode, done.stdout) == (70, b"")
    (file,) = tmp_path.glob("shoeproof-crash-*.txt")
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("shoeproof: a bug in shoeproof ended the program")
    assert line.endswith(str(file))
    assert "ZeroDivisionError" in file.read_text()


def test_details_of_a_fault_that_cannot_be_kept_are_in_the_line(run: Run) -> None:
    # Python looks for another place where TMPDIR is none: no file at all may grow.
    full = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); {FAULTY}"
    done = run(full, "rounds")
    assert done.returncode == 70
    (line,) = done.stderr.decode().splitlines()
    assert line.endswith("could not be kept: ZeroDivisionError: division by zero")


@pytest.mark.parametrize(
    ("words", "code", "exit_code"),
    [
        (("rounds", "--ledger", "nowhere"), "not_a_ledger", 3),
        (("rtp", "--from", "yesterday"), "usage_error", 2),
        (("rounds", "--nonsense"), "usage_error", 2),
        (("replay",), "usage_error", 2),
        (("keys", "list", "--ledger", "nowhere"), "not_a_ledger", 3),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else None,
)
def test_errors_are_json_of_one_shape_where_json_was_asked_for(
    shoeproof: Shoeproof, words: tuple[str, ...], code: str, exit_code: int
) -> None:
    result = shoeproof(*words, "--json")
    assert (result.code, result.out) == (exit_code, "")
    (line,) = result.err.splitlines()
    assert json.loads(line)["error"]["code"] == code
    message = json.loads(line)["error"]["message"]
    assert message in shoeproof(*words).err


def test_a_fault_of_the_program_is_json_too(run: Run) -> None:
    done = run(FAULTY, "rounds", "--json")
    assert json.loads(done.stderr)["error"]["code"] == "crashed"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("words", [("--help",), ("rules", "list"), ("rules", "list", "--json")])
def test_a_full_disk_behind_stdout_is_told_in_a_line(words: tuple[str, ...]) -> None:
    command = [sys.executable, "-c", SHOEPROOF, *words]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 3
    assert b"No space left on device" in done.stderr
    assert done.stderr.count(b"\n") <= 1
