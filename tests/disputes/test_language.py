"""The scenarios' words for what a house says of inputs, held to the events they stand for."""

import pytest
from msgspec.structs import replace

from shoeproof.ledger.leaf.events import (
    DecisionOffered,
    DisputeDecided,
    InputRefused,
    RefusalReason,
)
from shoeproof.replay.audit.one_by_one import audit
from shoeproof.replay.cases.case import dispute_stream
from tests.disputes.scenario import SCENARIOS, Scenario, read_scenario
from tests.disputes.shoes import ROUND
from tests.disputes.stage import staged


def _told(*steps: str, lie: tuple[str, ...] = ()) -> Scenario:
    """The round in which J-6 against a queen waits for the player, told otherwise."""
    scenario = read_scenario(SCENARIOS / "idle-but-connected.toml")
    return replace(scenario, steps=["12:00:00 deal s1 main 10.00", *steps], lie=list(lie))


def _found(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return [each.code for each in audit(staged(scenario, monkeypatch)).findings]


@pytest.mark.parametrize("reason", ["late", "illegal", "closed"])
def test_refuses_an_input_as(reason: RefusalReason, monkeypatch: pytest.MonkeyPatch) -> None:
    told = _told(f"12:00:05 refuses s1 double as {reason}", "12:00:09 s1 stand")
    ledger = staged(told, monkeypatch)
    said = [each.event.data for each in ledger.events(ROUND)]
    assert InputRefused("s1 double", reason) in said
    assert [each.code for each in audit(ledger).findings] == ["refusal_wrong"]


def test_refuses_a_deal_before_it_takes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    told = _told("12:00:09 s1 stand")
    laid = ["12:00:00 lay s1 main 10.00", "12:00:01 refuses deal as closed"]
    steps = [*laid, "12:00:02 deal s1 main 10.00", "12:00:09 s1 stand"]
    assert _found(replace(told, steps=steps), monkeypatch) == ["refusal_wrong"]


@pytest.mark.parametrize(
    ("has", "found"),
    [("20.00", ["offer_withheld"]), ("19.99", []), ("1000.00", ["offer_withheld"])],
)
def test_bars_an_act_for_funds(has: str, found: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    lie = ("bars double for funds", f"has no more than {has}")
    ledger = staged(_told("12:00:09 s1 stand", lie=lie), monkeypatch)
    offers = [each.event.data for each in ledger.events(ROUND)]
    [offer] = [data for data in offers if isinstance(data, DecisionOffered)]
    assert (offer.barred["double"], "double" in offer.legal) == ("funds", False)
    assert [each.code for each in audit(ledger).findings] == found


def test_staff_decides_a_case(monkeypatch: pytest.MonkeyPatch) -> None:
    told = _told("12:10:00 staff decides resume", "12:29:59 sweep finds nothing", "12:30:00 sweep")
    ledger = staged(told, monkeypatch)
    [_, decided] = [each.event.data for each in ledger.events(dispute_stream(ROUND))]
    assert isinstance(decided, DisputeDecided)
    assert decided.remedy == "resume"
    assert not audit(ledger).findings
