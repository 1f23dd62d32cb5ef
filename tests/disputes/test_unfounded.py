"""A decision is held to its assessment, and carried out it leaves nothing due."""

from itertools import product

import pytest
from msgspec.structs import replace

from shoeproof.ledger import Ledger
from shoeproof.ledger.keys.key import Signer
from shoeproof.ledger.leaf.events import (
    Awarded,
    BetResettled,
    DisputeDecided,
    DisputeOpened,
    EventData,
    Refunded,
)
from shoeproof.replay.audit.one_by_one import audit
from shoeproof.replay.bulk.audit import audit as bulk_audit
from shoeproof.replay.cases.assessment import Assessment
from shoeproof.replay.cases.case import Case, dispute_stream, read_cases
from shoeproof.replay.disputes.assess import assess
from shoeproof.replay.disputes.decide import (
    Plan,
    plan_award,
    plan_decision,
    plan_goodwill,
    plan_payment,
    plan_rejection,
    plan_withdrawal,
)
from shoeproof.replay.disputes.evidence import Evidence, evidence_of_case, gather
from shoeproof.replay.disputes.record import carry_out, open_case
from shoeproof.replay.engine.hand import STAND
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.errors import DisputeRefused
from shoeproof.replay.findings import DECISION_UNFOUNDED, KEYS_MISSING
from shoeproof.replay.live.resume import resume_round
from tests.disputes import live
from tests.disputes.money import Staff

STAKE = 1_000
LIMIT = 100_000


def of_decisions(ledger: Ledger) -> list[tuple[str, int]]:
    """What both audits find in disputes, by code and `seq`."""
    findings = audit(ledger).findings
    assert bulk_audit(ledger).rounds.findings == findings
    return [
        (each.code, each.seq or 0)
        for each in findings
        if (each.stream or "").startswith("disputes/")
    ]


def looked_at(ledger: Ledger, round_id: str) -> tuple[Evidence, Assessment, tuple[Case, ...]]:
    evidence = gather(ledger, round_id)
    return evidence, assess(evidence, "settlement"), read_cases(ledger, round_id)


def written(
    ledger: Ledger,
    round_id: str,
    remedy: str,
    amount: int,
    signers: list[Signer],
    reference: str | None = None,
    *,
    paid: EventData,
) -> None:
    """Write a case as other software may: opened, decided by so many, and paid."""
    stream = dispute_stream(round_id)
    ledger.append((stream, DisputeOpened(round_id, "settlement", None, [], None)))
    decided = DisputeDecided(
        round_id, [], "because", "upheld", remedy, reference, amount, len(signers), 1
    )
    for signer in signers:
        ledger.sign_with("staff", signer)
        ledger.append((stream, decided))
    ledger.append((stream, paid))


def resettled(round_id: str, after: int) -> BetResettled:
    return BetResettled(round_id, "s1", "s1", "main", STAKE, 0, after, "win", None)


# What one person may not decide


def test_one_key_that_pays_1_000_00_on_a_sound_lost_round(ledger: Ledger, staff: Staff) -> None:
    round_id = live.play(ledger, live.lost)
    paid = resettled(round_id, LIMIT)
    written(ledger, round_id, "honour", LIMIT, [staff.ann], paid=paid)
    assert of_decisions(ledger) == [(DECISION_UNFOUNDED, 1)]
    (finding,) = [each for each in audit(ledger).findings if each.code == DECISION_UNFOUNDED]
    assert "honour was decided at 1,000.00 EUR" in finding.text
    assert "moves 0.00 EUR" in finding.text


def test_another_remedy_than_the_one_that_governs(ledger: Ledger, staff: Staff) -> None:
    round_id = live.play(ledger, live.lost)
    paid = Refunded(round_id, "s1", "main", STAKE, None)
    written(ledger, round_id, "void", STAKE, [staff.ann], paid=paid)
    assert of_decisions(ledger) == [(DECISION_UNFOUNDED, 1)]


