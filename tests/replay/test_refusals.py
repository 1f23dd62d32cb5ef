"""Refused inputs and barred acts are claims of the house, held to the ledger's own words."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from shoeproof.ledger import Finding
from shoeproof.ledger.leaf.events import (
    DecisionOffered,
    InputRefused,
    RefusalReason,
    ServiceStarted,
    ServiceStopped,
)
from shoeproof.replay.audit.one_by_one import audit as scalar_audit
from shoeproof.replay.bulk.audit import audit
from shoeproof.replay.disputes.assess import assess
from shoeproof.replay.disputes.evidence import gather
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.errors import InputRefusedError
from shoeproof.replay.interruptions.judge import replay_in
from shoeproof.replay.live.live_round import LiveRound
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.replay.faults import STAKES, Floor, asked
from tests.replay.helpers import NOON, Played
from tests.replay.lying import changing, having, offering, withholding

TWENTY = timedelta(minutes=20)
A_MOMENT = timedelta(microseconds=1)


@pytest.fixture
def nba() -> Floor:
    return Floor("nba")


def _doubles(moves: list[Played]) -> bool:
    """The first thing that is asked is a decision for which a double is allowed."""
    offers = [move.before.due for move in moves if isinstance(move.before.due, Decide)]
    return bool(offers) and "double" in offers[0].legal


def _both_asked(moves: list[Played]) -> bool:
    """Both seats are asked how to play, and nobody about insurance before."""
    hands = {move.before.due.hand for move in moves if isinstance(move.before.due, Decide)}
    return asked(moves) and hands == {"s1", "s2"}


def _refuse(floor: Floor, live: LiveRound, came: str, reason: RefusalReason) -> None:
    """Record that the table refused an input."""
    live._write([InputRefused(came, reason)], floor.ledger.now())


def _found(floor: Floor, live: LiveRound) -> list[Finding]:
    """What every way of judging the round finds in it, once the player has stood."""
    while isinstance(live.due, Decide):
        live.decide(live.due.hand, "stand" if "stand" in live.offered else "decline")
    found = scalar_audit(floor.ledger)
    for partitions in (1, 5):
        assert audit(floor.ledger, partitions=partitions).rounds == found
    assert list(replay_in(floor.ledger, live.round_id).findings) == list(found.findings)
    assert [
        (each.code, each.seq) for each in assess(gather(floor.ledger, live.round_id)).findings
    ] == [(each.code, each.seq) for each in found.findings]
    return list(found.findings)


# Wrongly refused


@pytest.mark.parametrize("reason", ["late", "illegal", "closed"])
def test_a_double_on_offer_refused_three_milliseconds_after_the_offer(
    reason: RefusalReason, nba: Floor
) -> None:
    live = nba.deal(_doubles)
    nba.clock.forward(milliseconds=3)
    _refuse(nba, live, "s1 double", reason)
    [finding] = _found(nba, live)
    assert finding.code == "refusal_wrong"
    assert finding.text == (
        f"s1 double was refused as {reason} at 2026-01-02T12:00:00.003000Z: s1 had been offered"
        f" {', '.join(nba.said(live, DecisionOffered)[0].legal)} at 2026-01-02T12:00:00.000000Z,"
        " and no default was due before 2026-01-02T12:20:00.000000Z"
    )
    event = nba.ledger.events(live.round_id)[finding.seq or 0].event
    assert event.data == InputRefused("s1 double", reason)


def test_a_stand_refused_as_late_a_microsecond_before_its_time(nba: Floor) -> None:
    live = nba.deal(asked)
    nba.clock.moment = NOON + TWENTY - A_MOMENT
    _refuse(nba, live, "s1 stand", "late")
    assert [each.code for each in _found(nba, live)] == ["refusal_wrong"]


@pytest.mark.parametrize("game", ["zero", "zappit"])
def test_where_there_is_no_timer_nothing_is_late(game: str) -> None:
    floor = Floor(game)
    live = floor.deal(asked)
    floor.clock.forward(days=40)
    _refuse(floor, live, "s1 stand", "late")
    [finding] = _found(floor, live)
    assert finding.code == "refusal_wrong"
    assert finding.text.endswith("and no default was due")


def test_time_that_the_service_stood_still_makes_nobody_late(nba: Floor) -> None:
    live = nba.deal(asked)
    nba.operate(ServiceStopped(3, None, None))
    nba.clock.forward(hours=1)
    nba.operate(ServiceStarted(3, None, None))
    _refuse(nba, live, "s1 stand", "late")
    assert [each.code for each in _found(nba, live)] == ["refusal_wrong"]


@pytest.mark.parametrize("came", ["place stakes", "deal"])
@pytest.mark.parametrize("reason", ["late", "closed"])
def test_chips_and_a_deal_refused_before_any_deal_was_requested(
    came: str, reason: RefusalReason, nba: Floor
) -> None:
    live = nba.table().open_round("p-1")
    live.place(STAKES)
    _refuse(nba, live, came, reason)
    live.deal(STAKES)
    [finding] = _found(nba, live)
    assert finding.code == "refusal_wrong"
    assert "no deal had been requested" in finding.text


def test_before_any_chip_is_laid_no_time_runs_out(nba: Floor) -> None:
    live = nba.table().open_round("p-1")
    nba.clock.forward(hours=1)
    _refuse(nba, live, "deal", "late")
    live.deal(STAKES)
    assert [each.code for each in _found(nba, live)] == ["refusal_wrong"]


# Rightly refused


def test_a_double_click_is_refused_once_the_first_was_taken(nba: Floor) -> None:
    """The second stand comes when the next seat is asked."""
    live = nba.deal(_both_asked, stakes={"s1": {"main": 100}, "s2": {"main": 100}})
    assert isinstance(live.due, Decide)
    first = live.due.hand
    live.decide(first, "stand")
    with pytest.raises(InputRefusedError):
        live.decide(first, "stand")
    assert nba.said(live, InputRefused)[0].input == f"{first} stand"
    assert _found(nba, live) == []


@pytest.mark.parametrize("after", [timedelta(0), A_MOMENT])
def test_an_input_at_20_00_000000_is_late(after: timedelta, nba: Floor) -> None:
    live = nba.deal(asked)
    nba.clock.moment = NOON + TWENTY + after
    with pytest.raises(InputRefusedError):
        live.decide("s1", "stand")
    assert nba.said(live, InputRefused) == [InputRefused("s1 stand", "late")]
    assert _found(nba, live) == []


@pytest.mark.parametrize(
    ("came", "reason"),
    [
        ("s1 zap", "illegal"),
        ("s2 stand", "illegal"),
        ("s1 insurance", "closed"),
        ("s1 zap", "late"),
        ("deal", "closed"),
        ("place stakes", "late"),
        ("acknowledging leaf 3", "illegal"),
        ("something else", "illegal"),
    ],
)
def test_what_was_not_on_offer_is_rightly_refused(
    came: str, reason: RefusalReason, nba: Floor
) -> None:
    live = nba.deal(asked)
    _refuse(nba, live, came, reason)
    assert _found(nba, live) == []


def test_stakes_refused_as_illegal_cannot_be_judged(nba: Floor) -> None:
    live = nba.table().open_round("p-1")
    _refuse(nba, live, "deal", "illegal")
    live.deal(STAKES)
    assert _found(nba, live) == []


@pytest.mark.parametrize("came", ["deal", "place stakes"])
@pytest.mark.parametrize("seen", [False, True])
def test_other_chips_laid_since_the_view_overtake_a_deal(came: str, seen: bool, nba: Floor) -> None:
    live = nba.table().open_round("p-1")
    before = live.seq
    live.place(STAKES)
    view = live.seq if seen else before
    live._write([InputRefused(came, "overtaken", view)], nba.ledger.now())
    live.deal(STAKES)
    assert [each.code for each in _found(nba, live)] == ["refusal_wrong"] * seen


def test_a_deal_after_twenty_idle_minutes_is_late(nba: Floor) -> None:
    live = nba.table().open_round("p-1")
    live.place(STAKES)
    nba.clock.forward(minutes=20)
    with pytest.raises(InputRefusedError):
        live.deal(STAKES)
    assert _found(nba, live) == []


def test_a_hidden_cash_out_is_not_on_offer(nba: Floor) -> None:
    nba.alter = changing(DecisionOffered, withholding("cash-out", **{"cash-out": "hidden"}))
    live = nba.deal(asked)
    _refuse(nba, live, "s1 cash-out", "illegal")
    assert "cash-out" in nba.said(live, DecisionOffered)[0].barred
    assert _found(nba, live) == []


def test_an_act_offered_against_the_rules_is_rightly_refused(nba: Floor) -> None:
    nba.alter = changing(DecisionOffered, offering("zap"))
    live = nba.deal(asked)
    _refuse(nba, live, "s1 zap", "illegal")
    assert {each.code for each in _found(nba, live)} == {"offer_not_allowed"}


def test_while_the_service_stands_still_everything_is_closed(nba: Floor) -> None:
    live = nba.deal(asked)
    nba.operate(ServiceStopped(3, None, None))
    nba.clock.forward(minutes=1)
    _refuse(nba, live, "s1 stand", "closed")
    nba.clock.forward(minutes=1)
    nba.operate(ServiceStarted(3, None, None))
    assert _found(nba, live) == []


# Barred for lack of money


def _without_double(offer: DecisionOffered) -> DecisionOffered:
    legal = [act for act in offer.legal if act != "double"]
    barred = {"double": "funds"} if "double" in offer.legal else {}
    return replace(offer, legal=legal, barred={**offer.barred, **barred})


def _barred(stake_minor: int, balance_minor: int | None, nba: Floor) -> list[Finding]:
    """A double barred though the wallet, if there is one, has so much left after the deal."""
    nba.alter = changing(DecisionOffered, _without_double)
    wallet = None if balance_minor is None else MemoryWallet(stake_minor + balance_minor)
    live = nba.deal(_doubles, stakes={"s1": {"main": stake_minor}}, wallet=wallet)
    return _found(nba, live)


def test_a_double_of_10_00_barred_for_funds_with_990_00_left(nba: Floor) -> None:
    [finding, *_] = _barred(1000, 99_000, nba)
    assert finding.code == "offer_withheld"
    assert finding.text == (
        "double was barred to s1 for lack of money: it costs 10.00 GBP, the wallet had 990.00"
        " GBP left"
    )


@pytest.mark.parametrize(("left", "wrong"), [(100, True), (99, False), (None, False)])
def test_a_bar_for_funds_is_wrong_from_the_last_penny_on_and_believed_without_a_balance(
    left: int | None, wrong: bool, nba: Floor
) -> None:
    assert ("offer_withheld" in [each.code for each in _barred(100, left, nba)]) is wrong


@pytest.mark.parametrize("act", ["hit", "stand"])
def test_funds_bar_no_act_that_costs_nothing(act: str, nba: Floor) -> None:
    nba.alter = changing(DecisionOffered, having(barred={act: "funds"}), only=0)
    live = nba.deal(asked)
    assert _found(nba, live) == []
