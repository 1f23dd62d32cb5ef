"""Write the regression golden of every game's settlement: `python -m tests.replay.write_golden`."""

from pathlib import Path

from shoeproof.replay.games.published import GAMES
from tests.replay.settlement_table import golden

if __name__ == "__main__":
    for game in GAMES.values():
        path = Path(__file__).parent / "golden" / f"settlement_{game.rules.id}.csv"
        path.write_text(golden(game.rules), encoding="ascii")
