"""A case decided by `resume` gives the player the whole period again, from the decision on."""

from datetime import datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoeproof.ledger.keys.key import FileSigner, PublicKey
from shoeproof.ledger.leaf.clock import format_time
from shoeproof.ledger.leaf.events import (
    AlarmRaised,
    DecisionOffered,
    DisputeDecided,
    DisputeOpened,
    ServiceStarted,
    ServiceStopped,
)
from shoeproof.ledger.leaf.streams import OPERATIONS_STREAM
from shoeproof.ledger.rotation import add_key
from shoeproof.replay.audit.one_by_one import audit as scalar_audit
from shoeproof.replay.bulk.audit import audit
from shoeproof.replay.cases.case import dispute_stream
from shoeproof.replay.disputes.assess import assess
from shoeproof.replay.disputes.evidence import gather
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.errors import InputRefusedError
from shoeproof.replay.interruptions.check import circumstances_of
from shoeproof.replay.live.live_round import LiveRound
from shoeproof.replay.live.open_rounds import OpenRounds
from shoeproof.replay.live.resume import resume_round
from shoeproof.replay.live.sweep import sweep
from tests.replay.faults import Floor, asked, with_zero_default
from tests.replay.helpers import NOON

TEN, TWENTY = timedelta(minutes=10), timedelta(minutes=20)
A_MOMENT = timedelta(microseconds=1)


@pytest.fixture
def nba() -> Floor:
    return Floor("nba")


def _open_case(floor: Floor, live: LiveRound) -> None:
    opened = DisputeOpened(live.round_id, "disconnection", None, [], None)
    floor.ledger.append((dispute_stream(live.round_id), opened))


def _sign(floor: Floor, live: LiveRound, remedy: str = "resume", keys_needed: int = 1) -> None:
    decided = DisputeDecided(live.round_id, [], "a clause", "upheld", remedy, None, 0, keys_needed)
    floor.ledger.append((dispute_stream(live.round_id), decided))


def _decide(floor: Floor, live: LiveRound, remedy: str = "resume", keys_needed: int = 1) -> None:
    _open_case(floor, live)
    _sign(floor, live, remedy, keys_needed)


def _second_person(floor: Floor, name: str) -> None:
    signer = FileSigner(name, Ed25519PrivateKey.generate())
    add_key(floor.ledger, PublicKey(name, signer.public_key), ["staff"])
    floor.ledger.sign_with("staff", signer)


def _codes(floor: Floor) -> list[str]:
    """What every audit of the rounds finds, cases apart."""
    found = scalar_audit(floor.ledger)
    for partitions in (1, 5):
        assert audit(floor.ledger, partitions=partitions).rounds == found
    return [each.code for each in found.findings if "/" not in (each.stream or "")]


def _listed_due(floor: Floor) -> list[str | None]:
    """When the list of open rounds says that the default is due."""
    rounds = OpenRounds(floor.ledger, floor.ledger.now())
    return [
        rounds.describe(events).default_due
        for events in rounds.read(floor.ledger.rounds(state="open"))
    ]


def _everyone_says(floor: Floor, live: LiveRound, due: datetime) -> None:
    """The table, the list, the sweep and the audit agree on when the default is due."""
    floor.clock.moment = due - A_MOMENT
    assert not live.apply_due()
    assert _listed_due(floor) == [format_time(due)]
    result = sweep(floor.ledger)
    assert (result.swept, result.next_due) == ((), format_time(due))
    floor.clock.moment = due
    floor.ledger.append((OPERATIONS_STREAM, AlarmRaised(1, None, "time passes")))
    assert _codes(floor) == ["default_overdue"]
    found = assess(gather(floor.ledger, live.round_id)).findings
    assert "default_overdue" in [each.code for each in found]
    assert [each.did for each in sweep(floor.ledger).swept] == ["stood"]
    assert _codes(floor) == []


def test_the_period_runs_from_the_decision(nba: Floor) -> None:
    live = nba.deal(asked)
    nba.clock.moment = NOON + TEN
    _decide(nba, live)
    _everyone_says(nba, live, NOON + TEN + TWENTY)


def test_an_input_after_the_old_deadline_is_in_time(nba: Floor) -> None:
    live = nba.deal(asked)
    nba.clock.moment = NOON + TEN
    _decide(nba, live)
    nba.clock.moment = NOON + TEN + TWENTY - A_MOMENT
    again = resume_round(nba.ledger, live.round_id)
    assert isinstance(again.due, Decide)
    again.decide(again.due.hand, "stand")
    assert nba.acts(live)[-1][2] == "player"
    assert _codes(nba) == []


def test_an_input_at_the_new_deadline_is_late(nba: Floor) -> None:
    live = nba.deal(asked)
    nba.clock.moment = NOON + TEN
    _decide(nba, live)
    nba.clock.moment = NOON + TEN + TWENTY
    with pytest.raises(InputRefusedError, match=r"was due at 2026-01-02T12:30:00\.000000Z"):
        live.decide("s1", "stand")
    assert nba.acts(live)[-1][2] == "system"
    assert _codes(nba) == []


def test_a_stand_by_the_system_before_the_new_deadline_is_early(nba: Floor) -> None:
    live = nba.deal(asked)
    nba.clock.moment = NOON + TEN
    _decide(nba, live)
    nba.clock.moment = NOON + TWENTY
    live._apply_default([], nba.clock.moment)
    assert _codes(nba) == ["default_early"]


