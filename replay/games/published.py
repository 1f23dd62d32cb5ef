"""The games, by id."""

from typing import Final

from replay.games.game import Game
from replay.games.nba import NBA
from replay.games.zappit import ZAPPIT
from replay.games.zero import ZERO

GAMES: Final[dict[str, Game]] = {game.rules.id: game for game in (ZAPPIT, ZERO, NBA)}
