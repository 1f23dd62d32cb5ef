"""The letter to a player: one page, in their time zone, with the receipt, and of nobody else."""

import re
from base64 import b64decode

import msgspec
import pytest

from shoeproof.audit_reports.case_report.from_ledger import receipt_name, receipt_of, report_on
from shoeproof.audit_reports.case_report.letter import letter_of
from shoeproof.audit_reports.case_report.model import CaseReport
from shoeproof.audit_reports.case_report.write import MOST_EMBEDDED, is_embedded, render_case_report
from shoeproof.ledger import Ledger
from shoeproof.ledger.exchange.bundle import make_bundle, verify_bundle
from shoeproof.ledger.leaf.events import (
    BetSettled,
    GameDisabled,
    GameEnabled,
    KeyRevoked,
    ServiceStopped,
)
from shoeproof.replay.disputes.decide import plan_decision, plan_payment
from shoeproof.replay.disputes.record import open_case
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.live.table import LiveTable
from shoeproof.replay.rounds.catalogue import current_rules
from tests.disputes import live
from tests.disputes.desk import MALTA, Desk, page_of, text_of
from tests.disputes.money import hire, new_ledger
from tests.disputes.shoes import ROUND

ANNEX = [
    "Technical annex", "Timeline", "Remedies", "Rules in force", "Proof", "leaf indices",
    "Who authorised", "signed by", "Other rounds",
]  # fmt: skip


@pytest.fixture
def letter(monkeypatch: pytest.MonkeyPatch) -> CaseReport:
    """A natural paid at even odds, upheld and paid, with the receipt of the round."""
    desk = Desk("natural-paid-even-money", monkeypatch)
    desk.open(note="I had blackjack")
    desk.decide(plan_payment)
    return with_receipt(desk.ledger, desk.report("player", zone=MALTA))


def with_receipt(ledger: Ledger, report: CaseReport) -> CaseReport:
    bundle = make_bundle(ledger, report.round)
    receipt = receipt_of(receipt_name(report.round), bundle)
    return report_on(ledger, report.round, "player", zone=MALTA, receipt=receipt)


def body_of(report: CaseReport) -> str:
    return page_of(report).partition("</style>")[2]


def test_a_letter_greets_answers_lists_bets_and_says_what_is_next(letter: CaseReport) -> None:
    parts = [
        "Dear player,",
        letter.headline,
        letter.answer,
        "Payouts",
        "Your bets",
        "What happens next",
        "5.00 GBP was paid to you on 2026-03-01",
        "Check it yourself",
        "shoeproof bundle verify",
        "I had blackjack",
    ]
    html = body_of(letter)
    places = [html.find(each) for each in parts]
    assert -1 not in places
    assert places == sorted(places)


def test_a_letter_has_no_annex(letter: CaseReport) -> None:
    assert letter.annex is None
    for text in (body_of(letter), text_of(letter)):
        assert not [each for each in ANNEX if each in text]


def pages_of(report: CaseReport) -> int:
    """How many pages of A4 a letter makes, where it can be laid out."""
    try:
        from weasyprint import HTML
    except (ImportError, OSError) as missing:
        pytest.skip(str(missing))
    return len(HTML(string=page_of(report)).render().pages)


def test_a_letter_is_one_page(letter: CaseReport) -> None:
    assert pages_of(letter) == 1


