"""Realised RTP: `python -m tests.bench.rtp` prints how fast tables are made and asked.

The query runs over synthetic tables, beside a floor in the same run: DuckDB adding up what was paid
by round and bet, which every figure with a variance needs. The projection runs over real signed
rounds, beside the bare cost of verifying their signatures on every processor.
"""

import argparse
import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from audit_reports.projection import Projection, open_projection
from audit_reports.rtp import realised_rtp
from ledger import Ledger
from ledger.envelope import pae, split_leaf
from ledger.keys import parse_vkey
from replay.catalogue import add_published_games, current_rules
from replay.games import GAMES
from replay.players import make_player
from replay.simulation import simulate
from replay.table import TableSettings
from tests.audit_reports.helpers import NBA, ZAPPIT

SYNTHETIC_ROUNDS = """INSERT INTO rounds SELECT i * 15, i * 15 + 14, uuidv7()::VARCHAR, 'zappit',
    CASE WHEN i % 3 = 0 THEN $1 ELSE $2 END, NULL, 't-' || i % 20, 'web', 'p-' || i % 5000, 'EUR',
    'real', CASE i % 1000 WHEN 0 THEN 'void' WHEN 1 THEN 'open' ELSE 'closed' END,
    TIMESTAMP '2026-01-01' + INTERVAL (i) SECOND, NULL, NULL, 0, 0, NULL
    FROM range($3) AS of(i)"""
SYNTHETIC_BETS = """INSERT INTO bets SELECT i // 2 * 15, i // 2 * 15 + 12, 's1', 's1',
    CASE WHEN i % 2 = 0 THEN 'main' ELSE 'perfect_pairs' END, 100,
    CASE WHEN i % 10 = 0 THEN 200 ELSE 100 END, NULL, NULL, (hash(i) % 3 * 100)::BIGINT, NULL, NULL,
    'win'
    FROM range($1) AS of(i)"""
FLOOR = """SELECT COUNT(*), SUM(paid)
    FROM (SELECT SUM(paid_minor) AS paid FROM bets GROUP BY first_leaf, bet)"""


def _seconds(work: Callable[[], object], times: int = 1) -> float:
    best = float("inf")
    for _ in range(times):
        start = perf_counter()
        work()
        best = min(best, perf_counter() - start)
    return best


def ask(bets: int) -> None:
    """Print the time of the query over synthetic tables on disk."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Ledger.init(Path(folder, "ledger"), "bench.example/bj") as ledger,
        open_projection(ledger) as projection,
    ):
        projection.update()
        tables = projection._tables
        tables.execute(SYNTHETIC_ROUNDS, [ZAPPIT, NBA, bets // 2])
        tables.execute(SYNTHETIC_BETS, [bets])
        tables.execute("CHECKPOINT")
        query = _seconds(lambda: realised_rtp(projection), 5)
        floor = _seconds(lambda: tables.execute(FLOOR).fetchall(), 5)
        print(f"rtp over {bets:,} bets: {query:.3f} s, {query / floor:.1f} times the floor")


def project(rounds: int) -> None:
    """Print the speed of the projection of real rounds, and of a small update after it."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Ledger.init(Path(folder, "ledger"), "bench.example/bj") as ledger,
    ):
        add_published_games(ledger)
        _record(ledger, rounds)
        size = ledger.size()
        with open_projection(ledger) as projection:
            took = _seconds(projection.update)
            floor = _seconds(lambda: _verify_bare(ledger))
            print(f"projection: {size / took:,.0f} events/s ({size:,} events of {rounds:,} rounds)")
            print(f"  {took / floor:.2f} times the bare signatures, {size / floor:,.0f} events/s")
            _update_after(projection, min(rounds, 1000))


def _update_after(projection: Projection, rounds: int) -> None:
    _record(projection.ledger, rounds)
    took = _seconds(projection.update)
    print(f"update after {rounds:,} more rounds: {took:.2f} s")


def _record(ledger: Ledger, rounds: int) -> None:
    settings = TableSettings(limits={"main": (1, 10_000)}, currency="EUR")
    player = make_player("basic", 1)
    for game in GAMES:
        rules = current_rules(ledger, game)
        simulate(ledger, rules, settings, {"s1": {"main": 100}}, player, rounds // len(GAMES))


def _verify_bare(ledger: Ledger) -> None:
    keys = map(parse_vkey, ledger.public_keys().values())
    verifiers = {key.key_id_hex: Ed25519PublicKey.from_public_bytes(key.raw) for key in keys}
    leaves = [split_leaf(leaf.state) for leaf in ledger.leaves()]
    workers = os.cpu_count() or 1

    def verify(part: int) -> None:
        for payload, key_id, signature in leaves[part::workers]:
            verifiers[key_id].verify(signature, pae(payload))

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(verify, range(workers)))


def main() -> None:
    """Run both parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bets", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=20_000)
    arguments = parser.parse_args()
    ask(arguments.bets)
    project(arguments.rounds)


if __name__ == "__main__":
    main()
