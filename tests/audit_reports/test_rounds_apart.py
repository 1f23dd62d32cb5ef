"""Rounds that no return counts are accounted for, and none of them hides what the cards brought.

Rigged ledgers leave wins open, or call them play for fun; beside each stands an honest one that
does the same without a look at the outcome.
"""

from collections.abc import Callable, Iterable
from io import StringIO

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console

from shoeproof.audit_reports.rtp_report.apart import accounted_words
from shoeproof.audit_reports.rtp_report.build import judge
from shoeproof.audit_reports.rtp_report.figures import Scope, figures
from shoeproof.audit_reports.rtp_report.from_ledger import ReportRequest, judged_of
from shoeproof.audit_reports.rtp_report.model import Accounted, BetReport
from shoeproof.audit_reports.rtp_report.theoretical import theoretical
from shoeproof.audit_reports.rtp_report.write import render_rtp_report
from shoeproof.audit_reports.tables.views import open_tables
from shoeproof.cli.screen.rtp import print_rtp
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import BetSettled, DecisionMade, Refund, RoundVoided
from shoeproof.replay.engine.rules import rules_digest
from shoeproof.replay.games.published import GAMES
from tests.audit_reports.helpers import NBA, begun, closed, play, report_on, settled, simple, voided
from tests.audit_reports.simulated import SimulatedTables, simulated_rows
from tests.audit_reports.test_house_claims import Round, honest, main_bet, report_of, wins

GAME = "zero"


# All rounds are accounted for


def test_every_round_that_was_opened_is_counted_void_open_fun_or_without_stakes(
    ledger: Ledger,
) -> None:
    both = {"s1": {"main": 1000, "perfect_pairs": 100}}
    pair = settled("s1", 100, 700, "perfect_pairs")
    play(ledger, simple(200))
    play(ledger, simple(0))
    play(ledger, voided())
    # Its pair was played, so that the round counts though its main bet is void.
    void = RoundVoided("malfunction", [Refund("s1", "main", 1000)])
    play(ledger, [*begun(both, digest=NBA), pair, void])
    play(ledger, begun({"s1": {"main": 100}}))
    play(ledger, simple(0, mode="fun"))
    play(ledger, begun({"s1": {"main": 100}}, mode="fun"))
    play(ledger, [*begun({"s1": {"main": 100}})[:2], RoundVoided("nothing was laid", [])])
    play(ledger, simple(0, currency="GBP", mode="fun"))
    with open_tables(ledger) as tables:
        rounds = judged_of([ledger], tables, Scope()).rounds
    found = {(each.game, each.currency): each for each in rounds}
    (zappit,) = [each for each in rounds if each.opened > 1]
    assert zappit == Accounted(zappit.game, zappit.rules_digest, "EUR", 7, 2, 1, 1, 2, 1)
    assert sum(each.opened for each in rounds) == 9
    assert [each.counted for each in found.values() if each.rules_digest == NBA] == [1]
    for each in rounds:
        assert each.opened == each.counted + each.void + each.open + each.fun + each.unstaked


def test_the_line_that_accounts_for_rounds_stands_on_the_page_and_in_rtp(
    ledger: Ledger,
) -> None:
    for events in (simple(200), simple(0, mode="fun"), begun({"s1": {"main": 100}}), voided()):
        play(ledger, events)
    report = report_on(ledger, ReportRequest(shuffle_tests=False))
    (line,) = map(accounted_words, report.rounds)
    assert line.endswith("4 rounds opened = 1 counted + 1 void + 1 open + 1 for fun")
    assert line in render_rtp_report(report, ".html").decode()
    with open_tables(ledger) as tables:
        found = judged_of([ledger], tables, Scope())
    shown = Console(file=StringIO(), width=80)
    with shown.capture() as said:
        print_rtp(shown, found)
    assert line in " ".join(said.get().split())


# Rounds left open


def left_open(events: Round) -> Round:
    """A round that stops before its first settlement, with nothing left to decide."""
    return events[: next(n for n, data in enumerate(events) if isinstance(data, BetSettled))]


def is_plain(events: Round) -> bool:
    """Whether all is settled at the end: nothing was split or sold."""
    acts = {data.act for data in events if isinstance(data, DecisionMade)}
    return not acts & {"split", "cash_out"}


def judged_with_open(which: Callable[[int, Round], bool]) -> tuple[BetReport, int]:
    rounds = honest(GAME, 180)
    taken = {n for n, each in enumerate(rounds) if is_plain(each) and which(n, each)}
    report = report_of(left_open(each) if n in taken else each for n, each in enumerate(rounds))
    assert report.rounds[0].open == len(taken)
    return main_bet(report, GAME), len(taken)


def test_wins_left_open_are_out_of_range_with_what_they_would_be_paid() -> None:
    bet, taken = judged_with_open(lambda n, each: n % 3 > 0 and wins(each))
    assert taken >= 12
    assert bet.word == "out of range"
    (why,) = [each for each in bet.why if each.startswith("open: ")]
    assert " bets left open that were decided would have won, 100.00%" in why


def test_rounds_left_open_by_chance_are_not_out_of_range() -> None:
    bet, taken = judged_with_open(lambda n, each: n % 5 == 0)
    assert taken >= 12
    assert bet.word == "inconclusive"
    assert any(each.of == "open" and each.word != "out of range" for each in bet.readings)


# Play for fun


def with_fun(chosen: Callable[[pa.Table], Iterable[bool]]) -> BetReport:
    """The main bet of 6,000 rounds, of which those chosen are called play for fun."""
    rows = simulated_rows(GAME, "basic", 6_000, seed=11)
    rows = rows.filter(pa.array([bet == "main" for bet in rows["bet"].to_pylist()]))
    modes = pa.array(["fun" if each else "real" for each in chosen(rows)], pa.string())
    tables = SimulatedTables(rows.set_column(rows.schema.get_field_index("mode"), "mode", modes))
    rules = GAMES[GAME].rules
    found = figures(tables, Scope())
    return judge(found, {rules_digest(rules): theoretical(rules)}).games[0].bets[0]


def reading_of_fun(bet: BetReport) -> str:
    (found,) = [each for each in bet.readings if each.of == "play for fun"]
    return found.word


def won(rows: pa.Table) -> Iterable[bool]:
    paid, staked = rows["paid_minor"].to_numpy(), rows["staked_minor"].to_numpy()
    chosen: Iterable[bool] = (paid > staked) & (np.arange(len(paid)) % 5 == 0)
    return chosen


def test_wins_called_play_for_fun_are_out_of_range() -> None:
    bet = with_fun(won)
    assert bet.word == "out of range"
    assert reading_of_fun(bet) == "out of range"


def test_play_for_fun_chosen_without_a_look_at_the_cards_is_not_out_of_range() -> None:
    bet = with_fun(lambda rows: np.arange(len(rows)) % 5 == 0)
    assert reading_of_fun(bet) in ("no evidence against", "watch")
    assert bet.word in ("no evidence against", "watch")


@pytest.mark.parametrize("few", [10, 100])
def test_little_play_for_fun_is_no_reading_either_way(few: int) -> None:
    bet = with_fun(lambda rows: np.arange(len(rows)) < few)
    assert reading_of_fun(bet) == "inconclusive"


def test_a_round_of_no_stakes_at_its_end_is_none_of_the_others(ledger: Ledger) -> None:
    play(ledger, closed(begun({"s1": {"main": 100}})[:2]))
    with open_tables(ledger) as tables:
        (found,) = judged_of([ledger], tables, Scope()).rounds
    assert (found.opened, found.unstaked) == (1, 1)
    assert accounted_words(found).endswith("1 without stakes")
