"""What classes and remedies rest on: documents and sections, in our words.

The published page of a game speaks first. Where it is silent GLI-19 (Gaming Laboratories
International, Standards for Interactive Gaming Systems, version 3.0, 17 July 2020) does. What
neither says is marked as assumed.
"""

from typing import Final

from replay.disputes.assessment import Source
from replay.games import GAMES

GLI_19: Final = "GLI-19 v3.0"
PRACTICE: Final = "shoeproof"

RESTORED: Final = Source(
    GLI_19,
    "4.16.3",
    "an interrupted game is taken up again in the state it had before the interruption",
)
STAKES_RETURNED: Final = Source(
    GLI_19,
    "A.6.4(a)",
    "where a malfunction keeps a wager from being carried through, it is cancelled and goes back "
    "to the player",
)
OUTCOME_STANDS: Final = Source(
    PRACTICE,
    "Disputes",
    "an outcome that is fixed with no input left is honoured: an interruption after it cannot "
    "change it",
    assumed=True,
)
A_DEBT: Final = Source(
    PRACTICE,
    "Disputes",
    "a bet wrongly paid on right cards is a debt and no malfunction: that bet alone is resettled",
    assumed=True,
)
NO_GAIN_BY_FAULT: Final = Source(
    PRACTICE,
    "Disputes",
    "nobody gains by their own fault: what would leave the player below what was shown or "
    "recorded is for an adjudicator, under two keys",
    assumed=True,
)
SCREEN: Final = Source(
    "Durber v PPB [2025] EWHC 498; Parker-Grennan v Camelot [2024] EWCA Civ 185",
    "the judgments",
    "courts have held an operator to what its screen showed, and have not: which of two records "
    "binds is not for the operator alone",
)
NO_INFERENCE: Final = Source(
    PRACTICE,
    "Disputes",
    "evidence that is forged or missing counts against nobody: no money moves on it, and the "
    "stakes are the least that goes back",
    assumed=True,
)
NO_DEFAULT: Final = Source(
    PRACTICE,
    "Disputes",
    "only a default that was disclosed, and whose time has run out, may decide for a player",
    assumed=True,
)


def of_page(game_id: str | None, clause: str) -> Source | None:
    """Return what a game's published page says on a clause, None where it is silent or unknown.

    `clause` is malfunction, disconnection, history or large_win.
    """
    game = GAMES.get(game_id or "")
    if game is None:
        return None
    section, says = game.page.clauses[clause]
    return Source(game.page.title, section, says) if section else None


def void_of(game_id: str | None) -> Source:
    """Return what a void rests on: the page voids pays and plays, GLI-19 returns the wagers."""
    return both(of_page(game_id, "malfunction"), STAKES_RETURNED)


def both(page: Source | None, standard: Source) -> Source:
    """Return two sources as one, the page's first; the standard alone where the page is silent."""
    if page is None:
        return standard
    return Source(
        f"{page.document}; {standard.document}",
        f"{page.section}; {standard.section}",
        f"{page.says}; {standard.says}",
        page.assumed or standard.assumed,
    )
