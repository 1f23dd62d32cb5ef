"""Every disputed round of `tests/cases/disputes` is assessed as its file says.

What a file expects was worked out by hand from the pages and the design. Each round is also
audited, one by one and in bulk, with the same findings.
"""

from pathlib import Path

import pytest

from replay.audit import audit
from replay.bulk.audit import audit as bulk_audit
from replay.disputes.assess import assess
from replay.disputes.assessment import Assessment, Remedy
from replay.disputes.evidence import gather
from replay.round_text import read_round
from tests.disputes.scenario import SCENARIOS, Scenario, bets_of, minor, read_scenario
from tests.disputes.shoes import ROUND
from tests.disputes.stage import staged

PATHS = sorted(SCENARIOS.glob("*.toml"))


def assessed(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> Assessment:
    """Play a scenario and assess its round."""
    ledger = staged(scenario, monkeypatch)
    shown = None if scenario.shown is None else read_round(scenario.shown.encode())
    return assess(gather(ledger, ROUND), scenario.claim, shown)


def due(remedy: Remedy) -> dict[tuple[str, str], int | None]:
    return {(bet.hand, bet.bet): bet.due_minor for bet in remedy.bets}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_round_is_assessed_as_its_file_says(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = read_scenario(path)
    expected, found = scenario.expect, assessed(scenario, monkeypatch)
    assert [finding.code for finding in found.findings] == expected.findings
    assert found.classes == (expected.decides, *expected.also)
    assert found.verdict == expected.verdict
    assert found.governing.name == expected.governs
    assert [remedy.name for remedy in found.remedies if remedy.lawful] == expected.lawful
    assert found.governing.moves_minor == minor(expected.moves)
    assert found.money_may_move == expected.money_may_move
    assert found.shown_minor == (None if expected.shown is None else minor(expected.shown))
    by_name = {remedy.name: remedy for remedy in found.remedies}
    assert {name: due(by_name[name]) for name in expected.due} == {  # type: ignore[index]
        name: bets_of(bets) for name, bets in expected.due.items()
    }


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_no_assessment_breaks_the_design(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = assessed(read_scenario(path), monkeypatch)
    assert sum(remedy.governs for remedy in found.remedies) == 1
    assert found.governing.lawful
    assert found.reasons
    for remedy in found.remedies:
        assert remedy.why
        assert remedy.source.section
        if remedy.name == "void":
            assert all((bet.due_minor or 0) >= bet.stake_minor for bet in remedy.bets)
    if found.operator_at_fault and found.governing.name != "refer":
        for bet in found.governing.bets:
            assert bet.due_minor is None or bet.due_minor >= (bet.paid_minor or 0)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_bulk_audit_finds_what_the_audit_finds(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = staged(read_scenario(path), monkeypatch)
    expected = audit(ledger)
    for partitions in (1, 7):
        assert bulk_audit(ledger, partitions=partitions).rounds == expected
