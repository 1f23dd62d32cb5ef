"""The words people type to decide a case, and what they are asked and told."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from shoeproof.cli.commands.dispute import decide
from shoeproof.ledger import Ledger
from tests.cli.conftest import Shoeproof
from tests.cli.test_bad_input import told
from tests.cli.test_dispute import Place, call, made, opened, place, size

__all__ = ["call", "made", "place"]


def listed(call: Shoeproof, case: str) -> dict[str, object]:
    """What `dispute list` has of a case."""
    rows = json.loads(call("list", "--all", "--json").out)["cases"]
    return next(row for row in rows if row["case"] == case)


def test_pay_pays_what_is_due_and_reject_is_refused(call: Shoeproof, place: Place) -> None:
    case = opened(call, place.underpaid)
    told(call("reject", case, "--key", "ann", "--yes"), 2, "cannot be rejected", "is due")
    paid = call("pay", case, "--key", "ann", "--yes")
    assert (paid.code, "EUR paid (leaves" in paid.out) == (0, True), paid.err
    told(call("pay", case, "--key", "ann", "--yes"), 2, "decided only once")


def test_reject_decides_that_the_outcome_stands_and_pay_is_refused(
    call: Shoeproof, place: Place
) -> None:
    case = opened(call, place.lost)
    told(call("pay", case, "--key", "ann", "--yes"), 2, "nothing is to be paid here")
    assert call("reject", case, "--key", "ann", "--yes").code == 0
    row = listed(call, case)
    assert (row["state"], row["remedy"], row["amount_minor"]) == ("decided", "honour", 0)


def test_resume_and_void_are_what_the_assessment_allows(call: Shoeproof, place: Place) -> None:
    case = opened(call, place.open, "disconnection")
    told(call("void", case, "--key", "ann", "--yes"), 2, "void is not lawful here")
    assert call("resume", case, "--key", "ann", "--yes").code == 0


@pytest.mark.parametrize("words", [("award", "20.00"), ("decide", "--award", "20.00")])
def test_an_award_is_paid_by_the_second_person(
    call: Shoeproof, place: Place, words: tuple[str, ...]
) -> None:
    case = opened(call, place.lost)
    verb, *rest = words
    more = (*rest, "--reference", "ADJ 1", "--yes", "--key")
    first = call(verb, case, *more, "ann")
    assert "nothing is paid until a second key" in first.out, first.err
    hint = call("assess", case).out
    assert "ann signed award, 20.00 EUR" in hint
    assert "--reference 'ADJ 1' --key NAME" in hint
    second = json.loads(call(verb, case, *more, "bob", "--json").out)
    assert (second["state"], second["amount_minor"], second["currency"]) == (
        "decided",
        2_000,
        "EUR",
    )


def test_an_award_makes_a_bet_come_to_its_amount(call: Shoeproof, place: Place) -> None:
    case = opened(call, place.lost)
    words = ("20.00", "--bet", "s1:main", "--reference", "ADJ-1", "--yes", "--key")
    for key in ("ann", "bob"):
        assert call("award", case, *words, key).code == 0
    assert listed(call, case)["amount_minor"] == 2_000


def test_goodwill_is_given_by_one_person(call: Shoeproof, place: Place) -> None:
    case = opened(call, place.lost)
    given = call("goodwill", case, "5.00", "--note", "a long wait", "--key", "ann", "--yes")
    assert "Decided: goodwill, 5.00 EUR paid" in given.out, given.err


def test_a_withdrawal_closes_the_case(call: Shoeproof, place: Place) -> None:
    case = opened(call, place.underpaid)
    result = call("withdraw", case, "--key", "ann", "--yes")
    assert "Withdrawn by the player; nothing is paid" in result.out
    assert opened(call, place.underpaid) == f"{place.underpaid}.2"


def test_a_referred_case_leaves_room_for_another_and_is_decided_by_its_number(
    call: Shoeproof, place: Place
) -> None:
    first = opened(call, place.lost, "fairness")
    assert "dispute award" in call("refer", first, "--key", "ann", "--yes").out
    second = opened(call, place.lost)
    assert second == f"{place.lost}.2"
    assert call("reject", place.lost, "--key", "ann", "--yes").code == 0
    assert [listed(call, each)["state"] for each in (first, second)] == ["referred", "decided"]
    for key in ("ann", "bob"):
        words = ("--reference", "ADJ-1", "--key", key, "--yes")
        assert call("award", first, "1.00", *words).code == 0
    assert listed(call, first)["state"] == "decided"


def test_a_decided_case_is_shown_as_it_was_decided_and_its_round_as_it_is(
    call: Shoeproof, place: Place
) -> None:
    case = opened(call, place.underpaid)
    assert call("pay", case, "--key", "ann", "--yes").code == 0
    then = json.loads(call("assess", case, "--json").out)
    now = json.loads(call("assess", place.underpaid, "--json").out)

    def moves(found: dict[str, list[dict[str, int]]]) -> int:
        return next(each["moves_minor"] for each in found["remedies"] if each["governs"])

    assert moves(then) == listed(call, case)["amount_minor"]
    assert moves(now) == 0


def test_the_question_names_round_player_claim_and_amount(
    call: Shoeproof, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = opened(call, place.lost, "fairness")
    monkeypatch.setattr(decide, "_somebody_is_here", lambda: None)
    asked: list[str] = []

    def answer(question: str, **_: object) -> bool:
        asked.append(question)
        return False

    monkeypatch.setattr("typer.confirm", answer)
    before = size(place)
    told_no = call("goodwill", case, "5.00", "--note", "sorry", "--key", "ann")
    assert (told_no.code, size(place)) == (2, before)
    (question,) = asked
    for part in (place.lost, "player p-2", "claim: fairness", "pays 5.00 EUR"):
        assert part in question


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("decide", "CASE"), "one of --remedy, --award and --goodwill"),
        (
            ("decide", "CASE", "--award", "5", "--goodwill", "5"),
            "one of --remedy, --award and --goodwill",
        ),
        (("decide", "CASE", "--award", "5"), "give --reference"),
        (("decide", "CASE", "--goodwill", "5"), "say why goodwill is given"),
        (
            ("decide", "CASE", "--remedy", "honour", "--bet", "s1:main"),
            "only an award is for a bet",
        ),
        (("goodwill", "CASE", "5", "--note", " "), "say why goodwill is given"),
        (("goodwill", "CASE", "5.001", "--note", "x"), "too many decimal places"),
        (("goodwill", "CASE", "five", "--note", "x"), "'five' is not a valid amount"),
        (("award", "CASE", "5", "--reference", " "), "an adjudicator's decision has a reference"),
        (("award", "CASE", "5", "--reference", "R", "--bet", "s1"), "'s1' names no bet"),
        (("award", "CASE", "5", "--reference", "R", "--bet", "s9:main"), "its bets are s1:main"),
        (("award", "CASE", "0", "--reference", "R"), "above zero"),
        (
            ("award", "CASE", "999999999999999", "--reference", "R"),
            "can record, which is 90,071,992,547,409.91 EUR",
        ),
    ],
)
def test_a_decision_that_cannot_be(
    call: Shoeproof, place: Place, words: tuple[str, ...], message: str
) -> None:
    case = opened(call, place.lost)
    before = size(place)
    spelled = (case if word == "CASE" else word for word in words)
    told(call(*spelled, "--key", "ann", "--yes"), 2, message)
    assert size(place) == before


# From receipt


def test_a_complaint_received_today_is_no_older_than_its_round(
    call: Shoeproof, place: Place
) -> None:
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    words = ("--claim", "other", "--received", today, "--zone", "UTC", "--json")
    case = json.loads(call("open", place.lost, *words).out)
    assert case["received_at"].startswith(today)
    assert not case["is_late"]


def test_a_complaint_opened_late_says_so(
    call: Shoeproof, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    received = datetime.now(UTC)
    later = received + timedelta(days=11)
    monkeypatch.setattr(Ledger, "now", lambda _: later)
    result = call("open", place.lost, "--claim", "other", "--received", received.isoformat())
    assert "LATE: the answer was due by" in result.out, result.err
    (row,) = json.loads(call("list", "--json").out)["cases"]
    assert (row["is_late"], row["is_overdue"]) == (True, True)
    text = call("list").out
    assert "OVERDUE" in text
    assert "opened late" in text


@pytest.mark.parametrize(
    ("received", "message"),
    [
        (("2026-01-31",), "has no time zone"),
        (("2020-01-31T10:00Z",), "its round was opened after that"),
        (("2999-01-31T10:00Z",), "received in the future"),
        (("yesterday",), "'yesterday' is not a valid time"),
    ],
)
def test_a_receipt_that_cannot_be(
    call: Shoeproof, place: Place, received: tuple[str], message: str
) -> None:
    before = size(place)
    told(call("open", place.lost, "--claim", "other", "--received", *received), 2, message)
    assert size(place) == before
