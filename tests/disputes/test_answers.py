"""What an answer says to a player: all that made it upheld, once each, in plain words.

The scenarios are those of `tests/cases/disputes`, some told with another lie or another ending.
"""

from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from shoeproof.replay.cases.assessment import Assessment, Claim
from shoeproof.replay.cases.faults import KINDS
from shoeproof.replay.disputes.answers import ALL_MATCH
from shoeproof.replay.disputes.assess import assess
from shoeproof.replay.disputes.decide import plan_payment
from shoeproof.replay.disputes.evidence import gather
from shoeproof.replay.disputes.wrongs import words_of
from shoeproof.replay.games.policies import POLICIES
from shoeproof.replay.written.round_text import read_round
from tests.disputes.desk import Desk
from tests.disputes.scenario import SCENARIOS, Scenario, read_scenario
from tests.disputes.shoes import ROUND
from tests.disputes.stage import Stage, staged

PATHS = sorted(SCENARIOS.glob("*.toml"))
Patch = pytest.MonkeyPatch


def told(name: str, *steps: str, lie: tuple[str, ...] | None = None) -> Scenario:
    """A scenario, with other steps after its deal, or another lie."""
    scenario = read_scenario(SCENARIOS / f"{name}.toml")
    if steps:
        scenario = replace(scenario, steps=[scenario.steps[0], *steps])
    return scenario if lie is None else replace(scenario, lie=list(lie))


def found(scenario: Scenario, monkeypatch: Patch) -> Assessment:
    shown = None if scenario.shown is None else read_round(scenario.shown.encode())
    return assess(gather(staged(scenario, monkeypatch), ROUND), scenario.claim, shown)


def test_every_finding_has_words_of_its_own() -> None:
    codes = [code for code, kind in KINDS.items() if kind.reach != "evidence"]
    said = Counter(map(words_of, codes))
    assert None not in said
    assert [words for words, count in said.items() if count > 1] == []


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_an_answer_says_nothing_twice(path: Path, monkeypatch: Patch) -> None:
    said = found(read_scenario(path), monkeypatch).answer
    sentences = Counter(said.removesuffix(".").split(". "))
    assert [each for each, count in sentences.items() if count > 1] == []


SAYS = [
    (
        "hit-refused-in-time-and-the-seed-never-revealed",
        "which was wrong: it came in time and was on offer.",
    ),
    ("insurance-not-offered", "You were not offered insurance for hand s1"),
    ("hit-refused-at-one-half-and-a-wrong-card-at-the-other", "Your input 's1.1 hit' was refused"),
    (
        "wrong-hole-card-made-a-push-and-nothing-was-settled",
        "The dealer's hidden card was shown as ",
    ),
    ("deadline-shown-wrong-and-not-used", "You were shown a deadline that is not the one"),
    ("won-on-a-wrong-card-and-paid-in-incentives", " in bonus money."),
    ("seed-never-revealed-and-the-player-won", "the one that was sealed before you staked has"),
    ("overpaid", "The main bet of s1 was paid "),
    ("decision-by-nobody", "The record does not say who made a decision for your hand."),
    ("stand-at-19-minutes", "(stand) at 12:19:05 UTC, before it was allowed to."),
    ("zero-stood-without-a-default", "(stand) at 12:20:05 UTC, for which this game has no rule."),
]


@pytest.mark.parametrize(("name", "words"), SAYS)
def test_an_answer_says_what_made_it_upheld(name: str, words: str, monkeypatch: Patch) -> None:
    assert words in found(told(name), monkeypatch).answer


@pytest.mark.parametrize("claim", ["settlement", "malfunction", "fairness"])
def test_a_refusal_is_told_where_nothing_moves(claim: str, monkeypatch: Patch) -> None:
    """J-6 was refused a hit in time, and the void gave the stake back."""
    scenario = told(
        "idle-but-connected",
        "12:00:30 refuses s1 hit as late",
        "12:10:00 staff voids s1 main 10.00",
    )
    judged = found(replace(scenario, claim=claim), monkeypatch)
    assert judged.governing.moves_minor == 0
    assert judged.answer.count("which was wrong: it came in time and was on offer.") == 1


