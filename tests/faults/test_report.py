"""The blast radius of a fault is what the rigging says it did, counted without the report."""

from collections.abc import Callable
from datetime import timedelta
from fractions import Fraction
from functools import cache, partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from shoeproof.audit_reports.errors import LeafRefused, ReportError
from shoeproof.audit_reports.fault_report.from_ledger import FaultRequest, fault_report
from shoeproof.audit_reports.fault_report.model import FaultReport, ReturnRow
from shoeproof.audit_reports.fault_report.scan import Period
from shoeproof.audit_reports.rtp_report.figures import Scope, cells
from shoeproof.audit_reports.tables.views import open_tables
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import (
    BetResettled,
    DisputeDecided,
    DisputeOpened,
    Funds,
    Refund,
    RoundVoided,
)
from shoeproof.replay.cases.case import dispute_stream, read_cases
from shoeproof.replay.disputes.assess import assess
from shoeproof.replay.disputes.decide import Plan, plan_goodwill, plan_payment
from shoeproof.replay.disputes.evidence import gather
from shoeproof.replay.disputes.record import carry_out, open_case
from shoeproof.replay.rounds.catalogue import add_published_games
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.drawn import shared
from tests.faults.floor import (
    NOON,
    Booked,
    Floor,
    both_ways,
    new_floor,
    short_on_splits,
    six_to_five,
    variant,
)
from tests.ledger.helpers import alter
from tests.replay.lying import ShortCredited


class Tenfold(MemoryWallet):
    """Pays out ten times what it should."""

    def credit(self, player: str, amount_minor: int, reference: str) -> Funds:
        return super().credit(player, 10 * amount_minor, reference)


Chosen = Callable[[Booked], bool]


@cache
@shared("rigged")
def rigged() -> Floor:
    """One build pays 6:5, one digest and one table pay both ways, splits are short; others not."""
    floor = new_floor()
    floor.play(60)
    floor.play(120, rig=six_to_five, build="1.4.2", table="t-2", least_short=3)
    floor.play(25, rig=both_ways, game=variant(floor), table="t-3")
    floor.play(25, rig=both_ways, table="t-9", build="1.4.0", currency="GBP")
    floor.play(60, rig=short_on_splits, build="1.4.3", table="t-4", least_short=2)
    floor.play(60, build="1.4.4")
    return floor


@cache
def report_on(fault: str) -> FaultReport:
    return fault_report(rigged().ledger, FaultRequest(fault))


def six_decks() -> str:
    return next(each.digest for each in rigged().booked if each.table == "t-3")


def of_build(booked: Booked) -> bool:
    return booked.build == "1.4.2"


def of_rules(booked: Booked) -> bool:
    return booked.digest == six_decks()


def of_table(booked: Booked) -> bool:
    return booked.table == "t-9"


def of_finding(booked: Booked) -> bool:
    """A finding is of rounds, whichever of their bets was wrong."""
    return booked.round in {each.round for each in rigged().wrong()}


FAULTS: dict[str, Chosen] = {
    "1.4.2": of_build,
    "RULES": of_rules,
    "t-9": of_table,
    "settlement_mismatch": of_finding,
}


@pytest.mark.parametrize(("name", "touches"), FAULTS.items(), ids=FAULTS)
def test_the_sums_are_those_of_the_rigging(name: str, touches: Chosen) -> None:
    report = report_on(six_decks()[:10] if name == "RULES" else name)
    mine = rigged().where(touches)
    wrong = [each for each in mine if each.short_minor or each.over_minor]
    assert report.rounds == len({each.round for each in mine})
    assert report.players == len({each.player for each in mine})
    assert report.wrong_rounds == len({each.round for each in wrong}) > 0
    first, last = min(each.at for each in mine), max(each.at for each in mine)
    assert report.first_at == first.strftime("%Y-%m-%dT%H:%M:%S.%f")
    assert report.last_at == last.strftime("%Y-%m-%dT%H:%M:%S.%f")
    for row in report.money:
        of_currency = [each for each in mine if each.currency == row.currency]
        assert row.underpaid_minor == sum(each.short_minor for each in of_currency)
        assert row.overpaid_minor == sum(each.over_minor for each in of_currency)
        assert row.staked_minor == sum(each.staked_minor for each in of_currency)
        assert row.paid_minor == sum(each.paid_minor for each in of_currency)
        assert row.owed_minor == row.underpaid_minor
    assert {row.currency for row in report.money} == {each.currency for each in mine}


