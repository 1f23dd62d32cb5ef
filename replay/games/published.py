"""The games, by id."""

from typing import Final

from shoeproof.replay.games.game import Game
from shoeproof.replay.games.nba import NBA
from shoeproof.replay.games.zappit import ZAPPIT
from shoeproof.replay.games.zero import ZERO

GAMES: Final[dict[str, Game]] = {game.rules.id: game for game in (ZAPPIT, ZERO, NBA)}
