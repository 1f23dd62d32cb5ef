"""Each check finds the fault it is for, and nothing in honest rounds."""

from collections.abc import Callable

import duckdb
import msgspec
import pytest

from shoeproof.audit_reports.rtp_report.from_ledger import ReportRequest
from shoeproof.audit_reports.rtp_report.write import render_rtp_report
from shoeproof.audit_reports.tables.checks.run import TableCheck, checks, run_checks
from shoeproof.audit_reports.tables.views import open_tables
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import (
    BetResettled,
    BetSettled,
    CardDealt,
    DealRequested,
    DecisionOffered,
    EventData,
    Funds,
    Refund,
    Refunded,
    RoundClosed,
    RoundVoided,
    StakesPlaced,
)
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.live.players import make_player
from shoeproof.replay.live.simulation import simulate
from shoeproof.replay.live.table import TableSettings
from shoeproof.replay.rounds.catalogue import current_rules
from tests.audit_reports.helpers import (
    begun,
    closed,
    doubled_push,
    made,
    play,
    report_on,
    settled,
    simple,
    split_and_doubled,
    voided,
)

SHOE_CARDS = 312
MAIN = {"s1": {"main": 100}}


def ending(*events: EventData) -> list[EventData]:
    return closed([*begun(MAIN), *events, settled("s1", 100, 0)])


def resettled(ledger: Ledger) -> None:
    round_id = play(ledger, simple(200))
    for before, after in ((200, 250), (200, 300)):
        data = BetResettled(round_id, "s1", "s1", "main", 100, before, after, "natural", None)
        ledger.append((f"disputes/{round_id}", data))


def refunded_to_no_hand(ledger: Ledger) -> None:
    round_id = play(ledger, simple(0))
    ledger.append((f"disputes/{round_id}", Refunded(round_id, "s1.2", "main", 1, None)))


def moved(events: list[EventData], minor: int) -> list[EventData]:
    """The round lost, with another debit for its stakes."""
    opened, committed, _, *rest = events
    taken = Funds("debit", minor, 0, None, "accepted", None)
    deal = DealRequested(MAIN, "", taken)
    return closed([opened, committed, deal, *rest, settled("s1", 100, 0)])


FAULTS: dict[str, list[EventData] | Callable[[Ledger], object]] = {
    "paid_without_stake": closed([*begun({"s1": {"main": 0}}), settled("s1", 0, 200)]),
    "settled_on_another_stake": closed([*begun(MAIN), settled("s1", 150, 200)]),
    "closed_with_other_totals": [*simple(200)[:-1], RoundClosed(100, 300)],
    "paid_and_refunded": [
        *begun(MAIN),
        settled("s1", 100, 200),
        RoundVoided("malfunction", [Refund("s1", "main", 100)]),
    ],
    "wallet_moved_another_amount": moved(begun(MAIN), 200),
    "real_money_in_play_for_fun": moved(begun(MAIN, mode="fun"), 100),
    "card_beyond_the_shoe": ending(CardDealt(SHOE_CARDS, "dealer", "9c")),
    "shoe_place_drawn_twice": ending(CardDealt(0, "dealer", "9c")),
    "card_more_often_than_in_the_shoe": ending(
        *(CardDealt(place, "s1", "9c") for place in range(1, 8))
    ),
    "negative_amount": closed([*begun(MAIN), settled("s1", 100, -5)]),
    "unsettled_in_a_closed_round": closed(begun(MAIN)),
    "void_that_keeps_stakes": [
        *begun(MAIN),
        RoundVoided("malfunction", [Refund("s1", "main", 99)]),
    ],
    "act_not_offered": ending(
        DecisionOffered("s1", ["hit", "stand"], {}, None, None), made("s1", "double")
    ),
    "resettled_from_another_amount": resettled,
    "decided_on_no_bet": refunded_to_no_hand,
}


def names(ledger: Ledger) -> set[str]:
    with open_tables(ledger) as tables:
        return {each.name for each in run_checks(tables)}


def test_honest_rounds_are_found_nothing_in(ledger: Ledger) -> None:
    settings = TableSettings(limits={"main": (1, 10_000)}, currency="EUR")
    for game in GAMES:
        rules = current_rules(ledger, game)
        simulate(ledger, rules, settings, {"s1": {"main": 100}}, make_player("random", 5), 30)
    assert names(ledger) == set()


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found_by_its_check(ledger: Ledger, name: str) -> None:
    play(ledger, simple(200))
    fault = FAULTS[name]
    play(ledger, fault) if isinstance(fault, list) else fault(ledger)
    assert names(ledger) == {name}
    with open_tables(ledger) as tables:
        (found,) = run_checks(tables)
    assert found.total >= 1
    assert found.rows[0]["leaf_index"] > 0
    assert found.rows[0]["round"]
    assert msgspec.json.encode(found.as_data())


OTHER_STAKES: dict[str, list[EventData]] = {
    "a double that is not counted": [made("s1", "double", 100), settled("s1", 100, 0)],
    "a double that was not made": [settled("s1", 200, 0)],
    "a split hand on the stakes of both": [
        made("s1", "split", 100), settled("s1.1", 200, 0), settled("s1.2", 100, 0),
    ],
    "a split hand doubled, the other settled on it": [
        made("s1", "split", 100), made("s1.1", "double", 100),
        settled("s1.1", 100, 0), settled("s1.2", 200, 0),
    ],
    "insurance on more than it cost": [
        made("s1", "insurance", 50), settled("s1", 60, 0, "insurance"), settled("s1", 100, 0),
    ],
    "a side bet nobody laid": [settled("s1", 10, 0, "perfect_pairs"), settled("s1", 100, 0)],
}  # fmt: skip


