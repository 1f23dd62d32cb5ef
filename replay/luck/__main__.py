"""`python -m shoeproof.replay.luck`: compute the values of the published games and rewrite their
files.
"""

from pathlib import Path

from shoeproof.replay.games.published import GAMES
from shoeproof.replay.luck.values import compute, write

DATA = Path(__file__).parent / "data"

for game in GAMES.values():
    computed = compute(game.rules)
    (DATA / f"{computed.rules_digest}.json").write_bytes(write(computed))
