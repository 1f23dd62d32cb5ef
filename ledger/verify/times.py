"""Times that cannot be: of rounds before there was a ledger, of the future, and in rounds' names.

Inside a stream no event is earlier than the one before it, so the ends of a round bound it.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from shoeproof.ledger import findings as codes
from shoeproof.ledger.findings import Finding
from shoeproof.ledger.leaf.clock import format_time, parse_time
from shoeproof.ledger.leaf.streams import stream_kind

TOLERANCE: Final = timedelta(days=1)
"""How far clocks of honest hosts may be apart before it is a finding."""

ID_TOLERANCE: Final = timedelta(days=10 * 366)
"""How far the time in a round's id may be from its opening. Nothing is derived from it, and ids may
be made ahead, or on a host whose clock is not the ledger's: what is decades off is no such id.
"""


class RoundEnd(NamedTuple):
    """The event that opens or ends a round: its leaf, its stream, its time."""

    leaf_index: int
    stream: str
    at: str
    opens: bool


class TimeBounds(NamedTuple):
    """The earliest and the latest time that an event of a ledger can have, as it writes times."""

    earliest: str
    latest: str

    @classmethod
    def of(cls, first: str, now: datetime) -> "TimeBounds":
        """Return those of a ledger whose first event is of that time."""
        try:
            began = parse_time(first)
        except ValueError:
            began = datetime(1, 1, 1, tzinfo=UTC) + TOLERANCE
        return cls(format_time(began - TOLERANCE), format_time(now + TOLERANCE))

    def findings(self, ends: Iterable[RoundEnd]) -> Iterator[Finding]:
        """Yield those of rounds that begin or end at another time than they can."""
        for end in ends:
            if self.earliest <= end.at <= self.latest:
                continue
            when = "before the ledger began" if end.at < self.earliest else "which is in the future"
            text = f"the clock showed {end.at}, {when}"
            yield Finding(codes.CLOCK_IMPLAUSIBLE, text, end.stream, end.leaf_index)


def misnamed(ends: Iterable[RoundEnd]) -> Iterator[Finding]:
    """Yield the findings of rounds whose id, a UUID of version 7, bears another time (RFC 9562)."""
    for end in ends:
        if not end.opens or stream_kind(end.stream) != "round":
            continue
        seconds = int(end.stream[:8] + end.stream[9:13], 16) / 1_000
        opened = parse_time(end.at).timestamp()
        if abs(seconds - opened) > ID_TOLERANCE.total_seconds():
            named = datetime.fromtimestamp(0, UTC) + timedelta(seconds=seconds)
            text = f"the round's id is of {named:%Y-%m-%d %H:%M} UTC, but it was opened at {end.at}"
            yield Finding(codes.ID_OF_ANOTHER_TIME, text, end.stream, end.leaf_index, 0)
