"""Case reports: whole, the same bytes twice, and nobody is told what is not theirs to know."""

import json
import re
from pathlib import Path

import pytest

from audit_reports.case_report.from_ledger import as_it_was, report_on
from audit_reports.case_report.model import Audience, CaseReport
from audit_reports.case_report.write import render_case_report, write_case_report
from audit_reports.errors import ReportError
from ledger import Ledger
from ledger.events import ConnectionLost, GameDisabled, GameEnabled, KeyRevoked, ServiceStopped
from ledger.signing import sign_checkpoint
from replay.disputes.assess import assess
from replay.disputes.cases import read_cases
from replay.disputes.decide import plan_decision
from replay.disputes.evidence import gather
from replay.disputes.pay import carry_out, open_case
from tests.disputes import live
from tests.disputes.money import hire, new_ledger

NOTE = "My blackjack <b>paid even</b>"

MOST_BYTES = 200_000


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    """One round whose natural was underpaid, decided by ann; another with the same fault."""
    ledger = new_ledger()
    staff = hire(ledger)
    natural = underpaid(ledger)
    underpaid(ledger)
    open_case(ledger, natural, "settlement", note=NOTE)
    evidence = gather(ledger, natural)
    assessment = assess(evidence, "settlement")
    cases = read_cases(ledger, natural)
    plan = plan_decision(evidence, assessment, cases, "resettle", key="ann", reference=None)
    carry_out(ledger, evidence, plan, staff.ann)
    sign_checkpoint(ledger)
    return ledger


def underpaid(ledger: Ledger) -> str:
    return live.play(ledger, lambda bet: bet.line == "natural", change=live.underpay)


def disputed(ledger: Ledger) -> str:
    return ledger.disputed()[0].removeprefix("disputes/")


def report(ledger: Ledger, audience: Audience = "adjudicator") -> CaseReport:
    return report_on(ledger, disputed(ledger), audience)


def page(ledger: Ledger, audience: Audience = "adjudicator") -> str:
    return page_of(report(ledger, audience))


def page_of(report: CaseReport) -> str:
    return render_case_report(report, ".html").decode()


def test_a_natural_paid_at_even_odds_is_resettled_at_three_to_two(ledger: Ledger) -> None:
    told = report(ledger)
    # 10.00 staked: 3:2 pays 25.00, half of the win left 17.50.
    assert told.headline.endswith("7.50 EUR was paid to the player.")
    main = next(bet for bet in told.bets if bet.bet == "main")
    assert (main.expected_minor, main.paid_minor, main.moved_minor) == (2_500, 1_750, 750)
    assert told.governing.name == "resettle"
    assert (told.money.wagered_minor, told.money.won_minor) == (1_000, 1_750)
    assert told.money.paid_by_decision_minor == 750


def test_a_decided_case_gives_the_grounds_it_was_decided_on(ledger: Ledger) -> None:
    evidence = gather(ledger, disputed(ledger))
    assert assess(evidence, "settlement").governing.name == "honour"
    assert assess(as_it_was(evidence, 1), "settlement").governing.name == "resettle"


@pytest.mark.parametrize("suffix", [".html", ".json", ".txt"])
def test_equal_input_makes_equal_bytes(ledger: Ledger, suffix: str) -> None:
    first, second = (render_case_report(report(ledger), suffix) for _ in range(2))
    assert first == second


def test_the_page_is_small_fetches_nothing_and_shows_a_note_harmlessly(ledger: Ledger) -> None:
    html = page(ledger, "regulator")
    assert len(html.encode()) < MOST_BYTES
    assert not re.search(r"<script|<link|<img|src=|href=|url\(|@import", html)
    assert "<b>paid even" not in html
    assert "&lt;b&gt;paid even&lt;/b&gt;" in html


SECTIONS = [
    "Circumstances", "Governing clause and basis for settlement", "The cards",
    "Expected against paid", "Remedies", "Timeline", "What the player was offered",
    "Decisions made for the player", "Funds", "Other rounds with the same fault",
    "Rules in force", "What the ledger cannot show", "Who authorised", "Proof",
]  # fmt: skip


@pytest.mark.parametrize("section", SECTIONS)
def test_every_section_is_there(ledger: Ledger, section: str) -> None:
    assert f"<h2>{section}</h2>" in page(ledger)


def test_cards_are_drawn_with_words_for_a_screen_reader(ledger: Ledger) -> None:
    assert re.search(r"<title>s1: .* of (clubs|diamonds|hearts|spades)", page(ledger))


def test_a_player_is_told_no_names_of_staff_and_nothing_of_other_players(ledger: Ledger) -> None:
    html = page(ledger, "player")
    others = report(ledger).other_rounds
    assert others
    assert "ann" not in re.findall(r"\w+", html)
    assert all(other not in html for other in others)
    assert f"{len(others)} other rounds" in html
    assert "staff, 1 of 1 keys" in html


