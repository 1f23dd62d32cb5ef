"""The projection and its tables: `python -m tests.bench.projection`.

Tables are asked over synthesised segments, each query beside a floor in the same run: DuckDB adding
up one column of the same files, then the whole report, both in processes of their own for the sake
of memory. The projection runs over real signed rounds under a checkpoint and
without one, beside the bare hashing, or verifying, of the same leaves.
"""

import argparse
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from time import perf_counter, process_time

import msgspec

from shoeproof.audit_reports.rows.luck import COUNT_COLUMNS, PART_COLUMNS
from shoeproof.audit_reports.rtp_report.figures import Scope, cells
from shoeproof.audit_reports.rtp_report.from_ledger import ReportRequest, report_on
from shoeproof.audit_reports.rtp_report.records import Extent, GrowthStep, PartSum, ReturnCount
from shoeproof.audit_reports.rtp_report.write import render_rtp_report
from shoeproof.audit_reports.tables.checks.run import run_checks
from shoeproof.audit_reports.tables.projection import open_projection
from shoeproof.audit_reports.tables.segments import FORMAT, Manifest, publish
from shoeproof.audit_reports.tables.views import Tables, open_tables, read_tables
from shoeproof.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.tree.merkle import leaf_hashes
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.live.players import make_player
from shoeproof.replay.live.simulation import simulate
from shoeproof.replay.live.table import TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from tests.audit_reports.helpers import NBA, ZAPPIT

LEAVES_A_ROUND = 14
ROUNDS_A_SITTING = 60
ROUNDS = """INSERT INTO rounds SELECT i * $leaves, i * $leaves + $leaves - 1, uuid()::VARCHAR,
    IF(i % 3 = 0, 'zappit', 'nba'), IF(i % 3 = 0, $zappit, $nba), 'operator', 't-' || i % 20,
    IF(i % 2 = 0, 'web', 'app'), NULL,
    'p-' || IF($is_scattered, hash(i), hash(i % 20, i // (20 * $sitting))) % 20000, 'EUR', 'real',
    CASE i % 1000 WHEN 0 THEN 'void' WHEN 1 THEN 'open' ELSE 'closed' END,
    TIMESTAMP '2026-01-01' + INTERVAL (i * 3) SECOND,
    TIMESTAMP '2026-01-01' + INTERVAL (i * 3 + 5) SECOND,
    IF(i % 1000 = 1, NULL, TIMESTAMP '2026-01-01' + INTERVAL (i * 3 + 30) SECOND), 0, 0, NULL, NULL,
    NULL, NULL
    FROM range($first, $last) AS of(i)"""
BETS = """INSERT INTO bets SELECT first_leaf, first_leaf + $leaves - 3, 's1', 's1', bet, stake,
    IF(hash(i) % 10 = 0, 2, 1) * stake AS laid, laid, NULL, NULL,
    IF(state = 'closed', (hash(i) % 3 * stake)::BIGINT, NULL), NULL, NULL, 'win', NULL, NULL, NULL
    FROM (SELECT *, 2 * first_leaf + (bet = 'main')::BIGINT AS i,
              100 * (1 + hash(i + 1) % 20)::BIGINT AS stake
          FROM rounds, (VALUES ('main'), ('perfect_pairs')) AS of(bet)
          WHERE first_leaf >= $first * $leaves)"""
TOTALS = """UPDATE rounds SET staked_minor = staked, paid_minor = paid,
    closed_staked_minor = IF(state = 'closed', staked, NULL),
    closed_paid_minor = IF(state = 'closed', paid, NULL)
    FROM (SELECT first_leaf AS of_round, SUM(stake_minor) AS staked,
              COALESCE(SUM(paid_minor), 0) AS paid
          FROM bets WHERE first_leaf >= $first * $leaves GROUP BY first_leaf)
    WHERE first_leaf = of_round"""
CARDS = """INSERT INTO cards SELECT first_leaf, first_leaf + 3 + n, round,
    IF(n < 3, 's1', 'dealer'), n, (hash(first_leaf + n) % 52)::VARCHAR, first_leaf + 3 + n, n < 4
    FROM rounds, range(5) AS of(n) WHERE first_leaf >= $first * $leaves"""
DECISIONS = """INSERT INTO decisions SELECT first_leaf, first_leaf + 8, round, opened_at, 's1',
    'stand', 'player', NULL, 0, ['hit', 'stand'] FROM rounds WHERE first_leaf >= $first * $leaves"""
LUCK = """INSERT INTO luck BY NAME SELECT first_leaf, bet, 0 AS returned_minor,
    95.0 AS start_minor, 0.0 AS error_minor, 0.0 AS underpaid_minor, 0 AS wrong_hands, {parts},
    {counts},
    initial_stake_minor + bets.paid_minor - stake_minor - 95.0 - ({total}) AS luck_initial_deal
    FROM bets JOIN rounds USING (first_leaf)
    WHERE state = 'closed' AND first_leaf >= $first * $leaves"""
SLICES = ("table", "player", "channel", "stake_band", "day", "week", "month")


def seconds(work: Callable[[], object], times: int = 1) -> float:
    """Return the least wall-clock time of some runs."""
    best = float("inf")
    for _ in range(times):
        start = perf_counter()
        work()
        best = min(best, perf_counter() - start)
    return best


