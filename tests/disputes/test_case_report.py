"""Case reports: whole, frozen to their decision, the same bytes twice, and in plain words."""

import json
import re
from pathlib import Path

import pytest

from shoeproof.audit_reports.case_report.cards import CardPlace, table_views
from shoeproof.audit_reports.case_report.from_ledger import report_on
from shoeproof.audit_reports.case_report.model import Annex, Audience, CaseReport
from shoeproof.audit_reports.case_report.write import render_case_report, write_case_report
from shoeproof.audit_reports.errors import ReportError
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import ConnectionLost, GameDisabled, GameEnabled
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.replay.cases.faults import KINDS
from shoeproof.replay.disputes.decide import plan_decision, plan_goodwill, plan_payment
from shoeproof.replay.disputes.evidence import gather
from shoeproof.replay.disputes.facts import establish
from shoeproof.replay.disputes.record import open_case
from tests.disputes import live
from tests.disputes.desk import MALTA, Desk, page_of, text_of
from tests.disputes.money import hire, new_ledger
from tests.disputes.shoes import ROUND

NOTE = "My blackjack <b>paid even</b>"

MOST_BYTES = 200_000

Patch = pytest.MonkeyPatch


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    """A round whose natural was underpaid, with an open case; another with the same fault."""
    ledger = new_ledger()
    hire(ledger)
    natural = underpaid(ledger)
    underpaid(ledger)
    open_case(ledger, natural, "settlement", note=NOTE)
    sign_checkpoint(ledger)
    return ledger


def underpaid(ledger: Ledger) -> str:
    return live.play(ledger, lambda bet: bet.line == "natural", change=live.underpay)


def disputed(ledger: Ledger) -> str:
    return ledger.disputed()[0].removeprefix("disputes/")


def report(ledger: Ledger, audience: Audience = "adjudicator") -> CaseReport:
    return report_on(ledger, disputed(ledger), audience)


def annex_of(report: CaseReport) -> Annex:
    assert report.annex is not None
    return report.annex


# The whole of it


@pytest.mark.parametrize("suffix", [".html", ".json", ".txt"])
@pytest.mark.parametrize("audience", ["player", "adjudicator", "regulator"])
def test_equal_input_makes_equal_bytes(ledger: Ledger, audience: Audience, suffix: str) -> None:
    first, second = (render_case_report(report(ledger, audience), suffix) for _ in range(2))
    assert first == second


def test_the_page_is_small_fetches_nothing_and_shows_a_note_harmlessly(ledger: Ledger) -> None:
    html = page_of(report(ledger, "regulator"))
    assert len(html.encode()) < MOST_BYTES
    assert not re.search(r"<script|<link|<img|src=|href=|url\(|@import", html)
    assert "<b>paid even" not in html
    assert "&lt;b&gt;paid even&lt;/b&gt;" in html


SECTIONS = [
    "The answer to the player", "The complaint", "Bet by bet", "What was found", "The cards",
    "What happens next", "Circumstances", "Timeline", "Findings", "Remedies",
    "What the player was offered", "Decisions made for the player", "Funds",
    "Other rounds with the same fault", "Who authorised", "What the ledger cannot show",
    "Rules in force", "Proof", "Readings of ours, where the sources are silent (assumed)",
]  # fmt: skip


def test_every_section_is_there_and_assumed_readings_are_last(ledger: Ledger) -> None:
    headings = re.findall(r"<h2>(.*?)</h2>", page_of(report(ledger)))
    assert headings == SECTIONS


def test_sources_and_clauses_that_are_assumed_come_last(ledger: Ledger) -> None:
    annex = annex_of(report(ledger))
    for told in (annex.sources, annex.rules_text):
        marks = [each.assumed for each in told]
        assert True in marks
        assert marks == sorted(marks)


