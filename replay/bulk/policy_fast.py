"""Which rounds are proved to keep the policy they were opened under.

As with the rules (`batch`), only "kept" is ever said here; what is not proved is judged by
`interruptions.check_policy`, which alone makes findings. An ended round with no decision but the
player's keeps its policy when none of its inputs was refused, every offer names the deadline that
the policy gives from the offer on, the whole round took less than the default's time, so that no
input can have been late, and its net win is not one to be held. Outages, and decisions to resume a
round, only ever put a deadline off.
"""

from datetime import timedelta
from functools import lru_cache
from typing import Final, NamedTuple

from shoeproof.ledger.leaf.clock import format_time, parse_time
from shoeproof.replay.games.policies import Policy
from shoeproof.replay.interruptions.check import Circumstances

_MINUTE: Final = len("2026-01-02T03:04:")


class Course(NamedTuple):
    """What a round's policy is judged by: the digest it names, the first and last times of its
    events, each offer's time and deadline, whether the connection was lost or restored, whether an
    input was refused, and the net win in minor units by its totals.
    """

    round_id: str
    policy_digest: str | None
    earliest: str
    latest: str
    offers: list[tuple[str, str | None]]
    interrupted: bool
    refused: bool
    net_win_minor: int


class Quiet:
    """Proves rounds to keep their policies, given a ledger's circumstances."""

    def __init__(self, told: Circumstances) -> None:
        """Judge by these policies and holds."""
        self._policies: dict[str | None, Policy | None] = {None: None}
        self._policies.update(told.policies)
        self._held = told.holds.keys()

    def keeps(self, course: Course) -> bool:
        """Tell whether it is proved that an ended round, sound by its rules, keeps its policy."""
        if course.policy_digest not in self._policies or course.round_id in self._held:
            return False
        if course.refused:
            return False
        policy = self._policies[course.policy_digest]
        if policy is None:
            return all(deadline is None for _, deadline in course.offers)
        bound = policy.hold_net_win_above_minor
        if bound is not None and course.net_win_minor > bound:
            return False
        if policy.default is None:
            return all(deadline is None for _, deadline in course.offers)
        if course.interrupted:
            return False
        if not policy.idling_counts_as_loss:
            # Without a loss no time runs.
            return all(deadline is None for _, deadline in course.offers)
        seconds = policy.default.after_seconds
        took = parse_time(course.latest) - parse_time(course.earliest)
        if took >= timedelta(seconds=seconds):
            return False
        return all(deadline == later(at, seconds) for at, deadline in course.offers)


def later(at: str, seconds: int) -> str:
    """Return the time so many seconds after a time as a ledger writes it, in the same form."""
    if seconds % 60:
        return format_time(parse_time(at) + timedelta(seconds=seconds))
    return _minute_later(at[:_MINUTE], seconds) + at[_MINUTE:]


@lru_cache(maxsize=4096)
def _minute_later(minute: str, seconds: int) -> str:
    moment = parse_time(f"{minute}00.000000Z") + timedelta(seconds=seconds)
    return format_time(moment)[:_MINUTE]
