"""When the system may act for the player, around outages and under policies of every kind."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from shoeproof.replay.games.policies import POLICIES, Policy
from shoeproof.replay.interruptions.waiting import Outage, Waiting, default_due, with_resumptions
from tests.replay.helpers import NOON

RESTARTS = POLICIES["nba"]
COUNTS_ON = replace(RESTARTS, service_stop_restarts_period=False)
"""A policy of no game here: after an outage only what was left of the period is left."""

ASKED = Waiting(NOON, laid=True, dealt=True, offered=True)


def at(minutes: float) -> timedelta:
    return timedelta(minutes=minutes)


def outage(start: float | None, stop: float | None) -> Outage:
    begun, ended = (None if each is None else NOON + at(each) for each in (start, stop))
    return Outage(begun, ended, None)


@pytest.mark.parametrize(
    ("outages", "restarting", "counting_on"),
    [
        ([], 20, 20),
        ([outage(5, 15)], 35, 30),
        ([outage(5, 15), outage(25, 26)], 46, 31),
        ([outage(-5, 1)], 21, 21),
        ([outage(-5, 0)], 20, 20),
        ([outage(20, 30)], 20, 20),
        ([outage(19, 30)], 50, 31),
        # Nobody recorded when it stopped: it may have been right after the offer.
        ([outage(None, 15)], 35, 35),
    ],
    ids=[
        "none", "within", "two", "before the offer and on", "until the offer", "at the deadline",
        "just before the deadline", "a breakdown",
    ],
)  # fmt: skip
def test_after_an_outage_the_period_begins_again_or_goes_on_as_the_policy_says(
    outages: list[Outage], restarting: float, counting_on: float
) -> None:
    later = NOON + timedelta(hours=2)
    assert default_due(ASKED, RESTARTS, outages, later) == NOON + at(restarting)
    assert default_due(ASKED, COUNTS_ON, outages, later) == NOON + at(counting_on)


@pytest.mark.parametrize("policy", [RESTARTS, COUNTS_ON])
def test_nothing_is_due_while_the_service_stands_still(policy: Policy) -> None:
    stopped = [outage(5, 15)]
    assert default_due(ASKED, policy, stopped, NOON + at(15) - timedelta.resolution) is None
    assert default_due(ASKED, policy, stopped, NOON + at(15)) is not None


def test_an_outage_that_is_to_come_changes_nothing_yet() -> None:
    moment = NOON + at(5)
    assert default_due(ASKED, RESTARTS, [outage(5, None)], moment) is None
    before = moment - timedelta.resolution
    assert default_due(ASKED, RESTARTS, [outage(5, None)], before) == NOON + at(20)


def test_a_decision_to_resume_grants_the_whole_period_under_any_policy() -> None:
    resumed = with_resumptions([], [NOON + at(15)])
    assert default_due(ASKED, COUNTS_ON, resumed, NOON + at(30)) == NOON + at(35)
