"""Every finding has a class and a reach, and every class, verdict and remedy can be reached."""

from typing import get_args

import pytest

from shoeproof.ledger import findings as of_ledger
from shoeproof.replay import findings as of_replay
from shoeproof.replay.cases.assessment import Claim, Class
from shoeproof.replay.cases.faults import COVERS, FAULTS, KINDS, ORDER, Fault, in_order
from shoeproof.replay.engine.outcomes import INSURANCE_BET, MAIN
from tests.disputes.scenario import SCENARIOS, read_scenario


def codes(module: object) -> set[str]:
    return {
        value for name, value in vars(module).items() if name.isupper() and isinstance(value, str)
    }


def test_every_code_of_ledger_and_replay_has_a_class() -> None:
    assert codes(of_ledger) | codes(of_replay) == set(KINDS)


def test_every_class_has_its_place_in_a_report() -> None:
    assert sorted(ORDER) == sorted(get_args(Class))
    assert {kind.shows for kind in KINDS.values()} | FAULTS <= set(ORDER)


def test_what_harms_nobody_is_no_malfunction() -> None:
    assert all(kind.reach == "nothing" for kind in KINDS.values() if kind.shows == "sound")


@pytest.mark.parametrize(
    ("named", "hand", "touched"),
    [
        ("s1", "s1", True),
        ("s1", "s1.1", True),
        ("s1.2", "s1", True),
        ("s1.1", "s1.2", False),
        ("s1", "s2", False),
        ("s1", "s11", False),
        (None, "s3", True),
    ],
)
def test_a_withheld_act_touches_the_hand_it_names(
    named: str | None, hand: str, touched: bool
) -> None:
    assert Fault("offer_withheld", 5, "hand", named).concerns(hand, MAIN) == touched


def test_insurance_that_the_system_took_is_the_one_bet_touched() -> None:
    fault = Fault("default_not_allowed", 5, "hand", "s1", INSURANCE_BET)
    assert fault.concerns("s1", INSURANCE_BET)
    assert not fault.concerns("s1", MAIN)


def test_every_claim_can_be_borne_out() -> None:
    assert set(COVERS) == set(get_args(Claim))
    assert all(COVERS.values())


def test_the_gravest_class_is_named_first_and_sound_stands_alone() -> None:
    assert in_order(["sound", "settlement_error", "deal_error"]) == (
        "deal_error",
        "settlement_error",
    )
    assert in_order(["sound"]) == in_order([]) == ("sound",)


def test_the_scenarios_reach_every_class_verdict_and_remedy() -> None:
    expected = [read_scenario(path).expect for path in SCENARIOS.glob("*.toml")]
    assert len(expected) >= 40
    assert {each.decides for each in expected} | {c for each in expected for c in each.also} == set(
        ORDER
    )
    assert {each.verdict for each in expected} == {"upheld", "partly_upheld", "rejected",
                                                    "inconclusive"}  # fmt: skip
    assert {each.governs for each in expected} == {"honour", "resume", "apply_default", "resettle",
                                                   "void", "refer"}  # fmt: skip
