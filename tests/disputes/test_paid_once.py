"""What a case pays is paid once: beside releases of a held win, a void, and play for fun."""

import pytest
from msgspec.structs import replace

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import (
    BetSettled,
    EventData,
    Refund,
    RoundOpened,
    RoundVoided,
    WinReleased,
)
from shoeproof.replay.audit.one_by_one import audit
from shoeproof.replay.cases.assessment import Assessment
from shoeproof.replay.disputes.assess import assess
from shoeproof.replay.disputes.evidence import gather
from shoeproof.replay.disputes.record import open_case, release_held
from shoeproof.replay.engine.outcomes import outcomes
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.errors import InputRefusedError
from shoeproof.replay.findings import HOLD_MISMATCH, SETTLEMENT_MISMATCH, VOID_UNFOUNDED
from shoeproof.replay.interruptions.holds import held_wins
from shoeproof.replay.live.live_round import LiveRound
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.disputes import live
from tests.disputes.money import Staff, hire
from tests.disputes.test_unfounded import decided, looked_at
from tests.replay.faults import Floor, asked
from tests.replay.helpers import Played
from tests.replay.lying import both, changing, having

STAKE = 1_000_001


def large_win(ledger: Ledger) -> str:
    """A win that Zero's policy lets wait for a person."""
    return live.play(ledger, live.won, game="zero", stakes={"s1": {"main": STAKE}}, currency="GBP")


def codes(assessment: Assessment) -> list[str]:
    return [finding.code for finding in assessment.findings]


# Held wins


def test_the_rest_of_a_win_that_a_case_paid_is_not_released_again(
    ledger: Ledger, staff: Staff
) -> None:
    """Of what was held a part was released: the rest is due, by the case or by a release."""
    round_id = large_win(ledger)
    (waits,) = held_wins(ledger)
    part = waits.amount_minor - 200_000
    ledger.append((f"holds/{round_id}", WinReleased(round_id, part, None)))
    found = assess(gather(ledger, round_id), "settlement")
    assert (found.verdict, codes(found)) == ("upheld", [HOLD_MISMATCH])
    assert [each.code for each in audit(ledger).findings] == [HOLD_MISMATCH]
    assert found.governing.moves_minor == 200_000
    open_case(ledger, round_id, "settlement")
    assert decided(ledger, round_id, staff).decided.amount_minor == 200_000
    evidence, assessment, cases = looked_at(ledger, round_id)
    assert assessment.governing.moves_minor == 0
    (settled,) = held_wins(ledger)
    assert settled.left_minor == 0
    with pytest.raises(InputRefusedError, match="was released before"):
        release_held(ledger, evidence, assessment, cases, staff.ann, MemoryWallet(0))
    assert audit(ledger).findings == ()


def test_the_rest_of_a_win_that_was_released_is_not_paid_by_a_case(
    ledger: Ledger, staff: Staff
) -> None:
    round_id = large_win(ledger)
    (waits,) = held_wins(ledger)
    for part in (waits.amount_minor - 200_000, 200_000):
        ledger.append((f"holds/{round_id}", WinReleased(round_id, part, None)))
    found = assess(gather(ledger, round_id), "settlement")
    assert (codes(found), found.governing.moves_minor) == ([], 0)


# Voids


@pytest.fixture
def voided() -> tuple[Ledger, str]:
    """An open hand that staff voided, its stake given back, with no fault on record."""
    floor = Floor("nba")
    round_id = floor.deal(asked).round_id
    floor.ledger.append((round_id, RoundVoided("by staff", [Refund("s1", "main", 100)])))
    return floor.ledger, round_id


def test_a_void_without_reason_is_referred_before_and_after_the_complaint(
    voided: tuple[Ledger, str],
) -> None:
    ledger, round_id = voided
    before = assess(gather(ledger, round_id), "malfunction")
    open_case(ledger, round_id, "malfunction")
    after = assess(gather(ledger, round_id), "malfunction")
    for found in (before, after):
        assert VOID_UNFOUNDED in codes(found)
        assert (found.governing.name, found.governing.moves_minor) == ("refer", 0)


# Play for fun


def _a_coin_short(settled: BetSettled) -> EventData:
    return replace(settled, paid_minor=max(0, settled.paid_minor - 1), funds=None)


def test_a_fault_in_play_for_fun_is_shown_and_owes_nothing() -> None:
    floor = Floor("nba")
    floor.alter = both(
        changing(RoundOpened, having(mode="fun")), changing(BetSettled, _a_coin_short)
    )
    round_id = play_out(floor.deal(lambda moves: asked(moves) and pays(moves)))
    found = assess(gather(floor.ledger, round_id), "settlement")
    assert (found.verdict, found.governing.moves_minor) == ("upheld", 0)
    assert SETTLEMENT_MISMATCH in codes(found)
    open_case(floor.ledger, round_id, "settlement")
    plan = decided(floor.ledger, round_id, hire(floor.ledger))
    assert plan.decided.amount_minor == 0


def pays(moves: list[Played]) -> bool:
    """Standing pays something."""
    return sum(each.paid_minor or 0 for each in outcomes(moves[-1].after)) > 0


def play_out(live_round: LiveRound) -> str:
    """Stand until the round ends."""
    while isinstance(due := live_round.due, Decide):
        live_round.decide(due.hand, "stand")
    return live_round.round_id
