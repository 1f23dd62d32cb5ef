"""Commands that a full disk or a kill breaks off: nothing half-written stays, the next works."""

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.files.durable import write_durably
from shoeproof.replay.rounds.catalogue import add_published_games
from tests.cli.conftest import Shoeproof
from tests.ledger.helpers import ROUND, play

ROOT = Path(__file__).parents[2]
ORIGIN = "a.example/b"

Words: TypeAlias = Callable[[Path, Path], tuple[object, ...]]

WRITERS: dict[str, Words] = {
    "checkpoint": lambda ledger, to: ("checkpoint", "-o", to / "kept", "--ledger", ledger),
    "export": lambda ledger, to: ("export", "-o", to / "leaves", "--ledger", ledger),
    "parquet": lambda ledger, to: ("export", "parquet", to / "rounds", "--ledger", ledger),
    "publish": lambda ledger, to: ("publish", to / "site", "--ledger", ledger),
    "bundle": lambda ledger, to: ("bundle", ROUND, "-o", to / "receipt.json", "--ledger", ledger),
    "project": lambda ledger, to: ("project", "--ledger", ledger),
    "keys new": lambda ledger, to: ("keys", "new", "ann", "--role", "staff", "--ledger", ledger),
    "keys rotate": lambda ledger, to: ("keys", "rotate", "engine", "--ledger", ledger),
    "init": lambda ledger, to: ("init", "--origin", "c.example/d", "--ledger", to / "new"),
    "sql": lambda ledger, to: (
        "sql",
        "SELECT 1",
        "--parquet",
        to / "one.parquet",
        "--ledger",
        ledger,
    ),
}


@pytest.fixture
def make(tmp_path: Path) -> Callable[[Path], tuple[Path, Path]]:
    def made(folder: Path) -> tuple[Path, Path]:
        """A ledger of one round, and a folder for what is written of it."""
        with Ledger.init(folder / "ledger", ORIGIN) as ledger:
            add_published_games(ledger)
            play(ledger)
        (folder / "to").mkdir()
        return folder / "ledger", folder / "to"

    return made


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 8 MiB of its own."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    words = [mount or "mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)]
    if mount is None or subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a small disk")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(disk: Path) -> Path:
    """Take all the room that is left on a disk."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        for size in (1 << 16, 1 << 12):
            with suppress(OSError):
                while file.write(bytes(size)):
                    pass
    return filler


def names(folder: Path) -> set[str]:
    """What lies in a folder, but for the databases' own files, which are theirs to mend."""
    found = (str(each.relative_to(folder)) for each in folder.rglob("*"))
    return {name for name in found if "events.sqlite" not in name and ".duckdb" not in name}


@pytest.mark.parametrize("name", WRITERS)
def test_full_disk(
    small_disk: Path, make: Callable[[Path], tuple[Path, Path]], shoeproof: Shoeproof, name: str
) -> None:
    ledger, to = make(small_disk)
    words = WRITERS[name](ledger, to)
    # Who has the ledger open has the room that SQLite needs to open it.
    with Ledger.open(ledger) as other:
        assert other.size()
        filler = fill(small_disk)
        before = {each for each in names(small_disk) if (small_disk / each).is_file()}
        told = shoeproof(*words)
        assert (told.code, told.err.count("\n")) == (3, 1), told
        after = {each for each in names(small_disk) if (small_disk / each).is_file()}
        assert after == before
        filler.unlink()
    told = shoeproof(*words)
    assert told.code == 0, told
    assert not [each for each in names(small_disk) if ".shoeproof-" in each]


KILL = """
import os, signal, sys
def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
os.replace = os.link = os.rename = die
from shoeproof.cli.main import run
run()
"""


@pytest.mark.parametrize("name", WRITERS)
def test_killed_before_it_is_in_place(
    tmp_path: Path, make: Callable[[Path], tuple[Path, Path]], shoeproof: Shoeproof, name: str
) -> None:
    ledger, to = make(tmp_path)
    words = WRITERS[name](ledger, to)
    command = [sys.executable, "-c", KILL, *map(str, words)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    killed = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed
    assert [each for each in names(tmp_path) if ".shoeproof-" in each]
    again = [sys.executable, "-c", "from shoeproof.cli.main import run; run()", *map(str, words)]
    told = subprocess.run(again, env=environment, capture_output=True, check=False)
    assert told.returncode == 0, told
    assert not [each for each in names(tmp_path) if ".shoeproof-" in each]


def test_key_whose_maker_was_killed_before_it_was_added(
    tmp_path: Path, make: Callable[[Path], tuple[Path, Path]], shoeproof: Shoeproof
) -> None:
    ledger, to = make(tmp_path)
    words = WRITERS["keys new"](ledger, to)
    script = KILL.replace("os.replace = os.link = os.rename = die", "").replace(
        "run()\n", "from shoeproof.ledger import rotation\nrotation.add_key = die\nrun()\n"
    )
    command = [sys.executable, "-c", script, *map(str, words)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    killed = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed
    written = (ledger / "keys" / "ann.pem").read_bytes()
    assert shoeproof(*words).code == 0
    assert (ledger / "keys" / "ann.pem").read_bytes() == written
    told = shoeproof(*words)
    assert (told.code, "File exists" in told.err) == (3, True), told
    told = shoeproof("keys", "new", "engine", "--role", "staff", "--ledger", ledger)
    assert (told.code, "File exists" in told.err) == (3, True), told


def test_temporary_file_of_a_run_that_lives_is_left_alone(tmp_path: Path) -> None:
    """Its lock tells that it lives, and one that only looks like it is nobody's to remove."""
    script = (
        "import sys, time; from pathlib import Path\n"
        "from shoeproof.ledger.files.durable import temporary_file\n"
        "with temporary_file(Path(sys.argv[1])) as (path, file):\n"
        "    print(path, flush=True); time.sleep(60)\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    dead = tmp_path / ".shoeproof-0123456789abcdef"
    dead.write_bytes(b"left over")
    mine = tmp_path / ".shoeproof-notes"
    mine.write_bytes(b"somebody's")
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as living:
        assert living.stdout is not None
        path = Path(living.stdout.readline().strip())
        write_durably(tmp_path / "file", b"content")
        assert (path.exists(), dead.exists(), mine.exists()) == (True, False, True)
        living.kill()


def test_disk_that_fills_midway_leaves_the_old_content(tmp_path: Path) -> None:
    import resource

    path = tmp_path / "file"
    write_durably(path, b"old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(OSError, match="too large") as caught:
            write_durably(path, bytes(1000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (caught.value.errno, caught.value.filename) == (errno.EFBIG, str(path))
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {"file": b"old"}
