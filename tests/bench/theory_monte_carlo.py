"""Play as many rounds as the time allows through the engine, from real shoes, against the theory.

    python -m tests.bench.theory_monte_carlo [SECONDS]

The seconds, 120 by default, are shared by the games. Every core plays shoes of its own. Fails when
a mean lies four standard errors from the theory, or a spread is off by more than chance allows.
"""

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from math import sqrt
from os import cpu_count

from shoeproof.replay.games.published import GAMES
from shoeproof.replay.theory.cache import theory
from shoeproof.replay.theory.strategies import optimal_act
from tests.theory.helpers import net_units, play, shoe_cards

SHOES_A_WORKER = 10**9
CHECKED_EVERY = 500
MOST_ERRORS = 4


def play_for(game: str, worker: int, seconds: float) -> tuple[int, float, float, float]:
    """Play for some seconds; return the rounds and the sums of the net results' first powers."""
    rules, deadline = GAMES[game].rules, time.perf_counter() + seconds
    rounds, first, second, fourth = 0, 0.0, 0.0, 0.0
    while rounds % CHECKED_EVERY or time.perf_counter() < deadline:
        shoe = shoe_cards(rules, worker * SHOES_A_WORKER + rounds)
        net = net_units(play(rules, shoe, optimal_act))
        rounds, first, second, fourth = rounds + 1, first + net, second + net**2, fourth + net**4
    return rounds, first, second, fourth


def main(seconds: float) -> int:
    """Play every game; return 1 when one disagrees with its theory."""
    workers, failed = cpu_count() or 1, False
    with ProcessPoolExecutor(workers) as pool:
        for game in GAMES:
            share = seconds / len(GAMES)
            parts = pool.map(play_for, [game] * workers, range(workers), [share] * workers)
            rounds, *sums = (sum(column) for column in zip(*parts, strict=True))
            mean, square, fourth = (each / rounds for each in sums)
            expected = theory(GAMES[game].rules).bet("main")
            assert expected.sd is not None
            by_theory = expected.sd**2 + (expected.returned - 1) ** 2
            errors = (1 + mean - expected.returned) / (expected.sd / sqrt(rounds))
            spread = (square - by_theory) / sqrt((fourth - square**2) / rounds)
            print(
                f"{game:7} {rounds:>9,} rounds  mean {1 + mean:.6f}, theory "
                f"{expected.returned:.6f} ({errors:+.2f} standard errors)  SD "
                f"{sqrt(square - mean**2):.5f}, theory {expected.sd:.5f} ({spread:+.2f})"
            )
            failed |= max(abs(errors), abs(spread)) > MOST_ERRORS
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 120))
