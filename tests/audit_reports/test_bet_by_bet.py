"""Voids and decisions, followed bet by bet: what counts as played, what is void, what is extra.

Amounts are worked out by hand beside each case: a bet whose stake went back is void, one that was
settled before and keeps it was played, whatever became of its round.
"""

from fractions import Fraction
from typing import NamedTuple

import pytest

from shoeproof.audit_reports.rtp_report.figures import Scope
from shoeproof.audit_reports.rtp_report.from_ledger import ReportRequest, judged_of
from shoeproof.audit_reports.rtp_report.records import SliceRow
from shoeproof.audit_reports.tables.checks.run import run_checks
from shoeproof.audit_reports.tables.views import open_tables
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import (
    Awarded,
    BetResettled,
    ComplaintOpened,
    DisputeDecided,
    DisputeOpened,
    EventData,
    Funds,
    Refund,
    Refunded,
    RoundVoided,
    Stakes,
    StakesPlaced,
)
from tests.audit_reports.helpers import (
    NBA,
    begun,
    cells_of,
    closed,
    made,
    play,
    report_on,
    settled,
    simple,
    split_and_doubled,
    the_cell,
)

BOTH: Stakes = {"s1": {"main": 1000, "perfect_pairs": 100}}
COMPLAINT = "0193a1b2-0000-7000-8000-000000000001"


class Counted(NamedTuple):
    """Of a bet the rounds that count, with initial stakes, stakes and payments, and the voids."""

    rounds: int
    initial: int
    staked: int
    paid: int
    void_rounds: int
    void_stakes: int


def counted(cell: SliceRow) -> Counted:
    sums = cell.sums
    return Counted(
        sums.rounds, sums.initial, sums.staked, sums.paid, cell.voided_rounds, cell.voided_minor
    )


def by_bet(ledger: Ledger) -> dict[str, Counted]:
    return {cell.key.bet: counted(cell) for cell in cells_of(ledger)}


def found(ledger: Ledger) -> set[str]:
    with open_tables(ledger) as tables:
        return {each.name for each in run_checks(tables)}


def decide(ledger: Ledger, round_id: str, remedy: str, *moves: EventData) -> None:
    decided = DisputeDecided(round_id, [], "page, 1", "upheld", remedy, None, 0, 1, case=1)
    opened = DisputeOpened(round_id, "settlement", None, [], None, "2026-03-01T00:00:00.000000Z")
    ledger.append(*((f"disputes/{round_id}", data) for data in (opened, decided, *moves)))


def void(*refunds: tuple[str, str, int]) -> RoundVoided:
    return RoundVoided("case 1", [Refund(*each) for each in refunds])


def refunded(round_id: str, hand: str, bet: str, amount: int) -> Refunded:
    return Refunded(round_id, hand, bet, amount, None)


# A round that is voided while it is open


def test_chips_laid_without_a_deal_go_back_and_nothing_is_played(ledger: Ledger) -> None:
    laid = [*begun(BOTH)[:2], StakesPlaced(BOTH)]
    play(ledger, [*laid, void(("s1", "main", 1000), ("s1", "perfect_pairs", 100))])
    assert by_bet(ledger) == {
        "main": Counted(0, 0, 0, 0, 1, 1000),
        "perfect_pairs": Counted(0, 0, 0, 0, 1, 100),
    }
    assert found(ledger) == set()


def test_a_pair_settled_before_the_void_was_played_and_keeps_its_7(ledger: Ledger) -> None:
    # A mixed pair pays 6 to 1 on 1.00: 7.00 with the stake. The main stake of 10.00 goes back.
    pair = settled("s1", 100, 700, "perfect_pairs", "mixed pair")
    play(ledger, [*begun(BOTH, digest=NBA), pair, void(("s1", "main", 1000))])
    assert by_bet(ledger) == {
        "main": Counted(0, 0, 0, 0, 1, 1000),
        "perfect_pairs": Counted(1, 100, 100, 700, 0, 0),
    }
    assert found(ledger) == set()


def test_a_pair_lost_before_the_void_was_played_too(ledger: Ledger) -> None:
    pair = settled("s1", 100, 0, "perfect_pairs", "no pair")
    play(ledger, [*begun(BOTH, digest=NBA), pair, void(("s1", "main", 1000))])
    assert by_bet(ledger)["perfect_pairs"] == Counted(1, 100, 100, 0, 0, 0)
    assert found(ledger) == set()


