"""What of a report a player's letter shows, so that it stays on one page of A4.

Pure. Nothing is lost: the answer mentions every bet, and anything not listed is summed up.
"""

from typing import Final, NamedTuple

from shoeproof.audit_reports.case_report.model import CaseReport, ReportedBet, ReportedHand

LONG: Final = 1_000
"""A letter of more characters than this is long, and printed smaller."""

A_BET: Final = 150
"""How many characters take as much room as a bet and its cards."""

MOST_BETS: Final = (6, 3)
"""How many bets a letter lists, and a long one."""

MOST_HANDS: Final = 3
"""How many hands a letter draws; of more, or in a long one, the hand with the card in dispute."""

MOST_FOUND: Final = 4
"""How many sentences of what was found a letter has beyond the answer."""

MOST_NOTE: Final = (150, 60)
"""How many characters of the player's own words a letter repeats, and a long one."""


class Letter(NamedTuple):
    """What a letter lists: bets, those it only sums up, hands, findings and the player's words."""

    bets: tuple[ReportedBet, ...]
    others: tuple[ReportedBet, ...]
    hands: tuple[ReportedHand, ...]
    found: tuple[str, ...]
    note: str
    is_long: bool


def letter_of(report: CaseReport) -> Letter:
    """Return what the letter to a player lists; the bets that money moves for come first."""
    told = sum(map(len, (report.answer, *report.found[:MOST_FOUND])))
    is_long = told + A_BET * len(report.bets) > LONG
    most, most_note = MOST_BETS[is_long], MOST_NOTE[is_long]
    is_paid = [bool(bet.to_pay_minor or bet.moved_minor) for bet in report.bets]
    order = sorted(range(len(report.bets)), key=lambda place: not is_paid[place])
    shown = set(order if len(order) <= most else order[:most])
    hands = report.tables[-1].hands if report.tables else ()
    if is_long or len(hands) > MOST_HANDS:
        hands = tuple(hand for hand in hands if hand.marked is not None)
    more = len(report.found) - MOST_FOUND
    note = (report.case.note if report.case is not None else None) or ""
    return Letter(
        bets=tuple(bet for place, bet in enumerate(report.bets) if place in shown),
        others=tuple(bet for place, bet in enumerate(report.bets) if place not in shown),
        hands=hands,
        found=(
            *report.found[:MOST_FOUND],
            *(("There is more in the record.",) if more > 0 else ()),
        ),
        note=note if len(note) <= most_note else f"{note[:most_note]}…",
        is_long=is_long,
    )