def test_two_persons_without_a_reference(ledger: Ledger, staff: Staff) -> None:
    round_id = live.play(ledger, live.lost)
    paid = resettled(round_id, LIMIT)
    written(ledger, round_id, "resettle", LIMIT, [staff.ann, staff.bob], paid=paid)
    assert of_decisions(ledger) == [(DECISION_UNFOUNDED, 2)]


def test_a_reference_that_one_person_signed(ledger: Ledger, staff: Staff) -> None:
    round_id = live.play(ledger, live.lost)
    paid = resettled(round_id, LIMIT)
    written(ledger, round_id, "resettle", LIMIT, [staff.ann], "ADJ-1", paid=paid)
    assert of_decisions(ledger) == [(KEYS_MISSING, 1), (DECISION_UNFOUNDED, 1)]


def test_a_withdrawal_that_pays(ledger: Ledger, staff: Staff) -> None:
    round_id = live.play(ledger, live.lost)
    paid = Awarded(round_id, None, None, STAKE, "EUR", None)
    written(ledger, round_id, "withdraw", STAKE, [staff.ann], paid=paid)
    assert of_decisions(ledger) == [(DECISION_UNFOUNDED, 1)]


def test_more_than_the_governing_remedy_is_priced_at(ledger: Ledger, staff: Staff) -> None:
    round_id = live.play(ledger, live.won, change=live.underpay)
    _, assessment, _ = looked_at(ledger, round_id)
    governing = assessment.governing
    (bet,) = [each for each in governing.bets if each.moves_minor]
    before, after = bet.paid_minor or 0, (bet.due_minor or 0) + 1
    paid = replace(resettled(round_id, after), paid_before_minor=before)
    written(ledger, round_id, governing.name, after - before, [staff.ann], paid=paid)
    assert of_decisions(ledger) == [(DECISION_UNFOUNDED, 1)]


# What stands on its own


def test_an_adjudicator_s_reference_and_two_persons_may_decide_anything(
    ledger: Ledger, staff: Staff
) -> None:
    round_id = live.play(ledger, live.lost)
    paid = resettled(round_id, LIMIT)
    written(ledger, round_id, "resettle", LIMIT, [staff.ann, staff.bob], "ADJ-1", paid=paid)
    assert of_decisions(ledger) == []


def test_awards_goodwill_and_withdrawals(ledger: Ledger, staff: Staff) -> None:
    awarded, given, withdrawn = (live.play(ledger, live.lost) for _ in range(3))
    for round_id in (awarded, given, withdrawn):
        open_case(ledger, round_id, "other")
    for signer in (staff.ann, staff.bob):
        seen = looked_at(ledger, awarded)
        plan = plan_award(*seen, LIMIT, key=signer.name, reference="ADJ-1")
        carry_out(ledger, seen[0], plan, signer)
    seen = looked_at(ledger, given)
    carry_out(ledger, seen[0], plan_goodwill(*seen, STAKE, key="ann", note="sorry"), staff.ann)
    seen = looked_at(ledger, withdrawn)
    carry_out(ledger, seen[0], plan_withdrawal(*seen, key="ann"), staff.ann)
    assert of_decisions(ledger) == []


# Decided, carried out, and decided no second time


def decided(ledger: Ledger, round_id: str, staff: Staff) -> Plan:
    """Decide a case by what governs, by as many persons as it needs."""
    for signer in (staff.ann, staff.bob):
        evidence, assessment, cases = looked_at(ledger, round_id)
        name = assessment.governing.name
        plan = plan_decision(evidence, assessment, cases, name, key=signer.name)
        carry_out(ledger, evidence, plan, signer)
        if plan.stands:
            return plan
    raise AssertionError("two persons did not suffice")


def rounds_of(ledger: Ledger) -> list[str]:
    """Rounds of every game: won, lost and open, paid as they should be and too little."""
    found = [
        live.play(ledger, wanted, change=change, game=game)
        for game, wanted, change in product(
            ("zappit", "zero", "nba"), (live.won, live.lost), (live.as_it_was, live.underpay)
        )
    ]
    return [*found, *(live.open_round(ledger, game) for game in ("zappit", "zero", "nba"))]


