"""The first sentences of every report: the outcome for the player, what was paid, what is due.

Amounts are those that the scenarios derive from their pages.
"""

from collections.abc import Callable
from functools import partial

import pytest

from shoeproof.audit_reports.case_report.from_ledger import report_on
from shoeproof.audit_reports.case_report.model import Audience
from shoeproof.replay.disputes.decide import (
    Plan,
    plan_award,
    plan_decision,
    plan_goodwill,
    plan_payment,
    plan_rejection,
    plan_withdrawal,
)
from tests.disputes import live
from tests.disputes.desk import Desk, page_of, text_of
from tests.disputes.money import new_ledger
from tests.disputes.shoes import ROUND


def desk(name: str, monkeypatch: pytest.MonkeyPatch, *, claim: bool = True) -> Desk:
    """A scenario with a case about it, where somebody complained."""
    made = Desk(name, monkeypatch)
    if claim:
        made.open()
    return made


NOBODY_DECIDED = [
    (
        "back-at-19-59",
        "reject the complaint. The result stands and nothing more is due. "
        "You were paid 20.00 EUR for this round.",
    ),
    (
        "natural-paid-even-money",
        "uphold the complaint. 5.00 GBP more is due to you. "
        "You were paid 20.00 GBP for this round so far.",
    ),
    (
        "winnings-dropped-inside-the-grace-period",
        "uphold the complaint in part. 20.00 EUR more is due to you. "
        "You were paid 0.00 EUR for this round so far.",
    ),
    (
        "deadline-shown-wrong-and-not-used",
        "uphold the complaint. Something went wrong, and you were already paid all that is due. "
        "You were paid 20.00 EUR for this round; nothing further is due.",
    ),
    (
        "lost-in-the-middle-of-a-split",
        "uphold the complaint. The round waits for you as it was, with the same cards to come. "
        "You were paid 0.00 EUR for this round so far, and 20.00 EUR is still in play.",
    ),
    (
        "crash-before-the-settlement-and-not-paid",
        "uphold the complaint. Nothing is left for you to decide: the table finishes the round and "
        "pays it. 20.00 EUR more is due to you. You were paid 0.00 EUR for this round so far.",
    ),
    (
        "win-of-10000-01-is-held",
        "reject the complaint. The result stands. You were paid "
        "10,000.01 GBP for this round so far, and 10,000.01 GBP more waits until a person has "
        "verified the win.",
    ),
    (
        "lost-before-deal",
        "uphold the complaint. Your chips go back, and no money had been debited for them.",
    ),
    (
        "underpaid-and-the-screen-showed-more",
        "this goes to an adjudicator. The screen showed 30.00 GBP, the ledger comes to 25.00 GBP. "
        "5.00 GBP more is due to you whatever is decided. You were paid 20.00 GBP for this round "
        "so far.",
    ),
    (
        "card-removed-from-the-ledger",
        "this goes to an adjudicator. No money moves on evidence that is forged or missing; the "
        "stakes, 10.00 EUR, are the least that goes back.",
    ),
]


