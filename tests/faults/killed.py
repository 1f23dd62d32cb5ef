"""A command that is killed at a write: `python -m tests.faults.killed PLACE WHEN WORD…`."""

import sys

from shoeproof.cli.main import run
from tests.ledger.faults import failing, kill

if __name__ == "__main__":
    place, when, *words = sys.argv[1:]
    sys.argv = ["shoeproof", *words]
    with failing(int(place), when, kill):
        run()
