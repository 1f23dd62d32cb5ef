"""Moments as clocks of a time zone show them, and what such a clock may have meant.

A ledger knows UTC alone. Clocks of a zone skip times when they go forward, show times twice when
they go back, and have skipped whole days; a person who gives such a time is asked which moment it
is.
"""

from datetime import UTC, datetime, tzinfo

from shoeproof.ledger.leaf.clock import parse_time
from shoeproof.replay.errors import LocalTimeUnclear


def moment_of(local: datetime, zone: tzinfo) -> datetime:
    """Return in UTC the moment at which clocks of `zone` showed `local`, which has no zone itself.

    Raises LocalTimeUnclear, which names both moments in question, for a time that they skipped or
    showed twice, and OverflowError for one outside the calendar.
    """
    # The time by the clocks' offset before a change, and by that after it (PEP 495).
    readings = [local.replace(tzinfo=zone, fold=fold) for fold in (0, 1)]
    first, second = (each.astimezone(UTC) for each in readings)
    if first == second:
        return first
    skipped = first.astimezone(zone).replace(tzinfo=None) != local
    what = "was skipped by the clocks of" if skipped else "came twice on the clocks of"
    either, other = (
        f"{reading.isoformat()} ({moment:%Y-%m-%d %H:%M} UTC)"
        for reading, moment in zip(readings, (first, second), strict=True)
    )
    raise LocalTimeUnclear(f"{local.isoformat()} {what} {zone}: write {either} or {other}")


def clock_text(at: str | datetime, zone: tzinfo, timespec: str = "seconds") -> str:
    """Return a moment, or a ledger's text of one, as clocks of a zone show it.

    It is written `2026-01-31 21:15:00`; `timespec` is as in `datetime.isoformat`. A text that is no
    time, or one that the zone's calendar does not reach, is returned as it stands.
    """
    try:
        return _moment(at).astimezone(zone).replace(tzinfo=None).isoformat(" ", timespec)
    except (ValueError, OverflowError):
        return str(at)


def zoned_text(at: str | datetime, zone: tzinfo, timespec: str = "seconds") -> str:
    """Return a moment as `clock_text` does, with the zone's abbreviation: `… 21:15:00 CET`."""
    shown = clock_text(at, zone, timespec)
    return f"{shown} {_moment(at).astimezone(zone):%Z}" if shown != str(at) else shown


def _moment(at: str | datetime) -> datetime:
    return parse_time(at) if isinstance(at, str) else at
