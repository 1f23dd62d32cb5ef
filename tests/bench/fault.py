"""How long it takes to see how far a fault went: `python -m tests.bench.fault [--rounds N]`.

A third of the ledger was dealt by a build that pays wrongly in nearly every round. Beside the
report stands a bare audit of the same ledger in the same run, in one process. Rates are by the
clock, processor time is that of all processes.
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

from shoeproof.audit_reports.fault_report.from_ledger import chosen, judge_all
from shoeproof.audit_reports.fault_report.named import read_fault
from shoeproof.audit_reports.fault_report.scan import Period, scan
from shoeproof.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.replay.bulk.audit import audit
from shoeproof.replay.live.batch import Batch
from shoeproof.replay.rounds.catalogue import add_published_games
from tests.faults.floor import both_ways, new_floor

Made = TypeVar("Made")


class Taken(NamedTuple):
    """How long something took, by the clock and by the processor."""

    seconds: float
    cpu: float


def timed(run: Callable[[], Made]) -> tuple[Taken, Made]:
    """The time a call took, its worker processes' with it, and what it returned."""
    started, busy = time.perf_counter(), _cpu()
    made = run()
    return Taken(time.perf_counter() - started, _cpu() - busy), made


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=12_000, help="rounds of the ledger")
    rounds = parser.parse_args().rounds
    with (
        tempfile.TemporaryDirectory() as folder,
        Ledger.init(Path(folder) / "ledger", "bench.example/fault") as ledger,
    ):
        add_published_games(ledger)
        grow(ledger, rounds)
        sign_checkpoint(ledger)
        report(ledger, rounds)


def grow(ledger: Ledger, rounds: int) -> None:
    """Play rounds of three builds, the last of which pays wrongly, a batch a transaction."""
    batch = Batch(ledger)
    floor = new_floor(ledger, batch)
    for _ in range(0, rounds, 300):
        floor.play(200, build="1.4.1", players=200)
        floor.play(100, build="1.4.2", rig=both_ways, players=100)
        batch.flush()


def report(ledger: Ledger, rounds: int) -> None:
    """Time the parts of a report, and an audit beside them."""
    asked = read_fault("build:1.4.2")
    audited, _ = timed(lambda: audit(ledger, workers=1))
    scanned, found = timed(lambda: scan(ledger, asked, Period(), ledger.size()))
    fault, touched = chosen(asked, found)
    judging, judged = timed(lambda: judge_all(ledger, fault, found, touched))
    leaves = ledger.size()
    print(f"{rounds:,} rounds, {leaves:,} leaves, {len(touched):,} touched, {len(judged):,} judged")
    print(f"{'':28}{'rounds/s':>10}{'cpu µs a round':>16}")
    whole = Taken(scanned.seconds + judging.seconds, scanned.cpu + judging.cpu)
    for name, taken, count in (
        ("bare audit, one process", audited, rounds),
        ("verified, audited, counted", scanned, rounds),
        ("rounds judged", judging, len(judged)),
        ("the whole report", whole, rounds),
    ):
        print(f"{name:28}{count / taken.seconds:10,.0f}{1e6 * taken.cpu / count:16,.0f}")
    print(f"of the audit's processor time: counting {scanned.cpu / audited.cpu:.2f}")


if __name__ == "__main__":
    main()
