"""What disputes decided counts: resettled bets as corrected, refunded bets as void."""

from fractions import Fraction

import pytest

from shoeproof.audit_reports.tables.projection import open_projection
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import (
    BetResettled,
    DisputeDecided,
    EventData,
    Refunded,
    WinHeld,
    WinReleased,
)
from tests.audit_reports.helpers import (
    begun,
    cells_of,
    closed,
    contents,
    play,
    settled,
    simple,
    split_and_doubled,
    the_cell,
)


def decide(ledger: Ledger, round_id: str, *events: EventData) -> None:
    ledger.append(*((f"disputes/{round_id}", data) for data in events))


def resettled(
    round_id: str, before: int, after: int, hand: str = "s1", stake: int = 100
) -> BetResettled:
    return BetResettled(round_id, "s1", hand, "main", stake, before, after, "natural", None)


def test_a_resettled_bet_counts_at_its_corrected_amount(ledger: Ledger) -> None:
    round_id = play(ledger, simple(200))
    play(ledger, simple(0))
    decide(ledger, round_id, resettled(round_id, 200, 250))
    (cell,) = cells_of(ledger)
    assert (cell.sums.rounds, cell.sums.staked, cell.sums.paid) == (2, 200, 250)
    assert cell.sums.rtp_on_initial_stakes == Fraction(250, 200)


def test_only_the_resettled_hand_changes(ledger: Ledger) -> None:
    round_id = play(ledger, split_and_doubled())
    decide(ledger, round_id, resettled(round_id, 0, 200, "s1.1"))
    (cell,) = cells_of(ledger)
    assert (cell.hands, cell.sums.staked, cell.sums.paid) == (2, 300, 600)


def test_the_last_resettlement_counts(ledger: Ledger) -> None:
    round_id = play(ledger, simple(0))
    decide(ledger, round_id, resettled(round_id, 0, 150))
    decide(ledger, round_id, resettled(round_id, 150, 250))
    (cell,) = cells_of(ledger)
    assert cell.sums.paid == 250


def test_a_round_voided_after_its_end_stands_apart(ledger: Ledger) -> None:
    round_id = play(ledger, simple(0, 300))
    play(ledger, simple(200))
    decide(ledger, round_id, Refunded(round_id, "s1", "main", 300, None))
    (cell,) = cells_of(ledger)
    assert (cell.sums.rounds, cell.sums.staked, cell.sums.paid) == (1, 100, 200)
    assert (cell.voided_rounds, cell.voided_minor) == (1, 300)


def test_a_void_takes_those_bets_apart_whose_stakes_went_back(ledger: Ledger) -> None:
    bets = {"s1": {"main": 100, "perfect_pairs": 10}}
    lost = [settled("s1", 100, 0), settled("s1", 10, 70, "perfect_pairs")]
    round_id = play(ledger, closed([*begun(bets), *lost]))
    decide(ledger, round_id, Refunded(round_id, "s1", "main", 100, None))
    found = cells_of(ledger)
    for bet, rounds in (("main", (0, 1)), ("perfect_pairs", (1, 0))):
        cell = the_cell(found, bet=bet)
        assert (cell.sums.rounds, cell.voided_rounds) == rounds


def test_a_decision_that_moved_nothing_changes_nothing(ledger: Ledger) -> None:
    round_id = play(ledger, simple(200))
    before = cells_of(ledger)
    proposal = DisputeDecided(round_id, [], "4.16", "upheld", "void", None, 100, 2)
    decide(ledger, round_id, proposal)
    assert cells_of(ledger) == before


def test_a_released_win_is_not_paid_twice(ledger: Ledger) -> None:
    round_id = play(ledger, simple(2_000_000, 100))
    before = cells_of(ledger)
    ledger.append((f"holds/{round_id}", WinHeld(round_id, 1_999_900, "large")))
    ledger.append((f"holds/{round_id}", WinReleased(round_id, 1_999_900, None)))
    assert cells_of(ledger) == before


@pytest.mark.parametrize("updates_between", [False, True])
def test_bit_by_bit_equals_at_once(ledger: Ledger, updates_between: bool) -> None:
    round_id = play(ledger, simple(200))
    if updates_between:
        cells_of(ledger)
    decide(ledger, round_id, resettled(round_id, 200, 250))
    with open_projection(ledger) as projection:
        projection.update()
        going_on = contents(projection)
    with open_projection(ledger, rebuild=True) as projection:
        projection.update()
        assert contents(projection) == going_on