@pytest.mark.parametrize("name", ["t-9", "table:t-3"])
def test_what_was_paid_too_much_is_never_set_off(name: str) -> None:
    (row,) = report_on(name).money
    assert row.underpaid_minor > 0
    assert row.overpaid_minor > 0


def rate(rows: list[Booked], paid: Callable[[Booked], int]) -> float | None:
    initial = sum(each.initial_minor for each in rows)
    won = sum(paid(each) - each.staked_minor for each in rows)
    return float(1 + Fraction(won, initial)) if initial else None


@pytest.mark.parametrize(("name", "touches"), FAULTS.items(), ids=FAULTS)
def test_the_returns_are_those_of_the_rigging(name: str, touches: Chosen) -> None:
    report = report_on(six_decks()[:10] if name == "RULES" else name)
    seen = set()
    for row in report.returns:
        rows = [each for each in rigged().booked if belongs(each, row)]
        mine = [each for each in rows if touches(each)]
        others = [each for each in rows if not touches(each)]
        assert row.rounds == len({each.round for each in rows})
        assert row.touched_rounds == len({each.round for each in mine})
        assert row.rtp == rate(rows, lambda each: each.paid_minor)
        assert row.rtp_touched == rate(mine, lambda each: each.paid_minor)
        assert row.rtp_without == rate(others, lambda each: each.paid_minor)
        expected = [each._replace(paid_minor=each.right_minor) for each in mine] + others
        assert row.rtp_right == rate(expected, lambda each: each.paid_minor)
        seen.add((row.by, row.name))
    assert {by for by, _ in seen} == {"all", "build", "table"}


def belongs(each: Booked, row: ReturnRow) -> bool:
    key = (each.digest, each.currency, each.bet)
    names = {"all": None, "build": each.build, "table": each.table}
    return key == (row.rules_digest, row.currency, row.bet) and names[row.by] == row.name


def test_the_return_of_all_rounds_is_that_of_the_tables() -> None:
    with open_tables(rigged().ledger) as tables:
        known = {
            (cell.key.rules_digest, cell.key.currency, cell.key.bet): cell.sums
            for cell in cells(tables, Scope())
        }
    for row in report_on("settlement_mismatch").returns:
        if row.by == "all":
            sums = known[row.rules_digest, row.currency, row.bet]
            assert row.rtp == pytest.approx(float(sums.rtp_on_initial_stakes or 0), abs=1e-12)
            assert row.rounds == sums.rounds


def test_each_player_is_owed_what_was_kept_from_that_player() -> None:
    report = report_on("1.4.2")
    for row in report.players_owed:
        mine = [each for each in rigged().where(of_build) if each.player == row.player]
        assert row.owed_minor == sum(each.short_minor for each in mine)
    assert sum(each.owed_minor for each in report.players_owed) == report.money[0].owed_minor


def test_rounds_left_to_the_audit_come_to_nothing_by_the_judge() -> None:
    """An audit clears them without an assessment: assess every one all the same."""
    report, ledger = report_on("1.4.2"), rigged().ledger
    judged = {each.round for each in report.judged}
    cleared = {each.round for each in rigged().where(of_build)} - judged
    assert len(cleared) > 100
    for round_id in cleared:
        found = assess(gather(ledger, round_id))
        assert (found.findings, found.governing.moves_minor) == ((), 0)