def test_a_lost_pair_whose_stake_the_void_gave_back_is_void(ledger: Ledger) -> None:
    pair = settled("s1", 100, 0, "perfect_pairs", "no pair")
    refunds = ("s1", "main", 1000), ("s1", "perfect_pairs", 100)
    play(ledger, [*begun(BOTH, digest=NBA), pair, void(*refunds)])
    assert by_bet(ledger)["perfect_pairs"] == Counted(0, 0, 0, 0, 1, 100)
    assert found(ledger) == set()


def test_a_hand_cashed_out_for_a_part_gets_the_rest_back_and_is_void(ledger: Ledger) -> None:
    # Sold for 4.00 of 10.00, so 6.00 goes back.
    sold = settled("s1", 1000, 400, line="cash out")
    play(ledger, [*begun({"s1": {"main": 1000}}), sold, void(("s1", "main", 600))])
    assert by_bet(ledger) == {"main": Counted(0, 0, 0, 0, 1, 1000)}
    assert found(ledger) == set()


def test_of_two_seats_one_may_be_played_and_the_other_void(ledger: Ledger) -> None:
    stakes = {"s1": {"main": 1000}, "s2": {"main": 500}}
    bust = settled("s1", 1000, 0, line="bust")
    play(ledger, [*begun(stakes), bust, void(("s2", "main", 500))])
    assert by_bet(ledger) == {"main": Counted(1, 1000, 1000, 0, 1, 500)}
    assert found(ledger) == set()


@pytest.mark.parametrize(("played", "other"), [("s1.1", "s1.2"), ("s1.2", "s1.1")])
def test_of_a_split_the_hand_that_was_played_has_the_initial_stake(
    ledger: Ledger, played: str, other: str
) -> None:
    split = [made("s1", "split", 1000), settled(played, 1000, 0, line="bust")]
    play(ledger, [*begun({"s1": {"main": 1000}}), *split, void((other, "main", 1000))])
    assert by_bet(ledger) == {"main": Counted(1, 1000, 1000, 0, 1, 1000)}
    assert found(ledger) == set()


@pytest.mark.parametrize(
    ("refund", "name"), [(999, "void_that_keeps_stakes"), (1001, "paid_and_refunded")]
)
def test_a_void_of_another_amount_than_the_stake_is_found(
    ledger: Ledger, refund: int, name: str
) -> None:
    play(ledger, [*begun({"s1": {"main": 1000}}), void(("s1", "main", refund))])
    assert found(ledger) == {name}


def test_a_win_paid_and_refunded_is_found(ledger: Ledger) -> None:
    pair = settled("s1", 100, 700, "perfect_pairs")
    refunds = ("s1", "main", 1000), ("s1", "perfect_pairs", 100)
    play(ledger, [*begun(BOTH), pair, void(*refunds)])
    assert found(ledger) == {"paid_and_refunded"}


def test_a_refund_of_a_bet_that_nobody_laid_is_found(ledger: Ledger) -> None:
    refunds = ("s1", "main", 1000), ("s2", "main", 1000)
    play(ledger, [*begun({"s1": {"main": 1000}}), void(*refunds)])
    assert found(ledger) == {"paid_and_refunded"}


def test_what_a_void_kept_is_no_finding_once_a_decision_gave_it_back(ledger: Ledger) -> None:
    round_id = play(ledger, [*begun({"s1": {"main": 1000}}), void(("s1", "main", 900))])
    decide(ledger, round_id, "void", refunded(round_id, "s1", "main", 100))
    assert by_bet(ledger) == {"main": Counted(0, 0, 0, 0, 1, 1000)}
    assert found(ledger) == set()


def test_a_void_that_a_decision_replaced_by_the_outcome_counts_as_played(ledger: Ledger) -> None:
    # The void gave 10.00 back; the rules paid 25.00, so 15.00 more moves.
    round_id = play(ledger, [*begun({"s1": {"main": 1000}}), void(("s1", "main", 1000))])
    resettled = BetResettled(round_id, "s1", "s1", "main", 1000, 1000, 2500, "natural", None)
    decide(ledger, round_id, "resettle", resettled)
    assert by_bet(ledger) == {"main": Counted(1, 1000, 1000, 2500, 0, 0)}
    assert found(ledger) == set()


# A round that had ended


