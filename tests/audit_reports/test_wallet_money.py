"""Wallets that lie: what they moved stands beside what was counted, and is found everywhere.

Every round here stakes 10.00 and is lost or pays 20.00, so that returns can be worked out by hand.
"""

from typing import NamedTuple

import pytest

from shoeproof.audit_reports.rtp_report.figures import Scope
from shoeproof.audit_reports.rtp_report.from_ledger import ReportRequest, judged_of
from shoeproof.audit_reports.rtp_report.model import BetReport, RtpReport
from shoeproof.audit_reports.rtp_report.write import render_rtp_report
from shoeproof.audit_reports.tables.checks.run import run_checks
from shoeproof.audit_reports.tables.views import open_tables
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import (
    Awarded,
    BetResettled,
    BetSettled,
    DealRequested,
    DecisionMade,
    DisputeDecided,
    EventData,
    Funds,
    Mode,
    Refund,
    Refunded,
    RoundOpened,
    RoundVoided,
    Stakes,
    WinHeld,
    WinReleased,
)
from shoeproof.replay.wallet.wallet import HELD
from tests.audit_reports.helpers import begun, closed, go_on, play, report_on

STAKES: Stakes = {"s1": {"main": 1000}}


def debit(cash: int, incentive: int = 0, answer: str = "accepted") -> Funds:
    return Funds("debit", cash, incentive, None, answer, None)


def credit(cash: int, incentive: int = 0, answer: str = "accepted") -> Funds:
    return Funds("credit", cash, incentive, None, answer, None)


def beginning(taken: Funds | None, stakes: Stakes = STAKES, mode: Mode = "real") -> list[EventData]:
    opened, committed, _, *rest = begun(stakes, mode=mode)
    return [opened, committed, DealRequested(stakes, "", taken), *rest]


def settlement(paid: int, funds: Funds | None, stake: int = 1000) -> BetSettled:
    return BetSettled("s1", "s1", "main", stake, paid, "line", funds)


def a_round(
    taken: Funds | None, paid: int, given: Funds | None, mode: Mode = "real"
) -> list[EventData]:
    return closed([*beginning(taken, mode=mode), settlement(paid, given)])


HONEST = a_round(debit(1000), 2000, credit(2000))
LOST = a_round(debit(1000), 0, None)


class Lie(NamedTuple):
    """A round whose wallet lies: how many movements, what it moved more to the player, and the
    return beside an honest round that was lost, in which 20.00 was staked.
    """

    events: list[EventData]
    movements: int
    net_minor: int
    counted: float
    moved: float


# Of 20.00 staked 20.00 is counted as paid: 100%. By what the wallet moved:
LIES = {
    # 200.00 instead of 20.00: (200 + 20 - 20) / 20, stakes as booked.
    "a credit ten times too large": Lie(
        a_round(debit(1000), 2000, credit(20_000)), 1, 18_000, 1.0, 10.0
    ),
    # 5.00 of 20.00.
    "a credit too small": Lie(a_round(debit(1000), 2000, credit(500)), 1, -1500, 1.0, 0.25),
    "a credit declined": Lie(
        a_round(debit(1000), 2000, credit(2000, answer="declined")), 1, -2000, 1.0, 0.0
    ),
    # 30.00 taken for a stake of 10.00: 20.00 more lost on 20.00 of stakes.
    "a debit too large": Lie(a_round(debit(3000), 2000, credit(2000)), 1, -2000, 1.0, 0.0),
    # Nothing taken for a stake of 10.00.
    "a debit declined": Lie(
        a_round(debit(1000, answer="declined"), 2000, credit(2000)), 1, 1000, 1.0, 1.5
    ),
    # 20.00 in cash was taken, the negative part of incentives takes nothing off it.
    "a debit with a negative part": Lie(
        a_round(debit(2000, -1000), 2000, credit(2000)), 1, -1000, 1.0, 0.5
    ),
    "a debit where a credit was due": Lie(
        a_round(debit(1000), 2000, debit(2000)), 1, -4000, 1.0, -1.0
    ),
    # 10.00 too much taken and 10.00 too much given: the sums agree, the movements do not.
    "two lies that cancel": Lie(a_round(debit(2000), 2000, credit(3000)), 2, 0, 1.0, 1.0),
}


def main_of(report: RtpReport) -> BetReport:
    return report.games[0].bets[0]


def found(ledger: Ledger) -> dict[str, int]:
    with open_tables(ledger) as tables:
        return {each.name: each.total for each in run_checks(tables)}


