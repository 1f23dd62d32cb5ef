"""Money beside what is due: an adjudicator's award of any amount, goodwill, and a withdrawal."""

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import Awarded, DisputeDecided
from shoeproof.ledger.verify.whole import verify
from shoeproof.replay.cases.assessment import Assessment
from shoeproof.replay.disputes.decide import plan_award, plan_goodwill, plan_withdrawal
from shoeproof.replay.disputes.record import open_case
from shoeproof.replay.errors import DisputeRefused
from tests.audit_reports.helpers import begun, simple
from tests.disputes.money import (
    MAIN,
    Staff,
    assessed,
    award,
    cases_of,
    decide,
    disputed,
    evidence_of,
    give,
    moved,
    price,
    remedy,
    sign,
)

LIMIT = 100_000
"""What one person may move by the published policies, in the currency of each."""


def lost(round_id: str, *, money_may_move: bool = True) -> Assessment:
    honour = remedy("honour", price(100, 0, 0), governs=True)
    return assessed(round_id, honour, money_may_move=money_may_move)


# An adjudicator may award any amount, for a bet or as a sum


def test_a_sum_of_any_amount_is_paid_with_the_second_person(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(0))
    (proposed,) = award(ledger, lost(round_id), 2_000, staff.ann)
    assert moved(ledger, round_id) == []
    decided, paid = award(ledger, lost(round_id), 2_000, staff.bob)
    assert decided == proposed
    assert isinstance(decided, DisputeDecided)
    said = (decided.remedy, decided.reference, decided.amount_minor, decided.keys_needed)
    assert said == ("award", "ADJ-1", 2_000, 2)
    assert paid == Awarded(round_id, None, None, 2_000, "EUR", None)
    assert cases_of(ledger, round_id)[0].state == "decided"
    assert verify(ledger).findings == []


def test_a_bet_comes_to_its_award_in_all(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(150))
    assessment = assessed(round_id, remedy("honour", price(100, 150, 150), governs=True))
    for signer in (staff.ann, staff.bob):
        award(ledger, assessment, 200, signer, MAIN)
    assert moved(ledger, round_id) == [Awarded(round_id, "s1", "main", 50, "EUR", None)]


@pytest.mark.parametrize("amount", [149, 150])
def test_an_award_of_a_bet_is_never_below_what_stands(
    ledger: Ledger, staff: Staff, amount: int
) -> None:
    round_id = disputed(ledger, simple(150))
    assessment = assessed(round_id, remedy("honour", price(100, 150, 150), governs=True))
    with pytest.raises(DisputeRefused, match=r"s1:main was paid 1\.50 EUR already"):
        award(ledger, assessment, amount, staff.ann, MAIN)


def test_whoever_signs_second_signs_for_the_same_bet(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(0))
    award(ledger, lost(round_id), 200, staff.ann, MAIN)
    award(ledger, lost(round_id), 200, staff.bob)
    (case,) = cases_of(ledger, round_id)
    assert (case.state, [each.keys for each in case.decisions]) == (
        "awaiting_second_key",
        [("ann",), ("bob",)],
    )


def test_part_awards_add_up(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(0))
    for number, part in enumerate((700, 300), start=1):
        if number > 1:
            open_case(ledger, round_id, "other")
        for signer in (staff.ann, staff.bob):
            award(ledger, lost(round_id), part, signer)
    parts = [data.amount_minor for data in moved(ledger, round_id) if isinstance(data, Awarded)]
    assert parts == [700, 300]
    assert [case.moved_minor for case in cases_of(ledger, round_id)] == [700, 300]


def test_an_adjudicator_may_award_where_evidence_is_forged(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(0))
    for signer in (staff.ann, staff.bob):
        award(ledger, lost(round_id, money_may_move=False), 100, signer)
    assert len(moved(ledger, round_id)) == 1


@pytest.mark.parametrize(
    ("amount", "reference", "bet", "message"),
    [
        (2_000, " ", None, "give the reference"),
        (0, "ADJ-1", None, "above zero"),
        (2_000, "ADJ-1", ("s2", "main"), "no bet s2:main; its bets are s1:main"),
    ],
)
def test_an_award_that_is_none(
    ledger: Ledger,
    staff: Staff,
    amount: int,
    reference: str,
    bet: tuple[str, str] | None,
    message: str,
) -> None:
    round_id = disputed(ledger, simple(0))
    with pytest.raises(DisputeRefused, match=message):
        award(ledger, lost(round_id), amount, staff.ann, bet, reference)


def test_a_bet_that_play_still_decides_is_awarded_nothing(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, begun({"s1": {"main": 100}}))
    resume = assessed(round_id, remedy("resume", price(100, None, None), governs=True))
    with pytest.raises(DisputeRefused, match="not settled yet: award a sum"):
        award(ledger, resume, 200, staff.ann, MAIN)


# Goodwill is the operator's own


def test_goodwill_within_the_limit_needs_one_person(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(0))
    decided, paid = give(ledger, lost(round_id), LIMIT, staff.ann)
    assert isinstance(decided, DisputeDecided)
    assert (decided.remedy, decided.clause) == ("goodwill", "goodwill: a long wait")
    assert paid == Awarded(round_id, None, None, LIMIT, "EUR", None)


def test_goodwill_above_the_limit_needs_two(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(0))
    give(ledger, lost(round_id), LIMIT + 1, staff.ann)
    assert cases_of(ledger, round_id)[0].state == "awaiting_second_key"


def test_goodwill_in_parts_counts_together(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(0))
    give(ledger, lost(round_id), LIMIT - 1, staff.ann)
    open_case(ledger, round_id, "other")
    give(ledger, lost(round_id), 2, staff.ann)
    assert [case.state for case in cases_of(ledger, round_id)] == ["decided", "awaiting_second_key"]


def test_no_goodwill_on_forged_evidence(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(0))
    with pytest.raises(DisputeRefused, match="forged or missing"):
        give(ledger, lost(round_id, money_may_move=False), 100, staff.ann)


def test_goodwill_of_nothing(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(0))
    with pytest.raises(DisputeRefused, match="goodwill needs an amount"):
        give(ledger, lost(round_id), 0, staff.ann)


# The player withdraws


def test_a_withdrawal_closes_the_case_and_moves_nothing(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(0))
    evidence, cases = evidence_of(ledger, round_id), cases_of(ledger, round_id)
    underpaid = assessed(round_id, remedy("resettle", price(100, 0, 250), governs=True))
    plan = plan_withdrawal(evidence, underpaid, cases, key="ann", note="by letter")
    (decided,) = sign(ledger, plan, staff.ann)
    assert isinstance(decided, DisputeDecided)
    assert (decided.remedy, decided.amount_minor, decided.keys_needed) == ("withdraw", 0, 1)
    assert decided.clause == "withdrawn by the player: by letter"
    assert cases_of(ledger, round_id)[0].state == "decided"
    assert open_case(ledger, round_id, "other").number == 2


# Decided once


def test_a_decided_case_takes_no_award_and_no_goodwill(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(0))
    decide(ledger, lost(round_id), "honour", staff.ann)
    evidence, cases = evidence_of(ledger, round_id), cases_of(ledger, round_id)
    with pytest.raises(DisputeRefused, match="decided only once"):
        plan_award(evidence, lost(round_id), cases, 100, key="ann", reference="ADJ-1")
    with pytest.raises(DisputeRefused, match="decided only once"):
        plan_goodwill(evidence, lost(round_id), cases, 100, key="ann", note="x", number=1)
    with pytest.raises(DisputeRefused, match="decided only once"):
        plan_withdrawal(evidence, lost(round_id), cases, key="ann")
