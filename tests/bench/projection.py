"""The projection and its tables: `python -m tests.bench.projection`.

Tables are asked over synthesised segments, each query beside a floor in the same run: DuckDB adding
up one column of the same files. The projection runs over real signed rounds under a checkpoint and
without one, beside the bare hashing, or verifying, of the same leaves.
"""

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from time import perf_counter

import psutil

from audit_reports.projection import open_projection
from audit_reports.rtp import realised_rtp
from audit_reports.segments import FORMAT, Manifest, publish
from audit_reports.tables import Tables, open_tables, read_tables
from ledger import Ledger
from ledger.merkle import leaf_hashes
from ledger.signing import sign_checkpoint
from replay.catalogue import add_published_games, current_rules
from replay.games import GAMES
from replay.players import make_player
from replay.simulation import simulate
from replay.table import TableSettings
from tests.audit_reports.helpers import NBA, ZAPPIT

LEAVES_A_ROUND = 14
ROUNDS = """INSERT INTO rounds SELECT i * $leaves, i * $leaves + $leaves - 1, uuid()::VARCHAR,
    IF(i % 3 = 0, 'zappit', 'nba'), IF(i % 3 = 0, $zappit, $nba), 'operator', 't-' || i % 20,
    IF(i % 2 = 0, 'web', 'app'), 'p-' || hash(i) % 20000, 'EUR', 'real',
    CASE i % 1000 WHEN 0 THEN 'void' WHEN 1 THEN 'open' ELSE 'closed' END,
    TIMESTAMP '2026-01-01' + INTERVAL (i * 3) SECOND,
    TIMESTAMP '2026-01-01' + INTERVAL (i * 3 + 5) SECOND,
    IF(i % 1000 = 1, NULL, TIMESTAMP '2026-01-01' + INTERVAL (i * 3 + 30) SECOND), 0, 0, NULL
    FROM range($first, $last) AS of(i)"""
BETS = """INSERT INTO bets SELECT i // 2 * $leaves, i // 2 * $leaves + $leaves - 3, 's1', 's1',
    IF(i % 2 = 0, 'main', 'perfect_pairs'), stake, IF(hash(i) % 10 = 0, 2, 1) * stake, NULL, NULL,
    (hash(i) % 3 * stake)::BIGINT, NULL, NULL, 'win'
    FROM (SELECT i, 100 * (1 + hash(i + 1) % 20)::BIGINT AS stake
          FROM range(2 * $first, 2 * $last) AS of(i))"""
LUCK = """INSERT INTO luck BY NAME SELECT first_leaf, bet, 0 AS returned_minor,
    95.0 AS start_minor, 0.0 AS error_minor, {parts} FROM bets JOIN rounds USING (first_leaf)
    WHERE state = 'closed' AND first_leaf >= $first * $leaves"""


def seconds(work: Callable[[], object], times: int = 1) -> float:
    """Return the least wall-clock time of some runs."""
    best = float("inf")
    for _ in range(times):
        start = perf_counter()
        work()
        best = min(best, perf_counter() - start)
    return best


def synthesise(folder: Path, bets: int) -> None:
    """Publish so many bets, of rounds that never were."""
    with (
        Ledger.init(folder / "ledger", "bench.example/bj") as ledger,
        open_projection(ledger) as projection,
    ):
        projection.update()
        database = projection._tables
        rounds = bets // 2
        for first in range(0, rounds, 500_000):
            last = min(first + 500_000, rounds)
            bounds = {"first": first, "last": last, "leaves": LEAVES_A_ROUND}
            database.execute(ROUNDS, bounds | {"zappit": ZAPPIT, "nba": NBA})
            database.execute(BETS, bounds)
            names = [
                name
                for _, name, *_ in database.execute("PRAGMA table_info(luck)").fetchall()
                if name.startswith(("luck_", "skill_"))
            ]
            parts = ", ".join(f"(hash(first_leaf, '{name}') % 100)::DOUBLE - 50 AS {name}"
                              for name in names)  # fmt: skip
            del bounds["last"]
            database.execute(LUCK.format(parts=parts), bounds)
        manifest = Manifest(
            FORMAT, ledger.origin, rounds * LEAVES_A_ROUND, "", None, None, ()
        )  # fmt: skip
        took = seconds(
            lambda: publish(database, folder / "segments", manifest, None, everything=True)
        )
        files = list((folder / "segments").rglob("*.parquet"))
        size = sum(each.stat().st_size for each in files)
        print(f"published {bets:,} bets in {took:.0f} s: {len(files)} files, {size / 1e6:,.0f} MB")


