"""Time as a ledger writes it: RFC 3339, always UTC, always six decimals, always `Z`.

One form only, so that two times compare as text. Whoever needs the time is given a `Clock`.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import TypeAlias

Clock: TypeAlias = Callable[[], datetime]
"""Gives the present moment as an aware datetime."""

_form = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII).fullmatch


def utc_now() -> datetime:
    """Return the present moment in UTC, by this machine's clock."""
    return datetime.now(UTC)


def format_time(moment: datetime) -> str:
    """Return an aware datetime as a ledger writes it, `2026-01-02T03:04:05.000001Z`.

    Raises ValueError for a naive datetime: it names no moment.
    """
    if moment.utcoffset() is None:
        raise ValueError("a time without a zone names no moment")
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


@lru_cache(maxsize=1024)
def parse_time(text: str) -> datetime:
    """Return the UTC datetime of a time as a ledger writes it.

    Raises ValueError for every other form, also for those RFC 3339 allows.
    """
    if _form(text) is None:
        raise ValueError(f"{text!r} is not a time like 2026-01-02T03:04:05.000001Z")
    return datetime.fromisoformat(text)
