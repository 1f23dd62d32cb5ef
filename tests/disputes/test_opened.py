"""A case from the receipt of a complaint: its deadline, and which cases stand beside each other."""

from datetime import UTC, datetime, timedelta

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.clock import format_time
from shoeproof.replay.cases.assessment import Assessment
from shoeproof.replay.disputes.record import open_case
from shoeproof.replay.errors import DisputeRefused
from shoeproof.replay.rounds.catalogue import add_published_games
from tests.audit_reports.helpers import simple
from tests.disputes.money import (
    Staff,
    assessed,
    award,
    cases_of,
    decide,
    disputed,
    hire,
    play,
    price,
    remedy,
)

OPENED = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.moment = OPENED

    def __call__(self) -> datetime:
        return self.moment


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ledger(clock: Clock) -> Ledger:
    ledger = Ledger.in_memory("tests.example/opened", clock=clock)
    add_published_games(ledger)
    return ledger


@pytest.fixture
def staff(ledger: Ledger) -> Staff:
    return hire(ledger)


# The clock starts at receipt


def test_the_deadline_runs_from_receipt(ledger: Ledger, clock: Clock) -> None:
    round_id = play(ledger, simple(0))
    clock.moment = OPENED + timedelta(days=3)
    received = OPENED + timedelta(days=1)
    case = open_case(ledger, round_id, "other", received=received)
    assert case.opened.deadline == format_time(received + timedelta(days=10))
    assert case.received_at == format_time(received)
    assert case.age(clock.moment) == timedelta(days=2)
    assert not case.is_late


def test_without_a_receipt_it_runs_from_the_opening(ledger: Ledger) -> None:
    case = open_case(ledger, play(ledger, simple(0)), "other")
    assert case.opened.received is None
    assert case.received_at == case.opened_at
    assert case.opened.deadline == format_time(OPENED + timedelta(days=10))


@pytest.mark.parametrize(
    ("after", "late"), [(timedelta(days=10), False), (timedelta(days=10, microseconds=1), True)]
)
def test_a_case_opened_past_its_own_deadline_says_so(
    ledger: Ledger, clock: Clock, after: timedelta, late: bool
) -> None:
    round_id = play(ledger, simple(0))
    clock.moment = OPENED + after
    case = open_case(ledger, round_id, "other", received=OPENED)
    assert (case.is_late, case.is_overdue(clock.moment)) == (late, late)


def test_a_case_answered_late(ledger: Ledger, clock: Clock, staff: Staff) -> None:
    round_id = disputed(ledger, simple(0))
    clock.moment = OPENED + timedelta(days=11)
    decide(ledger, sound(round_id), "honour", staff.ann)
    (case,) = cases_of(ledger, round_id)
    assert (case.was_answered_late, case.is_late) == (True, False)
    assert not case.is_overdue(clock.moment)


def test_a_complaint_is_not_received_in_the_future(ledger: Ledger) -> None:
    round_id = play(ledger, simple(0))
    with pytest.raises(DisputeRefused, match="received in the future"):
        open_case(ledger, round_id, "other", received=OPENED + timedelta(seconds=1))


def test_a_complaint_is_not_received_before_the_round_was(ledger: Ledger, clock: Clock) -> None:
    clock.moment = OPENED + timedelta(days=1)
    round_id = play(ledger, simple(0))
    with pytest.raises(DisputeRefused, match="its round was opened after that, at 2026-03-02"):
        open_case(ledger, round_id, "other", received=OPENED)
    assert cases_of(ledger, round_id) == ()


# Which cases stand beside each other


def sound(round_id: str) -> Assessment:
    return assessed(round_id, remedy("honour", price(100, 0, 0), governs=True))


def referred(ledger: Ledger, staff: Staff) -> str:
    round_id = disputed(ledger, simple(0))
    decide(ledger, assessed(round_id), "refer", staff.ann)
    return round_id


def test_a_referred_case_does_not_block_another_complaint(ledger: Ledger, staff: Staff) -> None:
    round_id = referred(ledger, staff)
    assert open_case(ledger, round_id, "fairness").id == f"{round_id}.2"
    decide(ledger, sound(round_id), "honour", staff.ann)
    assert [case.state for case in cases_of(ledger, round_id)] == ["referred", "decided"]


def test_the_first_of_an_adjudicator_s_two_signatures_does_not_either(
    ledger: Ledger, staff: Staff
) -> None:
    round_id = referred(ledger, staff)
    award(ledger, sound(round_id), 100, staff.ann)
    assert open_case(ledger, round_id, "fairness").number == 2


@pytest.mark.parametrize("state", ["open", "awaiting second key"])
def test_a_case_that_waits_does(ledger: Ledger, staff: Staff, state: str) -> None:
    round_id = disputed(ledger, simple(0))
    if state != "open":
        award(ledger, sound(round_id), 100, staff.ann)
    with pytest.raises(DisputeRefused, match=rf"\.1 about this round is {state}: decide it first"):
        open_case(ledger, round_id, "fairness")