# One finding at its place


def test_a_finding_at_its_place_touches_rounds_of_its_rules_and_its_build_or_table() -> None:
    floor = rigged()
    wrong = floor.wrong()
    one = next(each for each in wrong if each.table == "t-3")
    report = report_on(f"settlement_mismatch@{one.round}")
    alike = {
        each.round
        for each in wrong
        if each.digest == one.digest and (each.table == one.table or each.build == one.build)
    }
    assert {each.round for each in report.judged} == alike
    leaf = next(
        each.leaf_index
        for each in floor.ledger.store.stream(one.round)
        if each.topic == "BetSettled"
    )
    by_leaf = report_on(f"settlement_mismatch@{leaf}")
    assert by_leaf.judged == report.judged
    assert by_leaf.fault == report.fault


# Spans, sizes


def test_a_span_holds_rounds_opened_from_its_begin_to_before_its_end() -> None:
    floor = rigged()
    begin, end = NOON + timedelta(minutes=100), NOON + timedelta(minutes=150)
    report = fault_report(floor.ledger, FaultRequest("1.4.2", Period(begin, end)))
    mine = floor.where(lambda each: of_build(each) and begin <= each.at < end)
    assert report.rounds == len({each.round for each in mine}) == 50
    assert sum(row.owed_minor for row in report.money) == sum(each.short_minor for each in mine)
    assert report.all_rounds == 50
    assert "--from 2026-03-01T13:40:00.000000Z --to" in report.basis.command


def grown() -> tuple[Floor, FaultReport, int]:
    floor = new_floor()
    floor.play(40, rig=both_ways, build="1.4.2")
    size = floor.ledger.size()
    return floor, fault_report(floor.ledger, FaultRequest("build:1.4.2")), size


def test_the_figures_are_those_of_the_tree_asked_for_however_the_ledger_went_on() -> None:
    floor, before, size = grown()
    floor.play(20, rig=both_ways, build="1.4.2")
    pay_one(floor, next(each.round for each in before.judged if each.owed_minor))
    assert fault_report(floor.ledger, FaultRequest("build:1.4.2", size=size)) == before
    after = fault_report(floor.ledger, FaultRequest("build:1.4.2"))
    assert after.basis.root != before.basis.root
    assert after.rounds == 60


def pay_one(floor: Floor, round_id: str, planner: Callable[..., Plan] = plan_payment) -> int:
    open_case(floor.ledger, round_id, "settlement")
    evidence = gather(floor.ledger, round_id)
    cases = read_cases(floor.ledger, round_id)
    plan = planner(evidence, assess(evidence, "settlement"), cases, key="staff")
    carry_out(floor.ledger, evidence, plan, floor.ledger.signer("staff"))
    return plan.decided.amount_minor


def test_what_a_case_paid_is_put_right_and_owed_no_more() -> None:
    floor, before, _ = grown()
    paid = pay_one(floor, next(each.round for each in before.judged if each.owed_minor))
    after = fault_report(floor.ledger, FaultRequest("build:1.4.2"))
    (was,), (now,) = before.money, after.money
    assert paid > 0
    assert (now.put_right_minor, now.owed_minor) == (paid, was.owed_minor - paid)
    expected = replace(was, put_right_minor=paid, owed_minor=was.owed_minor - paid)
    assert now == expected
    assert after.returns == before.returns


def test_rounds_that_are_open_or_for_fun_stand_in_no_sum() -> None:
    floor, before, _ = grown()
    floor.play(10, rig=both_ways, build="1.4.2", mode="fun")
    floor.play(5, build="1.4.2", is_left_open=True)
    after = fault_report(floor.ledger, FaultRequest("build:1.4.2"))
    assert (after.rounds, after.fun_rounds) == (55, 10)
    assert 0 < after.open_rounds <= 5
    assert after.money[0].owed_minor == before.money[0].owed_minor
    assert sum(row.rounds for row in after.returns if row.by == "all") == 45 - after.open_rounds
    assert not any(each.is_wrong for each in after.judged if each.state == "open")