@pytest.mark.parametrize("name", OTHER_STAKES)
def test_a_stake_that_was_not_laid_is_found(ledger: Ledger, name: str) -> None:
    round_id = play(ledger, closed([*begun(MAIN), *OTHER_STAKES[name]]))
    with open_tables(ledger) as tables:
        (found,) = run_checks(tables)
    assert found.name == "settled_on_another_stake"
    assert {row["round"] for row in found.rows} == {round_id}
    assert all(row["laid_minor"] != row["settled_minor"] for row in found.rows)
    assert found.total == (2 if "the other" in name else 1)


def test_doubles_splits_and_insurance_settled_as_they_were_laid_are_not(
    ledger: Ledger,
) -> None:
    play(ledger, doubled_push())
    play(ledger, split_and_doubled())
    insured = [made("s1", "insurance", 50), settled("s1", 50, 150, "insurance")]
    play(ledger, closed([*begun(MAIN), *insured, settled("s1", 100, 0)]))
    # Chips laid before the deal are not the stakes, which the deal names.
    chips: list[EventData] = [*begun(MAIN)[:2], StakesPlaced({"s1": {"main": 700}})]
    play(ledger, closed([*chips, *begun(MAIN)[2:], settled("s1", 100, 0)]))
    assert names(ledger) == set()


@pytest.mark.parametrize(
    ("events", "staked", "paid"),
    [
        (simple(200), 100, 199),
        (simple(200), 101, 200),
        (simple(200), 0, 0),
        (split_and_doubled(), 200, 400),
        (begun(MAIN), 100, 0),  # a bet that was never settled is in no total
    ],
)
def test_totals_that_are_not_the_sum_of_the_settled_bets_are_found(
    ledger: Ledger, events: list[EventData], staked: int, paid: int
) -> None:
    events = [data for data in events if not isinstance(data, RoundClosed)]
    play(ledger, [*events, RoundClosed(staked, paid)])
    bets = [data for data in events if isinstance(data, BetSettled)]
    with open_tables(ledger) as tables:
        (found,) = [each for each in run_checks(tables) if each.name == "closed_with_other_totals"]
    (row,) = found.rows
    assert (row["closed_staked_minor"], row["closed_paid_minor"]) == (staked, paid)
    assert (row["settled_staked_minor"], row["settled_paid_minor"]) == (
        sum(bet.stake_minor for bet in bets), sum(bet.paid_minor for bet in bets),
    )  # fmt: skip
    assert row["leaf_index"] == ledger.size() - 1


@pytest.mark.parametrize("name", ["settled_on_another_stake", "closed_with_other_totals"])
def test_what_was_not_laid_or_not_summed_stands_at_the_top_of_the_report(
    ledger: Ledger, name: str
) -> None:
    events = FAULTS[name]
    assert isinstance(events, list)
    play(ledger, events)
    report = report_on(ledger, ReportRequest(shuffle_tests=False))
    (fault,) = report.findings[-report.faults :]
    assert fault.startswith(f"{name}: 1 row: Which ")
    page = render_rtp_report(report, ".html").decode()
    assert '<b class="alarm">Findings: 1</b>' in page.partition("<table")[0]


def test_times_and_parts_that_cannot_be_are_found() -> None:
    by_name = {each.name: each.select for each in checks()}
    with duckdb.connect() as tool:
        tool.execute("""CREATE TABLE rounds AS SELECT 'r' AS round, TIMESTAMP '2026-01-02' AS
            opened_at, TIMESTAMP '2026-01-03' AS dealt_at, TIMESTAMP '2026-01-01' AS closed_at,
            7 AS last_leaf""")
        tool.execute("""CREATE TABLE round_bets AS SELECT 1 AS first_leaf, 'r' AS round, 'main'
            AS bet, 100 AS initial_minor, 200 AS recorded_paid_minor, 100 AS staked_minor,
            95.0 AS start_minor, 0.0 AS error_minor, 0 AS wrong_hands, 104.0 AS luck_hit,
            0.5 AS skill_hit""")
        assert len(tool.execute(by_name["closed_before_it_was_opened"]).fetchall()) == 1
        ((_, _, returned, parts),) = tool.execute(by_name["parts_do_not_add_up"]).fetchall()
        assert (returned, parts) == (200, 199.5)


def test_sums_that_are_not_those_of_the_rounds_are_found(ledger: Ledger) -> None:
    play(ledger, simple(200))
    play(ledger, voided())
    (select,) = [each.select for each in checks() if each.name == "sums_differ_from_rounds"]
    with open_tables(ledger) as tables, duckdb.connect() as tool:
        for name in ("daily_sums", "round_bets"):
            tool.register(f"published_{name}", tables.ask(f"FROM {name}"))
            tool.execute(f"CREATE TABLE {name} AS FROM published_{name}")
        assert tool.execute(select).fetchall() == []
        tool.execute("UPDATE daily_sums SET paid = paid + 1 WHERE state = 'closed'")
        assert len(tool.execute(select).fetchall()) == 2
        tool.execute("DELETE FROM daily_sums")
        assert len(tool.execute(select).fetchall()) == 2


def test_every_check_has_a_fault_planted_for_it() -> None:
    tested = {
        *FAULTS,
        "closed_before_it_was_opened",
        "parts_do_not_add_up",
        "sums_differ_from_rounds",
    }
    assert {each.name for each in checks()} == tested


@pytest.mark.parametrize("check", checks(), ids=lambda check: check.name)
def test_a_check_has_a_comment_and_is_one_select(check: object) -> None:
    assert isinstance(check, TableCheck)
    assert check.asks.endswith("?")
    (statement,) = duckdb.extract_statements(check.select)
    assert statement.type == duckdb.StatementType.SELECT
