"""The rules a round was dealt under, clause by clause, as a report quotes them."""

from shoeproof.audit_reports.case_report.model import RuleText
from shoeproof.replay.engine.rules import Rules, rules_digest
from shoeproof.replay.games.game import Game
from shoeproof.replay.games.published import GAMES


def game_of(rules: Rules | None) -> Game | None:
    """Return the published game whose id the rules bear."""
    return None if rules is None else GAMES.get(rules.id)


def rules_text(rules: Rules | None) -> tuple[RuleText, ...]:
    """Return every clause in force with its section, the page's on what goes wrong first, what is
    assumed last.

    Of rules that differ from the published page only the page's clauses on malfunction,
    disconnection, history and large wins are given; what differs stands in the ledger.
    """
    game = game_of(rules)
    if game is None or rules is None:
        return ()
    of_the_page = tuple(
        RuleText(f"{game.page.title}, {section}" if section else game.page.title, says, False)
        for section, says in game.page.clauses.values()
    )
    if rules_digest(rules) != rules_digest(game.rules):
        return of_the_page
    clauses = tuple(
        RuleText(clause.source, clause.says, clause.assumed) for clause in game.clauses.values()
    )
    assumptions = tuple(RuleText(each.because, each.says, True) for each in game.assumptions)
    told = (*of_the_page, *clauses, *assumptions)
    return tuple(sorted(told, key=lambda each: each.assumed))