@pytest.mark.parametrize("name", LIES)
def test_a_wallet_that_moved_another_amount_is_found(ledger: Ledger, name: str) -> None:
    lie = LIES[name]
    play(ledger, LOST)
    lying = play(ledger, lie.events)
    assert found(ledger) == {"wallet_moved_another_amount": lie.movements}
    report = report_on(ledger, ReportRequest(shuffle_tests=False))
    bet = main_of(report)
    assert bet.row.rtp_on_initial_stakes == lie.counted
    assert (bet.wallet_rounds, bet.wallet_minor, bet.wallet_rtp) == (1, lie.net_minor, lie.moved)
    assert (report.word, report.faults) == ("out of range", 1)
    assert "The wallet moved different amounts from those counted" in report.headline
    (moved,) = report.wallet
    assert (moved.round, moved.movements, moved.net_minor) == (lying, lie.movements, lie.net_minor)


def test_both_returns_stand_on_the_first_page(ledger: Ledger) -> None:
    play(ledger, LOST)
    play(ledger, LIES["a credit ten times too large"].events)
    page = render_rtp_report(
        report_on(ledger, ReportRequest(shuffle_tests=False)), ".html"
    ).decode()
    banner = page.partition("<h2>")[0]
    assert "100.00% counted, 1000.00% by what the wallet moved" in banner
    assert "no evidence against" not in banner


def test_an_honest_wallet_is_no_finding(ledger: Ledger) -> None:
    play(ledger, HONEST)
    play(ledger, LOST)
    # Nothing is asked of a wallet of which nothing is recorded.
    play(ledger, a_round(None, 2000, None))
    mixed = a_round(debit(600, 400), 2000, credit(1200, 800))
    play(ledger, mixed)
    assert found(ledger) == {}
    report = report_on(ledger, ReportRequest(shuffle_tests=False))
    assert (main_of(report).wallet_rounds, main_of(report).wallet_rtp) == (0, None)
    assert (report.wallet, report.faults) == ((), 0)
    assert "wallet" not in report.headline


def test_a_deal_of_several_bets_that_the_wallet_answers_otherwise_stands_with_the_main_bet(
    ledger: Ledger,
) -> None:
    stakes: Stakes = {"s1": {"main": 1000, "perfect_pairs": 100}}
    pair = BetSettled("s1", "s1", "perfect_pairs", 100, 0, "no pair", None)
    play(ledger, closed([*beginning(debit(2200), stakes), pair, settlement(0, None)]))
    (moved,) = report_on(ledger, ReportRequest(shuffle_tests=False)).wallet
    assert (moved.bet, moved.net_minor) == ("main", -1100)


def test_a_double_debited_twice_is_found(ledger: Ledger) -> None:
    doubled = DecisionMade("s1", "double", "player", None, 1000, debit(2000))
    play(ledger, closed([*beginning(debit(1000)), doubled, settlement(4000, credit(4000), 2000)]))
    assert found(ledger) == {"wallet_moved_another_amount": 1}


def test_a_win_held_in_part_is_no_finding_and_its_release_is_held_to_the_rest(
    ledger: Ledger,
) -> None:
    # Of 20.00 the stake of 10.00 is paid at once, 10.00 is held.
    round_id = play(ledger, a_round(debit(1000), 2000, credit(1000, answer=HELD)))
    ledger.append((f"holds/{round_id}", WinHeld(round_id, 1000, "large")))
    assert found(ledger) == {}
    ledger.append((f"holds/{round_id}", WinReleased(round_id, 1000, credit(100))))
    assert found(ledger) == {"wallet_moved_another_amount": 1}
    assert main_of(report_on(ledger, ReportRequest(shuffle_tests=False))).wallet_minor == -900


def test_real_money_in_a_round_for_fun_is_found(ledger: Ledger) -> None:
    play(ledger, a_round(debit(1000), 2000, credit(2000), mode="fun"))
    play(ledger, a_round(None, 2000, None, mode="fun"))
    assert found(ledger) == {"real_money_in_play_for_fun": 2}
    with open_tables(ledger) as tables:
        judged = judged_of([ledger], tables, Scope())
    # 10.00 was taken and 20.00 given.
    assert judged.findings == (
        "Real money moved in 1 round played for fun, +10.00 EUR to the players in all",
    )
    report = report_on(ledger, ReportRequest(shuffle_tests=False))
    assert report.faults == 2


def test_refunds_of_a_void_are_held_to_the_wallets_answers(ledger: Ledger) -> None:
    refund = Refund("s1", "main", 1000, credit(600, 400))
    play(ledger, [*beginning(debit(600, 400)), RoundVoided("case 1", [refund])])
    assert found(ledger) == {}
    with open_tables(ledger) as tables:
        select = "SELECT refunded_minor, cash_refunded_minor, incentive_refunded_minor FROM bets"
        assert tables.ask(select).to_pylist() == [
            {
                "refunded_minor": 1000,
                "cash_refunded_minor": 600,
                "incentive_refunded_minor": 400,
            }
        ]
    short = Refund("s1", "main", 1000, credit(100))
    play(ledger, [*beginning(debit(1000)), RoundVoided("case 2", [short])])
    assert found(ledger) == {"wallet_moved_another_amount": 1}
    report = report_on(ledger, ReportRequest(shuffle_tests=False))
    bet = main_of(report)
    assert (bet.wallet_rounds, bet.wallet_minor, bet.wallet_rtp) == (1, -900, None)
    assert "in bets that no return counts" in report.headline


