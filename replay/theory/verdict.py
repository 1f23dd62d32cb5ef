"""What a game publishes, held against what its rules give."""

from decimal import Decimal

import msgspec

from shoeproof.replay.games.game import Game
from shoeproof.replay.theory.results import Bet, Theory


class Comparison(msgspec.Struct, frozen=True):
    """A bet's computed return beside the published one; both are returns, 1 is a fair bet.

    `published` is None where the page publishes nothing. `follows` tells that the computed return,
    rounded as the page rounds, is the published one.
    """

    bet: Bet
    published: Decimal | None
    follows: bool | None

    @property
    def difference(self) -> Decimal | None:
        """Return computed less published."""
        if self.published is None:
            return None
        return Decimal(self.bet.returned) - self.published


def compare(theory: Theory, game: Game) -> list[Comparison]:
    """Return every bet of a theory beside what the game's page publishes for it."""
    percents = {each.bet: Decimal(each.percent) for each in game.published}
    return [_comparison(bet, percents.get(bet.bet)) for bet in theory.bets]


def _comparison(bet: Bet, percent: Decimal | None) -> Comparison:
    if percent is None:
        return Comparison(bet, None, None)
    computed = Decimal(100 * bet.returned).quantize(percent)
    return Comparison(bet, percent.scaleb(-2), computed == percent)
