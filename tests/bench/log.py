"""What the Merkle log costs and spares: `python -m tests.bench.log [EVENTS]`, a million by default.

Each figure stands beside what it is to be compared with, measured in the same run, since machines
differ and drift. Appending with and without the tree is measured round by round in turn, and the
medians compared.
"""

import os
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from unittest.mock import patch

from shoeproof.ledger import Ledger
from shoeproof.ledger.exchange.bundle import make_bundle, verify_bundle
from shoeproof.ledger.leaf.events import EventData
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.tree.merkle import add_to_peaks, leaf_hash, root_of_peaks, subtrees_of
from shoeproof.ledger.verify.whole import verify
from shoeproof.replay.live.players import make_player
from shoeproof.replay.live.simulation import simulate
from shoeproof.replay.live.table import TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from tests.bench.ledger import timed
from tests.ledger.helpers import round_id, short_round

ROUNDS = 800


def main(events: int) -> None:
    """Print the table."""
    print(f"load {os.getloadavg()[0]:.2f}, {os.cpu_count()} processors, {events:,} events")
    with tempfile.TemporaryDirectory() as folder:
        for each, count in (("one round", 8), ("one event", 1)):
            cost_of_the_tree(Path(folder) / f"append-{count}", each, count)
        with Ledger.init(Path(folder) / "ledger", "bench.example/log") as ledger:
            fill(ledger, events)
            bulk(ledger)
            bundles(ledger)
    ten_million_leaves()


def report(what: str, figure: str, beside: str) -> None:
    """Print one line."""
    print(f"{what:<48}{figure:>16}   {beside}", flush=True)


def fill(ledger: Ledger, events: int) -> None:
    """Append short rounds, fifty a transaction."""
    add_published_games(ledger)
    number = 0
    while ledger.size() < events:
        drafts: list[tuple[str, EventData]] = []
        for _ in range(50):
            number += 1
            drafts += [(round_id(number), data) for data in short_round()]
        ledger.append(*drafts)


def cost_of_the_tree(folder: Path, each: str, count: int) -> None:
    """Compare appending with and without growing the tree, `count` events a time."""
    with (
        Ledger.init(folder / "with", "bench.example/append") as grown,
        Ledger.init(folder / "without", "bench.example/append") as bare,
    ):
        seconds: dict[bool, list[float]] = {True: [], False: []}
        for number in range(ROUNDS):
            seconds[True].append(timed(partial(_append, grown, number, count))[0])
            with patch(
                "shoeproof.ledger.store.transaction.Transaction.grow", lambda _, reached: reached
            ):
                seconds[False].append(timed(partial(_append, bare, number, count))[0])
    grows, alone = median(seconds[True]), median(seconds[False])
    report(
        f"append and frontier, {each} a time",
        f"{8 / grows:,.0f} events/s",
        f"{grows / alone - 1:+.1%} over append alone (at most +10%)",
    )


def _append(ledger: Ledger, number: int, count: int) -> None:
    drafts = [(round_id(number), data) for data in short_round()]
    for first in range(0, 8, count):
        ledger.append(*drafts[first : first + count])


def bulk(ledger: Ledger) -> None:
    """Compare verifying under a kept checkpoint with verifying all signatures."""
    signing, kept = timed(lambda: sign_checkpoint(ledger))
    report("first checkpoint: all leaves read again", f"{signing:.2f} s", "")
    size = ledger.size()
    runs: list[tuple[str, Callable[[], object]]] = [
        ("verify, every signature", lambda: verify(ledger)),
        ("verify --checkpoint", lambda: verify(ledger, checkpoint=kept)),
    ]
    seconds = [timed(work)[0] for _, work in runs]
    report(runs[0][0], f"{seconds[0]:.2f} s", f"{size / seconds[0]:,.0f} events/s")
    ratio = seconds[0] / seconds[1]
    report(runs[1][0], f"{seconds[1]:.2f} s", f"1/{ratio:.0f} of it (at most 1/30)")


def bundles(ledger: Ledger) -> None:
    """Measure bundles of real single-seat rounds at the end of the large ledger."""
    for game in ("zappit", "zero", "nba"):
        rules = current_rules(ledger, game)
        settings = TableSettings(limits={"main": (1, 100_000)}, currency="EUR")
        simulate(ledger, rules, settings, {"s1": {"main": 1000}}, make_player("random", 3), 40)
    key = ledger.public_keys()["operator"]
    sizes = []
    for row in ledger.rounds()[-120:]:
        data = make_bundle(ledger, row.round)
        assert not verify_bundle(data, key).findings
        sizes.append(len(data))
    report(
        "bundle of a single-seat round",
        f"{max(sizes):,} bytes",
        f"the largest of {len(sizes)}, mean {sum(sizes) // len(sizes):,} (at most 60,000)",
    )


def ten_million_leaves() -> None:
    """Measure the root over ten million leaf hashes on one core."""
    leaves, block = 10_000_000, 1 << 16
    hashes = [leaf_hash(number.to_bytes(8, "big")) for number in range(block)]

    def root() -> bytes:
        whole, rest = divmod(leaves, block)
        peaks = add_to_peaks((), 0, [subtrees_of(0, hashes)[0] for _ in range(whole)])
        return root_of_peaks(peaks + subtrees_of(0, hashes[:rest]))

    seconds, _ = timed(root)
    report("root over 10,000,000 leaf hashes, one core", f"{seconds:.1f} s", "(at most 15 s)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