@pytest.mark.parametrize("claim", ["settlement", "malfunction"])
def test_a_round_that_a_case_put_right_does_not_pass_for_one_in_order(
    claim: Claim, monkeypatch: Patch
) -> None:
    """20,000.02 was won, and the release left 6,000.01 of it out: no finding but the sum."""
    desk = Desk("large-win-released-in-part-and-the-stake-debited-twice", monkeypatch, lie=())
    desk.open(claim)
    for person in ("ann", "bob"):
        desk.decide(plan_payment, by=person)
    judged = assess(gather(desk.ledger, ROUND), claim)
    assert judged.verdict in ("upheld", "partly_upheld")
    assert f"corrected by case {ROUND}.1, which paid 6,000.01 GBP" in judged.answer
    assert ALL_MATCH not in (judged.answer, *judged.reasons)
    assert "all match" not in judged.answer


def test_a_push_after_a_wrong_card_that_gave_the_stake_back_is_not_voided(
    monkeypatch: Patch,
) -> None:
    """The stake is what a void would return, and it was paid: nothing moves, the push stands."""
    assessment = found(told("push-taken", lie=("deals Kd at 0",)), monkeypatch)
    governing = assessment.governing
    assert [each.code for each in assessment.findings] == ["card_mismatch"]
    assert (governing.name, governing.moves_minor) == ("honour", 0)
    (bet,) = governing.bets
    assert (bet.stake_minor, bet.paid_minor, bet.due_minor) == (1_000, 1_000, 1_000)
    (void,) = [each for each in assessment.remedies if each.name == "void"]
    assert void.lawful


def test_what_a_case_paid_is_not_called_too_much(monkeypatch: Patch) -> None:
    """21 by the shoe lost on a wrong card: the case paid it, and the record still says lost."""
    desk = Desk("hit-refused-at-one-half-and-a-wrong-card-at-the-other", monkeypatch)
    desk.open()
    desk.decide(plan_payment)
    judged = assess(gather(desk.ledger, ROUND), "fairness")
    assert judged.corrected_by is not None
    assert not [each for each in judged.reasons if "too much" in each]


def test_a_bar_that_no_balance_bears_out_is_not_said_to_match(monkeypatch: Patch) -> None:
    scenario = told("double-barred-for-funds-where-no-wallet-is-recorded")
    said = found(replace(scenario, claim="malfunction"), monkeypatch).answer
    assert "No balance is on record to show whether you had the money for double." in said
    assert ALL_MATCH not in said


def test_a_right_refusal_is_not_called_wrong(monkeypatch: Patch) -> None:
    said = found(told("late-decision-by-the-device-s-clock"), monkeypatch).answer
    assert "which was wrong" not in said


def test_insurance_that_the_system_took_is_told_from_its_stand(monkeypatch: Patch) -> None:
    """At 20:05 the default was due, which declines: 5.00 goes back, and the hand was stood
    rightly.
    """
    scenario = told("insurance-not-offered", "12:00:05 connection lost", "12:20:05 sweep", lie=())
    stage = Stage(scenario, monkeypatch)
    policy = POLICIES["nba"]
    assert policy.default is not None
    stage.live.policy = replace(policy, default=replace(policy.default, insurance="insurance"))
    stage.play()
    judged = assess(gather(stage.ledger, ROUND), "disconnection")
    assert "(insurance) at 12:20:05 UTC, where the rule that was disclosed" in judged.answer
    assert "before it was allowed" not in judged.answer
    touched = [(bet.bet, bet.ground) for bet in judged.governing.bets if bet.could_have]
    assert touched == []