@pytest.mark.parametrize(
    "name",
    [
        "natural-paid-even-money",
        "five-card-21-beaten-by-a-drawn-21",
        "insurance-not-offered",
        "stand-at-19-minutes",
        "overpaid",
        "seed-never-revealed",
        "split-against-the-rules",
        "side-bet-lost-because-the-main-hand-lost",
    ],
)
def test_no_code_of_ours_stands_before_the_annex(name: str, monkeypatch: Patch) -> None:
    desk = Desk(name, monkeypatch)
    desk.open()
    html, _, annex = page_of(desk.report()).partition("Technical annex")
    for told in (html, page_of(desk.report("player"))):
        assert not re.findall(r"\w+_\w+", told.partition("</style>")[2])
    assert any(each in annex for each in KINDS)


def test_a_report_of_another_form_is_refused_and_nothing_is_written(
    ledger: Ledger, tmp_path: Path
) -> None:
    with pytest.raises(ReportError, match=r"\.html, \.pdf, \.json, \.txt"):
        write_case_report(report(ledger), tmp_path / "case.doc")
    assert list(tmp_path.iterdir()) == []


def test_a_case_that_is_not_there_is_named(ledger: Ledger) -> None:
    with pytest.raises(ValueError, match="no case 7"):
        report_on(ledger, disputed(ledger), "player", case_number=7)


def test_a_report_becomes_a_pdf(ledger: Ledger) -> None:
    try:
        made = render_case_report(report(ledger), ".pdf")
    except ReportError as missing:
        pytest.skip(str(missing))
    assert made.startswith(b"%PDF-")


# Bet by bet


def test_a_bet_has_stake_paid_due_and_its_ground_in_words(monkeypatch: Patch) -> None:
    desk = Desk("insurance-underpaid", monkeypatch)
    desk.open()
    told = desk.report()
    main, insurance = told.bets
    # 5.00 on insurance at 2:1 come to 15.00, of which 10.00 was paid.
    assert (insurance.stake_minor, insurance.paid_minor, insurance.due_minor) == (500, 1_000, 1_500)
    assert (insurance.to_pay_minor, main.to_pay_minor) == (500, 0)
    assert insurance.why == "the dealer had blackjack, so it won; this is what the rules pay"
    assert main.why == "the dealer had blackjack, which beats you; what was paid stands"
    assert insurance.source is not None
    assert insurance.source.cited == "NBA Blackjack, help page, Insurance; Payouts"
    assert "(NBA Blackjack, help page, Insurance; Payouts)" in page_of(told)


def test_what_a_withheld_act_could_have_brought_stands_beside_its_bet(monkeypatch: Patch) -> None:
    desk = Desk("insurance-not-offered", monkeypatch)
    desk.open()
    told = desk.report()
    # Without insurance the bet was lost; 5.00 on it at 2:1 would have come to 15.00.
    could = "could have come to anything from 0.00 EUR to 15.00 EUR for 15.00 EUR staked"
    assert could in " ".join(page_of(told).split())
    assert "could have come to anything from 0.00 EUR to 15.00 EUR" in text_of(told)


def test_what_a_decision_paid_stands_beside_each_bet(monkeypatch: Patch) -> None:
    desk = Desk("insurance-underpaid", monkeypatch)
    desk.open()
    desk.decide(plan_payment)
    main, insurance = desk.report().bets
    assert (insurance.paid_minor, insurance.moved_minor, insurance.to_pay_minor) == (1_000, 500, 0)
    assert (main.moved_minor, main.to_pay_minor) == (0, 0)


def test_refunds_of_a_void_that_ended_the_round_stand_beside_their_bets(
    monkeypatch: Patch,
) -> None:
    desk = Desk("no-seed-to-resume-from-and-a-pair-was-paid", monkeypatch)
    desk.open()
    desk.decide(plan_decision, "void")
    told = desk.report()
    assert {bet.bet: bet.moved_minor for bet in told.bets} == {"main": 1_000, "perfect_pairs": 0}
    assert annex_of(told).money.returned_minor == 1_000


