"""Whatever a table lied about, its round is assessed, and never to the player's cost."""

import pytest

from shoeproof.replay.cases.faults import FAULTS
from shoeproof.replay.disputes.assess import assess
from shoeproof.replay.disputes.evidence import gather
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
    due = {(bet.hand, bet.bet): bet.due_minor for bet in governing.bets}
    if found.money_may_move and governing.name != "refer":
        for bet in governing.bets:
            assert bet.due_minor is None or bet.due_minor >= (bet.paid_minor or 0)
        for outcome in told.replay.expected:
            # After an act against the rules the hands are those that were debited.
            comes_to = due.get((outcome.hand, outcome.bet))
            assert comes_to is None or comes_to >= (outcome.paid_minor or 0)
    if not FAULTS.isdisjoint(found.classes):
        assert found.operator_at_fault
    if not found.money_may_move:
        assert found.verdict == "inconclusive"
    elif found.findings:
        assert found.verdict in ("upheld", "partly_upheld")
