"""The optimal acts of a whole game, packed small, and looked up by a hand and its cards.

The packed form is the act's place in PLAY_ACTS, one byte for each up card, part and position that
has a decision, compressed; the positions themselves are generated again from the rules, always in
the same order.
"""

import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from shoeproof.replay.engine.hand import PLAY_ACTS, Act, Hand
from shoeproof.replay.theory.positions import Positions
from shoeproof.replay.theory.up_card import GamePositions, Policies, SubGame
from shoeproof.replay.theory.values import VALUES

Bytes = npt.NDArray[np.uint8]


def pack(game: GamePositions, by_up_card: Sequence[Policies]) -> bytes:
    """Return the policies against the ten up cards in packed form."""
    acts = [
        policies[part][_deciding(positions)].argmax(axis=1)
        for part, positions in game.parts.items()
        for policies in by_up_card
    ]
    return zlib.compress(np.concatenate(acts).astype(np.uint8).tobytes(), 9)


class OptimalActs:
    """The optimal act of every position: for a hand by what it drew, given the part it is in."""

    def __init__(self, game: GamePositions, packed: bytes) -> None:
        """Unpack the acts; `game` must come from the rules they were packed for."""
        acts = np.frombuffer(zlib.decompress(packed), dtype=np.uint8)
        self._acts: dict[SubGame, Bytes] = {}
        self._rows: dict[int, dict[tuple[Hand, tuple[int, ...]], int]] = {}
        self._parts = game.parts
        for part, positions in game.parts.items():
            size = len(VALUES) * len(_deciding(positions))
            self._acts[part] = acts[:size].reshape(len(VALUES), -1)
            acts = acts[size:]

    def act(self, part: SubGame, hand: Hand, drawn: tuple[int, ...], up: int) -> Act:
        """Return the act for a hand that drew these cards, a count, against an up card's place."""
        positions = self._parts[part]
        rows = self._rows.get(id(positions))
        if rows is None:
            rows = self._rows[id(positions)] = {
                (positions.hands[number], tuple(positions.drawn[number].tolist())): row
                for row, number in enumerate(_deciding(positions))
            }
        return PLAY_ACTS[self._acts[part][up, rows[hand, drawn]]]


def _deciding(positions: Positions) -> npt.NDArray[np.int64]:
    return np.concatenate([level.deciding for level in positions.levels])
