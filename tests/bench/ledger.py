"""How fast rounds are recorded and verified: `python -m tests.bench.ledger`.

Every figure stands beside a floor measured in the same run, since machines differ and drift.
"""

import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from shoeproof.ledger import Ledger
from shoeproof.ledger.keys.key import parse_vkey
from shoeproof.ledger.leaf.envelope import pae, split_leaf
from shoeproof.ledger.verify.whole import verify
from shoeproof.replay.live.players import make_player
from shoeproof.replay.live.simulation import SimulationResult, simulate
from shoeproof.replay.live.table import TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules

Answer = TypeVar("Answer")

ROUNDS = 3000
"""Rounds of each game: some 150,000 events in all."""


def main() -> None:
    """Print the table."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Ledger.init(Path(folder) / "ledger", "bench.example/ledger") as ledger,
    ):
        add_published_games(ledger)
        sign_rate = 1 / seconds_to_sign()
        print(f"{'bare Ed25519 signing, one core':<44}{sign_rate:>12,.0f} events/s")
        for game in ("zappit", "zero", "nba"):
            elapsed, result = timed(partial(play, ledger, game))
            rate = result.events / elapsed
            print(
                f"{f'simulate {game}':<44}{result.rounds / elapsed:>12,.0f} rounds/s"
                f"   {rate:,.0f} events/s, {rate / sign_rate:.2f} of signing"
            )
        bare = seconds_to_verify(ledger)
        rate = ledger.size() / bare
        print(f"{'bare Ed25519 verification, two threads':<44}{rate:>12,.0f} events/s")
        elapsed, found = timed(lambda: verify(ledger, workers=2))
        assert not found.findings
        print(
            f"{'verify, two workers':<44}{found.size / elapsed:>12,.0f} events/s"
            f"   {elapsed / bare:.2f} x the bare cost"
        )


def timed(work: Callable[[], Answer]) -> tuple[float, Answer]:
    """Return how many seconds some work took, and what it returned."""
    start = time.perf_counter()
    answer = work()
    return time.perf_counter() - start, answer


def play(ledger: Ledger, game: str) -> SimulationResult:
    """Record rounds of one game by the basic player."""
    settings = TableSettings(limits={"main": (1, 100_000)}, currency="EUR")
    stakes = {"s1": {"main": 1000}}
    rules = current_rules(ledger, game)
    return simulate(ledger, rules, settings, stakes, make_player("basic", 1), ROUNDS)


def seconds_to_sign(events: int = 20_000) -> float:
    """Return the seconds one signature of an event's size takes."""
    key, message = Ed25519PrivateKey.generate(), bytes(400)
    elapsed, _ = timed(lambda: [key.sign(message) for _ in range(events)])
    return elapsed / events


def seconds_to_verify(ledger: Ledger) -> float:
    """Return the seconds the ledger's signatures alone take to verify on two threads."""
    handed = [parse_vkey(text) for text in ledger.public_keys().values()]
    keys = {key.key_id_hex: Ed25519PublicKey.from_public_bytes(key.raw) for key in handed}
    work = []
    for leaf in ledger.leaves():
        payload, key_id, signature = split_leaf(leaf.state)
        work.append((keys[key_id], signature, pae(payload)))

    def check(part: list[tuple[Ed25519PublicKey, bytes, bytes]]) -> None:
        for key, signature, message in part:
            key.verify(signature, message)

    with ThreadPoolExecutor(2) as pool:
        parts = [work[start : start + 1024] for start in range(0, len(work), 1024)]
        elapsed, _ = timed(lambda: list(pool.map(check, parts)))
    return elapsed


if __name__ == "__main__":
    main()
