"""What it takes to verify a ledger, beside bare hashing: `python -m tests.bench.verifying`.

Everything is run in turn, several times, in one process that has run it once before, and medians
are compared: of processor time as multiples of SHA-256 over the same leaves, of wall time where
worker processes are held to one process. Workers help only as far as processors are idle: the load
stands in the first line.
"""

import argparse
import os
import tempfile
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import TypeVar

from shoeproof.audit_reports.tables.projection import open_projection
from shoeproof.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.verify.whole import verify
from shoeproof.replay.bulk.audit import audit
from tests.bench.bulk import Used, made, time_used

Name = TypeVar("Name")

TURNS = 3
SMALL = 3_000
"""Rounds of a ledger in which worker processes must at least do no harm."""


def main() -> None:
    """Print the tables."""
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--small", type=int, default=SMALL, help="rounds of the other ledger")
    asked.add_argument("--rounds", type=int, default=100_000, help="where two workers are measured")
    given = asked.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors")
    with tempfile.TemporaryDirectory() as folder:
        with Ledger.open(made(Path(folder) / "small", given.small // 3)) as ledger:
            show("every signature, by default", ledger, workers(ledger, None))
            kept = sign_checkpoint(ledger)
            multiples(ledger, kept, Path(folder))
            show("under a checkpoint, by default", ledger, workers(ledger, None))
        if given.rounds:
            with Ledger.open(made(Path(folder) / "large", given.rounds // 3)) as ledger:
                sign_checkpoint(ledger)
                show("under a checkpoint, two workers", ledger, workers(ledger, 2))


def multiples(ledger: Ledger, kept: bytes, folder: Path) -> None:
    """Print the processor time of each way to verify, in multiples of hashing alone."""
    leaves = [leaf.state for leaf in ledger.leaves()]

    def project() -> None:
        with (
            tempfile.TemporaryDirectory(dir=folder) as empty,
            open_projection(ledger, folder=Path(empty)) as projection,
        ):
            projection.update()

    found = medians(
        {
            "SHA-256": lambda: [sha256(leaf).digest() for leaf in leaves],
            "whole audit": partial(audit, ledger, workers=1),
            "projection": project,
            "verify --checkpoint": partial(verify, ledger, checkpoint=kept, workers=1),
        }
    )
    floor = found["SHA-256"].cpu
    print(f"{len(leaves):,} leaves, {sum(map(len, leaves)):,} bytes: SHA-256 {floor * 1e3:.0f} ms")
    for name, each in found.items():
        print(f"  {name:<22}{each.cpu / floor:>6.1f} x SHA-256", flush=True)


def workers(ledger: Ledger, count: int | None) -> float:
    """Return how many times sooner an audit by so many workers is done than one by one process."""
    found = medians({each: partial(audit, ledger, workers=each) for each in (1, count)})
    return found[1].wall / found[count].wall


def show(what: str, ledger: Ledger, ratio: float) -> None:
    """Print one line."""
    print(f"audit of {ledger.size():,} leaves, {what}: {ratio:.2f} x one process", flush=True)


def medians(runs: dict[Name, Callable[[], object]]) -> dict[Name, Used]:
    """Run everything in turn, once for nothing, and return the median times of each."""
    times: dict[Name, list[Used]] = {name: [] for name in runs}
    for turn in range(TURNS + 1):
        for name, work in runs.items():
            took = time_used(work)
            if turn:
                times[name].append(took)
    return {
        name: Used(median(each.wall for each in took), median(each.cpu for each in took))
        for name, took in times.items()
    }


if __name__ == "__main__":
    main()
