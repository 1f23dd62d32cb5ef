"""Our readings stand beside the page's clause, last, and are marked wherever they are cited."""

import pytest

from shoeproof.replay.cases.assessment import Source
from shoeproof.replay.disputes.sources import (
    GLI_19,
    NO_REASON,
    PRACTICE,
    STAKES_RETURNED,
    with_readings,
)
from shoeproof.replay.games.published import GAMES
from tests.disputes.desk import Desk, page_of, text_of
from tests.disputes.scenario import Scenario
from tests.disputes.test_answers import Patch, found, told


def readings_of(scenario: Scenario, monkeypatch: Patch) -> list[str]:
    parts = found(scenario, monkeypatch).clause.parts
    marks = [each.assumed for each in parts]
    assert marks == sorted(marks)
    return [each.says for each in parts if each.section == "Readings"]


CITES = [
    ("five-card-21-lost-to-a-later-natural-and-debited-twice", "survives a dealer natural"),
    ("king-and-queen-split-and-the-half-that-won-never-settled", None),
    ("ace-shown-for-a-nine-and-the-straight-never-settled", "21+3 100, 40, 30, 10, 5"),
    ("cash-out-paid-less-than-shown", "for the value shown, by its total and the up card"),
    ("even-money-paid-as-a-push-and-debited-twice", "even money in place of insurance"),
    ("large-win-held-after-a-wrong-card", "what the round wins beyond its stakes"),
    ("service-stopped-for-an-hour", "time in which the service stood still"),
    ("soft-double-withheld-and-refused-as-illegal", "A-7, A-8 and A-9 may double"),
    ("double-barred-on-both-seats-and-a-wrong-card-at-the-second", None),
    ("bet-taken-twice", None),
    ("natural-paid-even-money", None),
    ("stand-at-19-minutes", None),
]


@pytest.mark.parametrize(("name", "words"), CITES)
def test_a_reading_is_cited_where_it_decides(
    name: str, words: str | None, monkeypatch: Patch
) -> None:
    cited = readings_of(told(name), monkeypatch)
    assert len(cited) == (words is not None)
    assert all(words in each for each in cited if words is not None)


def test_every_reading_of_ours_says_why() -> None:
    for game in GAMES.values():
        assert all(each.because for each in game.assumptions)
        names = [each.name for each in game.assumptions if each.name]
        assert len(names) == len(set(names))
        assert not set(names) & set(game.clauses)


def test_readings_come_last_and_once() -> None:
    ours, page = Source(PRACTICE, "Readings", "so", assumed=True), Source("a page", "1", "thus")
    said = with_readings(with_readings(ours, [page, STAKES_RETURNED]), [ours])
    assert [each.document for each in said.parts] == ["a page", GLI_19, PRACTICE]
    assert said.rests_on_reading
    assert not said.assumed


def test_letter_and_report_mark_a_reading(monkeypatch: Patch) -> None:
    desk = Desk("five-card-21-lost-to-a-later-natural-and-debited-twice", monkeypatch)
    desk.open()
    mark = "(assumed: our reading, where the page leaves it open)"
    for report in (desk.report("player"), desk.report("adjudicator")):
        for text in (text_of(report), page_of(report)):
            page, reading = text.find("Payouts"), text.find("shoeproof, Readings")
            assert -1 < page < reading < text.find("survives a dealer natural")
            assert mark in text
    bets = desk.report().bets
    assert [bet.source is not None and bet.source.rests_on_reading for bet in bets] == [True, True]


def test_a_void_without_a_malfunction_cites_none(monkeypatch: Patch) -> None:
    judged = found(told("open-hand-voided-for-no-reason-with-half-of-the-stake"), monkeypatch)
    cited = [judged.clause, *(bet.source for bet in judged.governing.bets)]
    assert NO_REASON in judged.clause.parts
    assert "malfunction voids" not in " ".join(
        part.says for source in cited if source is not None for part in source.parts
    )
    assert "(by staff), and the ledger shows no fault that would void it." in judged.answer
