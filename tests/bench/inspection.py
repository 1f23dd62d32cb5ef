"""What an inspection takes beside its audit alone: `python -m tests.bench.inspection`.

One run makes a ledger (`--rounds` in all, a third of each game) or takes one (`--ledger`), audits
it, inspects it, and prints each part as a multiple of the audit's time, by the clock and in
processor time, workers included.
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from shoeproof.audit_reports.inspection.run import InspectionRequest, inspect
from shoeproof.audit_reports.shuffle_tests.battery import run_shuffle_tests
from shoeproof.audit_reports.tables.views import open_tables
from shoeproof.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.replay.bulk.audit import audit
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.live.players import make_player
from shoeproof.replay.live.simulation import simulate
from shoeproof.replay.live.table import TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules


class Took(NamedTuple):
    """Seconds by the clock, and of processor time in this process and its workers."""

    clock: float
    processor: float


def measured(work: Callable[[], object]) -> Took:
    """Return what some work took."""
    begun, used = time.perf_counter(), _processor()
    work()
    return Took(time.perf_counter() - begun, _processor() - used)


def _processor() -> float:
    each = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in each)


def made(path: Path, rounds: int) -> None:
    """Make a ledger of that many rounds under a checkpoint."""
    with Ledger.init(path, "bench.example/inspection") as ledger:
        add_published_games(ledger)
        settings = TableSettings(limits={"main": (1, 10_000)}, currency="EUR", table="t-1")
        for game in GAMES:
            rules, player = current_rules(ledger, game), make_player("basic", 1)
            simulate(ledger, rules, settings, {"s1": {"main": 1000}}, player, rounds // len(GAMES))
        sign_checkpoint(ledger)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100_000)
    parser.add_argument("--ledger", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        path = given.ledger or Path(scratch) / "ledger"
        if given.ledger is None:
            made(path, given.rounds)
        with Ledger.open(path) as ledger:
            key = ledger.public_keys()["operator"]
            asked = InspectionRequest((key,))
            places = [Path(scratch) / name for name in ("tables", "shuffle", "inspection")]
            for place in places:
                place.mkdir()
            parts = {
                "audit alone": measured(lambda: audit(ledger, public_key=key)),
                "tables alone": measured(lambda: open_tables(ledger, folder=places[0]).close()),
                "shuffle alone": measured(lambda: run_shuffle_tests(ledger, folder=places[1])),
                "inspection": measured(
                    lambda: inspect([ledger], asked, places[2], "", lambda *_: None)
                ),
            }
            print(f"{ledger.size():,} leaves")
    base = parts["audit alone"]
    print(f"{'':<16}{'clock':>10}{'× audit':>10}{'processor':>12}{'× audit':>10}")
    for name, took in parts.items():
        clock, used = took.clock / base.clock, took.processor / base.processor
        print(f"{name:<16}{took.clock:>9.1f}s{clock:>10.2f}{took.processor:>11.1f}s{used:>10.2f}")


if __name__ == "__main__":
    main()
