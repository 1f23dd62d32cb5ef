"""A ledger dated in the past, so that support can rehearse a complaint about it."""

from datetime import datetime, timedelta
from typing import Annotated

import typer

from shoeproof.cli.errors import UsageError
from shoeproof.cli.input.options import parse_local, parse_zone
from shoeproof.ledger.leaf.clock import Clock, utc_now

AtOption = Annotated[
    str | None,
    typer.Option(
        metavar="TIME", help="A past time to date the events, for a rehearsal; by default now."
    ),
]


def rehearsed_clock(at: str | None, zone: str | None) -> Clock | None:
    """Return a clock that begins at a time and goes on by a second each time it is asked.

    It stops at the present. None stands for this machine's clock, where no time was given. Raises
    UsageError for a time in the future, and what `parse_local` raises.
    """
    begin = parse_local(at, parse_zone(zone))
    if begin is None:
        return None
    if begin > utc_now():
        raise UsageError(f"{at} is in the future: a rehearsal is dated in the past")
    return _Rehearsed(begin)


class _Rehearsed:
    def __init__(self, begin: datetime) -> None:
        self._shown = begin

    def __call__(self) -> datetime:
        self._shown = min(self._shown + timedelta(seconds=1), utc_now())
        return self._shown