def test_json_holds_the_sums_of_every_remedy(ledger: Ledger) -> None:
    data = json.loads(render_case_report(report(ledger), ".json"))
    sums = {each["name"]: each["moves_minor"] for each in data["annex"]["remedies"]}
    # 10.00 staked: 3:2 pays 25.00, half of the win left 17.50.
    assert (sums["resettle"], sums["honour"]) == (750, 0)
    assert data["format"] == "shoeproof/case-report/v2"
    assert (data["paid_minor"], data["due_minor"]) == (1_750, 750)


def test_a_remedy_that_is_not_lawful_is_priced_and_not_said_to_be_paid(ledger: Ledger) -> None:
    told = report(ledger)
    void = next(each for each in annex_of(told).remedies if each.name == "void")
    assert not void.lawful
    row = page_of(told).partition("void the round and return every stake</th>")[2]
    cells = [cell.partition("<")[0] for cell in row.split('<td class="num">')[1:3]]
    # No malfunction came before the blackjack was decided: even a void would leave its 25.00.
    assert cells == ["25.00 EUR", "\N{EN DASH}"]


# A decided case is frozen


def test_a_case_upheld_and_resumed_still_says_so_after_the_sweep(monkeypatch: Patch) -> None:
    desk = Desk("lost-in-the-middle-of-a-split", monkeypatch)
    desk.wait(minutes=1)
    desk.open()
    desk.wait(minutes=1)
    desk.decide(plan_decision, "resume")
    before = desk.report()
    desk.wait(minutes=20)
    assert desk.stage.live.apply_due()
    after = desk.report()
    assert after.headline.startswith("Complaint upheld: the round waits for you as it was")
    for told in (after, desk.report(number=1)):
        assert (told.headline, told.answer, told.bets) == (
            before.headline, before.answer, before.bets,
        )  # fmt: skip
        assert annex_of(told).timeline == annex_of(before).timeline
    assert before.since == ()
    assert after.since[0].startswith("The round ended at 2026-03-01")


def test_who_resumes_is_told_the_whole_period_from_the_decision_on(monkeypatch: Patch) -> None:
    desk = Desk("lost-in-the-middle-of-a-split", monkeypatch)
    desk.wait(minutes=1)
    desk.open()
    desk.decide(plan_decision, "resume")
    decided = desk.stage.moment
    told = desk.report("player", zone=MALTA).next_steps
    assert told[0] == "Open the game to go on from where it stopped."
    # The page gives 20 minutes; Malta is an hour ahead of UTC in March.
    until = decided.replace(hour=decided.hour + 1, minute=decided.minute + 20)
    assert f"20 minutes from the decision, until {until:%Y-%m-%d %H:%M:%S} CET" in told[1]


def test_a_decided_case_gives_the_grounds_it_was_decided_on(monkeypatch: Patch) -> None:
    desk = Desk("natural-paid-even-money", monkeypatch)
    desk.open()
    desk.decide(plan_payment)
    told = desk.report()
    assert next(each.name for each in annex_of(told).remedies if each.governs) == "resettle"
    assert told.answer.endswith("5.00 GBP more is due to you.")
    assert annex_of(told).money.paid_by_decision_minor == 500
    assert told.since == (
        f"Assessed again, the round was corrected by case {ROUND}.1: nothing is due.",
    )


def test_the_timeline_of_a_decided_case_ends_with_what_it_paid(monkeypatch: Patch) -> None:
    desk = Desk("natural-paid-even-money", monkeypatch)
    desk.open()
    desk.decide(plan_payment)
    desk.wait(minutes=1)
    desk.open()
    rows = annex_of(desk.report(number=1)).timeline
    assert [row.says for row in rows[-2:]] == [
        "dispute decided: complaint upheld, each bet is paid what is due, 5.00 GBP paid",
        "resettles main of s1: 20.00 GBP → 25.00 GBP (natural)",
    ]
    assert desk.report(number=1).since[-1].startswith(f"Case {ROUND}.2 about the same round")


