"""Luck, skill and error: what each move of a round added to what its bets were paid.

`decompose` decomposes one round, `decompose_replay` a recorded one, `bulk.decompose_batch` many.
"""

from shoeproof.needs import need

need("luck", "numpy")

from replay.luck.one_round import BetParts, Decomposition, Part, decompose
from replay.luck.recorded import decompose_replay, symbols_of

__all__ = ["BetParts", "Decomposition", "Part", "decompose", "decompose_replay", "symbols_of"]
