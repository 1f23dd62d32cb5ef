"""200 processes killed at random writes: `python -m tests.bench.killed_writers [TIMES]`.

Each adds rounds, signs and publishes until it is killed; then all that it had acknowledged must be
there, nothing may be half there, and the ledger must go on.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

from shoeproof.ledger import Ledger
from tests.ledger.faults import AFTER, BEFORE
from tests.ledger.helpers import ORIGIN, play
from tests.ledger.test_faults import ROOT, check_after_restart

LAST_WRITE = 75


def main(times: int) -> None:
    """Print how many were killed where."""
    random = Random(1)
    for number in range(times):
        place, when = random.randint(1, LAST_WRITE), random.choice((BEFORE, AFTER))
        with tempfile.TemporaryDirectory() as temporary:
            path, folder = Path(temporary) / "ledger", Path(temporary) / "published"
            with Ledger.init(path, ORIGIN) as ledger:
                play(ledger)
            words = [sys.executable, "-m", "tests.ledger.faults", str(path), str(folder)]
            done = subprocess.run(
                [*words, str(place), when], cwd=ROOT, capture_output=True, text=True, check=False
            )
            check_after_restart(path, folder, done.stdout.splitlines())
        print(f"\r{number + 1} of {times} sound, the last at write {place}", end="", flush=True)
    print()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
