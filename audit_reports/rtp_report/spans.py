"""Moments in UTC, days, ISO weeks and months of a zone, and those in which nothing happened."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Final
from zoneinfo import ZoneInfo

from shoeproof.audit_reports.rtp_report.model import Idle

PERIODS: Final = {"day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m"}
"""The spans of time that figures can be shown by, each with how it is written."""

_READ: Final = {"day": ("", "%Y-%m-%d"), "week": ("-1", "%G-W%V-%u"), "month": ("", "%Y-%m")}


def span_name(period: str, day: date) -> str:
    """Return how the day, week or month that a day is in is written."""
    # Years before 1000, which a clock may say, are not padded by strftime.
    return f"{day:{PERIODS[period]}}".zfill(len(f"{date.max:{PERIODS[period]}}"))


def moment_text(at: datetime) -> str:
    """Return a moment as RFC 3339 to the millisecond, `2026-01-31T08:00:00.000Z`.

    One without a zone, as a query returns it, is in UTC.
    """
    known = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    text = known.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def day_of(moment: datetime, zone: str) -> date:
    """Return the day on which clocks of a zone showed a moment; its own where the calendar ends."""
    try:
        return moment.astimezone(ZoneInfo(zone)).date()
    except OverflowError:
        return moment.date()


def idle_spans(
    period: str,
    active: Iterable[str],
    begin: datetime | None,
    end: datetime | None,
    *,
    zone: str = "UTC",
) -> tuple[Idle, ...]:
    """Return the runs of days, weeks or months that are not `active`, in order.

    They lie between the first and the last active one, or from `begin` on and before `end` where
    these are given. Days are those of `zone`.
    """
    numbers = sorted({_number(period, _first_day(period, name)) for name in active})
    if not numbers:
        return ()
    before, after = numbers[0] - 1, numbers[-1] + 1
    if begin is not None:
        before = min(before, _number(period, day_of(begin, zone)) - 1)
    if end is not None:
        after = max(after, _number(period, day_of(end - timedelta(microseconds=1), zone)) + 1)
    return tuple(
        Idle(_name(period, one + 1), _name(period, other - 1))
        for one, other in pairwise((before, *numbers, after))
        if other - one > 1
    )


def _number(period: str, day: date) -> int:
    """Return which day, week or month since the beginning of the calendar a day is in."""
    if period == "month":
        return 12 * day.year + day.month - 1
    # The first day of the calendar is a Monday.
    return day.toordinal() if period == "day" else (day.toordinal() - 1) // 7


def _name(period: str, number: int) -> str:
    if period == "month":
        begun = date(number // 12, number % 12 + 1, 1)
    else:
        begun = date.fromordinal(number if period == "day" else 7 * number + 1)
    return span_name(period, begun)


def _first_day(period: str, name: str) -> date:
    weekday, form = _READ[period]
    return datetime.strptime(name + weekday, form).date()