def test_a_player_is_told_of_the_service_what_befell_the_round_and_no_operator_s_note() -> None:
    ledger = new_ledger()
    ledger.append(("operations", GameDisabled(6, "nba", "before: ann of shift 2")))
    ledger.append(("operations", GameEnabled(1, "nba", None)))
    round_id = live.open_round(ledger)
    ledger.append(("operations", ServiceStopped(3, None, "ann pulled the plug, p-99 complained")))
    ledger.append(("operations", ServiceStopped(3, "zero", "another game")))
    told = report_on(ledger, round_id, "player").timeline
    of_service = [row.says for row in told if row.stream == "operations"]
    assert of_service == ["service stopped: cause 3, platform restart"]
    assert "ann pulled" in page_of(report_on(ledger, round_id, "adjudicator"))


def test_a_player_is_not_told_whose_key_was_distrusted() -> None:
    ledger = new_ledger()
    staff = hire(ledger)
    natural = underpaid(ledger)
    open_case(ledger, natural, "settlement", signer=staff.ann)
    ann = next(key for key in ledger.key_ring() if key.public_key.name == "ann")
    first = ann.start
    ledger.append(("keys", KeyRevoked("ann", ann.public_key.key_id_hex, first, "stolen")))
    assert "ann is not trusted" in page_of(report_on(ledger, natural, "adjudicator"))
    told = report_on(ledger, natural, "player")
    assert told.findings
    for suffix in (".html", ".json", ".txt"):
        assert "ann" not in re.findall(r"\w+", render_case_report(told, suffix).decode())


def test_an_adjudicator_is_told_who_signed_and_which_rounds_are_touched(ledger: Ledger) -> None:
    html = page(ledger)
    assert re.search(r"ann decided: upheld, resettle", html)
    assert all(other in html for other in report(ledger).other_rounds)
    assert "Incident notice" not in html


def test_a_regulator_is_told_whether_the_game_was_disabled() -> None:
    ledger = new_ledger()
    round_id = underpaid(ledger)
    whole = report_on(ledger, round_id, "regulator")
    told = whole.incident
    assert told is not None
    assert told.game_disabled.startswith("the ledger records no GameDisabled")
    assert told.rounds_affected == len(whole.other_rounds) + 1
    assert told.software_build == "build-7"
    ledger.append(("operations", GameDisabled(6, "nba", None)))
    ledger.append(("operations", GameEnabled(1, "nba", None)))
    told = report_on(ledger, round_id, "regulator").incident
    assert told is not None
    assert re.fullmatch(r"disabled at 2026.*Z, enabled again at 2026.*Z", told.game_disabled)


def test_another_game_that_was_disabled_is_not_this_one() -> None:
    ledger = new_ledger()
    round_id = underpaid(ledger)
    ledger.append(("operations", GameDisabled(6, "zero", None)))
    told = report_on(ledger, round_id, "regulator").incident
    assert told is not None
    assert told.game_disabled.startswith("the ledger records no GameDisabled")


def test_the_table_is_drawn_at_the_fault_and_at_the_end() -> None:
    ledger = new_ledger()
    round_id = live.open_round(ledger)
    ledger.append((round_id, ConnectionLost(2, None, None)))
    told = report_on(ledger, round_id, "player")
    assert [view.label for view in told.tables] == ["as the round stands"]
    assert told.tables[0].dealer.cards[-1] == "??"
    assert any(row.is_fault and "connection lost" in row.says for row in told.timeline)
    assert told.offers[-1].chosen is None


def test_the_proof_names_every_leaf_and_what_no_checkpoint_covers(ledger: Ledger) -> None:
    proof = report(ledger).proof
    events = [*ledger.events(disputed(ledger)), *ledger.events(ledger.disputed()[0])]
    assert list(proof.leaf_indices) == [each.leaf_index for each in events]
    assert len(proof.commands) == 2


def test_json_holds_the_sums_of_every_remedy(ledger: Ledger) -> None:
    data = json.loads(render_case_report(report(ledger), ".json"))
    sums = {each["name"]: each["moves_minor"] for each in data["remedies"]}
    assert sums["resettle"] == 750
    assert data["format"] == "shoeproof/case-report/v1"


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


def test_a_case_that_nobody_decided_yet_is_not_told_as_decided() -> None:
    ledger = new_ledger()
    natural = underpaid(ledger)
    open_case(ledger, natural, "settlement", note=NOTE)
    told = report_on(ledger, natural, "player")
    assert told.headline.startswith(
        "Not decided yet; by the evidence the complaint is to be upheld"
    )


def test_a_remedy_that_is_not_lawful_is_priced_and_not_said_to_be_paid(ledger: Ledger) -> None:
    told = report(ledger)
    void = next(each for each in told.remedies if each.name == "void")
    assert not void.lawful
    row = page_of(told).partition("void the round and return every stake</th>")[2]
    cells = [cell.partition("<")[0] for cell in row.split('<td class="num">')[1:3]]
    # 17.50 was paid on 10.00, and nothing is taken back.
    assert cells == ["17.50 EUR", "\N{EN DASH}"]