@pytest.mark.parametrize(
    "name",
    [
        "wrong-card-and-the-player-lost",
        "stand-at-19-minutes",
        "lost-with-two-of-three-seats-decided",
        "split-against-the-rules",
        "card-removed-from-the-ledger",
    ],
)
def test_a_letter_about_anything_is_one_page(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(name, monkeypatch)
    desk.open(note="It is not fair, and I want my money. " * 40)
    assert pages_of(desk.report("player")) == 1


@pytest.fixture(scope="module")
def fullest() -> CaseReport:
    """Five seats with both side bets, insured and split wherever they may be, every win paid short:
    of forty such rounds the one with most bets.
    """
    ledger = new_ledger()
    rules = current_rules(ledger, "nba")
    limits = dict.fromkeys(rules.bets, (1, 2_000_000))
    settings = msgspec.structs.replace(live.SETTINGS, limits=limits)
    stakes = {"main": 1_000, "perfect_pairs": 100, "twenty_one_plus_three": 100}
    table = LiveTable(ledger, rules, settings, journal=live.Altering(ledger, live.underpay))
    acts = ("insurance", "split", "stand", "decline")
    played: list[tuple[int, str]] = []
    for _ in range(40):
        round_ = table.open_round("p-1")
        round_.deal({f"s{seat}": stakes for seat in range(1, 6)})
        while isinstance(round_.due, Decide):
            round_.decide(round_.due.hand, next(act for act in acts if act in round_.offered))
        events = ledger.events(round_.round_id)
        bets = sum(isinstance(each.event.data, BetSettled) for each in events)
        played.append((bets, round_.round_id))
    _, most = max(played)
    open_case(ledger, most, "disconnection", note="It is not fair. " * 40)
    return report_on(ledger, most, "player")


def test_the_letter_about_the_fullest_table_is_one_page(fullest: CaseReport) -> None:
    assert len(fullest.bets) >= 15
    assert pages_of(fullest) == 1


def test_what_a_long_letter_does_not_list_is_summed_up(fullest: CaseReport) -> None:
    letter = letter_of(fullest)
    assert letter.is_long
    assert 0 < len(letter.bets) < len(fullest.bets)
    assert {*letter.bets, *letter.others} == {*fullest.bets}
    staked = sum(bet.stake_minor for bet in letter.others)
    _, _, row = body_of(fullest).partition(f"{len(letter.others)} other bets</th>")
    assert row.split('<td class="num">')[1].startswith(f"{staked // 100}.{staked % 100:02}")
    # What money is due for is listed before anything else.
    is_due = [any(bet.to_pay_minor for bet in bets) for bets in (fullest.bets, letter.bets)]
    assert is_due[0] == is_due[1]


# The receipt


def test_the_receipt_inside_a_letter_verifies(letter: CaseReport) -> None:
    html = body_of(letter)
    assert f'download="receipt-{ROUND}.json"' in html
    (content,) = re.findall(r'href="data:application/json;base64,([^"]+)"', html)
    key = letter.commands[-1].split()[-1].strip("'")
    verified = verify_bundle(b64decode(content), key)
    assert (verified.round_id, verified.findings) == (ROUND, [])
    assert verified.end_is_proven


@pytest.mark.parametrize("suffix", [".txt", ".json"])
def test_other_forms_name_the_file_to_attach(letter: CaseReport, suffix: str) -> None:
    text = render_case_report(letter, suffix).decode()
    assert letter.receipt is not None
    assert f"receipt-{ROUND}.json" in text
    assert letter.receipt.sha256 in text
    assert len(text) < len(letter.receipt.content)


def test_a_receipt_that_is_too_large_goes_beside_the_letter(letter: CaseReport) -> None:
    large = receipt_of("round.json", b" " * (MOST_EMBEDDED + 1))
    report = msgspec.structs.replace(letter, receipt=large)
    assert not is_embedded(report)
    html = body_of(report)
    assert "data:" not in html
    assert "round.json</span>" in html
    assert "goes with this letter" in html


def test_without_a_receipt_a_letter_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    report = Desk("natural-paid-even-money", monkeypatch).report("player")
    assert "Ask us for the receipt of this round" in body_of(report)
    assert report.commands[0].startswith(f"shoeproof bundle {ROUND} -o receipt-{ROUND}.json")


# Of nobody else


def test_a_letter_names_no_staff_and_no_other_round(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk("natural-paid-even-money", monkeypatch)
    desk.open()
    desk.decide(plan_decision, "resettle")
    for suffix in (".html", ".json", ".txt"):
        text = render_case_report(desk.report("player"), suffix).decode()
        assert "ann" not in re.findall(r"\w+", text)
        assert {ROUND} == set(re.findall(r"[0-9a-f]{8}-[0-9a-f-]{27}", text))


def test_a_letter_has_no_operator_s_note() -> None:
    ledger = new_ledger()
    ledger.append(("operations", GameDisabled(6, "nba", "before: ann of shift 2")))
    ledger.append(("operations", GameEnabled(1, "nba", None)))
    round_id = live.open_round(ledger)
    ledger.append(("operations", ServiceStopped(3, None, "ann pulled the plug, p-99 complained")))
    assert "ann" not in re.findall(r"\w+", page_of(report_on(ledger, round_id, "player")))
    assert "ann pulled" in page_of(report_on(ledger, round_id, "adjudicator"))


def test_a_player_is_not_told_whose_key_was_distrusted() -> None:
    ledger = new_ledger()
    staff = hire(ledger)
    natural = live.play(ledger, lambda bet: bet.line == "natural", change=live.underpay)
    open_case(ledger, natural, "settlement", signer=staff.ann)
    ann = next(key for key in ledger.key_ring() if key.public_key.name == "ann")
    revoked = KeyRevoked("ann", ann.public_key.key_id_hex, ann.start, "stolen")
    ledger.append(("keys", revoked))
    assert "ann is not trusted" in page_of(report_on(ledger, natural, "adjudicator"))
    told = report_on(ledger, natural, "player")
    assert told.found
    for suffix in (".html", ".json", ".txt"):
        assert "ann" not in re.findall(r"\w+", render_case_report(told, suffix).decode())