@pytest.mark.parametrize(("name", "what"), NOBODY_DECIDED)
def test_a_case_that_waits_has_a_recommendation(
    name: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert desk(name, monkeypatch).headline == f"Recommendation (not yet decided): {what}"


NOBODY_COMPLAINED = [
    (
        "back-at-19-59",
        "the result stands. You were paid 20.00 EUR for this round; nothing further is due.",
    ),
    (
        "natural-paid-even-money",
        "5.00 GBP more is due to you. You were paid 20.00 GBP for this round so far.",
    ),
    (
        "zero-interrupted-without-a-default",
        "the round waits for you as it was, with the same cards to come. You were paid 0.00 GBP "
        "for this round so far, and 10.00 GBP is still in play.",
    ),
]


@pytest.mark.parametrize(("name", "what"), NOBODY_COMPLAINED)
def test_where_nobody_complained_nothing_claims_a_complaint(
    name: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = desk(name, monkeypatch, claim=False)
    for audience in ("player", "adjudicator", "regulator"):
        report = about.report(audience)
        assert report.headline == f"Nobody complained: {what}"
        assert (report.verdict, report.case) == (None, None)
        assert "complaint" not in text_of(report).lower()
        body = page_of(report).partition("</style>")[2]
        assert "complaint" not in body.lower()


DECIDED = {
    "a-rejected-complaint-says-what-was-paid": (
        "even-money-taken",
        plan_rejection,
        "Complaint rejected: the result stands. You were paid 20.00 GBP for this round; nothing "
        "further is due.",
    ),
    "a-void-says-what-went-back": (
        "no-seed-to-resume-from-and-a-pair-was-paid",
        partial(plan_decision, remedy="void"),
        "Complaint upheld: the round is void, and 10.00 EUR went back to you. You were paid "
        "17.00 EUR for this round in all; nothing further is due.",
    ),
    "a-round-that-the-table-finishes-leaves-its-payment-due": (
        "crash-before-the-settlement-and-not-paid",
        partial(plan_decision, remedy="honour"),
        "Complaint upheld: nothing is left for you to decide: the table finishes the round and "
        "pays it. 20.00 EUR more is due to you. You were paid 0.00 EUR for this round so far.",
    ),
    "a-referred-case-says-why": (
        "screen-differs-from-the-ledger",
        partial(plan_decision, remedy="refer"),
        "This goes to an adjudicator: the screen showed 20.00 EUR, the ledger comes to 0.00 EUR. "
        "You were paid 0.00 EUR for this round so far.",
    ),
    "a-case-referred-by-choice-says-what-the-record-has": (
        "natural-paid-even-money",
        partial(plan_decision, remedy="refer"),
        "This goes to an adjudicator: according to the record, 5.00 GBP more is due to you. You "
        "were paid 20.00 GBP for this round so far.",
    ),
    "goodwill-is-told-beside-the-result": (
        "malfunction-claimed-on-a-sound-round",
        partial(plan_goodwill, amount_minor=500, note="a long wait"),
        "Complaint rejected: the result stands. The operator also gave you 5.00 EUR as "
        "goodwill. You were paid 5.00 EUR for this round in all; nothing further is due.",
    ),
    "goodwill-pays-nothing-of-what-is-due": (
        "natural-paid-even-money",
        partial(plan_goodwill, amount_minor=100, note="a long wait"),
        "Complaint upheld: 5.00 GBP more is due to you. The operator also gave you 1.00 GBP "
        "as goodwill. You were paid 21.00 GBP for this round so far.",
    ),
    "a-withdrawn-complaint-is-told-as-such": (
        "even-money-taken",
        partial(plan_withdrawal, note="my mistake"),
        "Complaint withdrawn: the result stands. You were paid 20.00 GBP for this round; nothing "
        "further is due.",
    ),
}


@pytest.mark.parametrize(("name", "plan", "told"), DECIDED.values(), ids=DECIDED)
def test_a_decided_case(
    name: str, plan: Callable[..., Plan], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = desk(name, monkeypatch)
    about.decide(plan)
    assert about.headline == told


def test_an_upheld_complaint_says_what_was_due_and_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    about = desk("natural-paid-even-money", monkeypatch)
    about.decide(plan_payment)
    assert about.headline == (
        "Complaint upheld: 5.00 GBP more was due and has been paid to you. You were paid 25.00 GBP "
        "for this round in all; nothing further is due."
    )
    report = about.report()
    assert (report.paid_minor, report.due_minor, report.moved_minor) == (2_500, 0, 500)


def test_a_referral_that_paid_what_nobody_disputes_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    about = desk("underpaid-and-the-screen-showed-more", monkeypatch)
    about.decide(plan_decision, "refer")
    assert about.headline == (
        "This goes to an adjudicator: the screen showed 30.00 GBP, the ledger comes to 25.00 GBP. "
        "You were paid 25.00 GBP for this round so far."
    )
    assert about.report().next_steps[0].startswith("5.00 GBP, which nobody disputes, was paid")


def test_chips_that_go_back_are_no_payment(monkeypatch: pytest.MonkeyPatch) -> None:
    about = desk("lost-before-deal", monkeypatch)
    about.decide(plan_decision, "void")
    report = about.report()
    assert report.headline == (
        "Complaint upheld: your chips go back, and no money had been debited for them."
    )
    assert [bet.moved_minor for bet in report.bets] == [0]


def test_without_a_wallet_on_record_a_payment_is_not_said_to_have_arrived() -> None:
    ledger = new_ledger()
    won = report_on(ledger, live.play(ledger, live.won), "player").headline
    assert won.startswith("Nobody complained: the result stands. You were paid ")
    assert won.endswith("No wallet is on record to show that it reached you.")
    lost = report_on(ledger, live.play(ledger, live.lost), "player").headline
    assert lost.endswith("You were paid 0.00 EUR for this round; nothing further is due.")


def test_an_award_names_the_adjudicator_s_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    about = desk("even-money-taken", monkeypatch)
    for person in ("ann", "bob"):
        about.decide(plan_award, 1_250, by=person, reference="ADJ-7")
    assert about.headline == (
        "Decided by an adjudicator (reference ADJ-7): 12.50 GBP was awarded and has been paid to "
        "you. You were paid 32.50 GBP for this round in all; nothing further is due."
    )
    report = about.report()
    assert report.beside_bets_minor == 1_250
    assert "Beside all bets" in page_of(report)


def test_until_the_second_person_signs_an_award_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    about = desk("even-money-taken", monkeypatch)
    about.decide(plan_award, 1_250, reference="ADJ-7")
    report = about.report()
    assert report.headline.startswith("Recommendation (not yet decided): reject the complaint.")
    assert "a second must" in report.next_steps[0]


def test_another_complaint_about_a_round_put_right_names_the_case(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    about = desk("natural-paid-even-money", monkeypatch)
    about.decide(plan_payment)
    about.open()
    assert about.headline == (
        "Recommendation (not yet decided): uphold the complaint. This was corrected by case "
        f"{ROUND}.1, which paid 5.00 GBP. You were paid 25.00 GBP for this round; nothing further "
        "is due."
    )


@pytest.mark.parametrize("audience", ["player", "adjudicator", "regulator"])
def test_outcome_answer_and_clause_come_first_in_this_order(
    audience: Audience, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = desk("insurance-underpaid", monkeypatch).report(audience)
    clause = report.clause.cited
    told = text_of(report), page_of(report).partition("</style>")[2]
    for text in told:
        places = [text.find(each) for each in (report.headline, report.answer, clause)]
        assert -1 not in places
        assert places == sorted(places)
        bets = [text.find(heading) for heading in ("Bet by bet", "Your bets")]
        assert places[2] < max(bets)


def test_the_outcome_is_neither_green_nor_red(monkeypatch: pytest.MonkeyPatch) -> None:
    about = desk("natural-paid-even-money", monkeypatch)
    frames = []
    for decided in (False, True):
        if decided:
            about.decide(plan_payment)
        _, _, body = page_of(about.report()).partition("</style>")
        frames.append(body.split('<div class="outcome')[1].partition('"')[0])
        assert 'class="banner' not in body
    assert frames == [" open", ""]