def test_goodwill_is_told_in_words_where_it_was_signed(monkeypatch: Patch) -> None:
    desk = Desk("natural-paid-even-money", monkeypatch)
    desk.open()
    desk.decide(plan_goodwill, 100, note="a long wait")
    annex = annex_of(desk.report())
    assert annex.authorised[-1].what == "signed: 1.00 GBP given, goodwill: a long wait"
    assert annex.timeline[-1].says == "pays 1.00 GBP beyond what is due"


# When it came in, and what was late


def test_a_report_says_when_the_complaint_came_in_and_that_the_answer_is_late(
    monkeypatch: Patch,
) -> None:
    desk = Desk("natural-paid-even-money", monkeypatch)
    desk.wait(days=12)
    desk.open(received_ago=11)
    waits = desk.report()
    assert waits.case is not None
    assert waits.case.received_at < waits.case.opened_at
    assert waits.case.late == "The answer is overdue."
    assert not any("will be answered" in each for each in waits.next_steps)
    desk.decide(plan_payment)
    for audience in ("player", "adjudicator"):
        told = desk.report(audience)
        late = "The case was opened after the answer was due, and the answer came late."
        assert told.case is not None
        assert told.case.late == late
        assert late in page_of(told)
        assert late in text_of(told)


def test_an_answer_in_time_is_not_called_late(ledger: Ledger) -> None:
    case = report(ledger).case
    assert case is not None
    assert case.late is None
    assert report(ledger).next_steps[1].startswith("You will be answered by 2026-")


# The cards


def test_the_disputed_card_is_drawn_and_marked_beside_the_card_of_the_shoe(
    monkeypatch: Patch,
) -> None:
    desk = Desk("wrong-card-and-the-player-lost", monkeypatch)
    desk.open()
    told = desk.report()
    card = told.disputed_card
    assert card is not None
    # The scenario deals the king where its shoe has the five of hearts, the fifth card.
    assert (card.card, card.shoe_card, card.shoe_index) == ("Kd", "5h", 4)
    assert card.says == (
        "The king of diamonds was dealt to hand s1; the committed shoe has the 5 of hearts there."
    )
    for view in told.tables:
        assert [hand.marked for hand in view.hands] == [2]
        assert view.dealer.marked is None
    for audience in ("player", "adjudicator"):
        html = page_of(desk.report(audience))
        drawn = "Hand s1: jack of diamonds, 6 of diamonds, king of diamonds (in dispute)"
        assert f"<title>{drawn}</title>" in html
        assert "<title>The committed shoe at this place: 5 of hearts</title>" in html
        assert "stroke-dasharray" in html
    assert "J♦ 6♦ [K♦]" in text_of(told)


def test_the_row_of_the_fault_is_marked_in_the_timeline(monkeypatch: Patch) -> None:
    desk = Desk("wrong-card-and-the-player-lost", monkeypatch)
    desk.open()
    told = desk.report()
    marked = [row for row in annex_of(told).timeline if row.is_fault]
    assert told.disputed_card is not None
    assert [row.leaf_index for row in marked] == [told.disputed_card.leaf_index]
    assert page_of(told).count('<tr class="fault">') == 1
    assert text_of(told).count("<== FAULT") == 1


def test_a_card_is_followed_into_the_half_that_a_split_took_it_to(monkeypatch: Patch) -> None:
    desk = Desk("lost-in-the-middle-of-a-split", monkeypatch)
    replay = establish(gather(desk.ledger, ROUND)).replay
    assert replay is not None
    (view,) = table_views(replay, None, CardPlace("s1", 1))
    assert {hand.name: hand.marked for hand in view.hands} == {"s1.1": None, "s1.2": 0}


def test_where_no_card_is_at_fault_none_is_marked(monkeypatch: Patch) -> None:
    desk = Desk("natural-paid-even-money", monkeypatch)
    desk.open()
    told = desk.report()
    assert told.disputed_card is None
    assert all(hand.marked is None for view in told.tables for hand in view.hands)
    assert "(in dispute)" not in page_of(told)


def test_cards_are_drawn_with_words_for_a_screen_reader(ledger: Ledger) -> None:
    assert re.search(
        r"<title>Hand s1: .* of (clubs|diamonds|hearts|spades)", page_of(report(ledger))
    )


