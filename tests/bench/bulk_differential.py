"""Hold the bulk path to the replayer over many rounds: `python -m tests.bench.bulk_differential`.

Of each game `--rounds` rounds are judged by both, on all processors: one in five as it was played,
in every lively way and at any seats, the others with one thing in it changed, dropped, doubled or
moved. As many rounds as are honest have one card changed and are held to no shoe, so that the
engine alone has to give them away. The run ends at the first round called sound in which the
replayer finds something, and at the first honest round that is not proved.
"""

import argparse
import os
import time
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from random import Random
from typing import NamedTuple

from shoeproof.ledger import Ledger
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.kernel.batch import replay_batch, sound
from shoeproof.replay.rounds.catalogue import rules_by_digest
from tests.bulk.helpers import assert_play_judged_alike, by_replayer, columns_of
from tests.bulk.rounds import corrupted, honest_round, recarded, stakes_for
from tests.replay.helpers import new_ledger

HONEST = 400
CORRUPTED = 4 * HONEST
BATCH = HONEST + CORRUPTED


class Held(NamedTuple):
    """How many rounds were judged alike, how many of them with findings, how many proved sound."""

    judged: int
    with_findings: int
    proved: int


def main() -> None:
    """Run it and print what was held."""
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--rounds", type=int, default=10_000, help="of each game")
    asked.add_argument("--seed", type=int, default=1)
    given = asked.parse_args()
    batches = -(-given.rounds // BATCH)
    print(
        f"{'game':<14}{'judged alike':>14}{'with findings':>15}{'proved sound':>14}{'seconds':>9}"
    )
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for game in GAMES:
            began = time.monotonic()
            seeds = [f"{given.seed} {game} {number}" for number in range(batches)]
            held = list(pool.map(batch_held, [game] * batches, seeds))
            judged, findings, proved = map(sum, zip(*held, strict=True))
            took = time.monotonic() - began
            print(f"{game:<14}{judged:>14,}{findings:>15,}{proved:>14,}{took:>9.0f}", flush=True)


def batch_held(game: str, seed: str) -> Held:
    """Judge one batch by both; raises AssertionError with the seed where they differ."""
    random, ledger = Random(seed), _ledger()
    rules = rules_by_digest(ledger)
    honest = [
        honest_round(
            ledger,
            game,
            stakes_for(game, random),
            random,
            balance_minor=random.choice([None, 10**6, 40_000]),
            hides_cash_out=random.random() < 0.1,
        )
        for _ in range(HONEST)
    ]
    rounds = honest + [corrupted(random.choice(honest), random) for _ in range(CORRUPTED)]
    expected, columns = by_replayer(rounds, rules), columns_of(rounds)
    proved = sound(columns, rules)
    assert not any(proved[place] for place in expected), f"{seed}: a false round proved"
    assert proved[:HONEST].all(), f"{seed}: an honest round not proved"
    alike = replay_batch(columns, rules, lambda place: expected.get(place, ())) == expected
    assert alike, f"{seed}: findings were lost"
    recarded_ones = [recarded(random.choice(honest), random) for _ in honest]
    assert_play_judged_alike([*recarded_ones, *honest], rules)
    return Held(len(rounds), len(expected), int(proved.sum()))


@lru_cache(maxsize=1)
def _ledger() -> Ledger:
    return new_ledger()


if __name__ == "__main__":
    main()
