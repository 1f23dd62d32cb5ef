"""`python -m shoeproof.replay.theory`: compute the theory of the published games and rewrite its
files.
"""

from pathlib import Path

from shoeproof.replay.games.published import GAMES
from shoeproof.replay.theory.cache import write_theory
from shoeproof.replay.theory.solve import solve

DATA = Path(__file__).parent / "data"

for game in GAMES.values():
    computed = solve(game.rules)
    (DATA / f"{computed.rules_digest}.json").write_bytes(write_theory(computed))