def test_a_ledger_that_does_not_verify_is_not_counted(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    with Ledger.init(path, "faults.example/altered") as ledger:
        add_published_games(ledger)
        new_floor(ledger).play(10, rig=both_ways, build="1.4.2")
        leaves = [leaf for leaf in ledger.leaves() if leaf.topic == "BetSettled"]
    place = leaves[5].leaf_index
    alter(path, place, b'"paid_minor":', b'"paid_minor":9')
    with Ledger.open(path) as ledger:
        with pytest.raises(LeafRefused, match=f"leaf {place} "):
            fault_report(ledger, FaultRequest("build:1.4.2"))
        before = fault_report(ledger, FaultRequest("build:1.4.2", size=place))
    assert before.basis.size == place


# Faults of other kinds


def test_a_wallet_that_pays_short_is_owed_though_the_rounds_booked_it_rightly() -> None:
    floor = new_floor()
    floor.play(20)
    floor.play(20, table="t-2", wallet=ShortCredited(10**6))
    report = fault_report(floor.ledger, FaultRequest("t-2"))
    credits = [each for each in floor.booked if each.table == "t-2" and each.paid_minor]
    (row,) = report.money
    assert (row.underpaid_minor, row.overpaid_minor) == (len(credits), 0)
    assert all(each.rtp == each.rtp_right for each in report.returns)


def test_a_wallet_that_pays_tenfold_is_too_much_and_never_set_off() -> None:
    floor = new_floor()
    floor.play(12, table="t-2", wallet=Tenfold(10**6))
    floor.play(12, table="t-2", rig=both_ways)
    report = fault_report(floor.ledger, FaultRequest("t-2"))
    by_wallet = sum(
        9 * each.paid_minor for each in floor.booked if each.at <= NOON + timedelta(minutes=12)
    )
    others = sum(each.over_minor for each in floor.booked if each.at > NOON + timedelta(minutes=12))
    (row,) = report.money
    assert row.overpaid_minor == by_wallet + others
    assert row.underpaid_minor == sum(each.short_minor for each in floor.booked)


def test_a_round_voided_without_a_reason_waits_for_an_adjudicator_or_is_owed() -> None:
    floor = new_floor()
    floor.play(5, table="t-2", is_left_open=True)
    with_void = [row.round for row in floor.ledger.rounds(state="open")]
    for round_id in with_void:
        refunds = [Refund("s1", "main", 1_000)]
        floor.ledger.append((round_id, RoundVoided("the player was winning", refunds)))
    report = fault_report(floor.ledger, FaultRequest("t-2"))
    assert report.void_rounds == len(with_void) > 0
    assert {each.round for each in report.wrong} == set(with_void)
    assert {code for each in report.wrong for code in each.findings} >= {"void_unfounded"}
    judged = {each.round: assess(gather(floor.ledger, each.round)) for each in report.wrong}
    waits = [each for each in judged.values() if each.governing.name == "refer"]
    assert report.waiting_rounds == len(waits)
    others = [each for each in judged.values() if each.governing.name != "refer"]
    moves = sum(each.governing.moves_minor for each in others)
    assert sum(row.owed_minor for row in report.money) == moves
    assert report.is_due


def test_rounds_of_one_seed_are_found_wherever_they_stand() -> None:
    """Only once every leaf is read is it known that a seed came again."""
    floor = new_floor()
    seed = bytes(range(32))
    floor.play(1, seeds=lambda: seed, table="t-2")
    floor.play(30)
    floor.play(2, seeds=lambda: seed, table="t-3")
    report = fault_report(floor.ledger, FaultRequest("seed_repeated"))
    again = {each.round for each in floor.booked if each.table == "t-3"}
    assert {each.round for each in report.judged} == again
    stakes = sum(
        each.staked_minor - each.paid_minor
        for each in floor.booked
        if each.table == "t-3" and each.paid_minor < each.staked_minor
    )
    assert sum(row.owed_minor for row in report.money) == stakes
    by_table = fault_report(floor.ledger, FaultRequest("t-3"))
    assert by_table.money == report.money


def paid_for_nothing(floor: Floor, booked: Booked, minor: int) -> None:
    """Write a case as other software may, which pays an amount that nothing is the reason for."""
    round_id, paid, stream = booked.round, booked.paid_minor, dispute_stream(booked.round)
    opened = DisputeOpened(round_id, "settlement", None, [], None)
    clause = ("because", "upheld", "resettle")
    decided = DisputeDecided(round_id, [], *clause, None, minor, 1, 1)
    moved = BetResettled(
        round_id, "s1", "s1", "main", booked.staked_minor, paid, paid + minor, "win", None
    )
    floor.ledger.append((stream, opened))
    floor.ledger.append((stream, decided), (stream, moved))


def test_goodwill_puts_nothing_right() -> None:
    floor, before, _ = grown()
    round_id = next(each.round for each in before.judged if each.owed_minor)
    plan = partial(plan_goodwill, amount_minor=700, note="we are sorry")
    assert pay_one(floor, round_id, plan) == 700
    assert fault_report(floor.ledger, FaultRequest("build:1.4.2")).money == before.money


def test_what_a_decision_paid_without_a_reason_is_too_much_and_puts_nothing_right() -> None:
    floor = new_floor()
    floor.play(10)
    lost = next(each for each in floor.booked if not each.paid_minor and each.staked_minor == 1_000)
    paid_for_nothing(floor, lost, 5_000)
    report = fault_report(floor.ledger, FaultRequest("decision_unfounded"))
    assert [each.round for each in report.judged] == [lost.round]
    (row,) = report.money
    sums = row.underpaid_minor, row.put_right_minor, row.overpaid_minor, row.owed_minor
    assert sums == (0, 0, 5_000, 0)
    assert all(each.rtp == each.rtp_right for each in report.returns)


# Names


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing-such", "no finding, build, rules or table 'nothing-such'; it has the builds 1"),
        ("build:t-9", "has no build 't-9'; it has the builds 1.4.0, 1.4.1"),
        ("table:", "is not a fault"),
        ("finding:settled_badly", "there is no finding 'settled_badly'"),
        ("settlement_mismatch@0190", "there is no finding settlement_mismatch at '0190'"),
        ("settlement_mismatch@", "is not a fault"),
        ("signature_invalid", "`verify` names them"),
    ],
)
def test_what_names_no_fault_is_said(text: str, message: str) -> None:
    with pytest.raises(ReportError) as caught:
        fault_report(rigged().ledger, FaultRequest(text))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_name_of_two_things_is_refused_until_its_kind_is_said() -> None:
    floor = new_floor()
    floor.play(2, build="t-1", table="t-1")
    floor.play(3, build="t-1", table="t-2")
    with pytest.raises(ReportError, match="say which, build:t-1, table:t-1"):
        fault_report(floor.ledger, FaultRequest("t-1"))
    assert fault_report(floor.ledger, FaultRequest("table:t-1")).rounds == 2
    assert fault_report(floor.ledger, FaultRequest("build:t-1")).rounds == 5


@pytest.mark.parametrize("size", [-1, 10**9])
def test_a_tree_the_ledger_does_not_have_is_refused(size: int) -> None:
    with pytest.raises(ReportError, match="a tree of"):
        fault_report(rigged().ledger, FaultRequest("1.4.2", size=size))


def test_a_build_without_a_fault_is_owed_nothing() -> None:
    report = report_on("1.4.4")
    assert (report.rounds, report.wrong_rounds, report.is_due) == (60, 0, False)
    assert "nothing is wrong in them" in report.headline