def test_what_governs_is_carried_out_and_leaves_nothing_due(ledger: Ledger, staff: Staff) -> None:
    for round_id in rounds_of(ledger):
        open_case(ledger, round_id, "settlement")
        plan = decided(ledger, round_id, staff)
        evidence, assessment, cases = looked_at(ledger, round_id)
        assert assessment.governing.moves_minor == 0
        (case,) = cases
        assert (case.state, case.moved_minor) == ("decided", plan.decided.amount_minor)
        remedy = assessment.governing.name
        with pytest.raises(DisputeRefused, match="a case is decided only once"):
            plan_decision(evidence, assessment, cases, remedy, key="bob")
        # A new case about it finds nothing more to pay.
        open_case(ledger, round_id, "settlement")
        assert decided(ledger, round_id, staff).decided.amount_minor == 0
    assert of_decisions(ledger) == []


def test_a_decided_case_stays_what_it_was_decided_on(ledger: Ledger, staff: Staff) -> None:
    round_id = live.play(ledger, live.won, change=live.underpay)
    open_case(ledger, round_id, "settlement")
    before = looked_at(ledger, round_id)[1]
    decided(ledger, round_id, staff)
    (case,) = read_cases(ledger, round_id)
    evidence = evidence_of_case(ledger, round_id, case)
    frozen = assess(evidence, "settlement")
    assert evidence.size == case.decided_leaf
    assert [each.event.type for each in evidence.disputes] == ["DisputeOpened"]
    assert (frozen.verdict, frozen.governing) == (before.verdict, before.governing)
    assert frozen.governing.moves_minor > 0 == looked_at(ledger, round_id)[1].governing.moves_minor


def test_the_evidence_of_an_open_case_is_today_s(ledger: Ledger) -> None:
    round_id = live.play(ledger, live.lost)
    case = open_case(ledger, round_id, "settlement")
    assert evidence_of_case(ledger, round_id, case) == gather(ledger, round_id)


def test_a_case_resumed_stays_founded_when_the_round_went_on(ledger: Ledger, staff: Staff) -> None:
    round_id = live.open_round(ledger, "zappit")
    open_case(ledger, round_id, "disconnection")
    assert decided(ledger, round_id, staff).decided.remedy == "resume"
    playing = resume_round(ledger, round_id)
    while isinstance(playing.due, Decide):
        act = STAND if STAND in playing.offered else playing.offered[-1]
        playing.decide(playing.due.hand, act)
    assert of_decisions(ledger) == []


# The words people type


def test_reject_is_refused_where_anything_is_due(ledger: Ledger) -> None:
    round_id = live.play(ledger, live.won, change=live.underpay)
    open_case(ledger, round_id, "settlement")
    with pytest.raises(DisputeRefused, match=r"cannot be rejected: .* is due under resettle"):
        plan_rejection(*looked_at(ledger, round_id), key="ann")


def test_reject_is_refused_where_play_still_decides(ledger: Ledger) -> None:
    round_id = live.open_round(ledger)
    open_case(ledger, round_id, "settlement")
    with pytest.raises(DisputeRefused, match="cannot be rejected: resume governs"):
        plan_rejection(*looked_at(ledger, round_id), key="ann")


def test_reject_honours_what_stands(ledger: Ledger) -> None:
    round_id = live.play(ledger, live.lost)
    open_case(ledger, round_id, "settlement")
    plan = plan_rejection(*looked_at(ledger, round_id), key="ann")
    assert (plan.decided.remedy, plan.decided.amount_minor) == ("honour", 0)


def test_pay_is_refused_where_nothing_moves(ledger: Ledger) -> None:
    round_id = live.play(ledger, live.lost)
    open_case(ledger, round_id, "settlement")
    with pytest.raises(DisputeRefused, match="the governing remedy is honour"):
        plan_payment(*looked_at(ledger, round_id), key="ann")


def test_pay_decides_what_governs(ledger: Ledger) -> None:
    round_id = live.play(ledger, live.won, change=live.underpay)
    open_case(ledger, round_id, "settlement")
    plan = plan_payment(*looked_at(ledger, round_id), key="ann")
    assert plan.decided.remedy == "resettle"
    assert plan.decided.amount_minor > 0
