"""How long a round takes to be assessed in a large ledger: `python -m tests.bench.disputes`.

Rounds are assessed in ledgers of several sizes in one run, each ten times the one before it: where
everything is found by index the time does not follow the size. Beside it stands the time of the
bare signature checks that an assessment makes.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from statistics import median

from shoeproof.ledger import Ledger
from shoeproof.ledger.verify.one_stream import verify_stream
from shoeproof.replay.disputes.assess import assess
from shoeproof.replay.disputes.evidence import gather
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.live.batch import Batch
from shoeproof.replay.live.table import LiveTable, TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from tests.disputes.stage import investigate

ASSESSED = 30
"""Rounds assessed at each size, spread over the ledger."""


def grow(ledger: Ledger, rounds: int) -> None:
    """Add so many finished rounds of NBA."""
    batch = Batch(ledger)
    settings = TableSettings(limits={"main": (1, 100_000)}, currency="EUR", table="t-1")
    table = LiveTable(ledger, current_rules(ledger, "nba"), settings, journal=batch)
    for number in range(rounds):
        live = table.open_round(f"p-{number}")
        live.deal({"s1": {"main": 1000}})
        while isinstance(live.due, Decide):
            live.decide(live.due.hand, "stand" if "stand" in live.offered else "decline")
        if number % 500 == 499:
            batch.flush()
    batch.flush()


def milliseconds(run: Callable[[str], object], rounds: Sequence[str]) -> float:
    """The median time of a call for each round."""
    times = []
    for each in rounds:
        started = time.perf_counter()
        run(each)
        times.append(time.perf_counter() - started)
    return 1000 * median(times)


def measured(ledger: Ledger, rounds: Sequence[str]) -> tuple[float, ...]:
    """The times of gathering, assessing, both with other rounds looked for, and verifying."""
    evidence = {each: gather(ledger, each) for each in rounds}
    return (
        milliseconds(lambda each: gather(ledger, each), rounds),
        milliseconds(lambda each: assess(evidence[each], "settlement"), rounds),
        milliseconds(lambda each: investigate(ledger, each, "settlement"), rounds),
        milliseconds(lambda each: verify_stream(ledger, each), rounds),
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100_000, help="rounds of the largest ledger")
    most = parser.parse_args().rounds
    print(
        f"{'rounds':>9} {'leaves':>10} {'gather':>8} {'assess':>8} {'others':>8} {'verify':>8}  ms"
    )
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger.init(Path(folder) / "ledger", "bench.example/disputes")
        add_published_games(ledger)
        have = 0
        for size in (most // 100, most // 10, most):
            grow(ledger, size - have)
            have = size
            rows = ledger.rounds()
            chosen = [row.round for row in Random(1).sample(rows, min(ASSESSED, len(rows)))]
            print(
                f"{size:9,} {ledger.size():10,}",
                *(f"{each:8.2f}" for each in measured(ledger, chosen)),
            )
        ledger.close()


if __name__ == "__main__":
    main()
