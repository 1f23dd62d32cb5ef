"""How long a sweep of many open rounds takes: `python -m tests.bench.sweep`.

One ledger of open rounds is swept when none is due and again when all are, beside the listing of
the same rounds and the bare signatures that ending them takes, in one run.
"""

import argparse
import tempfile
from datetime import timedelta
from pathlib import Path

from ledger import Ledger
from ledger.clock import utc_now
from replay.batch import Batch
from replay.catalogue import add_published_games, current_rules
from replay.engine.round import Decide
from replay.open_rounds import OpenRounds
from replay.sweep import sweep
from replay.table import LiveTable, TableSettings
from tests.bench.ledger import seconds_to_sign, timed

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
            signing = (ledger.size() - size) * seconds_to_sign()
            again, result = timed(lambda: sweep(ledger))
            assert not result.open_rounds
            leaves = ledger.size() - size
    print(f"{rounds:,} open rounds, {leaves:,} events to end them")
    for what, seconds in (
        ("bare signatures of those events", signing),
        ("rounds --open: stakes held, waiting, due", listed),
        ("sweep, none due", none),
        ("sweep, all due", everything),
        ("sweep again", again),
    ):
        print(f"{what:<44}{seconds:>9.2f} s{seconds / signing:>9.2f} x signing")


def _list(ledger: Ledger) -> int:
    open_rounds = OpenRounds(ledger, ledger.now())
    rows = ledger.rounds(state="open")
    return sum(open_rounds.describe(each).held_minor for each in open_rounds.read(rows))


if __name__ == "__main__":
    main()