def test_the_table_is_drawn_at_the_interruption_with_the_hole_card_down() -> None:
    ledger = new_ledger()
    round_id = live.open_round(ledger)
    ledger.append((round_id, ConnectionLost(2, None, None)))
    told = report_on(ledger, round_id, "adjudicator")
    assert [view.label for view in told.tables] == ["as the round stands"]
    assert told.tables[0].dealer.cards[-1] == "??"
    annex = annex_of(told)
    assert any(row.is_fault and "connection lost" in row.says for row in annex.timeline)
    assert annex.offers[-1].chosen is None


# Times


@pytest.mark.parametrize("audience", ["player", "regulator"])
def test_times_are_those_of_the_zone_asked_for_and_say_so(
    audience: Audience, monkeypatch: Patch
) -> None:
    desk = Desk("stand-at-19-minutes", monkeypatch)
    desk.open()
    told = desk.report(audience, zone=MALTA)
    assert told.zone == "Europe/Malta"
    assert "at 13:19:05 CET" in told.answer
    for text in (page_of(told), text_of(told)):
        assert "2026-03-01 13:00:00 CET" in text
        assert "All times are in Europe/Malta" in text
        assert not re.search(r"\d{4}-\d\d-\d\dT\d\d", text)
        assert not re.search(r"\d\d:\d\d:\d\d(?!\.?\d| CET| Europe/Malta)", text)


def test_times_are_utc_unless_a_zone_is_asked_for(ledger: Ledger) -> None:
    assert report(ledger).zone == "UTC"
    assert "All times are in UTC" in page_of(report(ledger))


# For adjudicators and regulators


def test_an_adjudicator_is_told_who_signed_and_which_rounds_are_touched(monkeypatch: Patch) -> None:
    desk = Desk("natural-paid-even-money", monkeypatch)
    desk.open()
    desk.decide(plan_payment)
    signed = annex_of(desk.report()).authorised[-1]
    assert (signed.by, signed.what) == (
        "ann", "signed: complaint upheld, each bet is paid what is due, 5.00 GBP paid",
    )  # fmt: skip


def test_rounds_with_the_same_fault_are_named(ledger: Ledger) -> None:
    told = report(ledger)
    assert annex_of(told).other_rounds
    assert all(other in page_of(told) for other in annex_of(told).other_rounds)
    assert "Incident notice" not in page_of(told)


def test_a_regulator_is_told_whether_the_game_was_disabled() -> None:
    ledger = new_ledger()
    round_id = underpaid(ledger)
    annex = annex_of(report_on(ledger, round_id, "regulator"))
    told = annex.incident
    assert told is not None
    assert told.game_disabled.startswith("the ledger records no GameDisabled")
    assert told.rounds_affected == len(annex.other_rounds) + 1
    assert told.software_build == "build-7"
    ledger.append(("operations", GameDisabled(6, "nba", None)))
    ledger.append(("operations", GameEnabled(1, "nba", None)))
    told = annex_of(report_on(ledger, round_id, "regulator")).incident
    assert told is not None
    assert re.fullmatch(r"disabled at 2026.* UTC, enabled again at 2026.* UTC", told.game_disabled)


def test_another_game_that_was_disabled_is_not_this_one() -> None:
    ledger = new_ledger()
    round_id = underpaid(ledger)
    ledger.append(("operations", GameDisabled(6, "zero", None)))
    told = annex_of(report_on(ledger, round_id, "regulator")).incident
    assert told is not None
    assert told.game_disabled.startswith("the ledger records no GameDisabled")


def test_the_proof_names_every_leaf_and_what_no_checkpoint_covers(ledger: Ledger) -> None:
    told = report(ledger)
    events = [*ledger.events(disputed(ledger)), *ledger.events(ledger.disputed()[0])]
    assert list(annex_of(told).proof.leaf_indices) == [each.leaf_index for each in events]
    assert len(told.commands) == 2
