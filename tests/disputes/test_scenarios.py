"""Every disputed round of `tests/cases/disputes` is assessed as its file says.

What a file expects was worked out by hand from the pages and the design. Each round is also
audited, one by one and in bulk, with the same findings.
"""

from pathlib import Path

import pytest

from shoeproof.replay.audit.one_by_one import audit
from shoeproof.replay.bulk.audit import audit as bulk_audit
from shoeproof.replay.cases.assessment import Assessment, Remedy
from shoeproof.replay.disputes.assess import assess
from shoeproof.replay.disputes.evidence import gather
from shoeproof.replay.disputes.facts import establish
from shoeproof.replay.engine.outcomes import outcomes
from shoeproof.replay.engine.round import RoundState, Settle
from shoeproof.replay.written.round_text import read_round
from tests.disputes.scenario import SCENARIOS, Scenario, bets_of, minor, read_scenario
from tests.disputes.shoes import ROUND
from tests.disputes.stage import staged
from tests.replay import naive

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
    assert set(found.classes) == {expected.decides, *expected.also}
    assert found.verdict == expected.verdict
    assert found.governing.name == expected.governs
    assert found.governing.moves_minor == minor(expected.moves)
    assert found.money_may_move == expected.money_may_move
    assert found.shown_minor == (None if expected.shown is None else minor(expected.shown))
    if expected.due:
        assert due(found.governing) == bets_of(expected.due)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_no_assessment_breaks_the_design(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = read_scenario(path)
    found = assessed(scenario, monkeypatch)
    # Chips that were laid and not dealt on were never debited.
    is_dealt = any(" deal " in step for step in scenario.steps)
    assert sum(remedy.governs for remedy in found.remedies) == 1
    assert found.governing.lawful
    assert found.reasons
    for remedy in found.remedies:
        assert remedy.why
        assert remedy.source.section
        if remedy.name == "void" and is_dealt:
            # A bet that was decided before any fault stands.
            back = [bet for bet in remedy.bets if bet.ground == "stake_back"]
            assert all((bet.due_minor or 0) >= bet.stake_minor for bet in back)
    if found.governing.name != "refer":
        for bet in found.governing.bets:
            assert bet.due_minor is None or bet.due_minor >= (bet.paid_minor or 0)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_naive_settler_prices_it_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the rules pay, on recorded and on true cards, is held to a second method."""
    facts = establish(gather(staged(read_scenario(path), monkeypatch), ROUND))
    recorded = None if facts.replay is None or not facts.replay.judged else facts.replay.state
    for state in (recorded, facts.true_state):
        if state is None or not isinstance(state.due, Settle):
            continue
        paid = {(each.hand, each.bet): each.paid_minor for each in outcomes(state)}
        assert paid == naively_paid(state)


def naively_paid(state: RoundState) -> dict[tuple[str, str], int]:
    """Settle a finished round by the plain reading of the pages."""
    game, dealer = state.rules.id, list(state.dealer_cards)
    paid: dict[tuple[str, str], int] = {}
    for held in state.hands:
        hand = held.hand
        paid[held.name, "main"] = naive.settle_hand(
            game,
            list(held.cards),
            doubled=hand.doubled,
            from_split=hand.origin == "split",
            zapped=hand.origin == "zapped",
            cash_out_minor=held.shown_minor if hand.over == "cash_out" else None,
            even_money=hand.over == "even_money",
            stake_minor=held.stake_minor,
            dealer=dealer,
            found_at_check=state.hole_natural is True,
        )
    for seat in state.seats:
        if seat.insurance_minor:
            insured = naive.settle_insurance(seat.insurance_minor, dealer)
            paid[seat.name, "insurance"] = insured
        cards = list(seat.initial_cards)
        for bet, stake in seat.stakes.items():
            if bet == "perfect_pairs":
                paid[seat.name, bet] = naive.settle_perfect_pairs(stake, cards)
            elif bet == "twenty_one_plus_three":
                up = state.dealer.up
                paid[seat.name, bet] = naive.settle_twenty_one_plus_three(stake, cards, up)
    return paid


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_bulk_audit_finds_what_the_audit_finds(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = staged(read_scenario(path), monkeypatch)
    expected = audit(ledger)
    for partitions in (1, 7):
        assert bulk_audit(ledger, partitions=partitions).rounds == expected
