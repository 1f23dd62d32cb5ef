"""Disputes: `python -m tests.bench.disputes` prints how long an assessment takes, and what it reads.

Two ledgers of simulated rounds, one ten times the other: what goes by index takes as long in both.
`--rounds` is the size of the larger one. Each time is that of one command after start-up: the
ledger is opened anew, and the page cache is warm.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

from ledger import Ledger
from ledger.rounds import RoundRow
from ledger.schema import StoredLeaf
from replay.catalogue import add_published_games, current_rules
from replay.disputes.assess import assess
from replay.disputes.evidence import gather
from replay.disputes.pay import open_case
from replay.disputes.touched import investigate
from replay.players import make_player
from replay.simulation import simulate
from replay.table import TableSettings

TIMES = 30
"""How many rounds each figure is the median of."""

SETTINGS = TableSettings(limits={"main": (1, 10_000)}, currency="EUR", table="t-1", build="b-1")


class Measured(NamedTuple):
    """The median time in milliseconds and number of leaves read."""

    milliseconds: float
    leaves: int


def fill(path: Path, rounds: int) -> None:
    """Make a ledger of so many rounds."""
    with Ledger.init(path, "bench.example/disputes") as ledger:
        add_published_games(ledger)
        rules, player = current_rules(ledger, "nba"), make_player("cautious", 1)
        simulate(ledger, rules, SETTINGS, {"s1": {"main": 100}}, player, rounds)


@contextmanager
def counting(ledger: Ledger) -> Iterator[list[int]]:
    """Count the leaves a ledger's store gives."""
    read = [0]
    reader = ledger.store.leaf_reader
    original = reader.select_leaves

    def select_leaves(statement: str, parameters: Sequence[Any]) -> list[StoredLeaf]:
        leaves = original(statement, parameters)
        read[0] += len(leaves)
        return leaves

    reader.select_leaves = select_leaves  # type: ignore[method-assign]
    yield read


def measure(
    path: Path, rows: Sequence[RoundRow], work: Callable[[Ledger, RoundRow], object]
) -> Measured:
    """Do some work for each of these rounds, with the ledger opened anew each time."""
    times, leaves = [], []
    for row in rows:
        start = perf_counter()
        with Ledger.open(path) as ledger, counting(ledger) as read:
            work(ledger, row)
            times.append(perf_counter() - start)
            leaves.append(read[0])
    return Measured(1000 * median(times), int(median(leaves)))


WORKS: dict[str, Callable[[Ledger, RoundRow], object]] = {
    "gather and assess": lambda ledger, row: assess(gather(ledger, row.round), "settlement"),
    "investigate (with other rounds touched)": lambda ledger, row: investigate(ledger, row.round),
    "open a case": lambda ledger, row: open_case(ledger, row.round, "settlement"),
    "list the rounds disputed": lambda ledger, row: ledger.disputed(),
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10_000)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, str(count)) for count in (rounds // 10, rounds)]
        sizes = []
        for path in paths:
            fill(path, int(path.name))
            with Ledger.open(path) as ledger:
                sizes.append(ledger.size())
        print(f"{'':<42}" + "".join(f"{size:>18,} leaves" for size in sizes) + "   ratio")
        for name, work in WORKS.items():
            measured = []
            for path in paths:
                with Ledger.open(path) as ledger:
                    rows = Random(7).sample(ledger.rounds(), TIMES)
                measured.append(measure(path, rows, work))
            cells = (f"{each.milliseconds:>8.1f} ms, {each.leaves:>5} read" for each in measured)
            ratio = measured[1].milliseconds / measured[0].milliseconds
            print(f"{name:<42}" + "  ".join(f"{cell:>23}" for cell in cells) + f"{ratio:>8.2f}")


if __name__ == "__main__":
    main()