@pytest.mark.parametrize("after", [timedelta(0), A_MOMENT, timedelta(days=1)])
def test_a_decision_once_the_default_was_due_revives_nothing(after: timedelta, nba: Floor) -> None:
    live = nba.deal(asked)
    nba.clock.moment = NOON + TWENTY + after
    _decide(nba, live)
    assert _listed_due(nba) == [format_time(NOON + TWENTY)]
    assert "default_overdue" in _codes(nba)
    assert [each.did for each in sweep(nba.ledger).swept] == ["stood"]
    assert _codes(nba) == []


def test_an_offer_made_afterwards_names_the_period_from_the_offer_on(nba: Floor) -> None:
    live = nba.deal(asked, acts=("hit", "stand", "decline"))
    nba.clock.moment = NOON + TEN
    _decide(nba, live)
    nba.clock.moment = NOON + TEN + TEN + TEN - A_MOMENT
    again = resume_round(nba.ledger, live.round_id)
    again.decide("s1", "hit")
    at = nba.clock.moment
    while isinstance(again.due, Decide):
        assert nba.said(live, DecisionOffered)[-1].deadline == format_time(at + TWENTY)
        again.decide(again.due.hand, "stand")
    assert _codes(nba) == []


def test_every_offer_of_a_default_names_a_deadline_that_the_audit_expects(nba: Floor) -> None:
    live = nba.deal(asked, stakes={f"s{seat}": {"main": 100} for seat in (1, 2, 3)})
    nba.clock.moment = NOON + TEN
    _decide(nba, live)
    nba.clock.moment = NOON + TEN + TWENTY
    assert [each.did for each in sweep(nba.ledger).swept] == ["stood"]
    assert _codes(nba) == []


def test_a_decision_during_an_outage_and_an_outage_after_it(nba: Floor) -> None:
    live = nba.deal(asked)
    nba.clock.moment = NOON + TEN
    _decide(nba, live)
    nba.clock.moment = NOON + TWENTY + timedelta(minutes=5)
    nba.operate(ServiceStopped(3, None, None))
    nba.clock.moment += timedelta(hours=1)
    nba.operate(ServiceStarted(3, None, None))
    _everyone_says(nba, live, nba.clock.moment + TWENTY)


@pytest.mark.parametrize("remedy", ["void", "refer", "honour", "apply_default"])
def test_no_other_remedy_restarts_the_period(remedy: str, nba: Floor) -> None:
    live = nba.deal(asked)
    nba.clock.moment = NOON + TEN
    _decide(nba, live, remedy)
    _everyone_says(nba, live, NOON + TWENTY)


def test_a_decision_that_needs_another_person_does_not_stand_yet(nba: Floor) -> None:
    live = nba.deal(asked)
    nba.clock.moment = NOON + TEN
    _decide(nba, live, keys_needed=2)
    _sign(nba, live, keys_needed=2)
    _everyone_says(nba, live, NOON + TWENTY)


def test_a_decision_of_two_persons_counts_from_the_second_signature(nba: Floor) -> None:
    live = nba.deal(asked)
    nba.clock.moment = NOON + timedelta(minutes=5)
    _decide(nba, live, keys_needed=2)
    _second_person(nba, "ann")
    nba.clock.moment = NOON + TEN
    _sign(nba, live, keys_needed=2)
    _everyone_says(nba, live, NOON + TEN + TWENTY)


def test_another_round_s_decision_is_not_this_one_s(nba: Floor) -> None:
    live, other = nba.deal(asked), nba.deal(asked)
    nba.clock.moment = NOON + TEN
    _decide(nba, other)
    assert sorted(str(due) for due in _listed_due(nba)) == [
        format_time(NOON + TWENTY),
        format_time(NOON + TEN + TWENTY),
    ]
    nba.clock.moment = NOON + TWENTY
    assert [each.round for each in sweep(nba.ledger).swept] == [live.round_id]
    assert _codes(nba) == []


def test_where_only_a_loss_counts_a_decision_restarts_what_runs_from_the_loss() -> None:
    floor = with_zero_default()
    live = floor.deal(asked)
    live.lose_connection()
    floor.clock.moment = NOON + timedelta(minutes=5)
    _decide(floor, live)
    _everyone_says(floor, live, NOON + timedelta(minutes=15))


def test_without_a_timer_a_decision_begins_the_longest_wait_anew() -> None:
    floor = Floor("zappit")
    live = floor.deal(asked)
    floor.clock.forward(days=80)
    _decide(floor, live)
    floor.clock.forward(days=90)
    floor.ledger.append((OPERATIONS_STREAM, AlarmRaised(1, None, "time passes")))
    assert _codes(floor) == []
    floor.clock.forward(microseconds=1)
    floor.ledger.append((OPERATIONS_STREAM, AlarmRaised(1, None, "time passes")))
    assert _codes(floor) == ["settlement_overdue"]


def test_circumstances_carry_every_decision_that_stands(nba: Floor) -> None:
    live, other = nba.deal(asked), nba.deal(asked)
    nba.clock.moment = NOON + TEN
    _decide(nba, live)
    size = nba.ledger.size()
    _decide(nba, other, "void")
    told = circumstances_of(nba.ledger)
    [resumed], [voided] = told.decisions[live.round_id], told.decisions[other.round_id]
    assert (resumed.leaf_index, resumed.at, resumed.remedy) == (size - 1, NOON + TEN, "resume")
    assert voided.remedy == "void"
    assert list(circumstances_of(nba.ledger, round_id=live.round_id).decisions) == [live.round_id]
    assert list(circumstances_of(nba.ledger, size).decisions) == [live.round_id]
