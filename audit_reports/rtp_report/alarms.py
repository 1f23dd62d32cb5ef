"""Verdicts that become events: an AlarmRaised for each bet that is out of range."""

from collections.abc import Iterable, Sequence
from typing import Final

from audit_reports.rtp_report.model import UNKNOWN_RULES, BetReport, GameReport
from audit_reports.statistics.verdict import OUT_OF_RANGE
from ledger import Ledger
from ledger.events import OPERATIONS_STREAM, AlarmRaised
from replay.interruptions import operations_of

UNKNOWN_CAUSE: Final = 7
"""The cause code of what is not known to be an interruption."""


def raise_alarms(ledger: Ledger, games: Iterable[GameReport]) -> list[AlarmRaised]:
    """Append an alarm for each bet that is out of range and has none yet; return those appended.

    Raises the ledger's errors.
    """
    events = [each.event.data for each in operations_of(ledger)]
    raised = [data for data in events if isinstance(data, AlarmRaised)]
    new = alarms(games, [each.note or "" for each in raised])
    if new:
        ledger.append(*((OPERATIONS_STREAM, alarm) for alarm in new))
    return new


def alarms(games: Iterable[GameReport], notes: Sequence[str] = ()) -> list[AlarmRaised]:
    """Return the alarms that verdicts ask for, but for those that `notes` were raised with."""
    found = []
    for game in games:
        for bet in game.bets:
            subject = _subject(game, bet)
            if bet.word == OUT_OF_RANGE and not any(note.startswith(subject) for note in notes):
                note = f"{subject} {'; '.join(bet.why)}"
                found.append(AlarmRaised(UNKNOWN_CAUSE, game.game, note))
    return found


def _subject(game: GameReport, bet: BetReport) -> str:
    return (
        f"{OUT_OF_RANGE}: {bet.row.bet} bet of {game.game or UNKNOWN_RULES} in {game.currency}, "
        f"rules {game.rules_digest}:"
    )
