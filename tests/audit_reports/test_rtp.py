"""The figures of rounds whose amounts are known."""

from fractions import Fraction
from math import isclose, sqrt

import pytest

from shoeproof.audit_reports.rtp_report.records import SliceRow
from shoeproof.audit_reports.rtp_report.theoretical import theoretical
from shoeproof.audit_reports.statistics.intervals import standard_error
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import EventData, StakesPlaced
from shoeproof.replay.games.published import GAMES
from tests.audit_reports.helpers import (
    NBA,
    ZAPPIT,
    begun,
    cells_of,
    closed,
    doubled_push,
    made,
    play,
    settled,
    simple,
    split_and_doubled,
    the_cell,
    voided,
)


def figures_of(ledger: Ledger, *rounds: list[EventData]) -> list[SliceRow]:
    for events in rounds:
        play(ledger, events)
    return cells_of(ledger)


def test_an_empty_ledger_has_no_rows(ledger: Ledger) -> None:
    assert figures_of(ledger) == []


def test_the_two_returns_and_the_standard_error(ledger: Ledger) -> None:
    (cell,) = figures_of(ledger, simple(200), simple(0), simple(750, 300))
    assert (cell.key.game, cell.key.bet, cell.sums.rounds, cell.hands) == ("zappit", "main", 3, 3)
    assert (cell.sums.initial, cell.sums.staked, cell.sums.paid) == (500, 500, 950)
    assert cell.sums.rtp_on_initial_stakes == cell.sums.rtp_on_total_staked == Fraction(19, 10)
    # Wins 100, -100, 450 on 100, 100, 300; the ratio is 0.9.
    squares = (100 - 90) ** 2 + (-100 - 90) ** 2 + (450 - 270) ** 2
    assert isclose(standard_error(cell.sums) or 0, sqrt(squares * 3 / 2) / 500)


def test_a_doubled_push_returns_100_percent_on_initial_stakes(ledger: Ledger) -> None:
    (cell,) = figures_of(ledger, doubled_push())
    assert (cell.sums.initial, cell.sums.staked, cell.sums.paid) == (100, 200, 200)
    assert cell.sums.rtp_on_initial_stakes == 1
    assert cell.sums.rtp_on_total_staked == 1
    assert standard_error(cell.sums) is None


def test_the_hands_of_a_split_share_one_initial_stake(ledger: Ledger) -> None:
    (cell,) = figures_of(ledger, split_and_doubled())
    assert (cell.sums.rounds, cell.hands) == (1, 2)
    assert (cell.sums.initial, cell.sums.staked, cell.sums.paid) == (100, 300, 400)
    assert cell.sums.rtp_on_initial_stakes == 2
    assert cell.sums.rtp_on_total_staked == Fraction(4, 3)


def test_insurance_and_side_bets_stand_on_their_own_stakes(ledger: Ledger) -> None:
    found = figures_of(
        ledger,
        closed(
            [
                *begun({"s1": {"main": 100, "perfect_pairs": 10}}, digest=NBA),
                settled("s1", 10, 70, "perfect_pairs"),
                made("s1", "insurance", 50),
                settled("s1", 50, 0, "insurance"),
                settled("s1", 100, 200),
            ]
        ),
    )
    assert [(cell.key.bet, cell.sums.initial, cell.sums.paid) for cell in found] == [
        ("main", 100, 200),
        ("insurance", 50, 0),
        ("perfect_pairs", 10, 70),
    ]


def test_hands_of_one_round_are_one_observation(ledger: Ledger) -> None:
    seats = begun({"s1": {"main": 100}, "s2": {"main": 100}})
    both_win = closed([*seats, settled("s1", 100, 200), settled("s2", 100, 200)])
    both_lose = closed([*seats, settled("s1", 100, 0), settled("s2", 100, 0)])
    (cell,) = figures_of(ledger, both_win, both_lose)
    assert (cell.sums.rounds, cell.hands) == (2, 4)
    assert isclose(standard_error(cell.sums) or 0, sqrt((200**2 + 200**2) * 2) / 400)


def test_voided_rounds_stand_apart(ledger: Ledger) -> None:
    (cell,) = figures_of(ledger, simple(200), voided(70))
    assert (cell.sums.rounds, cell.sums.staked, cell.sums.paid) == (1, 100, 200)
    assert (cell.voided_rounds, cell.voided_minor) == (1, 70)


def test_open_rounds_stand_apart_and_hold_what_is_not_settled(ledger: Ledger) -> None:
    playing = begun({"s1": {"main": 100}, "s2": {"main": 30}})
    before_the_deal = [*playing[:2], StakesPlaced({"s1": {"main": 5}})]
    (cell,) = figures_of(ledger, [*playing, settled("s2", 30, 0)], before_the_deal)
    assert (cell.sums.rounds, cell.hands, cell.sums.staked) == (0, 0, 0)
    assert cell.sums.rtp_on_initial_stakes is None
    assert cell.sums.rtp_on_total_staked is None
    assert (cell.open_rounds, cell.held_minor) == (2, 105)


def test_play_for_fun_is_not_counted(ledger: Ledger) -> None:
    (cell,) = figures_of(ledger, simple(0), simple(10_000, mode="fun"))
    assert (cell.sums.rounds, cell.sums.paid) == (1, 0)


def test_currencies_are_never_summed(ledger: Ledger) -> None:
    found = figures_of(ledger, simple(200), simple(0, currency="GBP"))
    assert the_cell(found, currency="EUR").sums.rtp_on_initial_stakes == 2
    assert the_cell(found, currency="GBP").sums.rtp_on_initial_stakes == 0


def test_rule_sets_are_never_summed(ledger: Ledger) -> None:
    found = figures_of(ledger, simple(200), simple(0, digest="ab" * 32))
    assert the_cell(found, rules_digest=ZAPPIT).sums.rtp_on_initial_stakes == 2
    unknown = the_cell(found, rules_digest="ab" * 32)
    assert unknown.key.game is None
    assert unknown.sums.rtp_on_initial_stakes == 0


def test_a_bet_that_a_closed_round_never_settled_was_staked_and_paid_nothing(
    ledger: Ledger,
) -> None:
    (cell,) = figures_of(ledger, closed(begun({"s1": {"main": 100}})))
    assert (cell.sums.staked, cell.sums.paid) == (100, 0)
    assert cell.sums.rtp_on_initial_stakes == 0


def test_a_second_settlement_pays_again_on_the_same_stake(ledger: Ledger) -> None:
    (cell,) = figures_of(ledger, [*simple(200)[:-2], *closed([settled("s1", 100, 200)])])
    assert (cell.hands, cell.sums.staked, cell.sums.paid) == (1, 100, 400)


@pytest.mark.parametrize("hands", [["s1", "s1.2"], ["s3"]])
def test_a_settlement_nobody_announced_is_counted(ledger: Ledger, hands: list[str]) -> None:
    stakes = begun({"s1": {"main": 100}})
    (cell,) = figures_of(ledger, closed([*stakes, *(settled(hand, 100, 100) for hand in hands)]))
    assert (cell.sums.staked, cell.sums.paid) == (200, 100 * len(hands))
    assert cell.sums.initial == (100 if hands[0] == "s1" else 200)


def test_a_page_publishes_returns_of_its_own_rules() -> None:
    found = theoretical(GAMES["nba"].rules)
    assert {bet: each.published_percent for bet, each in found.items()} == {
        "main": "99.29",
        "insurance": None,
        "perfect_pairs": "95.90",
        "twenty_one_plus_three": "96.30",
    }