def test_a_void_gives_back_what_was_debited_and_nothing_where_nothing_was(ledger: Ledger) -> None:
    play(ledger, [*beginning(debit(1000, answer="declined")), RoundVoided("case 1", [])])
    twice = Refund("s1", "main", 2000, credit(2000))
    play(ledger, [*beginning(debit(2000)), RoundVoided("case 2", [twice])])
    # What the wallet did is told; that the voids put it right is no finding on them.
    assert found(ledger) == {"wallet_moved_another_amount": 2}
    report = report_on(ledger, ReportRequest(shuffle_tests=False))
    assert [(each.net_minor, each.is_put_right) for each in report.wallet] == [(0, True)] * 2
    assert main_of(report).wallet_rounds == 0


def decided(round_id: str, *moves: EventData) -> list[tuple[str, EventData]]:
    decision = DisputeDecided(round_id, [], "page, 1", "upheld", "resettle", None, 0, 1)
    return [(f"disputes/{round_id}", data) for data in (decision, *moves)]


def test_a_short_credit_that_a_decision_completed_is_put_right(ledger: Ledger) -> None:
    # 5.00 of 20.00 reached the player; the decision begins from that and moves 15.00.
    round_id = play(ledger, LIES["a credit too small"].events)
    paid = BetResettled(round_id, "s1", "s1", "main", 1000, 500, 2000, "line", credit(1500))
    ledger.append(*decided(round_id, paid))
    assert found(ledger) == {"wallet_moved_another_amount": 1}
    report = report_on(ledger, ReportRequest(shuffle_tests=False))
    (moved,) = report.wallet
    assert (moved.net_minor, moved.is_put_right) == (0, True)
    assert (main_of(report).wallet_rounds, main_of(report).row.paid_minor) == (0, 2000)
    assert any("put right" in each for each in report.findings)


def test_a_stake_debited_twice_that_went_back_is_put_right(ledger: Ledger) -> None:
    round_id = play(ledger, a_round(debit(2000), 2000, credit(2000)))
    back = Refunded(round_id, "s1", "surplus_debit", 1000, credit(1000))
    ledger.append(*decided(round_id, back))
    report = report_on(ledger, ReportRequest(shuffle_tests=False))
    assert [(each.net_minor, each.is_put_right) for each in report.wallet] == [(0, True)]
    assert main_of(report).row.paid_minor == 2000


def test_an_award_that_the_wallet_did_not_pay_is_found(ledger: Ledger) -> None:
    round_id = play(ledger, HONEST)
    award = Awarded(round_id, "s1", "main", 2000, "EUR", credit(200))
    ledger.append(*decided(round_id, award))
    assert found(ledger) == {"wallet_moved_another_amount": 1}
    report = report_on(ledger, ReportRequest(shuffle_tests=False))
    assert main_of(report).wallet_rounds == 0
    says = "The wallet moved 2.00 EUR for an award of 20.00 EUR"
    assert any(each.startswith(says) for each in report.findings[-report.faults :])
    with open_tables(ledger) as tables:
        (row,) = tables.ask(
            "SELECT amount_minor, cash_minor, incentive_minor FROM disputes WHERE event = 'Awarded'"
        ).to_pylist()
    assert row == {"amount_minor": 2000, "cash_minor": 200, "incentive_minor": 0}


def test_the_exponent_of_a_currency_is_a_column(ledger: Ledger) -> None:
    opened, *rest = HONEST
    assert isinstance(opened, RoundOpened)
    other = RoundOpened(**{name: getattr(opened, name) for name in opened.__struct_fields__}
        | {"currency": "BTC", "exponent": 8})  # fmt: skip
    play(ledger, [other, *rest])
    play(ledger, HONEST)
    with open_tables(ledger) as tables:
        rows = tables.ask("SELECT currency, exponent FROM rounds ORDER BY first_leaf").to_pylist()
    assert rows == [{"currency": "BTC:8", "exponent": 8}, {"currency": "EUR", "exponent": None}]


def test_a_round_that_goes_on_keeps_what_the_wallet_said(ledger: Ledger) -> None:
    round_id = play(ledger, beginning(debit(3000)))
    assert found(ledger) == {"wallet_moved_another_amount": 1}
    go_on(ledger, round_id, closed([settlement(2000, credit(2500))]))
    assert found(ledger) == {"wallet_moved_another_amount": 2}
    with open_tables(ledger, rebuild=True) as tables:
        rows = tables.ask(
            "SELECT event, direction, booked_minor, moved_minor FROM wallet_differences"
        )
        assert [tuple(each.values()) for each in rows.to_pylist()] == [
            ("DealRequested", "debit", 1000, 3000),
            ("BetSettled", "credit", 2000, 2500),
        ]
