"""The audit replays every ended round and forgets no open one; simulation records sound rounds."""

from collections import Counter

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import RoundVoided, ShoeRevealed
from shoeproof.replay.audit.one_by_one import audit, check_reveals
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.errors import RoundUnreadable, StakeRefused
from shoeproof.replay.live.players import make_player
from shoeproof.replay.live.simulation import ROUNDS_A_BATCH, simulate
from shoeproof.replay.rounds.catalogue import current_rules
from shoeproof.replay.written.transcript import as_round_text
from tests.replay.helpers import names, new_ledger
from tests.replay.lies_of_money import MONEY
from tests.replay.lies_of_play import PLAY
from tests.replay.lies_of_time import TIME
from tests.replay.live import SETTINGS, STAKES, open_decision, replayed, table
from tests.replay.lying_table import tell

LIES = PLAY | MONEY | TIME


def _simulated(ledger: Ledger, rounds: int = 60) -> None:
    for game in ("zappit", "zero", "nba"):
        rules = current_rules(ledger, game)
        result = simulate(ledger, rules, SETTINGS, STAKES, make_player("random", 5), rounds)
        assert result.rounds == rounds
        assert result.staked_minor >= 100 * rounds


def test_simulated_rounds_are_sound() -> None:
    ledger = new_ledger()
    told: list[int] = []
    before = ledger.size()
    rules = current_rules(ledger, "nba")
    player = make_player("basic", 1)
    rounds = ROUNDS_A_BATCH + 7
    result = simulate(ledger, rules, SETTINGS, STAKES, player, rounds, told.append)
    assert told == [ROUNDS_A_BATCH, rounds]
    assert result.events == ledger.size() - before
    audited = audit(ledger)
    assert (audited.closed_rounds, audited.void_rounds) == (rounds, ())
    assert not audited.findings
    assert not audited.open_rounds
    assert not check_reveals(ledger.leaves(), ledger.size())


def test_simulation_refuses_stakes_before_anything_is_recorded() -> None:
    ledger = new_ledger()
    size = ledger.size()
    rules = current_rules(ledger, "nba")
    with pytest.raises(StakeRefused):
        simulate(ledger, rules, SETTINGS, {"s1": {"main": 0}}, make_player("basic", 1), 3)
    assert ledger.size() == size


def test_open_and_void_rounds_are_no_findings_and_are_counted() -> None:
    ledger = new_ledger()
    _simulated(ledger, 10)
    waiting = open_decision(table(ledger))
    void = table(ledger).open_round("another")
    seed = ShoeRevealed(void._seed.hex())
    ledger.append((void.round_id, seed), (void.round_id, RoundVoided("idle", [])))
    steps: list[tuple[int, int]] = []
    audited = audit(ledger, lambda done, size: steps.append((done, size)))
    assert not audited.findings
    assert [void.refunded_minor for void in audited.void_rounds] == [0]
    assert waiting.round_id in [each.round for each in audited.open_rounds]
    assert steps[-1] == (ledger.size(), ledger.size())
    assert isinstance(waiting.due, Decide)


@pytest.mark.parametrize("name", LIES)
def test_the_audit_finds_what_replay_finds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = tell(LIES[name], name, monkeypatch)
    assert list(audit(told.ledger).findings) == list(told.replay.findings)
    assert audit(told.ledger).by_code == dict(Counter(LIES[name].findings))
    of_the_seed = {"commitment_mismatch", "seed_not_revealed"} & set(LIES[name].findings)
    assert {
        finding.code for finding in check_reveals(told.ledger.leaves(), told.ledger.size())
    } == of_the_seed


def test_an_undealt_round_has_no_text() -> None:
    ledger = new_ledger()
    live = table(ledger).open_round("p-1")
    assert names(ledger, live.round_id) == ["RoundOpened", "ShoeCommitted"]
    with pytest.raises(RoundUnreadable, match="nothing was dealt"):
        as_round_text(replayed(ledger, live))
