"""Complaints about a span of rounds, and about a round that the ledger does not hold."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from shoeproof.ledger import Ledger
from shoeproof.ledger.errors import StreamConflict
from shoeproof.ledger.leaf.clock import format_time, parse_time
from shoeproof.ledger.leaf.events import (
    Attachment,
    Awarded,
    BetSettled,
    DealRequested,
    DisputeDecided,
    DisputeOpened,
    WinHeld,
)
from shoeproof.ledger.leaf.streams import HOLDS_PREFIX
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.verify.whole import verify
from shoeproof.replay import findings as codes
from shoeproof.replay.audit.one_by_one import audit
from shoeproof.replay.bulk.audit import audit as audit_in_bulk
from shoeproof.replay.cases.case import dispute_stream, read_cases
from shoeproof.replay.disputes.complaints.assess import assess_complaint
from shoeproof.replay.disputes.complaints.cases import (
    ComplaintRemedy,
    complaint_ids,
    find_complaint,
    is_complaint,
    read_complaint,
)
from shoeproof.replay.disputes.complaints.decide import decide_complaint
from shoeproof.replay.disputes.complaints.gather import gather_complaint
from shoeproof.replay.disputes.complaints.open import open_complaint
from shoeproof.replay.disputes.complaints.statement import StatementLine
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.errors import DisputeRefused
from shoeproof.replay.live.table import LiveTable
from shoeproof.replay.rounds.catalogue import current_rules
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.disputes.live import SETTINGS, underpay, won
from tests.disputes.money import hire
from tests.disputes.spans import EIGHT, MIDNIGHT, Evening, swap_cards

ATTACHED = [Attachment("wallet.csv", "ab" * 32)]


@pytest.fixture(scope="module")
def honest() -> Evening:
    """Forty rounds with nothing wrong, whose wallet told every balance."""
    evening = Evening(MemoryWallet(100_000))
    evening.play(40)
    return evening


def nothing_wrong(ledger: Ledger) -> None:
    assert verify(ledger).findings == []
    assert audit(ledger).findings == ()


# What a span shows


def test_of_an_honest_evening_the_complaint_is_rejected(honest: Evening) -> None:
    found = honest.assess(honest.complain("this is rigged"))
    assert (found.verdict, found.governing.name, found.due_minor) == ("rejected", "reject", {})
    assert "In all 40 rounds the shoe was sealed before you staked" in found.answer
    assert "Nothing was found wrong, and nothing is due." in found.answer
    assert any("did not draw several shoes" in each for each in found.lacks)
    assert any("of each stake more than its rules say" in each for each in found.lacks)


def test_what_was_staked_and_paid_is_what_the_rounds_settled(honest: Evening) -> None:
    staked = paid = 0
    for row in honest.ledger.rounds(player="p-1"):
        for recorded in honest.ledger.events(row.round):
            data = recorded.event.data
            if isinstance(data, BetSettled):
                staked, paid = staked + data.stake_minor, paid + data.paid_minor
    (totals,) = honest.assess(honest.complain()).totals
    assert (totals.staked_minor, totals.paid_minor) == (staked, paid)
    assert totals.won + totals.pushed + totals.lost == totals.rounds == 40


def test_start_luck_skill_and_error_make_up_what_was_won(honest: Evening) -> None:
    found = honest.assess(honest.complain())
    (luck,), (totals,) = found.luck, found.totals
    parts = luck.start_minor + luck.luck_minor + luck.skill_minor + luck.error_minor
    assert parts == pytest.approx(totals.paid_minor - totals.staked_minor, abs=1e-6)
    assert luck.error_minor == 0
    assert luck.luck_interval_minor > 0


def test_balances_that_all_follow_answer_a_claim_about_money(honest: Evening) -> None:
    found = honest.assess(honest.complain("my balance is wrong"))
    (wallet,) = found.wallet
    assert (found.verdict, found.jumps) == ("rejected", ())
    assert "each balance follows from the one before" in found.answer
    assert wallet.first_minor == 100_000
    assert wallet.last_minor == 100_000 - wallet.taken_minor + wallet.paid_minor


def test_money_from_outside_is_named_with_the_time_it_came(honest: Evening) -> None:
    evening = Evening(wallet := MemoryWallet(100_000))
    evening.play(2)
    wallet.credit("p-1", 5_000, "a deposit")
    evening.play(2)
    found = evening.assess(evening.complain("my balance is wrong"))
    (jump,) = found.jumps
    assert (jump.amount_minor, jump.is_within_round) == (5_000, False)
    assert found.verdict == "inconclusive"
    assert "a deposit, a withdrawal, a bonus or another game does that" in found.answer
    assert any("the balance rose by 50.00 EUR" in each for each in found.reasons)


def test_where_no_wallet_is_recorded_a_claim_about_money_cannot_be_answered() -> None:
    evening = Evening()
    evening.play(3)
    money = evening.assess(evening.complain("my balance is wrong"))
    other = evening.assess(evening.complain("this is rigged"))
    assert (money.verdict, other.verdict) == ("inconclusive", "rejected")
    assert any("cannot show that this money was moved" in each for each in money.lacks)


def test_a_rigged_round_among_honest_ones_is_found() -> None:
    evening = Evening()
    evening.play(5)
    (rigged,) = evening.play(change=swap_cards)
    evening.play(5)
    found = evening.assess(evening.complain("this is rigged"))
    assert [fault.round for fault in found.faults] == [rigged]
    assert codes.CARD_MISMATCH in {finding.code for finding in found.findings}
    assert found.verdict == "upheld"
    assert "In 10 of 11 rounds the shoe was sealed" in found.answer
    assert "Something is wrong in 1 of 11 rounds" in found.answer


def test_what_is_due_is_due_by_a_case_about_the_round() -> None:
    evening = Evening()
    staff = hire(evening.ledger)
    evening.play(3)
    underpaid = evening.play_until(won, underpay)
    complaint = evening.complain("I lost twelve running")
    found = evening.assess(complaint)
    assert (found.verdict, found.governing.name) == ("upheld", "uphold")
    assert found.due_minor["EUR"] > 0
    _, recorded = decide_complaint(evening.ledger, found, "uphold", staff.ann)
    decided, opened = (each.event.data for each in recorded)
    assert isinstance(decided, DisputeDecided)
    assert isinstance(opened, DisputeOpened)
    assert (decided.amount_minor, opened.round) == (0, found.faults[0].round)
    assert read_cases(evening.ledger, underpaid)[0].state == "open"
    assert read_complaint(evening.ledger, complaint.id).state == "decided"


def test_an_open_round_is_named_and_is_no_fault() -> None:
    evening = Evening()
    evening.play(3)
    waits = leave_open(evening)
    found = evening.assess(evening.complain("other"))
    assert [each.round for each in found.rounds if each.state == "open"] == [waits]
    assert any(f"Round {waits} is open: 10.00 EUR is held" in each for each in found.reasons)
    assert found.verdict == "rejected"
    ended = sum(each.state != "open" for each in found.rounds)
    assert all(run.rounds == ended for run in found.runs)


def leave_open(evening: Evening) -> str:
    table = LiveTable(evening.ledger, current_rules(evening.ledger, "zappit"), SETTINGS)
    for _ in range(100):
        live = table.open_round("p-1")
        live.deal({"s1": {"main": 1_000}})
        if isinstance(live.due, Decide):
            return live.round_id
    raise AssertionError("no round waited")


def test_a_held_win_is_named() -> None:
    evening = Evening()
    (round_id,) = evening.play()
    held = WinHeld(round_id, 12_300, "large win")
    evening.ledger.append((HOLDS_PREFIX + round_id, held))
    found = evening.assess(evening.complain("other"))
    waits = f"123.00 EUR of the win of round {round_id} waits for a person"
    assert any(waits in each for each in found.reasons)


def test_faulty_rounds_of_other_players_at_the_table_are_named() -> None:
    evening = Evening()
    evening.play(2)
    evening.play(3, player="p-2")
    (rigged,) = evening.play(player="p-3", change=swap_cards)
    evening.play(1)
    found = evening.assess(evening.complain())
    assert [(fault.round, fault.player) for fault in found.others] == [(rigged, "p-3")]
    assert found.verdict == "rejected"
    assert any("Of 4 rounds of other players" in each for each in found.reasons)


def test_where_evidence_is_missing_nothing_is_rejected() -> None:
    evening = Evening()
    evening.play(2)
    complaint = evening.complain()
    assert evening.assess(complaint).verdict == "rejected"
    evidence = gather_complaint(evening.ledger, complaint.id)
    whole = assess_complaint(replace(evidence, is_whole=False))
    assert (whole.verdict, whole.governing.name) == ("inconclusive", "refer")
    assert any("SOME ARE MISSING" in each for each in whole.lacks)
    unread = assess_complaint(replace(evidence, unreadable=("0193",)))
    assert unread.verdict == "inconclusive"


def test_money_that_only_a_statement_has_is_not_rejected() -> None:
    evening = Evening()
    (round_id,) = evening.play(1)
    at = evening.ledger.events(round_id)[0].event.at
    ghost = StatementLine(2, at, Decimal("-5000.00"), "ghost-1", None)
    found = evening.assess(evening.complain("5000 was taken and no round"), ghost)
    assert (found.verdict, found.governing.name) == ("inconclusive", "refer")


def test_luck_beyond_chance_is_for_an_adjudicator(honest: Evening) -> None:
    evidence = gather_complaint(honest.ledger, honest.complain().id)
    unlucky = tuple(
        replace(each, parts=each.parts and replace(each.parts, luck_minor=-600.0))
        for each in evidence.rounds
    )
    found = assess_complaint(replace(evidence, rounds=unlucky))
    # Forty equal losses: −24,000 where chance does 600·√40 = 3,795, so −6.3 standard errors.
    assert found.luck[0].standard_errors == pytest.approx(-(40**0.5))
    assert (found.verdict, found.governing.name) == ("inconclusive", "refer")
    assert "worse than chance brings once in a thousand" in found.answer


# A round that the ledger does not hold


def test_a_missing_round_is_never_decided_by_the_ledger(honest: Evening) -> None:
    ledger = honest.ledger
    first = ledger.events(ledger.rounds(player="p-1")[0].round)
    (funds,) = [
        each.event.data.funds for each in first if isinstance(each.event.data, DealRequested)
    ]
    assert funds is not None
    known = StatementLine(2, first[0].event.at, Decimal("-10"), funds.transaction, None)
    gone = StatementLine(
        3, format_time(EIGHT + timedelta(hours=2)), Decimal("-25"), "tx-gone", None
    )
    complaint = open_complaint(
        ledger,
        "my round is gone",
        player="p-1",
        missing_round=True,
        attachments=ATTACHED,
        statement=[known, gone],
    )
    searched = " ".join(complaint.opened.searched)
    assert "Searched were the rounds of player p-1 from the beginning to now: 40 found" in searched
    assert "The statement holds 2 movements; 1 has no round here." in searched
    assert "Without a round: -25 at 2026-01-31 21:00:00 UTC, tx-gone." in searched
    found = honest.assess(complaint, known, gone)
    assert (found.verdict, found.governing.name) == ("inconclusive", "refer")
    assert found.compared is not None
    assert found.compared.without_round == (gone,)
    assert "The statement has 1 movement without one." in found.answer
    assert any("never written at all leaves no trace" in each for each in found.lacks)


def test_a_player_the_ledger_never_heard_of_may_miss_a_round() -> None:
    evening = Evening()
    complaint = open_complaint(
        evening.ledger, "gone", player="p-9", missing_round=True, attachments=ATTACHED
    )
    found = evening.assess(complaint)
    assert (found.verdict, found.rounds) == ("inconclusive", ())


def test_a_search_that_finds_no_round_still_says_what_stood_under_a_checkpoint() -> None:
    evening = Evening()
    evening.play(2)
    sign_checkpoint(evening.ledger)
    covered = evening.ledger.size()
    evening.play(1)
    complaint = open_complaint(
        evening.ledger, "gone", player="p-9", missing_round=True, attachments=ATTACHED
    )
    size = evening.ledger.size() - 1
    assert complaint.opened.searched == [
        "Searched were the rounds of player p-9 from the beginning to now: 0 found in a ledger of "
        f"{size:,} entries, of which {covered:,} stood under a checkpoint."
    ]


# Who decides


@pytest.fixture
def evening() -> Evening:
    evening = Evening()
    evening.play(2)
    return evening


def test_an_award_is_paid_by_the_second_person(evening: Evening) -> None:
    ledger, staff = evening.ledger, hire(evening.ledger)
    complaint = evening.complain()
    award: dict[str, Any] = {"reference": "ADR-7", "amount_minor": 2_000, "currency": "EUR"}
    plan, first = decide_complaint(ledger, evening.assess(complaint), "award", staff.ann, **award)
    assert (plan.stands, [each.event.type for each in first]) == (False, ["DisputeDecided"])
    again = evening.assess(read_complaint(ledger, complaint.id))
    with pytest.raises(DisputeRefused, match="ann has signed this decision already"):
        decide_complaint(ledger, again, "award", staff.ann, **award)
    _, second = decide_complaint(ledger, again, "award", staff.bob, **award)
    paid = second[-1].event.data
    assert paid == Awarded(complaint.id, None, None, 2_000, "EUR", None)
    decided = read_complaint(ledger, complaint.id)
    assert (decided.state, decided.decisions[-1].keys) == ("decided", ("ann", "bob"))
    nothing_wrong(ledger)
    assert audit_in_bulk(ledger).rounds.findings == ()


@pytest.mark.parametrize(("minor", "persons"), [(100_000, 1), (100_001, 2)])
def test_goodwill_is_of_one_person_up_to_the_policies_limit(
    evening: Evening, minor: int, persons: int
) -> None:
    """All policies ask for two persons above 1,000.00."""
    staff = hire(evening.ledger)
    found = evening.assess(evening.complain())
    plan, _ = decide_complaint(
        evening.ledger, found, "goodwill", staff.ann, amount_minor=minor, currency="EUR"
    )
    assert (plan.decided.keys_needed, plan.stands) == (persons, persons == 1)
    nothing_wrong(evening.ledger)


def test_goodwill_in_parts_takes_as_many_persons_as_the_whole(evening: Evening) -> None:
    ledger, staff = evening.ledger, hire(evening.ledger)
    given: dict[str, Any] = {"amount_minor": 60_000, "currency": "EUR", "note": "sorry"}
    plans = []
    for _ in range(2):
        found = evening.assess(evening.complain())
        plans.append(decide_complaint(ledger, found, "goodwill", staff.ann, **given)[0])
    assert [plan.stands for plan in plans] == [True, False]
    assert plans[0].decided.clause == "goodwill of 600.00 EUR: sorry"
    nothing_wrong(ledger)


@pytest.mark.parametrize("remedy", ["reject", "withdraw", "refer"])
def test_what_moves_no_money_takes_one_person(evening: Evening, remedy: ComplaintRemedy) -> None:
    staff = hire(evening.ledger)
    complaint = evening.complain()
    decide_complaint(evening.ledger, evening.assess(complaint), remedy, staff.ann)
    state = read_complaint(evening.ledger, complaint.id).state
    assert state == ("referred" if remedy == "refer" else "decided")
    nothing_wrong(evening.ledger)


def test_a_referred_complaint_waits_for_the_reference(evening: Evening) -> None:
    staff = hire(evening.ledger)
    complaint = evening.complain()
    decide_complaint(evening.ledger, evening.assess(complaint), "refer", staff.ann)
    found = evening.assess(complaint)
    with pytest.raises(DisputeRefused, match="has already been referred"):
        decide_complaint(evening.ledger, found, "refer", staff.ann)
    plan, _ = decide_complaint(evening.ledger, found, "reject", staff.ann, reference="ADR-9")
    assert plan.decided.keys_needed == 2


def test_what_cannot_be_decided(evening: Evening) -> None:
    staff = hire(evening.ledger)
    found = evening.assess(evening.complain())
    euros: dict[str, Any] = {"amount_minor": 100, "currency": "EUR"}
    refused: tuple[tuple[ComplaintRemedy, dict[str, Any], str], ...] = (
        ("uphold", {}, "uphold is not lawful here: no round has anything wrong"),
        ("award", euros, "an award needs the reference"),
        ("award", {"reference": "R"}, "say how much: award needs an amount"),
        ("goodwill", {}, "say how much: goodwill needs an amount"),
        ("reject", euros, "reject moves no money"),
    )
    for remedy, options, message in refused:
        with pytest.raises(DisputeRefused, match=message):
            decide_complaint(evening.ledger, found, remedy, staff.ann, **options)
    with pytest.raises(DisputeRefused, match="may not sign for staff"):
        decide_complaint(evening.ledger, found, "refer", staff.dealer)
    decide_complaint(evening.ledger, found, "withdraw", staff.ann)
    with pytest.raises(StreamConflict):
        decide_complaint(evening.ledger, found, "withdraw", staff.bob)
    with pytest.raises(DisputeRefused, match="was decided"):
        decide_complaint(evening.ledger, evening.assess(found.complaint), "withdraw", staff.ann)


def test_what_the_ledger_shows_nothing_of_only_an_adjudicator_rejects(evening: Evening) -> None:
    staff = hire(evening.ledger)
    found = evening.assess(evening.complain("my balance is wrong"))
    with pytest.raises(DisputeRefused, match="reject is not lawful here"):
        decide_complaint(evening.ledger, found, "reject", staff.ann)


def test_an_audit_sees_money_that_nobody_decided(evening: Evening) -> None:
    staff = hire(evening.ledger)
    complaint = evening.complain()
    stream = dispute_stream(complaint.id)
    evening.ledger.sign_with("staff", staff.ann)
    paid = Awarded(complaint.id, None, None, 700, "EUR", None)
    alone = DisputeDecided(
        complaint.id, [], "goodwill", "rejected", "award", "R", 700, keys_needed=1, case=1
    )
    evening.ledger.append((stream, paid))
    assert [each.code for each in audit(evening.ledger).findings] == [codes.PAYMENT_UNDECIDED]
    evening.ledger.append((stream, alone))
    expected = {codes.PAYMENT_UNDECIDED, codes.KEYS_MISSING, codes.PAYMENT_MISSING}
    assert {each.code for each in audit(evening.ledger).findings} <= expected
    assert codes.KEYS_MISSING in audit(evening.ledger).by_code
    in_bulk = audit_in_bulk(evening.ledger).rounds.findings
    assert {each.code for each in in_bulk} == {each.code for each in audit(evening.ledger).findings}


# Opening


def test_a_complaint_is_found_by_how_its_id_begins(evening: Evening) -> None:
    complaint = evening.complain()
    assert complaint_ids(evening.ledger.store) == [complaint.id]
    assert is_complaint(evening.ledger, complaint.id)
    assert find_complaint(evening.ledger, complaint.id[:20]) == complaint.id
    (first, *_) = (row.round for row in evening.ledger.rounds())
    assert not is_complaint(evening.ledger, first)
    assert not is_complaint(evening.ledger, "")
    assert evening.ledger.disputed() == []
    with pytest.raises(DisputeRefused, match="has no complaint"):
        find_complaint(evening.ledger, "ffff")


@pytest.mark.parametrize(
    ("words", "question"),
    [
        ("I lost twelve running", "run"),
        ("lost 12 in a row!", "run"),
        ("this is rigged", "fairness"),
        ("fairness", "fairness"),
        ("my balance is wrong", "balance"),
        ("I borrowed nothing", "other"),
    ],
)
def test_a_claim_asks_what_its_words_say(evening: Evening, words: str, question: str) -> None:
    assert evening.complain(words).question == question


def test_what_cannot_be_complained_of(evening: Evening) -> None:
    span: dict[str, Any] = {"player": "p-1", "begin": EIGHT, "end": MIDNIGHT}
    later = evening.moment + timedelta(days=1)
    refused: tuple[tuple[str, dict[str, Any], str], ...] = (
        (" ", {}, "the claim is empty"),
        ("rigged", {"begin": MIDNIGHT, "end": EIGHT}, "ends before it begins"),
        ("rigged", {"begin": None}, "say which time the player means"),
        ("rigged", {"player": "p-9"}, "has no round of the player 'p-9'"),
        ("rigged", {"begin": MIDNIGHT, "end": later}, "'p-1' played no round between 2026-01-31"),
        ("rigged", {"received": later}, "received in the future"),
        ("rigged", {"received": EIGHT}, "the first of its rounds was opened after that, at 2026"),
        (
            "gone",
            {"missing_round": True, "received": EIGHT - timedelta(seconds=1)},
            "received at 2026-01-31T18:59:59.*its time began after that, at 2026-01-31T19:00:00",
        ),
        ("gone", {"missing_round": True}, "give a file with --evidence"),
    )
    for claim, change, message in refused:
        with pytest.raises(DisputeRefused, match=message):
            open_complaint(evening.ledger, claim, **{**span, **change})


def test_the_answer_is_due_from_the_receipt_on(evening: Evening) -> None:
    received = evening.moment
    evening.moment += timedelta(days=11)
    complaint = open_complaint(
        evening.ledger, "rigged", player="p-1", begin=EIGHT, end=MIDNIGHT, received=received
    )
    assert complaint.opened.deadline == format_time(received + timedelta(days=10))
    assert complaint.is_late
    assert complaint.is_overdue(evening.moment)


def test_a_complaint_may_come_in_before_its_span_ends_but_not_before_it_has_a_round(
    evening: Evening,
) -> None:
    (first, *_) = evening.ledger.rounds(player="p-1")
    opened = parse_time(first.opened_at)
    span: dict[str, Any] = {"player": "p-1", "begin": EIGHT, "end": MIDNIGHT}
    complaint = open_complaint(evening.ledger, "rigged", **span, received=opened)
    assert complaint.received_at == first.opened_at
    with pytest.raises(DisputeRefused, match="the first of its rounds was opened after that"):
        open_complaint(
            evening.ledger, "rigged", **span, received=opened - timedelta(microseconds=1)
        )
