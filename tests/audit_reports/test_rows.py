"""Cards, decisions, interruptions, money kept apart, and luck, as rows beside rounds and bets."""

from math import isclose
from typing import Any

import msgspec
import pytest

from shoeproof.audit_reports.rows.luck import COUNT_COLUMNS, PART_COLUMNS
from shoeproof.audit_reports.rows.records import (
    BetRow,
    CardRow,
    DecisionRow,
    DisputeRow,
    InterruptionRow,
    OfferRow,
    RoundRow,
    WouldHavePaidRow,
)
from shoeproof.audit_reports.tables import sql
from shoeproof.audit_reports.tables.projection import open_projection
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import (
    AlarmRaised,
    BetSettled,
    CardDealt,
    ConnectionLost,
    DealRequested,
    DecisionOffered,
    DisputeOpened,
    EventData,
    Funds,
    HoleCardShown,
    Refund,
    Refunded,
    RoundVoided,
    Stakes,
)
from shoeproof.ledger.leaf.recorded import read_leaf
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.live.players import make_player
from shoeproof.replay.live.simulation import simulate
from shoeproof.replay.live.table import TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from tests.audit_reports.helpers import begun, closed, made, play, settled, simple, voided


def rows(ledger: Ledger, select: str) -> list[tuple[Any, ...]]:
    with open_projection(ledger) as projection:
        projection.update()
        return projection._tables.execute(select).fetchall()


def debit(cash: int, incentive: int) -> Funds:
    return Funds("debit", cash, incentive, None, None, None)


def credit(cash: int, incentive: int) -> Funds:
    return Funds("credit", cash, incentive, None, None, None)


def funded(stakes: Stakes, funds: Funds | None, *rest: EventData) -> list[EventData]:
    opened, committed, *_ = begun(stakes)
    return closed([opened, committed, DealRequested(stakes, "", funds), *rest])


def test_the_initial_deal_is_kept_apart(ledger: Ledger) -> None:
    opened, committed, requested, _ = begun({"s1": {"main": 100}})
    dealt = [("s1", "Td"), ("dealer", "9c"), ("s1", "8h"), ("dealer", None), ("s1", "2c")]
    cards = [
        CardDealt(place, receiver) if card is None else CardDealt(place, receiver, card)
        for place, (receiver, card) in enumerate(dealt)
    ]
    after = [HoleCardShown("7d"), CardDealt(5, "dealer", "5s"), CardDealt(6, "s1.1", "5h")]
    play(ledger, closed([opened, committed, requested, *cards, *after]))
    select = "SELECT shoe_index, receiver, card, is_initial FROM cards ORDER BY leaf_index"
    assert rows(ledger, select) == [
        (0, "s1", "Td", True),
        (1, "dealer", "9c", True),
        (2, "s1", "8h", True),
        (3, "dealer", "7d", True),
        (4, "s1", "2c", False),
        (5, "dealer", "5s", False),
        (6, "s1.1", "5h", False),
    ]


def test_a_face_down_card_is_unknown_until_it_is_shown(ledger: Ledger) -> None:
    play(ledger, [*begun({"s1": {"main": 100}}), CardDealt(1, "dealer")])
    select = "SELECT card, shown_leaf FROM cards WHERE receiver = 'dealer'"
    assert rows(ledger, select) == [(None, None)]


def test_a_decision_stands_beside_what_was_offered(ledger: Ledger) -> None:
    offered = DecisionOffered("s1", ["hit", "stand"], {}, None, None)
    play(ledger, [*begun({"s1": {"main": 100}}), offered, made("s1", "stand"), made("s2", "hit")])
    select = "SELECT hand, act, actor, legal FROM decisions ORDER BY leaf_index"
    assert rows(ledger, select) == [
        ("s1", "stand", "player", ["hit", "stand"]),
        ("s2", "hit", "player", None),
    ]


