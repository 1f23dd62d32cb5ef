"""What classes and remedies rest on: documents and sections, in our words.

The published page of a game speaks first. Where it is silent GLI-19 (Gaming Laboratories
International, Standards for Interactive Gaming Systems, version 3.0, 17 July 2020) does. What
neither says is marked as assumed.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from shoeproof.replay.cases.assessment import Source
from shoeproof.replay.games.published import GAMES

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
KEY_EVENT: Final = Source(
    "UKGC LCCP",
    "licence condition 15.2.1",
    "a fault of a gaming system that leads to under- or overpayments is a key event, to be "
    "reported within five working days of becoming aware of it",
)
OUTCOME_STANDS: Final = Source(
    PRACTICE,
    "Disputes",
    "an outcome that is certain with no input left stands: nothing that happens to the record "
    "after it can change it",
    assumed=True,
)
OVER_DEBIT: Final = Source(
    PRACTICE,
    "Disputes",
    "what was debited beyond what the deal or an act costs goes back whole, beside anything else",
    assumed=True,
)
NO_GAIN_BY_FAULT: Final = Source(
    PRACTICE,
    "Disputes",
    "nobody may gain from their own fault: what would leave the player below what was shown or "
    "recorded is for an adjudicator, under two keys",
    assumed=True,
)
SCREEN: Final = Source(
    "Durber v PPB [2025] EWHC 498; Parker-Grennan v Camelot [2024] EWCA Civ 185",
    "the judgments",
    "courts have held an operator to what its screen showed, and have not: which of two records "
    "binds is not for the operator alone",
)
NO_REASON: Final = Source(
    PRACTICE,
    "Disputes",
    "only a malfunction or the decision of a case voids a round; a void for which the record shows "
    "neither keeps no stake, and what play could have brought is for an adjudicator",
    assumed=True,
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
DECLINES_INSURANCE: Final = Source(
    PRACTICE,
    "Readings",
    "the default declines insurance that is open (the page speaks of hands alone)",
    assumed=True,
)
STOPPED_TIME: Final = Source(
    PRACTICE,
    "Readings",
    "time in which the service stood still does not count, and a restart gives the whole period "
    "again (the page is silent)",
    assumed=True,
)
NET_WIN: Final = Source(
    PRACTICE,
    "Readings",
    "a large win is what the round wins beyond its stakes, which are never held (the page is "
    "silent)",
    assumed=True,
)


_CLAUSES: Final = {
    "insurance": "insurance",
    "perfect_pairs": "side_bets",
    "twenty_one_plus_three": "side_bets",
    "cash_out": "cash_out",
    "even_money": "even_money",
}
"""The clause of a page that speaks of a bet or a settlement line; `payouts` of all others."""


def of_page(game_id: str | None, clause: str) -> Source | None:
    """Return what a game's published page says on a clause, None where it is silent or unknown.

    `clause` is malfunction, disconnection, history, large_win, acts, or one of payments.
    """
    game = GAMES.get(game_id or "")
    if game is None:
        return None
    section, says = game.page.clauses.get(clause, ("", ""))
    return Source(game.page.title, section, says) if section else None


def of_bet(game_id: str | None, bet: str, line: str | None = None) -> Source:
    """Return the clause of the page by which a bet is paid, or one of its settlement lines.

    Beside it stands our reading, where the page publishes no odds for the bet.
    """
    clause = _CLAUSES.get(line or "", _CLAUSES.get(bet, "payouts"))
    page = of_page(game_id, clause) or of_page(game_id, "payouts")
    if page is None:
        return OUTCOME_STANDS
    odds = GAMES[game_id or ""].clauses.get(clause)
    if odds is None or not odds.assumed:
        return page
    return both(page, reading(odds.says, odds.source))


def certain(game_id: str | None, bet: str, line: str | None) -> Source:
    """Return what an outcome rests on that is certain and was not settled so."""
    return with_readings(of_bet(game_id, bet, line), [OUTCOME_STANDS])


def void_of(game_id: str | None, *, is_founded: bool) -> Source:
    """Return what a void rests on: the page voids pays and plays, GLI-19 returns the wagers.

    Both speak of a malfunction: of a void for which the record shows none our reading speaks.
    """
    return both(of_page(game_id, "malfunction"), STAKES_RETURNED) if is_founded else NO_REASON


def reading(says: str, because: str) -> Source:
    """Return a reading of the rules as a source."""
    return Source(PRACTICE, "Readings", f"{says} ({because})", assumed=True)


def with_readings(source: Source, readings: Iterable[Source]) -> Source:
    """Return a source with readings of ours beside it, what is assumed last and each once."""
    parts = sorted(dict.fromkeys((*source.parts, *readings)), key=lambda part: part.assumed)
    whole: Source | None = None
    for each in reversed(parts):
        whole = msgspec.structs.replace(each, beside=whole)
    return whole or source


def both(page: Source | None, standard: Source) -> Source:
    """Return the page's clause and the standard; the standard alone where the page is silent."""
    return standard if page is None else msgspec.structs.replace(page, beside=standard)
