"""Verdicts that become events: an AlarmRaised for each bet that is out of range, also if only in
some 30 days.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from shoeproof.audit_reports.rtp_report.model import UNKNOWN_RULES, GameReport
from shoeproof.audit_reports.rtp_report.rolling import WINDOW
from shoeproof.audit_reports.statistics.verdict import OUT_OF_RANGE
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import AlarmRaised
from shoeproof.ledger.leaf.streams import OPERATIONS_STREAM
from shoeproof.replay.currency import unit_words
from shoeproof.replay.live.alarms import Alarm, alarms_of

UNKNOWN_CAUSE: Final = 7
"""The cause code of an event not known to be an interruption."""


def raise_alarms(ledger: Ledger, games: Iterable[GameReport]) -> list[AlarmRaised]:
    """Append the alarms that verdicts ask for, but for those that stand; return those appended.

    Raises the ledger's errors.
    """
    new = alarms(games, alarms_of(ledger))
    if new:
        ledger.append(*((OPERATIONS_STREAM, alarm) for alarm in new))
    return new


def alarms(games: Iterable[GameReport], before: Sequence[Alarm] = ()) -> list[AlarmRaised]:
    """Return the alarms that verdicts ask for and that do not stand already.

    Of those that were raised `before`, one that is not closed stands; one that is closed stands
    until a round of the bet has ended that its closing had not seen.
    """
    found = []
    for game in games:
        for subject, why, last_leaf in _accused(game):
            known = next((a for a in reversed(before) if a.says.startswith(subject)), None)
            if known is None or (known.is_closed and known.steps[-1].leaf_index < last_leaf):
                note = f"{subject} {'; '.join(why)}"
                found.append(AlarmRaised(UNKNOWN_CAUSE, game.game, note))
    return found


def _accused(game: GameReport) -> Iterator[tuple[str, Sequence[str], int]]:
    """Yield each subject of an alarm, what counts against it, and its rounds' last leaf."""
    named = f"of {game.game or UNKNOWN_RULES} in {unit_words(game.currency)}"
    rules = f"rules {game.rules_digest}:"
    windows = {each.bet: each for each in game.left}
    for bet in game.bets:
        name = bet.row.bet
        if bet.word == OUT_OF_RANGE:
            yield f"{OUT_OF_RANGE}: {name} bet {named}, {rules}", bet.why, bet.last_leaf
        if name in windows:
            subject = f"{OUT_OF_RANGE}: {WINDOW} days of the {name} bet {named}, {rules}"
            when = f"to {windows[name].last}"
            yield subject, (when, *windows[name].why), bet.last_leaf
