"""Every finding has a class, every class can be reached, and the severest decides."""

from typing import get_args

from ledger import findings as of_ledger
from replay import findings as of_replay
from replay.disputes.assessment import Claim, Class
from replay.disputes.classify import CLASS_OF, COVERS, FAULTS, SEVERITY, by_severity
from tests.disputes.scenario import SCENARIOS, read_scenario


def codes(module: object) -> set[str]:
    return {
        value for name, value in vars(module).items() if name.isupper() and isinstance(value, str)
    }


def test_every_code_of_ledger_and_replay_has_a_class() -> None:
    assert codes(of_ledger) | codes(of_replay) == set(CLASS_OF)


def test_every_class_has_its_severity() -> None:
    assert sorted(SEVERITY) == sorted(get_args(Class))
    assert set(CLASS_OF.values()) | FAULTS <= set(SEVERITY)


def test_every_claim_can_be_borne_out() -> None:
    assert set(COVERS) == set(get_args(Claim))
    assert all(COVERS.values())


def test_the_severest_class_decides_and_sound_stands_alone() -> None:
    assert by_severity(["sound", "settlement_error", "deal_error"]) == (
        "deal_error",
        "settlement_error",
    )
    assert by_severity(["sound"]) == by_severity([]) == ("sound",)


def test_the_scenarios_reach_every_class_verdict_and_remedy() -> None:
    expected = [read_scenario(path).expect for path in SCENARIOS.glob("*.toml")]
    assert len(expected) >= 40
    assert {each.decides for each in expected} | {c for each in expected for c in each.also} == set(
        SEVERITY
    )
    assert {each.verdict for each in expected} == {"upheld", "partly_upheld", "rejected",
                                                    "inconclusive"}  # fmt: skip
    assert {each.governs for each in expected} == {"honour", "resume", "apply_default", "resettle",
                                                   "void", "refer"}  # fmt: skip
