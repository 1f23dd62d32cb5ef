"""What a withheld act could have brought: the hand's own bets alone, and what the most of it costs.

The amounts are worked out by hand from the shoes that the scenarios name.
"""

import pytest
from msgspec.structs import replace

from shoeproof.replay.cases.assessment import Range
from tests.disputes.scenario import SCENARIOS, Scenario, read_scenario
from tests.disputes.test_scenarios import assessed


def could(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> list[Range]:
    bets = assessed(scenario, monkeypatch).governing.bets
    return [bet.could_have for bet in bets if bet.could_have is not None]


def told(name: str) -> Scenario:
    return read_scenario(SCENARIOS / f"{name}.toml")


def test_insurance_is_counted_with_what_it_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Insured for 5.00 against a natural, 16 comes to 15.00 for 15.00 staked."""
    assert could(told("insurance-not-offered"), monkeypatch) == [Range("s1", 0, 1_500, 1_500)]


def test_a_pair_that_was_won_is_not_of_the_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """8-8 was refused a hit: its Perfect Pairs, 7.00, is a bet of its own."""
    scenario = replace(told("pair-in-the-shoe-broken-by-a-wrong-card-and-a-hit-refused"), lie=[])
    alone = "12:00:00 deal s1 main 10.00"
    beside = could(scenario, monkeypatch)
    assert beside == could(replace(scenario, steps=[alone, *scenario.steps[1:]]), monkeypatch)
    assert beside[0].least_minor == 0


def test_a_half_that_was_cut_off_has_a_range_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = replace(
        told("hit-refused-at-one-half-and-a-wrong-card-at-the-other"),
        lie=[],
        steps=[
            "12:00:00 deal s1 main 10.00",
            "12:00:04 s1 split",
            "12:01:00 staff voids s1.1 main 10.00, s1.2 main 10.00",
        ],
    )
    assert [each.hand for each in could(scenario, monkeypatch)] == ["s1.1", "s1.2"]