def test_a_lost_bet_refunded_after_its_rounds_end_is_void(ledger: Ledger) -> None:
    round_id = play(ledger, simple(0, 1000))
    decide(ledger, round_id, "void", refunded(round_id, "s1", "main", 1000))
    assert by_bet(ledger) == {"main": Counted(0, 0, 0, 0, 1, 1000)}
    assert found(ledger) == set()


@pytest.mark.parametrize(
    ("paid", "back", "counts"),
    [
        (0, 1, Counted(1, 1000, 1000, 1, 0, 0)),
        (0, 999, Counted(1, 1000, 1000, 999, 0, 0)),
        (400, 599, Counted(1, 1000, 1000, 999, 0, 0)),
        (1000, 1, Counted(1, 1000, 1000, 1001, 0, 0)),
        (2000, 1, Counted(1, 1000, 1000, 2001, 0, 0)),
        (0, 1000, Counted(0, 0, 0, 0, 1, 1000)),
        (400, 600, Counted(0, 0, 0, 0, 1, 1000)),
        (1000, 0, Counted(0, 0, 0, 0, 1, 1000)),
    ],
)
def test_a_refund_makes_a_void_only_where_the_whole_stake_goes_back(
    ledger: Ledger, paid: int, back: int, counts: Counted
) -> None:
    round_id = play(ledger, simple(paid, 1000))
    decide(ledger, round_id, "void", refunded(round_id, "s1", "main", back))
    assert by_bet(ledger) == {"main": counts}
    with open_tables(ledger) as tables:
        told = judged_of([ledger], tables, Scope()).findings
    assert any("which is not a void" in each for each in told) is bool(counts.rounds)


def test_a_void_that_gives_a_part_back_leaves_the_bet_played(ledger: Ledger) -> None:
    play(ledger, [*begun({"s1": {"main": 1000}}), void(("s1", "main", 10))])
    assert by_bet(ledger) == {"main": Counted(1, 1000, 1000, 10, 0, 0)}
    with open_tables(ledger) as tables:
        (told,) = judged_of([ledger], tables, Scope()).findings
    assert "in 1 round 0.10 EUR went back of 10.00 EUR staked" in told


def test_a_pair_that_a_void_after_the_end_leaves_its_win_was_played(ledger: Ledger) -> None:
    # The void names every bet: the main stake of 10.00 goes back, of the pair nothing more.
    bets = [settled("s1", 1000, 0), settled("s1", 100, 700, "perfect_pairs")]
    round_id = play(ledger, closed([*begun(BOTH), *bets]))
    moves = ("main", 1000), ("perfect_pairs", 0)
    decide(ledger, round_id, "void", *(refunded(round_id, "s1", *move) for move in moves))
    assert by_bet(ledger) == {
        "main": Counted(0, 0, 0, 0, 1, 1000),
        "perfect_pairs": Counted(1, 100, 100, 700, 0, 0),
    }
    assert found(ledger) == set()


def test_of_a_split_voided_after_the_end_the_winning_hand_was_played(ledger: Ledger) -> None:
    # s1.1 lost 1.00, which goes back; s1.2, doubled, won 4.00 on 2.00, which stays.
    round_id = play(ledger, split_and_doubled())
    moves = ("s1.1", "main", 100), ("s1.2", "main", 0)
    decide(ledger, round_id, "void", *(refunded(round_id, *move) for move in moves))
    assert by_bet(ledger) == {"main": Counted(1, 100, 200, 400, 1, 100)}
    assert found(ledger) == set()


def test_a_corrected_total_counts_as_paid(ledger: Ledger) -> None:
    round_id = play(ledger, simple(2000, 1000))
    resettled = BetResettled(round_id, "s1", "s1", "main", 1000, 2000, 2500, "natural", None)
    decide(ledger, round_id, "resettle", resettled)
    assert by_bet(ledger) == {"main": Counted(1, 1000, 1000, 2500, 0, 0)}
    assert found(ledger) == set()


def test_two_corrections_of_a_bet_follow_each_other(ledger: Ledger) -> None:
    # 20.00, then 25.00, then 26.00.
    round_id = play(ledger, simple(2000, 1000))
    for before, after in ((2000, 2500), (2500, 2600)):
        data = BetResettled(round_id, "s1", "s1", "main", 1000, before, after, "line", None)
        decide(ledger, round_id, "resettle", data)
    assert by_bet(ledger) == {"main": Counted(1, 1000, 1000, 2600, 0, 0)}
    assert found(ledger) == set()


