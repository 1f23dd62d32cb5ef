"""What was paid and taken out of the database afterwards is not paid again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import AlarmRaised
from shoeproof.replay.cases.case import dispute_stream, read_cases
from shoeproof.replay.disputes.decide import plan_decision
from shoeproof.replay.disputes.evidence import gather
from shoeproof.replay.disputes.record import carry_out, open_case, release_held
from shoeproof.replay.errors import DisputeRefused
from shoeproof.replay.rounds.catalogue import add_published_games
from tests.disputes import live
from tests.disputes.money import Staff, hire
from tests.disputes.stage import investigate
from tests.ledger.helpers import tampering

UNDERPAID = "natural"
ELSEWHERE = "01936f3c-7a10-7b3e-9c55-2f6d8a1b4c5d"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.init(tmp_path / "ledger", "tests.example/taken") as ledger:
        add_published_games(ledger)
        yield ledger


@pytest.fixture
def staff(ledger: Ledger) -> Staff:
    return hire(ledger)


def paid_round(ledger: Ledger, staff: Staff) -> str:
    """A natural that was underpaid, resettled by a decision, with other events after it."""
    round_id = live.play(ledger, lambda bet: bet.line == UNDERPAID, change=live.underpay)
    open_case(ledger, round_id, "settlement")
    assert pay(ledger, round_id, staff) == 750
    ledger.append(("operations", AlarmRaised(1, None, "nothing is wrong")))
    return round_id


def pay(ledger: Ledger, round_id: str, staff: Staff) -> int:
    """Decide the open case as it governs, and return what was paid."""
    evidence, assessment = gather(ledger, round_id), investigate(ledger, round_id, "settlement")
    cases = read_cases(ledger, round_id)
    plan = plan_decision(evidence, assessment, cases, "resettle", key="ann")
    carry_out(ledger, evidence, plan, staff.ann)
    return plan.decided.amount_minor


def test_a_payment_that_was_deleted_is_evidence_that_is_missing(
    ledger: Ledger, staff: Staff
) -> None:
    round_id = paid_round(ledger, staff)
    assert ledger.path is not None
    with tampering(ledger.path) as database:
        database.execute("DELETE FROM stored_events WHERE topic = 'BetResettled'")
    found = investigate(ledger, round_id)
    assert found.classes[0] == "evidence_missing"
    assert not found.money_may_move
    assert found.governing.name == "refer"


def test_a_case_that_was_deleted_is_not_paid_again(ledger: Ledger, staff: Staff) -> None:
    round_id = paid_round(ledger, staff)
    assert ledger.path is not None
    with tampering(ledger.path) as database:
        rows = "SELECT event_rowid FROM stored_events WHERE originator_id = ?"
        database.execute(f"DELETE FROM leaves WHERE event_rowid IN ({rows})", stream(round_id))
        database.execute("DELETE FROM stored_events WHERE originator_id = ?", stream(round_id))
    refused(ledger, round_id, staff, "leaves of this ledger are missing")


def test_a_case_that_was_given_to_another_round_is_not_paid_again(
    ledger: Ledger, staff: Staff
) -> None:
    round_id = paid_round(ledger, staff)
    assert ledger.path is not None
    with tampering(ledger.path) as database:
        database.execute(
            "UPDATE stored_events SET originator_id = ? WHERE originator_id = ?",
            (*stream(ELSEWHERE), *stream(round_id)),
        )
    refused(ledger, round_id, staff, f"was moved to disputes/{ELSEWHERE}")


def test_a_release_that_was_given_to_another_round_is_not_paid_again(
    ledger: Ledger, staff: Staff
) -> None:
    stakes = {"s1": {"main": 1_000_001}}
    round_id = live.play(ledger, live.won, game="zero", stakes=stakes, currency="GBP")
    release_held(ledger, gather(ledger, round_id), investigate(ledger, round_id), (), staff.ann)
    assert ledger.path is not None
    with tampering(ledger.path) as database:
        database.execute(
            "UPDATE stored_events SET originator_id = ?, originator_version = 1"
            " WHERE topic = 'WinReleased'",
            (f"holds/{ELSEWHERE}",),
        )
    with pytest.raises(DisputeRefused, match=f"was moved to holds/{ELSEWHERE}"):
        release_held(ledger, gather(ledger, round_id), investigate(ledger, round_id), (), staff.ann)


def stream(round_id: str) -> tuple[str]:
    return (dispute_stream(round_id),)


def refused(ledger: Ledger, round_id: str, staff: Staff, why: str) -> None:
    """Open the case anew, as if there had been none, and see that it is not paid."""
    assert ledger.path is not None
    with Ledger.open(ledger.path) as fresh:
        open_case(fresh, round_id, "settlement")
        size = fresh.size()
        with pytest.raises(DisputeRefused, match=why):
            pay(fresh, round_id, staff)
        assert fresh.size() == size
