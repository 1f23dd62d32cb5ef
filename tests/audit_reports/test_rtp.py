"""The figures of rounds whose amounts are known."""

import json
from fractions import Fraction
from math import isclose, sqrt

import pytest

from audit_reports.projection import open_projection
from audit_reports.rtp import RtpRow, percent, realised_rtp
from ledger import Ledger
from ledger.events import EventData, StakesPlaced
from tests.audit_reports.helpers import (
    NBA,
    ZAPPIT,
    begun,
    closed,
    doubled_push,
    made,
    play,
    settled,
    simple,
    split_and_doubled,
    the_row,
    voided,
)


def rows_of(ledger: Ledger, *rounds: list[EventData]) -> list[RtpRow]:
    for events in rounds:
        play(ledger, events)
    with open_projection(ledger) as projection:
        projection.update()
        return realised_rtp(projection)


def test_an_empty_ledger_has_no_rows(ledger: Ledger) -> None:
    assert rows_of(ledger) == []


def test_the_two_returns_and_the_standard_error(ledger: Ledger) -> None:
    (row,) = rows_of(ledger, simple(200), simple(0), simple(750, 300))
    assert (row.game, row.bet, row.rounds, row.bets) == ("zappit", "main", 3, 3)
    assert (row.initial_stake_minor, row.staked_minor, row.paid_minor) == (500, 500, 950)
    assert row.rtp_on_initial_stakes == row.rtp_on_total_staked == Fraction(19, 10)
    assert row.published_percent == "98.87"
    # Wins 100, -100, 450 on 100, 100, 300; the ratio is 0.9.
    squares = (100 - 90) ** 2 + (-100 - 90) ** 2 + (450 - 270) ** 2
    assert row.standard_error is not None
    assert isclose(row.standard_error, sqrt(squares * 3 / 2) / 500)


def test_a_doubled_push_returns_100_percent_on_initial_stakes(ledger: Ledger) -> None:
    (row,) = rows_of(ledger, doubled_push())
    assert (row.initial_stake_minor, row.staked_minor, row.paid_minor) == (100, 200, 200)
    assert row.rtp_on_initial_stakes == 1
    assert row.rtp_on_total_staked == 1
    assert row.standard_error is None


def test_the_hands_of_a_split_share_one_initial_stake(ledger: Ledger) -> None:
    (row,) = rows_of(ledger, split_and_doubled())
    assert (row.rounds, row.bets) == (1, 2)
    assert (row.initial_stake_minor, row.staked_minor, row.paid_minor) == (100, 300, 400)
    assert row.rtp_on_initial_stakes == 2
    assert row.rtp_on_total_staked == Fraction(4, 3)


def test_insurance_and_side_bets_stand_on_their_own_stakes(ledger: Ledger) -> None:
    rows = rows_of(
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
    assert [(row.bet, row.initial_stake_minor, row.paid_minor) for row in rows] == [
        ("main", 100, 200),
        ("insurance", 50, 0),
        ("perfect_pairs", 10, 70),
    ]
    assert [row.published_percent for row in rows] == ["99.29", None, "95.90"]


def test_hands_of_one_round_are_one_observation(ledger: Ledger) -> None:
    seats = begun({"s1": {"main": 100}, "s2": {"main": 100}})
    both_win = closed([*seats, settled("s1", 100, 200), settled("s2", 100, 200)])
    both_lose = closed([*seats, settled("s1", 100, 0), settled("s2", 100, 0)])
    (row,) = rows_of(ledger, both_win, both_lose)
    assert (row.rounds, row.bets) == (2, 4)
    assert row.standard_error is not None
    assert isclose(row.standard_error, sqrt((200**2 + 200**2) * 2) / 400)


def test_voided_rounds_stand_apart(ledger: Ledger) -> None:
    (row,) = rows_of(ledger, simple(200), voided(70))
    assert (row.rounds, row.staked_minor, row.paid_minor) == (1, 100, 200)
    assert (row.voided_rounds, row.voided_stake_minor) == (1, 70)


def test_open_rounds_stand_apart_and_hold_what_is_not_settled(ledger: Ledger) -> None:
    playing = begun({"s1": {"main": 100}, "s2": {"main": 30}})
    before_the_deal = [*playing[:2], StakesPlaced({"s1": {"main": 5}})]
    (row,) = rows_of(ledger, [*playing, settled("s2", 30, 0)], before_the_deal)
    assert (row.rounds, row.bets, row.staked_minor) == (0, 0, 0)
    assert row.rtp_on_initial_stakes is None
    assert row.rtp_on_total_staked is None
    assert (row.open_rounds, row.held_stake_minor) == (2, 105)


def test_play_for_fun_is_not_counted(ledger: Ledger) -> None:
    (row,) = rows_of(ledger, simple(0), simple(10_000, mode="fun"))
    assert (row.rounds, row.paid_minor) == (1, 0)


def test_currencies_are_never_summed(ledger: Ledger) -> None:
    rows = rows_of(ledger, simple(200), simple(0, currency="GBP"))
    assert the_row(rows, currency="EUR").rtp_on_initial_stakes == 2
    assert the_row(rows, currency="GBP").rtp_on_initial_stakes == 0


def test_rule_sets_are_never_summed(ledger: Ledger) -> None:
    rows = rows_of(ledger, simple(200), simple(0, digest="ab" * 32))
    assert the_row(rows, rules_digest=ZAPPIT).rtp_on_initial_stakes == 2
    unknown = the_row(rows, rules_digest="ab" * 32)
    assert (unknown.game, unknown.published_percent) == (None, None)
    assert unknown.rtp_on_initial_stakes == 0


def test_a_bet_that_a_closed_round_never_settled_was_staked_and_paid_nothing(
    ledger: Ledger,
) -> None:
    (row,) = rows_of(ledger, closed(begun({"s1": {"main": 100}})))
    assert (row.staked_minor, row.paid_minor) == (100, 0)
    assert row.rtp_on_initial_stakes == 0


def test_a_second_settlement_pays_again_on_the_same_stake(ledger: Ledger) -> None:
    (row,) = rows_of(ledger, [*simple(200)[:-2], *closed([settled("s1", 100, 200)])])
    assert (row.bets, row.staked_minor, row.paid_minor) == (1, 100, 400)


@pytest.mark.parametrize("hands", [["s1", "s1.2"], ["s3"]])
def test_a_settlement_nobody_announced_is_counted(ledger: Ledger, hands: list[str]) -> None:
    stakes = begun({"s1": {"main": 100}})
    (row,) = rows_of(ledger, closed([*stakes, *(settled(hand, 100, 100) for hand in hands)]))
    assert (row.staked_minor, row.paid_minor) == (200, 100 * len(hands))
    assert row.initial_stake_minor == (100 if hands[0] == "s1" else 200)


def test_a_row_is_ready_for_json(ledger: Ledger) -> None:
    (row,) = rows_of(ledger, split_and_doubled())
    data = json.loads(json.dumps(row.as_data()))
    assert data["rtp_on_total_staked"] == "4/3"
    assert data["rtp_on_total_staked_percent"] == "133.33"
    assert data["staked_minor"] == 300


def test_a_percentage_is_rounded_to_its_places() -> None:
    assert percent(Fraction(9887, 10_000)) == "98.87"
    assert percent(Fraction(2, 3), 4) == "66.6667"
    assert percent(Fraction(-1, 2)) == "-50.00"