def test_interruptions_of_rounds_and_of_the_service(ledger: Ledger) -> None:
    lost = play(ledger, [*begun({"s1": {"main": 100}}), ConnectionLost(2, None, "gone")])
    ledger.append(("operations", AlarmRaised(7, "zappit", None)))
    select = "SELECT event, round, cause, scope, note FROM interruptions ORDER BY leaf_index"
    assert rows(ledger, select) == [
        ("ConnectionLost", lost, 2, None, "gone"),
        ("AlarmRaised", None, 7, "zappit", None),
    ]


def test_a_dispute_opened_is_a_row(ledger: Ledger) -> None:
    round_id = play(ledger, simple(0))
    claim = DisputeOpened(round_id, "wrong_payment", None, [], "2026-03-01T00:00:00.000000Z")
    ledger.append((f"disputes/{round_id}", claim))
    select = "SELECT event, round, claim, deadline, paid_minor FROM disputes"
    assert rows(ledger, select) == [
        ("DisputeOpened", round_id, "wrong_payment", "2026-03-01T00:00:00.000000Z", None)
    ]


APART = """SELECT bet, staked_minor, cash_staked_minor, incentive_staked_minor, paid_minor,
    cash_paid_minor, incentive_paid_minor FROM round_bets ORDER BY bet"""


def test_cash_and_incentive_money_of_one_bet(ledger: Ledger) -> None:
    doubled = made("s1", "double", 100)
    doubled = type(doubled)("s1", "double", "player", None, 100, debit(30, 70))
    paid = settled("s1", 200, 400)
    paid = type(paid)("s1", "s1", "main", 200, 400, "line", credit(330, 70))
    play(ledger, funded({"s1": {"main": 100}}, debit(60, 40), doubled, paid))
    assert rows(ledger, APART) == [("main", 200, 90, 110, 400, 330, 70)]


@pytest.mark.parametrize(
    ("funds", "main", "side"),
    [
        (debit(110, 0), (100, 0), (10, 0)),
        (debit(0, 110), (0, 100), (0, 10)),
        (debit(50, 60), (None, None), (None, None)),
        (debit(50, 0), (None, None), (None, None)),
        (None, (None, None), (None, None)),
    ],
)
def test_money_of_several_bets_is_told_apart_only_where_it_was_recorded(
    ledger: Ledger, funds: Funds | None, main: tuple[Any, Any], side: tuple[Any, Any]
) -> None:
    stakes = {"s1": {"main": 100, "perfect_pairs": 10}}
    bets = [settled("s1", 100, 0), settled("s1", 10, 0, "perfect_pairs")]
    play(ledger, funded(stakes, funds, *bets))
    found = rows(ledger, APART)
    assert [row[2:4] for row in found] == [main, side]


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("rounds", RoundRow),
        ("bets", BetRow),
        ("decisions", DecisionRow),
        ("cards", CardRow),
        ("interruptions", InterruptionRow),
        ("disputes", DisputeRow),
        ("would_have_paid", WouldHavePaidRow),
        ("offers_apart", OfferRow),
    ],
)
def test_the_fields_of_a_row_are_the_columns_of_its_table(
    ledger: Ledger, table: str, row: type[msgspec.Struct]
) -> None:
    names = [name for _, name, *_ in rows(ledger, f"PRAGMA table_info({table})")]
    assert names == list(row.__struct_fields__)


def test_the_columns_of_luck_are_its_parts_and_counts(ledger: Ledger) -> None:
    found = [name for _, name, *_ in rows(ledger, "PRAGMA table_info(luck)")]
    assert found == [
        "first_leaf",
        "bet",
        "returned_minor",
        "start_minor",
        *PART_COLUMNS,
        "error_minor",
        "underpaid_minor",
        "wrong_hands",
        *COUNT_COLUMNS,
    ]
    assert "luck" in sql.statements("tables")