def ask(bets: int) -> None:
    """Print how long each table takes over synthesised segments, and the memory it took."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        synthesise(folder, bets)
        start = perf_counter()
        with read_tables(folder / "segments") as tables:
            print(f"opening, every digest checked: {perf_counter() - start:.2f} s")
            floor = seconds(lambda: tables.ask("SELECT SUM(paid_minor) FROM round_bets"), 3)
            print(f"floor, one column added up: {floor:.3f} s")
            for label, work in _questions(tables):
                took = seconds(work, 3)
                print(f"  {label:<42} {took:6.3f} s  {took / floor:5.1f} floors")
        print(f"memory at most: {_peak():,.0f} MB")


def _questions(tables: Tables) -> list[tuple[str, Callable[[], object]]]:
    found: list[tuple[str, Callable[[], object]]] = [
        ("by game and bet", lambda: realised_rtp(tables))
    ]
    for by in ("table", "player", "channel", "stake_band", "day", "week", "month"):
        found.append((f"by {by}", lambda by=by: _slices(tables, [by])))  # type: ignore[misc]
    return found


def _slices(tables: Tables, by: list[str]) -> int:
    return len(tables.query("rtp_slices", by=by, begin=None, end=None))


def _peak() -> float:
    return float(psutil.Process().memory_info().rss) / 1e6


def project(rounds: int) -> None:
    """Print the speed of the projection of real rounds, and of an update after 1,000 more."""
    for is_covered in (True, False):
        with (
            tempfile.TemporaryDirectory() as folder,
            Ledger.init(Path(folder, "ledger"), "bench.example/bj") as ledger,
        ):
            add_published_games(ledger)
            record(ledger, rounds)
            if is_covered:
                sign_checkpoint(ledger)
            how = "under a checkpoint" if is_covered else "by signatures"
            _report(ledger, how)
            more = ledger.size()
            record(ledger, 999)
            if is_covered:
                sign_checkpoint(ledger)
            took = seconds(lambda ledger=ledger: open_tables(ledger).close())  # type: ignore[misc]
            more = ledger.size() - more
            print(f"  update after 999 more rounds, {more:,} events, published: {took:.2f} s")


def _report(ledger: Ledger, how: str) -> None:
    size = ledger.size()
    floor = seconds(lambda: leaf_hashes(ledger.store.fetch_states(0, size)))
    with open_projection(ledger) as projection:
        before = _processor_time()
        took = seconds(projection.update)
        spent = _processor_time() - before
    print(f"projection {how}: {size / took:,.0f} events/s of {size:,} by the clock")
    print(f"  {spent / size * 1e6:.1f} µs of processor an event on {spent / took:.2f} cores, "
          f"{spent / floor:.1f} times reading and hashing them")  # fmt: skip
    print(f"  published in {seconds(lambda: open_tables(ledger).close()):.2f} s")


def _processor_time() -> float:
    """Return the processor time of this process and of those it started that have ended."""
    return sum(
        used.ru_utime + used.ru_stime
        for used in (getrusage(RUSAGE_SELF), getrusage(RUSAGE_CHILDREN))
    )


def record(ledger: Ledger, rounds: int) -> None:
    """Record rounds of every game."""
    settings = TableSettings(limits={"main": (1, 10_000)}, currency="EUR")
    player = make_player("basic", 1)
    for game in GAMES:
        rules = current_rules(ledger, game)
        simulate(ledger, rules, settings, {"s1": {"main": 100}}, player, rounds // len(GAMES))


def main() -> None:
    """Run both parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bets", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=90_000)
    arguments = parser.parse_args()
    if arguments.rounds:
        project(arguments.rounds)
    if arguments.bets:
        ask(arguments.bets)


if __name__ == "__main__":
    main()
