"""A second look at the clock, for programs that run for a moment and act by what time it is.

Each look is kept beside the ledger: the time it was, what a clock that nobody can set said then,
and which start of the machine that clock counts from. Where the time leapt since the last look by
more than is tolerated, nothing is to be done by it before it has been looked at once more.
"""

from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from shoeproof.ledger.errors import ClockStepped
from shoeproof.ledger.files.durable import write_durably
from shoeproof.ledger.files.foreign import read_json
from shoeproof.ledger.leaf.clock import CLOCK_TOLERANCE, format_time, parse_time, steady_seconds

_FILE: Final = "clock"
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")


class _Look(msgspec.Struct, frozen=True):
    boot: str
    steady_seconds: float
    at: str


def look_again(directory: Path, now: datetime, steady: float | None = None) -> None:
    """Keep a look at the clock, and hold it to the one before it of this start of the machine.

    Raises ClockStepped where the time leapt between the two; the next look is held to this one.
    """
    look = _Look(_boot(), steady_seconds() if steady is None else steady, format_time(now))
    before = _kept(directory / _FILE)
    with suppress(OSError):
        write_durably(directory / _FILE, msgspec.json.encode(look))
    if before is None or not look.boot or before.boot != look.boot:
        return
    passed = (now - parse_time(before.at)).total_seconds()
    leap = passed - (look.steady_seconds - before.steady_seconds)
    if abs(leap) > CLOCK_TOLERANCE:
        raise ClockStepped(
            f"this host's clock jumped {'forward' if leap > 0 else 'back'} by {abs(leap):,.1f}"
            f" seconds since {before.at}, and {CLOCK_TOLERANCE} are tolerated: no default was "
            f"applied; if the clock is right now, run this again"
        )


def _kept(file: Path) -> _Look | None:
    try:
        return read_json(file.read_bytes(), _Look)
    except (OSError, ValueError):
        return None


def _boot() -> str:
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