def synthesise(folder: Path, bets: int, *, is_scattered: bool) -> None:
    """Publish so many bets, of rounds that never were.

    A player plays a table for a sitting; scattered, another one plays every round, which leaves
    next to nothing to be summed by player and day.
    """
    with (
        Ledger.init(folder / "ledger", "bench.example/bj") as ledger,
        open_projection(ledger) as projection,
    ):
        add_published_games(ledger)
        projection.update()
        database = projection._tables
        names = [name for name in PART_COLUMNS if name != "luck_initial_deal"]
        values = {name: f"((hash(first_leaf, '{name}') % 100)::DOUBLE - 50)" for name in names}
        luck = LUCK.format(
            parts=", ".join(f"{value} AS {name}" for name, value in values.items()),
            counts=", ".join(f"hash(first_leaf, '{name}') % 2 AS {name}" for name in COUNT_COLUMNS),
            total=" + ".join(values.values()),
        )
        rounds = bets // 2
        for first in range(0, rounds, 500_000):
            bounds = {"first": first, "leaves": LEAVES_A_ROUND}
            of_rounds = bounds | {
                "last": min(first + 500_000, rounds), "zappit": ZAPPIT, "nba": NBA,
                "is_scattered": is_scattered, "sitting": ROUNDS_A_SITTING,
            }  # fmt: skip
            for statement in (ROUNDS, BETS, TOTALS, CARDS, DECISIONS, luck):
                database.execute(statement, of_rounds if statement == ROUNDS else bounds)
        manifest = Manifest(FORMAT, ledger.origin, rounds * LEAVES_A_ROUND, "", None, None, ())
        took = seconds(
            lambda: publish(database, folder / "segments", manifest, None, everything=True)
        )
    files = list((folder / "segments").rglob("*.parquet"))
    size = sum(each.stat().st_size for each in files)
    print(f"published {bets:,} bets in {took:.0f} s: {len(files)} files, {size / 1e6:,.0f} MB")


def ask(bets: int, *, is_scattered: bool) -> None:
    """Print how long each table and the whole report take over synthesised segments."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        synthesise(folder, bets, is_scattered=is_scattered)
        measure(folder)


def measure(folder: Path) -> None:
    """Print the times over the segments of a folder, each in a process of its own."""
    for work in (_tables_of, _report_of):
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            for line in pool.submit(work, folder).result():
                print(line)


def _tables_of(folder: Path) -> list[str]:
    start = perf_counter()
    with read_tables(folder / "segments") as tables:
        lines = [f"opening, every digest checked: {perf_counter() - start:.2f} s"]
        floor, _ = _wall_and_cpu(lambda: tables.ask("SELECT SUM(paid_minor) FROM round_bets"))
        lines.append(f"floor, one column added up: {floor:.3f} s")
        for label, work in _questions(tables):
            wall, cpu = _wall_and_cpu(work)
            lines.append(
                f"  {label:<30} {wall:6.3f} s {cpu:6.3f} s of processors {wall / floor:5.1f} floors"
            )
    return [*lines, f"memory at most: {_peak():,.0f} MB"]


def _report_of(folder: Path) -> list[str]:
    lines = []
    with (
        Ledger.open(folder / "ledger") as ledger,
        read_tables(folder / "segments") as tables,
    ):
        floor, _ = _wall_and_cpu(lambda: tables.ask("SELECT SUM(paid_minor) FROM round_bets"))
        for label, by in (("report", ()), ("report by everything", tuple((n,) for n in SLICES))):
            start, cpu = perf_counter(), process_time()
            asked = ReportRequest(by=by, shuffle_tests=False)
            page = render_rtp_report(report_on([ledger], tables, asked), ".html")
            wall, cpu = perf_counter() - start, process_time() - cpu
            lines.append(
                f"{label}: {wall:.1f} s, {cpu:.1f} s of processors, {wall / floor:.0f} floors, "
                f"{_peak():,.0f} MB at most, page of {len(page) / 1e6:.1f} MB"
            )
    return lines


def _wall_and_cpu(work: Callable[[], object]) -> tuple[float, float]:
    cpu = process_time()
    wall = seconds(work, 3)
    return wall, (process_time() - cpu) / 3


def _questions(tables: Tables) -> list[tuple[str, Callable[[], object]]]:
    found: list[tuple[str, Callable[[], object]]] = [
        ("by game and bet", lambda: cells(tables, Scope())),
    ]
    for by in SLICES:
        found.append((f"by {by}", partial(cells, tables, Scope(), (by,))))
    part = Scope(datetime(2026, 1, 2, 13, tzinfo=UTC), datetime(2026, 1, 9, 13, tzinfo=UTC))
    found.append(("by day, noon to noon", lambda: cells(tables, part, ("day",))))
    kinds: dict[str, type[msgspec.Struct]] = {
        "rtp_parts": PartSum, "rtp_returns": ReturnCount, "rtp_growth": GrowthStep,
        "rtp_extent": Extent,
    }  # fmt: skip
    for name, kind in kinds.items():
        zone = {"zone": "UTC"} if name in ("rtp_parts", "rtp_returns") else {}
        found.append((name, partial(tables.query, name, kind, begin=None, end=None, **zone)))
    found.append(("checks", lambda: run_checks(tables)))
    return found


def _peak() -> float:
    return getrusage(RUSAGE_SELF).ru_maxrss / 1e3


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
            for process in ("the first of this process", "the next"):
                before = ledger.size()
                record(ledger, 999)
                if is_covered:
                    sign_checkpoint(ledger)
                took = seconds(partial(publish_anew, ledger))
                more = ledger.size() - before
                print(f"  update after 999 more rounds, {more:,} events, {process}: {took:.2f} s")


def publish_anew(ledger: Ledger) -> None:
    """Bring the tables up to date and publish them."""
    open_tables(ledger).close()


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
    print(f"  published in {seconds(partial(publish_anew, ledger)):.2f} s")


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
    parser.add_argument("--scattered", action="store_true", help="another player every round")
    arguments = parser.parse_args()
    if arguments.rounds:
        project(arguments.rounds)
    if arguments.bets:
        ask(arguments.bets, is_scattered=arguments.scattered)


if __name__ == "__main__":
    main()
