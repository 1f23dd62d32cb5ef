"""What a bet should return: as the game's page publishes it, and as its rules say."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

import msgspec

from shoeproof.audit_reports.tables.par_sheets import prints
from shoeproof.replay.engine.rules import Rules, rules_digest
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.luck.values import values_of
from shoeproof.replay.theory.side_bets import side_bet

PUBLISHED: Final = {
    (rules_digest(game.rules), published.bet): published.percent
    for game in GAMES.values()
    for published in game.published
}
"""What the games' pages publish, by rules digest and bet."""


class Theoretical(msgspec.Struct, frozen=True):
    """Returns on initial stakes: `published_percent` as printed, None for rules that no page has.

    `computed` is what the rules return, of the main bet under optimal play, of insurance over all
    hands that are offered it. Of a side bet `fraction` is exact and `largest` the most that it
    returns, its stake included.
    """

    published_percent: str | None
    computed: float
    fraction: Fraction | None = None
    largest: Fraction | None = None

    def objection_to(self, percent: str) -> str | None:
        """Return what is wrong with an approved percentage, None where it is as printed.

        It may be what the rules return, or what the game's own page publishes, which need not be
        the same and stands beside it.
        """
        # A value that is not a fraction is known far better than to nine places.
        rounded = Fraction(f"{self.computed:.9f}")
        computed = rounded if self.fraction is None else self.fraction
        published = self.published_percent
        if prints(percent, computed) or (published and prints(percent, Fraction(published) / 100)):
            return None
        places = max(2, len(percent.partition(".")[2]))
        return (
            f"the rules return {float(100 * computed):.{places}f}%: "
            "the sheet is for other rules or another way to play"
        )


def theoretical(rules: Rules) -> Mapping[str, Theoretical]:
    """Return what every bet of a game should return; takes seconds for rules that no page has."""
    digest = rules_digest(rules)
    found = {}
    for bet, mean in values_of(rules).means.items():
        published = PUBLISHED.get((digest, bet))
        if bet in rules.side_bets:
            fraction = side_bet(rules, bet).fraction
            largest = 1 + max(rules.side_bets[bet].pays.values())
            found[bet] = Theoretical(published, 1 + mean, fraction, largest)
        else:
            found[bet] = Theoretical(published, 1 + mean)
    return found
