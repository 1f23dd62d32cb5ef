"""How long a sweep of many open rounds takes: `python -m tests.bench.sweep`.

One ledger of open rounds is swept when none is due and again when all are, beside the listing of
the same rounds and the bare signatures that ending them takes, in one run. Processor time stands
beside the clock's, since other work on the machine takes part of the latter.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.clock import utc_now
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.live.batch import Batch
from shoeproof.replay.live.open_rounds import OpenRounds
from shoeproof.replay.live.sweep import sweep
from shoeproof.replay.live.table import LiveTable, TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from tests.bench.ledger import Answer, seconds_to_sign

ROUNDS = 10_000
ROUNDS_A_BATCH = 100


def fill(ledger: Ledger, rounds: int) -> None:
    """Leave so many rounds of NBA open, each with a decision that waits."""
    add_published_games(ledger)
    batch = Batch(ledger)
    settings = TableSettings(limits={"main": (1, 100_000)}, currency="EUR", table="t-1")
    table = LiveTable(ledger, current_rules(ledger, "nba"), settings, journal=batch)
    waiting = 0
    while waiting < rounds:
        live = table.open_round(f"p-{waiting}")
        live.deal({"s1": {"main": 1000}})
        waiting += isinstance(live.due, Decide)
        if waiting % ROUNDS_A_BATCH == 0:
            batch.flush()
    batch.flush()


def timed(work: Callable[[], Answer]) -> tuple[tuple[float, float], Answer]:
    """Return the seconds by the clock and of the processor that some work took, and its answer."""
    clock, processor = time.perf_counter(), time.process_time()
    answer = work()
    return (time.perf_counter() - clock, time.process_time() - processor), answer


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger"
        with Ledger.init(path, "bench.example/sweep") as ledger:
            fill(ledger, rounds)
            listed, _ = timed(lambda: _list(ledger))
            none, result = timed(lambda: sweep(ledger))
            assert not result.swept
        with Ledger.open(path, clock=lambda: utc_now() + timedelta(hours=1)) as ledger:
            size = ledger.size()
            everything, result = timed(lambda: sweep(ledger))
            assert len(result.swept) == rounds
            leaves = ledger.size() - size
            signing, _ = timed(lambda: seconds_to_sign(leaves))
            again, result = timed(lambda: sweep(ledger))
            assert not result.open_rounds
    print(f"{rounds:,} open rounds, {leaves:,} events to end them")
    print(f"{'':<44}{'clock':>11}{'processor':>11}")
    for what, (clock, processor) in (
        ("bare signatures of those events", signing),
        ("rounds --open: stakes held, waiting, due", listed),
        ("sweep, none due", none),
        ("sweep, all due", everything),
        ("sweep again", again),
    ):
        of_signing = f"{processor / signing[1]:>9.2f} x signing"
        print(f"{what:<44}{clock:>9.2f} s{processor:>9.2f} s{of_signing}")


def _list(ledger: Ledger) -> int:
    open_rounds = OpenRounds(ledger, ledger.now())
    rows = ledger.rounds(state="open")
    return sum(open_rounds.describe(each).held_minor for each in open_rounds.read(rows))


if __name__ == "__main__":
    main()
