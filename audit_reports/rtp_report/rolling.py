"""Rolling windows judged: of each bet the 30 days to each day, by their own luck and counts.

Anyone who watches a game live looks at such a window every day, and each look is another chance of
a false alarm. So the windows to the 365 days of the y-th year since the first day with a round
share 1/y(y+1) of the level of all windows alike, which sums to it; and each is judged by what sums
stay within at all times, so that it may be looked at in the midst of its last day too.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Final

from shoeproof.audit_reports.pages.words import bet_words
from shoeproof.audit_reports.rtp_report.model import Rolling
from shoeproof.audit_reports.rtp_report.records import SliceRow, summed
from shoeproof.audit_reports.rtp_report.slices import judged_row
from shoeproof.audit_reports.statistics.verdict import INCONCLUSIVE, OUT_OF_RANGE, level_of_each

WINDOW: Final = 30
"""Days of a window: those that GLI-19 2.9.2 has shown, and that live monitoring looks back on."""

YEAR: Final = 365
"""Days whose windows share a level alike."""

ROLLING_SHARE: Final = 0.1
"""The share of a game's level by which its windows are judged, of all bets and days together."""

Windows = Mapping[str, Sequence[Rolling]]
"""The windows of each bet, in the order of their days."""


def windows_of(
    calendar: Sequence[SliceRow], mine: SliceRow, last: date | None, level: float
) -> dict[str, list[Rolling]]:
    """Return a game's windows to each day with a round, and to `last`, by bet.

    `calendar` has the cells of days; all windows of a bet share `level`.
    """
    by_bet: dict[str, list[SliceRow]] = {}
    for cell in calendar:
        if cell.key[:3] == mine.key[:3] and cell.sums.rounds:
            by_bet.setdefault(cell.key.bet, []).append(cell)
    first = min((_day(cell) for cells in by_bet.values() for cell in cells), default=None)
    if first is None:
        return {}
    return {bet: list(_windows(cells, first, last, level)) for bet, cells in by_bet.items()}


def _windows(
    cells: list[SliceRow], first: date, last: date | None, level: float
) -> Iterator[Rolling]:
    cells = sorted(cells, key=_day)
    days = [_day(cell) for cell in cells]
    ends = days if last is None or last <= days[-1] else [*days, last]
    for end in ends:
        # A clock may say anything, the first days there are among it.
        begin = end - timedelta(days=min(WINDOW - 1, (end - date.min).days))
        of_window = cells[bisect_left(days, begin) : bisect_right(days, end)]
        if of_window:
            share = level_of_each(level, (end - first).days // YEAR + 1) / YEAR
            yield _judged(summed(of_window), begin, end, share)


def _judged(cell: SliceRow, begin: date, end: date, level: float) -> Rolling:
    found = judged_row(cell, level)
    return Rolling(
        bet=found.bet,
        first=begin.isoformat(),
        last=end.isoformat(),
        rounds=found.rounds,
        initial_minor=found.initial_minor,
        rtp_on_initial_stakes=found.rtp_on_initial_stakes,
        interval=found.interval,
        expected=found.expected,
        luck_z=found.luck_z,
        word=found.word or INCONCLUSIVE,
        why=found.why,
    )


def accused_windows(windows: Windows) -> Iterator[str]:
    """Say for each bet which window was the first out of range, why, and how many more were."""
    for bet, of_bet in windows.items():
        found = list(filter(_is_left, of_bet))
        if found:
            others = len(found) - 1
            after = "1 window" if others == 1 else f"{others:,} windows"
            more = f"; and {after} after it" if others else ""
            why = "; ".join(found[0].why)
            yield f"{WINDOW} days to {found[0].last}, {bet_words(bet)}: {why}{more}"


def first_left(windows: Windows) -> tuple[Rolling, ...]:
    """Return for each bet the first window that was out of range."""
    found = (next(filter(_is_left, of_bet), None) for of_bet in windows.values())
    return tuple(each for each in found if each is not None)


def _is_left(window: Rolling) -> bool:
    return window.word == OUT_OF_RANGE


def latest(windows: Windows, last: date | None) -> tuple[Rolling, ...]:
    """Return for each bet the window to the last day there is, which is one for all bets."""
    ends = [of_bet[-1].last for of_bet in windows.values() if of_bet]
    end = max(ends, default="") if last is None else last.isoformat()
    return tuple(each for of_bet in windows.values() for each in of_bet if each.last == end)


def _day(cell: SliceRow) -> date:
    return date.fromisoformat(cell.slice["day"] or "")