def test_what_was_returned_is_its_start_luck_skill_and_error(ledger: Ledger) -> None:
    settings = TableSettings(limits={"main": (1, 10_000)}, currency="EUR")
    for game in GAMES:
        rules = current_rules(ledger, game)
        simulate(ledger, rules, settings, {"s1": {"main": 100}}, make_player("random", 3), 20)
    with open_projection(ledger) as projection:
        projection.update()
        ask = projection._tables.execute
        sums = ask(
            """SELECT initial_minor + recorded_paid_minor - staked_minor, start_minor + error_minor
            + list_sum([*COLUMNS('^(luck|skill)_')])
            FROM round_bets WHERE state = 'closed'"""
        ).fetchall()
    assert len(sums) >= 60
    assert all(isclose(returned, parts, abs_tol=1e-6) for returned, parts in sums)


def test_rounds_that_go_on_later_are_taken_apart_all_the_same(ledger: Ledger) -> None:
    settings = TableSettings(limits={"main": (1, 10_000)}, currency="EUR")
    rules, player = current_rules(ledger, "zappit"), make_player("basic", 1)
    with Ledger.in_memory("other.example/bj") as other:
        add_published_games(other)
        simulate(other, rules, settings, {"s1": {"main": 100}}, player, 3)
        events = [leaf for leaf in other.leaves() if leaf.stream.count("-") == 4]
        for leaf in events:
            ledger.append((leaf.stream, read_leaf(leaf).event.data))
            bit_by_bit = rows(ledger, "FROM luck ORDER BY ALL")
    assert len(bit_by_bit) == 3
    with open_projection(ledger, rebuild=True) as projection:
        projection.update()
        assert projection._tables.execute("FROM luck ORDER BY ALL").fetchall() == bit_by_bit


def test_a_void_says_what_the_rules_would_have_paid_where_play_was_over(ledger: Ledger) -> None:
    settings = TableSettings(limits={"main": (1, 10_000)}, currency="EUR")
    rules = current_rules(ledger, "zappit")
    with Ledger.in_memory("other.example/bj") as other:
        add_published_games(other)
        simulate(other, rules, settings, {"s1": {"main": 100}}, make_player("basic", 4), 40)
        streams = list(dict.fromkeys(leaf.stream for leaf in other.leaves()))[-40:]
        expected = {}
        for stream in streams:
            events = [each.event.data for each in other.events(stream)]
            bets = [each for each in events if isinstance(each, BetSettled)]
            before = events[: events.index(bets[0])]
            refunds = [Refund(each.hand, each.bet, each.stake_minor) for each in bets]
            void = RoundVoided("malfunction", refunds)
            ledger.append(*((stream, data) for data in [*before, void]))
            expected[stream] = sum(each.paid_minor for each in bets)
    select = "SELECT round, would_have_paid_minor FROM round_bets WHERE state = 'void'"
    assert dict(rows(ledger, select)) == expected
    assert len(set(expected.values())) > 1


def test_a_void_in_the_middle_of_play_does_not_guess(ledger: Ledger) -> None:
    play(ledger, voided())
    assert rows(ledger, "SELECT state, would_have_paid_minor FROM round_bets") == [("void", None)]


def test_a_void_after_the_end_says_what_was_due(ledger: Ledger) -> None:
    settings = TableSettings(limits={"main": (1, 10_000)}, currency="EUR")
    rules = current_rules(ledger, "zappit")
    simulate(ledger, rules, settings, {"s1": {"main": 100}}, make_player("cautious", 4), 30)
    lost = "bet = 'main' AND hands = 1 AND paid_minor < staked_minor ORDER BY first_leaf LIMIT 1"
    select = f"SELECT round, staked_minor, paid_minor FROM round_bets WHERE {lost}"
    ((round_id, staked, paid),) = rows(ledger, select)
    assert not paid
    ledger.append((f"disputes/{round_id}", Refunded(round_id, "s1", "main", staked, None)))
    select = "SELECT round, would_have_paid_minor FROM round_bets WHERE state = 'void'"
    assert rows(ledger, select) == [(round_id, paid)]
