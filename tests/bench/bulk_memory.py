"""How much memory a whole audit needs: `python -m tests.bench.bulk_memory --rounds N [--parquet]`.

It makes a ledger of N rounds (a third of each game, one seat, basic player), or a synthetic export:
one part of real rounds, linked as often as it takes. `shoeproof audit` then runs in processes of
its own, and twenty times a second the resident memory of all of them is added up; pages they share
count for each. What is printed is the largest sum.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from shoeproof.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.replay.bulk.export.write import ROUNDS, export_parquet
from shoeproof.replay.games.published import GAMES
from tests.bench.bulk import made, repeat

COMMAND = (sys.executable, "-c", "from shoeproof.cli.main import run; run()", "audit", "--json")


def main() -> None:
    """Print one line: rounds, seconds, and the most memory."""
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--rounds", type=int, default=10_000, help="in all")
    asked.add_argument("--parquet", action="store_true", help="audit a synthetic export")
    asked.add_argument("--workers", type=int, default=2)
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "ledger"
        real = min(given.rounds, ROUNDS) if given.parquet else given.rounds
        made(place, -(-real // len(GAMES)))
        with Ledger.open(place) as ledger:
            sign_checkpoint(ledger)
        words = ["--ledger", str(place)]
        if given.parquet:
            export = Path(folder) / "rounds"
            with Ledger.open(place) as ledger:
                # What does not divide by three makes a part of its own, of a round or two.
                export_parquet(ledger, export, rounds_a_part=len(GAMES) * -(-real // len(GAMES)))
            repeat(export, max(1, given.rounds // real))
            words = ["--parquet", str(export)]
        took, most, processes = watched([*COMMAND, *words, "--workers", str(given.workers)])
    what, rate = "Parquet" if given.parquet else "ledger", given.rounds / took
    print(
        f"{given.rounds:,} rounds from {what}: {took:,.1f} s ({rate:,.0f} rounds/s), "
        f"at most {most / 2**20:,.0f} MiB in {processes} processes; load {os.getloadavg()[0]:.1f}"
    )


def watched(command: list[str]) -> tuple[float, int, int]:
    """Run a command; return its seconds, and the most bytes resident in how many processes."""
    began, most, processes = time.perf_counter(), 0, 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as running:
        root = psutil.Process(running.pid)
        while running.poll() is None:
            resident = [_resident(each) for each in (root, *_children(root))]
            if sum(resident) > most:
                most, processes = sum(resident), len(resident)
            time.sleep(0.05)
    if running.returncode:
        raise SystemExit(f"the audit ended with {running.returncode}")
    return time.perf_counter() - began, most, processes


def _children(root: psutil.Process) -> list[psutil.Process]:
    try:
        return list(root.children(recursive=True))
    except psutil.NoSuchProcess:
        return []


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


if __name__ == "__main__":
    main()
