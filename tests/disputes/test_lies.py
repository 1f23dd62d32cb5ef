"""Whatever a table lied about, its round is assessed, and never to the player's cost."""

import pytest

from replay.disputes.assess import assess
from replay.disputes.classify import FAULTS
from replay.disputes.evidence import gather
from tests.replay.lies_of_money import MONEY
from tests.replay.lies_of_play import PLAY
from tests.replay.lying_table import tell

LIES = PLAY | MONEY


@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_never_assessed_to_the_player_s_cost(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tell(LIES[name], name, monkeypatch)
    found = assess(gather(told.ledger, told.round_id), "other")
    governing = found.governing
    assert governing.lawful
    assert sum(remedy.governs for remedy in found.remedies) == 1
    assert [each.code for each in found.findings] == LIES[name].findings
    assert all(bet.moves_minor >= 0 for remedy in found.remedies for bet in remedy.bets)
    by_name = {remedy.name: remedy for remedy in found.remedies}
    assert all((bet.due_minor or 0) >= bet.stake_minor for bet in by_name["void"].bets)
    if found.operator_at_fault and governing.name != "refer":
        assert all(
            bet.due_minor is None or bet.due_minor >= (bet.paid_minor or 0)
            for bet in governing.bets
        )
    if found.classes[0] == "settlement_error":
        due = {(bet.hand, bet.bet): bet.due_minor or 0 for bet in governing.bets}
        assert all(
            due[outcome.hand, outcome.bet] >= (outcome.paid_minor or 0)
            for outcome in told.replay.expected
        )
    assert found.operator_at_fault == (not FAULTS.isdisjoint(found.classes))
    faulted = "upheld" if found.money_may_move else "inconclusive"
    assert found.verdict == (faulted if found.operator_at_fault else "rejected")
