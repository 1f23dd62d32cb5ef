"""Time as a ledger writes it: RFC 3339, always UTC, always six decimals, always `Z`.

One form only, so that two times compare as text. Code that needs the time is given a `Clock`.
"""

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final, TypeAlias

from shoeproof.ledger.errors import ClockStepped

Clock: TypeAlias = Callable[[], datetime]
"""Gives the present moment as an aware datetime."""

CLOCK_TOLERANCE: Final = 5
"""How many seconds a host's clock may be behind a stream, or step at once, before it is refused."""

_form = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII).fullmatch


def utc_now() -> datetime:
    """Return the present moment in UTC, by this machine's clock."""
    return datetime.now(UTC)


def steady_seconds() -> float:
    """Return seconds by a clock of this machine that nobody can set; sleep counts where it can."""
    kind = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(kind)


class SteadyClock:
    """A clock that is held, each time it is asked, to one that nobody can set.

    Small corrections are followed. A leap of more than `CLOCK_TOLERANCE` seconds between two looks
    raises ClockStepped, and goes on doing so until the clock is set right or the program started
    anew: no event is dated by such a clock, and no default is due by it.
    """

    def __init__(self, wall: Clock = utc_now, steady: Callable[[], float] = steady_seconds) -> None:
        """Hold `wall` to `steady`, which gives seconds since any moment."""
        self._wall, self._steady = wall, steady
        self._last = wall(), steady()

    def __call__(self) -> datetime:
        """Return the present moment by the clock that can be set."""
        wall, steady = self._wall(), self._steady()
        last_wall, last_steady = self._last
        leap = wall - last_wall - timedelta(seconds=steady - last_steady)
        if abs(leap) > timedelta(seconds=CLOCK_TOLERANCE):
            seconds = leap.total_seconds()
            raise ClockStepped(
                f"this host's clock jumped {'forward' if seconds > 0 else 'back'} by"
                f" {abs(seconds):,.1f} seconds, and {CLOCK_TOLERANCE} are tolerated: nothing is"
                " written and no default is applied; correct the clock, or restart the program"
                " if it is right now"
            )
        self._last = wall, steady
        return wall


def format_time(moment: datetime) -> str:
    """Return an aware datetime as a ledger writes it, `2026-01-02T03:04:05.000001Z`.

    Raises ValueError for a naive datetime: it names no moment.
    """
    if moment.utcoffset() is None:
        raise ValueError("a time must have a time zone")
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


@lru_cache(maxsize=1024)
def parse_time(text: str) -> datetime:
    """Return the UTC datetime of a time as a ledger writes it.

    Raises ValueError for every other form, also for those RFC 3339 allows.
    """
    if _form(text) is None:
        raise ValueError(f"{text!r} is not a time like 2026-01-02T03:04:05.000001Z")
    return datetime.fromisoformat(text)


def not_before(moment: datetime, last: datetime) -> datetime:
    """Return the time of what follows an event of the time `last`: `moment`, or `last` where that
    is a little later.

    Raises ClockStepped where `moment` is behind it by more than `CLOCK_TOLERANCE` seconds.
    """
    if moment >= last:
        return moment
    behind = (last - moment).total_seconds()
    if behind > CLOCK_TOLERANCE:
        raise ClockStepped(
            f"nothing was written: this host's clock shows {format_time(moment)}, {behind:,.1f} "
            f"seconds before the last event of the stream, and {CLOCK_TOLERANCE} are tolerated: "
            f"correct the clock"
        )
    return last
