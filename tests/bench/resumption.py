"""What a server pays that keeps no round in memory: `python -m tests.bench.resumption [ROUNDS]`.

Each of its requests takes a round up from the ledger and shows it. Both are printed as multiples
of what cannot be saved, reading the round's events and replaying them, in one run: with the rules
and policies of the published games alone, and again when the ledger has fifty policies more.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from shoeproof.ledger import Ledger
from shoeproof.replay.live.resume import resume_round
from shoeproof.replay.live.view import view_of
from shoeproof.replay.rounds.catalogue import add_policy, current_policy, rules_by_digest
from shoeproof.replay.rounds.replayer import replay_round
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.bench.sweep import fill

ROUNDS = 3_000
MEASURED = 500
MORE_POLICIES = 50


def main(rounds: int) -> None:
    """Print the table."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Ledger.init(Path(folder) / "ledger", "bench.example/resumption") as ledger,
    ):
        fill(ledger, rounds)
        print(f"{rounds:,} open rounds, {ledger.size():,} leaves; the median of {MEASURED}")
        measure(ledger)
        policy = current_policy(ledger, "nba")
        assert policy is not None
        for number in range(MORE_POLICIES):
            add_policy(ledger, msgspec.structs.replace(policy, longest_wait_days=100 + number))
        print(f"with {MORE_POLICIES} policies more")
        measure(ledger)


def measure(ledger: Ledger) -> None:
    """Print what one request costs; the kinds take turns, so that other work befalls them alike."""
    wallet, rules = MemoryWallet(10**9), rules_by_digest(ledger)
    kinds: dict[str, Callable[[str], object]] = {
        "events read and replayed": lambda name: replay_round(ledger.events(name), rules),
        "resume_round": lambda name: resume_round(ledger, name),
        "resume_round with a wallet": lambda name: resume_round(ledger, name, wallet=wallet),
        "view_of": lambda name: view_of(ledger, name),
    }
    took: dict[str, list[float]] = {kind: [] for kind in kinds}
    for row in ledger.rounds(state="open", limit=MEASURED):
        for kind, work in kinds.items():
            begun = time.perf_counter()
            work(row.round)
            took[kind].append(time.perf_counter() - begun)
    least = statistics.median(took["events read and replayed"])
    for kind, each in took.items():
        median = statistics.median(each)
        print(f"  {kind:<28}{1e3 * median:>8.2f} ms{median / least:>8.2f} x")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
