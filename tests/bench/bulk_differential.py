"""Hold the bulk path to the replayer over many rounds: `python -m tests.bench.bulk_differential`.

Of each game `--rounds` rounds are played in every lively way and each is also judged with one thing
changed. The run ends at the first round called sound in which the replayer finds something.
"""

import argparse
from random import Random

from replay.catalogue import rules_by_digest
from replay.games import GAMES
from tests.bulk.helpers import assert_judged_alike
from tests.bulk.rounds import corrupted, honest_round, stakes_for
from tests.replay.helpers import new_ledger

BATCH = 500


def main() -> None:
    """Run it and print what was held."""
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--rounds", type=int, default=2_000, help="of each game")
    asked.add_argument("--seed", type=int, default=1)
    given = asked.parse_args()
    random, ledger = Random(given.seed), new_ledger()
    rules = rules_by_digest(ledger)
    for game in GAMES:
        proved = judged = 0
        while judged < given.rounds:
            honest = [
                honest_round(
                    ledger,
                    game,
                    stakes_for(game, random),
                    random,
                    balance_minor=random.choice([None, 10**6, 40_000]),
                    hides_cash_out=random.random() < 0.1,
                )
                for _ in range(BATCH)
            ]
            judged += len(honest)
            proved += assert_judged_alike(honest, rules)
            changed = [corrupted(random.choice(honest), random) for _ in honest]
            assert_judged_alike(changed, rules)
        print(f"{game}: {proved:,} of {judged:,} honest rounds proved, as many corrupted alike")
        assert proved == judged


if __name__ == "__main__":
    main()