def test_what_was_taken_beyond_the_stake_comes_back_and_the_bet_was_played(ledger: Ledger) -> None:
    round_id = play(ledger, simple(2000, 1000))
    decide(ledger, round_id, "resettle", refunded(round_id, "s1", "surplus_debit", 1000))
    assert by_bet(ledger) == {"main": Counted(1, 1000, 1000, 2000, 0, 0)}
    assert found(ledger) == set()


# What is no bet's


def award(subject: str, amount: int, funds: Funds | None = None) -> Awarded:
    return Awarded(subject, None, None, amount, "EUR", funds)


def test_awards_and_goodwill_stand_apart_and_are_no_return(ledger: Ledger) -> None:
    round_id = play(ledger, simple(0, 1000))
    decide(ledger, round_id, "award", award(round_id, 2000))
    decide(ledger, round_id, "goodwill", award(round_id, 500))
    report = report_on(ledger, ReportRequest(shuffle_tests=False))
    assert [(each.amount_minor, each.remedy) for each in report.awards] == [
        (2000, "award"),
        (500, "goodwill"),
    ]
    assert by_bet(ledger) == {"main": Counted(1, 1000, 1000, 0, 0, 0)}
    assert (report.faults, report.games[0].word) == (0, report.games[0].bets[0].word)
    assert report.games[0].bets[0].row.rtp_on_initial_stakes == 0


def complaint() -> ComplaintOpened:
    return ComplaintOpened(
        COMPLAINT, True, "p-7f", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z", "Europe/Malta",
        ["rounds of p-7f on 1 March"], "missing", None, [], None, None,
    )  # fmt: skip


def test_a_complaint_about_no_single_round_changes_no_figure(ledger: Ledger) -> None:
    round_id = play(ledger, simple(2000, 1000))
    before = by_bet(ledger)
    decided = DisputeDecided(COMPLAINT, [], "page, 1", "upheld", "award", "R-1", 700, 1, 1)
    stream = f"disputes/{COMPLAINT}"
    ledger.append(*((stream, each) for each in (complaint(), decided, award(COMPLAINT, 700))))
    assert by_bet(ledger) == before
    assert found(ledger) == set()
    with open_tables(ledger) as tables:
        rows = tables.ask(
            "SELECT event, round, player, zone, missing_round, searched, case_number, amount_minor "
            "FROM disputes ORDER BY leaf_index"
        ).to_pylist()
        (given,) = judged_of([ledger], tables, Scope()).awards
    assert [row["event"] for row in rows] == ["ComplaintOpened", "DisputeDecided", "Awarded"]
    assert {row["round"] for row in rows} == {COMPLAINT} != {round_id}
    assert (rows[0]["player"], rows[0]["zone"]) == ("p-7f", "Europe/Malta")
    assert (rows[0]["missing_round"], rows[0]["searched"]) == (True, ["rounds of p-7f on 1 March"])
    assert (rows[1]["case_number"], rows[2]["amount_minor"]) == (1, 700)
    assert (given.round, given.game, given.currency, given.amount_minor) == (
        COMPLAINT, None, "EUR", 700,
    )  # fmt: skip


# What verdicts and pages make of it


def test_a_lawful_void_is_no_finding_of_a_report(ledger: Ledger) -> None:
    pair = settled("s1", 100, 700, "perfect_pairs", "mixed pair")
    play(ledger, [*begun(BOTH, digest=NBA), pair, void(("s1", "main", 1000))])
    report = report_on(ledger, ReportRequest(shuffle_tests=False))
    assert (report.word, report.findings, report.faults) == ("inconclusive", (), 0)
    assert [(each.bet, each.staked_minor) for each in report.voids] == [("main", 1000)]
    (game,) = report.games
    (side,) = [bet for bet in game.bets if bet.row.bet == "perfect_pairs"]
    assert side.row.rtp_on_initial_stakes == 7


def test_a_return_of_played_bets_is_that_of_their_stakes_alone(ledger: Ledger) -> None:
    play(ledger, simple(2500, 1000))
    play(ledger, [*begun({"s1": {"main": 1000}}), void(("s1", "main", 1000))])
    round_id = play(ledger, simple(0, 1000))
    decide(ledger, round_id, "void", refunded(round_id, "s1", "main", 1000))
    cell = the_cell(cells_of(ledger), bet="main")
    assert cell.sums.rtp_on_initial_stakes == Fraction(2500, 1000)
    assert (cell.voided_rounds, cell.voided_minor) == (2, 2000)
