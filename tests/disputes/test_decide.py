"""Money moves only by decisions: who may make them, what they pay, and what is refused."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from msgspec.structs import replace

from shoeproof.ledger import Finding, Ledger
from shoeproof.ledger.errors import StreamConflict
from shoeproof.ledger.keys.key import Signer
from shoeproof.ledger.leaf.events import (
    BetResettled,
    BetSettled,
    DisputeDecided,
    Refund,
    Refunded,
    RoundVoided,
    WinHeld,
    WinReleased,
)
from shoeproof.ledger.store.schema import SELECT_DISPUTED
from shoeproof.ledger.verify.whole import verify
from shoeproof.replay.cases.assessment import Assessment
from shoeproof.replay.cases.case import dispute_stream
from shoeproof.replay.disputes.assess import assess
from shoeproof.replay.disputes.decide import plan_decision
from shoeproof.replay.disputes.evidence import gather
from shoeproof.replay.disputes.record import carry_out, open_case, release_held
from shoeproof.replay.errors import DisputeRefused, InputRefusedError
from shoeproof.replay.rounds.catalogue import add_published_games
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.audit_reports.helpers import begun, simple, split_and_doubled
from tests.disputes import live
from tests.disputes.money import (
    Staff,
    assessed,
    cases_of,
    decide,
    disputed,
    evidence_of,
    give,
    hire,
    moved,
    planned,
    play,
    price,
    remedy,
)


def underpaid(round_id: str, due: int = 250, stake: int = 100, paid: int = 200) -> Assessment:
    """A natural paid 1:1 where the rules pay 3:2."""
    resettle = remedy("resettle", price(stake, paid, due), governs=True)
    void = remedy("void", price(stake, paid, stake))
    return assessed(round_id, remedy("honour", price(stake, paid, paid)), resettle, void)


def dealt_wrongly(round_id: str, *, stake: int = 100, paid: int = 0) -> Assessment:
    return assessed(round_id, remedy("void", price(stake, paid, stake), governs=True))


def test_a_resettlement_pays_the_difference(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(200))
    decided, paid = decide(ledger, underpaid(round_id), "resettle", staff.ann)
    assert decided == DisputeDecided(
        round=round_id,
        findings=[],
        clause="GLI-19 v3.0, A.6.4",
        verdict="upheld",
        remedy="resettle",
        reference=None,
        amount_minor=50,
        keys_needed=1,
        case=1,
    )
    assert paid == BetResettled(round_id, "s1", "s1", "main", 100, 200, 250, "line", None)
    (case,) = cases_of(ledger, round_id)
    assert (case.state, case.moved_minor, case.decisions[0].keys) == ("decided", 50, ("ann",))
    assert verify(ledger).findings == []


def test_a_void_returns_of_each_stake_what_was_not_paid(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, split_and_doubled())
    prices = price(100, 0, 100, ("s1.1", "main")), price(200, 400, 200, ("s1.2", "main"))
    assessment = assessed(round_id, remedy("void", *prices, governs=True))
    decided, lost, won = decide(ledger, assessment, "void", staff.ann)
    assert isinstance(decided, DisputeDecided)
    assert decided.amount_minor == 100
    assert lost == Refunded(round_id, "s1.1", "main", 100, None)
    # The win is not taken back, and the bet is named all the same: it counts for nothing.
    assert won == Refunded(round_id, "s1.2", "main", 0, None)


def test_a_void_of_an_open_round_ends_it_and_sends_every_stake_back(
    ledger: Ledger, staff: Staff
) -> None:
    round_id = disputed(ledger, begun({"s1": {"main": 100, "perfect_pairs": 20}}))
    prices = price(100, None, 100), price(20, None, 20, ("s1", "perfect_pairs"))
    assessment = assessed(round_id, remedy("void", *prices, governs=True))
    decide(ledger, assessment, "void", staff.ann)
    last = evidence_of(ledger, round_id).events[-1].event.data
    assert isinstance(last, RoundVoided)
    assert last.refunds == [Refund("s1", "main", 100), Refund("s1", "perfect_pairs", 20)]
    assert moved(ledger, round_id) == []
    (row,) = ledger.rounds(state="void")
    assert row.round == round_id


def test_a_remedy_that_play_decides_moves_nothing_now(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, begun({"s1": {"main": 100}}))
    resume = assessed(round_id, remedy("resume", price(100, None, None), governs=True))
    (decided,) = decide(ledger, resume, "resume", staff.ann)
    assert isinstance(decided, DisputeDecided)
    assert decided.amount_minor == 0


def test_an_overpayment_is_never_taken_back(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(300))
    decide(ledger, underpaid(round_id, due=250, paid=300), "resettle", staff.ann)
    assert moved(ledger, round_id) == []


# Twice


def test_a_case_is_decided_once(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(200))
    decide(ledger, underpaid(round_id), "resettle", staff.ann)
    with pytest.raises(DisputeRefused, match=r"\.1 was decided \(paid, 2026.*once"):
        decide(ledger, underpaid(round_id), "resettle", staff.bob)
    assert len(moved(ledger, round_id)) == 1


def test_two_who_decide_at_once_pay_once(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(200))
    evidence = evidence_of(ledger, round_id)
    plan = planned(ledger, underpaid(round_id), "resettle", staff.ann)
    wallet = MemoryWallet(0)
    carry_out(ledger, evidence, plan, staff.ann, wallet)
    with pytest.raises(StreamConflict):
        carry_out(ledger, evidence, plan, staff.bob, wallet)
    assert len(moved(ledger, round_id)) == 1
    # The loser's credit is cancelled, the winner's stands.
    assert wallet.balance_minor("p-7f") == 50


def test_processes_that_decide_and_open_at_once_do_it_once(tmp_path: Path) -> None:
    """Each has the directory open for itself, as each process has."""
    with Ledger.init(tmp_path / "ledger", "tests.example/disputes") as ledger:
        add_published_games(ledger)
        staff = hire(ledger)
        round_id = disputed(ledger, simple(200))
    barrier = Barrier(2)

    def deciding(signer: Signer) -> bool:
        with Ledger.open(tmp_path / "ledger") as mine:
            evidence = evidence_of(mine, round_id)
            plan = planned(mine, underpaid(round_id), "resettle", signer)
            barrier.wait()
            try:
                carry_out(mine, evidence, plan, signer)
            except StreamConflict:
                return False
            return True

    def opening(_: Signer) -> bool:
        with Ledger.open(tmp_path / "ledger") as mine:
            barrier.wait()
            try:
                open_case(mine, round_id, "other")
            except (StreamConflict, DisputeRefused):
                return False
            return True

    with ThreadPoolExecutor(2) as pool:
        for act in (deciding, opening):
            assert sorted(pool.map(act, (staff.ann, staff.bob))) == [False, True]
    with Ledger.open(tmp_path / "ledger") as ledger:
        assert len(moved(ledger, round_id)) == 1
        assert [case.state for case in cases_of(ledger, round_id)] == ["decided", "open"]


def test_a_player_who_goes_on_meanwhile_is_not_voided(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, begun({"s1": {"main": 100}}))
    evidence = evidence_of(ledger, round_id)
    assessment = assessed(round_id, remedy("void", price(100, None, 100), governs=True))
    plan = planned(ledger, assessment, "void", staff.ann)
    ledger.append((round_id, BetSettled("s1", "s1", "main", 100, 200, "win", None)))
    with pytest.raises(StreamConflict):
        carry_out(ledger, evidence, plan, staff.ann)
    assert cases_of(ledger, round_id)[0].state == "open"


def test_a_second_case_pays_only_what_the_first_did_not(ledger: Ledger, staff: Staff) -> None:
    round_id = live.play(ledger, live.won, change=live.underpay)
    for signer in (staff.ann, staff.bob):
        open_case(ledger, round_id, "settlement")
        evidence = gather(ledger, round_id)
        assessment = assess(evidence, "settlement")
        # Only the first case finds something due.
        name = assessment.governing.name
        plan = plan_decision(
            evidence, assessment, cases_of(ledger, round_id), name, key=signer.name
        )
        carry_out(ledger, evidence, plan, signer)
    settled = next(
        each.event.data
        for each in evidence_of(ledger, round_id).events
        if isinstance(each.event.data, BetSettled)
    )
    (paid,) = moved(ledger, round_id)
    assert isinstance(paid, BetResettled)
    # Half of the win was paid, so that as much again is due.
    due = paid.paid_minor - paid.paid_before_minor
    assert due == settled.paid_minor - settled.stake_minor
    first, second = cases_of(ledger, round_id)
    assert (first.moved_minor, second.moved_minor) == (due, 0)


def test_no_second_case_while_the_first_is_open(ledger: Ledger) -> None:
    round_id = disputed(ledger, simple(200))
    with pytest.raises(DisputeRefused, match=r"\.1 about this round is open: decide it first"):
        open_case(ledger, round_id, "fairness")


# Two keys

LARGE = 150_000
"""Above the 100,000 that one key may move by the published policies."""


def test_a_large_decision_pays_with_its_second_key(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(0, LARGE))
    assessment = dealt_wrongly(round_id, stake=LARGE)
    (proposed,) = decide(ledger, assessment, "void", staff.ann)
    assert cases_of(ledger, round_id)[0].state == "awaiting_second_key"
    assert moved(ledger, round_id) == []
    confirmed, paid = decide(ledger, assessment, "void", staff.bob)
    assert proposed == confirmed
    assert paid == Refunded(round_id, "s1", "main", LARGE, None)
    (case,) = cases_of(ledger, round_id)
    assert (case.state, case.decisions[0].keys) == ("decided", ("ann", "bob"))
    disputes = evidence_of(ledger, round_id).disputes
    assert staff.bob.key_id_hex.encode() in disputes[-1].leaf


def test_what_stands_at_the_limit_needs_one_key(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(0, 100_000))
    decide(ledger, dealt_wrongly(round_id, stake=100_000), "void", staff.ann)
    assert cases_of(ledger, round_id)[0].state == "decided"


def test_one_above_the_limit_needs_two(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(0, 100_001))
    decide(ledger, dealt_wrongly(round_id, stake=100_001), "void", staff.ann)
    assert cases_of(ledger, round_id)[0].state == "awaiting_second_key"


def test_the_same_key_is_no_second(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(0, LARGE))
    assessment = dealt_wrongly(round_id, stake=LARGE)
    decide(ledger, assessment, "void", staff.ann)
    with pytest.raises(DisputeRefused, match="ann has signed this decision already"):
        decide(ledger, assessment, "void", staff.ann)


def test_another_decision_is_no_second_signature(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(0, LARGE))
    decide(ledger, dealt_wrongly(round_id, stake=LARGE), "void", staff.ann)
    less = assessed(round_id, remedy("void", price(LARGE, 0, LARGE - 1), governs=True))
    decide(ledger, less, "void", staff.bob)
    (case,) = cases_of(ledger, round_id)
    assert case.state == "awaiting_second_key"
    assert [each.keys for each in case.decisions] == [("ann",), ("bob",)]


def test_without_a_policy_any_money_needs_two_keys(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(200), policy=None)
    decide(ledger, underpaid(round_id), "resettle", staff.ann)
    assert cases_of(ledger, round_id)[0].state == "awaiting_second_key"


# An adjudicator


def test_a_remedy_that_does_not_govern_needs_a_reference(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(200))
    with pytest.raises(DisputeRefused, match="resettle governs here, not void: only an adjud"):
        decide(ledger, underpaid(round_id), "void", staff.ann)


def test_an_adjudicator_chooses_with_two_keys(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(0))
    assessment = assessed(round_id, remedy("void", price(100, 0, 100)))
    (referred,) = decide(ledger, assessment, "refer", staff.ann)
    assert isinstance(referred, DisputeDecided)
    assert (referred.amount_minor, referred.keys_needed) == (0, 1)
    assert cases_of(ledger, round_id)[0].state == "referred"
    decide(ledger, assessment, "void", staff.ann, "ADJ-123")
    assert moved(ledger, round_id) == []
    decide(ledger, assessment, "void", staff.bob, "ADJ-123")
    assert moved(ledger, round_id) == [Refunded(round_id, "s1", "main", 100, None)]
    (case,) = cases_of(ledger, round_id)
    assert case.state == "decided"
    assert case.decisions[-1].data.reference == "ADJ-123"


def test_a_case_is_referred_once(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(0))
    decide(ledger, assessed(round_id), "refer", staff.ann)
    with pytest.raises(DisputeRefused, match="already been referred"):
        decide(ledger, assessed(round_id), "refer", staff.bob)


# Refused


def test_a_remedy_not_on_the_list(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(200))
    with pytest.raises(
        DisputeRefused, match=r"resume is not a remedy .* honour, resettle, void, re"
    ):
        decide(ledger, underpaid(round_id), "resume", staff.ann)


def test_an_unlawful_remedy_even_with_a_reference(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(200))
    assessment = assessed(round_id, remedy("void", price(100, 200, 100), lawful=False))
    with pytest.raises(DisputeRefused, match="void is not lawful here: why void"):
        decide(ledger, assessment, "void", staff.ann, "ADJ-1")


def test_a_refund_above_what_was_staked(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(0))
    invented = assessed(round_id, remedy("void", price(500, 0, 500), governs=True))
    with pytest.raises(DisputeRefused, match=r"refunds of 5\.00 EUR are above the 1\.00 EUR that"):
        decide(ledger, invented, "void", staff.ann)
    assert moved(ledger, round_id) == []


@pytest.mark.parametrize("reference", [None, "ADJ-1"])
def test_forged_evidence_moves_no_money(
    ledger: Ledger, staff: Staff, reference: str | None
) -> None:
    round_id = disputed(ledger, simple(0))
    void = remedy("void", price(100, 0, 100), governs=True)
    assessment = assessed(round_id, void, money_may_move=False)
    with pytest.raises(DisputeRefused, match="forged or missing: no money moves"):
        decide(ledger, assessment, "void", staff.ann, reference)
    decide(ledger, assessment, "refer", staff.ann)


def test_a_key_without_the_role(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(200))
    with pytest.raises(DisputeRefused, match="may not sign for staff: d is a key for engine"):
        decide(ledger, underpaid(round_id), "resettle", staff.dealer)
    assert len(evidence_of(ledger, round_id).disputes) == 1


def test_a_round_without_a_case(ledger: Ledger, staff: Staff) -> None:
    round_id = play(ledger, simple(200))
    with pytest.raises(DisputeRefused, match=f"no case about {round_id}: open one first"):
        decide(ledger, underpaid(round_id), "resettle", staff.ann)


def test_a_wallet_is_asked_and_its_answer_recorded(ledger: Ledger, staff: Staff) -> None:
    round_id = disputed(ledger, simple(200))
    evidence = evidence_of(ledger, round_id)
    plan = planned(ledger, underpaid(round_id), "resettle", staff.ann)
    carry_out(ledger, evidence, plan, staff.ann, MemoryWallet(1_000))
    (paid,) = moved(ledger, round_id)
    assert isinstance(paid, BetResettled)
    assert paid.funds is not None
    assert (paid.funds.direction, paid.funds.cash_minor) == ("credit", 50)
    assert paid.funds.balance_after_minor == 1_050


# Held wins


def held(ledger: Ledger) -> str:
    round_id = play(ledger, simple(1_000_001))
    ledger.append((f"holds/{round_id}", WinHeld(round_id, 1_000_001, "above 10,000.00")))
    return round_id


def release(ledger: Ledger, round_id: str, staff: Staff, **said: Any) -> WinReleased:
    assessment = replace(assessed(round_id), **said)
    evidence = evidence_of(ledger, round_id)
    return release_held(ledger, evidence, assessment, cases_of(ledger, round_id), staff.ann)


def test_a_held_win_is_released_once_by_the_key_named(ledger: Ledger, staff: Staff) -> None:
    round_id = held(ledger)
    assert release(ledger, round_id, staff).amount_minor == 1_000_001
    (_, released) = evidence_of(ledger, round_id).holds
    assert released.event.data == WinReleased(round_id, 1_000_001, None)
    assert staff.ann.key_id_hex.encode() in released.leaf
    with pytest.raises(InputRefusedError, match="was released before"):
        release(ledger, round_id, staff)


def test_no_win_is_released_on_forged_evidence(ledger: Ledger, staff: Staff) -> None:
    with pytest.raises(DisputeRefused, match="forged or missing"):
        release(ledger, held(ledger), staff, money_may_move=False)


def test_a_disputed_win_is_not_released_before_the_decision(ledger: Ledger, staff: Staff) -> None:
    round_id = held(ledger)
    open_case(ledger, round_id, "fairness")
    with pytest.raises(DisputeRefused, match="not decided yet"):
        release(ledger, round_id, staff)
    decide(ledger, dealt_wrongly(round_id, paid=1_000_001), "void", staff.ann)
    with pytest.raises(DisputeRefused, match="voided by a decision"):
        release(ledger, round_id, staff)


def test_a_case_opened_while_a_win_is_released_comes_first(ledger: Ledger, staff: Staff) -> None:
    round_id = held(ledger)
    evidence, wallet = evidence_of(ledger, round_id), MemoryWallet(0)
    open_case(ledger, round_id, "fairness")
    with pytest.raises(StreamConflict, match="another writer appended"):
        release_held(ledger, evidence, assessed(round_id), (), staff.ann, wallet)
    assert len(evidence_of(ledger, round_id).holds) == 1
    assert wallet.balance_minor("p") == 0


WRONG = Finding("card_mismatch", "the card is another", None, 7)


def test_a_win_with_findings_is_not_released_without_a_case(ledger: Ledger, staff: Staff) -> None:
    round_id = held(ledger)
    with pytest.raises(DisputeRefused, match=r"has findings \(card_mismatch\): open and decide"):
        release(ledger, round_id, staff, findings=(WRONG,))
    assert len(evidence_of(ledger, round_id).holds) == 1


def test_goodwill_about_a_win_with_findings_decides_nothing(ledger: Ledger, staff: Staff) -> None:
    round_id = held(ledger)
    open_case(ledger, round_id, "fairness")
    give(ledger, underpaid(round_id), 100, staff.ann)
    with pytest.raises(DisputeRefused, match="open and decide a case"):
        release(ledger, round_id, staff, findings=(WRONG,))


def test_a_win_with_findings_is_released_once_a_case_was_decided(
    ledger: Ledger, staff: Staff
) -> None:
    round_id = held(ledger)
    open_case(ledger, round_id, "fairness")
    honour = remedy("honour", price(100, 1_000_001, 1_000_001), governs=True)
    decide(ledger, assessed(round_id, honour), "honour", staff.ann)
    assert release(ledger, round_id, staff, findings=(WRONG,)).amount_minor == 1_000_001


def test_a_key_without_the_role_releases_nothing(ledger: Ledger, staff: Staff) -> None:
    with pytest.raises(DisputeRefused, match="may not sign for staff"):
        release(ledger, held(ledger), staff._replace(ann=staff.dealer))


def test_disputed_rounds_are_listed_by_index(ledger: Ledger) -> None:
    play(ledger, simple(200))
    round_id = disputed(ledger, simple(200))
    assert ledger.disputed() == [dispute_stream(round_id)]
    plan = ledger.store.query(f"EXPLAIN QUERY PLAN {SELECT_DISPUTED}")
    assert "disputes_opened" in str(plan)
