"""What the live table does when players and services fail, clause by clause, by one clock."""

from datetime import timedelta

import pytest

from shoeproof.ledger.leaf.clock import format_time
from shoeproof.ledger.leaf.events import (
    ConnectionLost,
    ConnectionRestored,
    DecisionMade,
    DecisionOffered,
    GameDisabled,
    GameEnabled,
    InputRefused,
    RoundVoided,
    ServiceStarted,
    ServiceStopped,
    ShoeRevealed,
    ViewAcknowledged,
)
from shoeproof.ledger.verify.whole import verify
from shoeproof.replay.disputes.assess import assess
from shoeproof.replay.disputes.evidence import gather
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.errors import InputRefusedError
from shoeproof.replay.interruptions.waiting import dealer_has_shown
from shoeproof.replay.live.resume import resume_round
from shoeproof.replay.rounds.catalogue import add_policy
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.replay.faults import (
    STAKES,
    ZERO_DEFAULT,
    Floor,
    asked,
    insured,
    with_zero_default,
)
from tests.replay.helpers import NOON, Played
from tests.replay.live import replayed

TWENTY = timedelta(minutes=20)
A_MOMENT = timedelta(microseconds=1)


@pytest.fixture
def nba() -> Floor:
    return Floor("nba")


# NBA, Disconnection Policy: chips laid without DEAL


def test_nba_chips_laid_without_deal_go_back_after_reconnection(nba: Floor) -> None:
    live = nba.table().open_round("p-1")
    live.place({"s1": {"main": 100, "perfect_pairs": 10}})
    live.lose_connection()
    nba.clock.forward(minutes=3)
    live.restore_connection()
    assert live.is_over
    [voided] = nba.said(live, RoundVoided)
    assert {(each.hand, each.bet): each.amount_minor for each in voided.refunds} == {
        ("s1", "main"): 100,
        ("s1", "perfect_pairs"): 10,
    }
    assert len(nba.said(live, ShoeRevealed)) == 1
    assert not nba.codes()
    assert not verify(nba.ledger, workers=1).findings
    with pytest.raises(InputRefusedError, match="the round is void"):
        live.deal(STAKES)
    nba.table().open_round("p-1")


def test_nba_a_connection_lost_before_any_chip_changes_nothing(nba: Floor) -> None:
    live = nba.table().open_round("p-1")
    live.lose_connection()
    live.restore_connection()
    live.deal(STAKES)
    assert not nba.said(live, RoundVoided)
    assert not nba.codes()


@pytest.mark.parametrize("game", ["zero", "zappit"])
def test_where_the_page_says_nothing_chips_laid_stay_where_they_are(game: str) -> None:
    floor = Floor(game)
    live = floor.table().open_round("p-1")
    live.place(STAKES)
    live.lose_connection()
    floor.clock.forward(days=40)
    live.restore_connection()
    live.deal(STAKES)
    assert not floor.codes()


def test_nba_a_deal_asked_for_after_twenty_idle_minutes_is_refused(nba: Floor) -> None:
    live = nba.table().open_round("p-1")
    live.place(STAKES)
    nba.clock.forward(minutes=20)
    with pytest.raises(InputRefusedError, match="the stakes go back"):
        live.deal(STAKES)
    assert nba.said(live, InputRefused) == [InputRefused("deal", "late")]
    assert nba.said(live, RoundVoided)[0].refunds[0].amount_minor == 100
    assert not nba.codes()


# NBA: after DEAL the round waits, resumes, and stands at 20:00.000


def test_nba_an_offer_names_its_deadline(nba: Floor) -> None:
    live = nba.deal(asked)
    offers = nba.said(live, DecisionOffered)
    assert [offer.deadline for offer in offers] == [format_time(NOON + TWENTY)] * len(offers)
    assert live.default_due() == NOON + TWENTY


@pytest.mark.parametrize("game", ["zero", "zappit"])
def test_without_a_disclosed_default_an_offer_names_none(game: str) -> None:
    floor = Floor(game)
    live = floor.deal(asked)
    assert [offer.deadline for offer in floor.said(live, DecisionOffered)] == [None]
    assert live.default_due() is None


def test_nba_an_input_at_19_59_999999_is_in_time(nba: Floor) -> None:
    live = nba.deal(asked)
    nba.clock.moment = NOON + TWENTY - A_MOMENT
    assert not live.apply_due()
    assert isinstance(live.due, Decide)
    live.decide(live.due.hand, "stand")
    assert nba.acts(live)[-1][2] == "player"
    assert not nba.codes()


@pytest.mark.parametrize("after", [timedelta(0), A_MOMENT, timedelta(days=2)])
def test_nba_at_20_00_000000_the_default_comes_first(nba: Floor, after: timedelta) -> None:
    live = nba.deal(asked, acts=("hit", "decline"))
    assert isinstance(live.due, Decide)
    nba.clock.moment = NOON + TWENTY + after
    with pytest.raises(InputRefusedError, match=r"was due at 2026-01-02T12:20:00\.000000Z"):
        live.decide(live.due.hand, "hit")
    assert live.is_over
    assert nba.said(live, InputRefused) == [InputRefused("s1 hit", "late")]
    made = nba.said(live, DecisionMade)[-1]
    assert (made.act, made.actor) == ("stand", "system")
    assert "20 minutes" in made.reason
    assert not nba.codes()
    assert not replayed(nba.ledger, live).findings


def test_nba_lost_while_deciding_and_back_at_19_59(nba: Floor) -> None:
    live = nba.deal(asked)
    nba.clock.forward(minutes=5)
    live.lose_connection()
    nba.clock.forward(minutes=19, seconds=59)
    live.restore_connection()
    nba.clock.forward(minutes=19, seconds=59)
    assert isinstance(live.due, Decide)
    live.decide(live.due.hand, "stand")
    assert nba.acts(live)[-1][2] == "player"
    assert not nba.codes()


def test_nba_not_back_at_20_00(nba: Floor) -> None:
    live = nba.deal(asked)
    nba.clock.forward(minutes=5)
    live.lose_connection()
    nba.clock.forward(minutes=20)
    live.restore_connection()
    assert live.is_over
    assert nba.acts(live)[-1] == ("s1", "stand", "system")
    assert not nba.said(live, ConnectionRestored)
    assert not nba.codes()


def test_nba_idle_but_connected_counts_as_a_disconnection(nba: Floor) -> None:
    live = nba.deal(asked)
    nba.clock.forward(minutes=20)
    assert live.apply_due()
    assert nba.acts(live) == [("s1", "stand", "system")]
    assert not live.apply_due()
    assert not nba.codes()


def test_an_input_that_was_refused_starts_no_period(nba: Floor) -> None:
    live = nba.deal(asked)
    nba.clock.forward(minutes=19)
    with pytest.raises(InputRefusedError, match="offered"):
        live.decide("s1", "zap")
    live.acknowledge(3)
    nba.clock.forward(minutes=1)
    assert live.apply_due()
    assert nba.said(live, ViewAcknowledged) == [ViewAcknowledged(3)]
    assert not nba.codes()


def test_what_was_shown_is_a_leaf_of_this_round_or_shows_nothing(nba: Floor) -> None:
    live = nba.deal(asked)
    unseen = "no device acknowledged what it showed: what the player saw is not recorded"
    for beyond in (-1, 1_000_000):
        with pytest.raises(InputRefusedError, match="no such leaf"):
            live.acknowledge(beyond)
    assert not nba.said(live, ViewAcknowledged)
    live.acknowledge(3)
    assert unseen in assess(gather(nba.ledger, live.round_id)).lacks
    live.acknowledge(nba.ledger.events(live.round_id)[-1].leaf_index)
    assert unseen not in assess(gather(nba.ledger, live.round_id)).lacks
    assert not nba.codes()


def test_nba_open_insurance_is_declined_and_every_open_hand_stands(nba: Floor) -> None:
    stakes = {"s1": {"main": 100}, "s2": {"main": 100}, "s4": {"main": 100}}
    live = nba.deal(insured, stakes=stakes)
    assert isinstance(live.due, Decide)
    nba.clock.forward(minutes=20)
    assert live.apply_due()
    made = nba.acts(live)
    assert {each[2] for each in made} == {"system"}
    assert [each[:2] for each in made[:3]] == [(seat, "decline") for seat in ("s1", "s2", "s4")]
    assert {each[1] for each in made[3:]} == {"stand"}
    deadlines = {offer.deadline for offer in nba.said(live, DecisionOffered)}
    assert deadlines == {format_time(NOON + TWENTY)}
    assert not nba.codes()


def test_nba_two_of_three_seats_decided(nba: Floor) -> None:
    def all_asked(moves: list[Played]) -> bool:
        due = [each for each in (move.before.due for move in moves) if isinstance(each, Decide)]
        to_play = all("stand" in each.legal for each in due)
        return to_play and [each.hand for each in due] == ["s1", "s2", "s3"]

    live = nba.deal(all_asked, stakes={f"s{seat}": {"main": 100} for seat in (1, 2, 3)})
    for seat in ("s1", "s2"):
        nba.clock.forward(minutes=19)
        live.decide(seat, "stand")
    live.lose_connection()
    nba.clock.forward(minutes=20)
    assert live.apply_due()
    assert [each[2] for each in nba.acts(live)] == ["player", "player", "system"]
    assert not nba.codes()


def test_nba_in_the_middle_of_a_split(nba: Floor) -> None:
    def splits(moves: list[Played]) -> bool:
        asked_of = [m.before.due.hand for m in moves if isinstance(m.before.due, Decide)]
        return asked_of == ["s1", "s1.1", "s1.2"]

    live = nba.deal(splits, acts=("split", "stand", "decline"))
    live.decide("s1", "split")
    nba.clock.forward(minutes=20)
    assert live.apply_due()
    assert [each[:2] for each in nba.acts(live)[1:]] == [("s1.1", "stand"), ("s1.2", "stand")]
    assert not nba.codes()


def test_after_a_double_no_input_is_left_and_the_turn_is_whole(nba: Floor) -> None:
    def doubles(moves: list[Played]) -> bool:
        return [m.symbol for m in moves if isinstance(m.before.due, Decide)] == ["double"]

    live = nba.deal(doubles, acts=("double", "decline"))
    live.decide("s1", "double")
    assert live.is_over
    with pytest.raises(InputRefusedError, match="has ended"):
        live.lose_connection()


# The service


def test_an_outage_never_counts_against_the_player_and_a_restart_grants_a_full_period(
    nba: Floor,
) -> None:
    live = nba.deal(asked)
    nba.clock.forward(minutes=10)
    nba.operate(ServiceStopped(3, None, "maintenance"))
    nba.clock.forward(hours=1)
    assert not live.apply_due()
    assert not nba.codes()
    nba.operate(ServiceStarted(3, None, None))
    restart = nba.clock.moment
    nba.clock.moment = restart + TWENTY - A_MOMENT
    assert live.default_due() == restart + TWENTY
    assert not live.apply_due()
    assert not nba.codes()
    nba.clock.forward(microseconds=1)
    assert live.apply_due()
    assert not nba.codes()


def test_a_breakdown_that_nobody_recorded_grants_the_period_too(nba: Floor) -> None:
    live = nba.deal(asked)
    nba.clock.forward(hours=3)
    nba.operate(ServiceStarted(3, None, "after a power cut"))
    assert live.default_due() == nba.clock.moment + TWENTY
    assert isinstance(live.due, Decide)
    live.decide(live.due.hand, "stand")
    assert nba.acts(live)[-1][2] == "player"
    assert not nba.codes()


def test_an_outage_after_the_deadline_gives_no_time_back(nba: Floor) -> None:
    live = nba.deal(asked)
    nba.clock.forward(minutes=21)
    nba.operate(ServiceStopped(3, None, None))
    nba.clock.forward(minutes=1)
    nba.operate(ServiceStarted(3, None, None))
    assert live.default_due() == NOON + TWENTY


@pytest.mark.parametrize(("scope", "concerned"), [("nba", True), ("t-1", True), ("zero", False)])
def test_an_outage_concerns_its_game_or_table(scope: str, concerned: bool, nba: Floor) -> None:
    live = nba.deal(asked)
    nba.operate(ServiceStopped(3, scope, None))
    nba.clock.forward(minutes=20)
    assert live.apply_due() is not concerned


def test_a_game_out_of_service_opens_no_round_and_plays_open_ones_on(nba: Floor) -> None:
    live = nba.deal(asked)
    nba.operate(GameDisabled(6, "nba", "wrong pay table"))
    with pytest.raises(InputRefusedError, match="nba is out of service \\(wrong pay table\\)"):
        nba.table().open_round("p-9")
    assert isinstance(live.due, Decide)
    live.decide(live.due.hand, "stand")
    nba.operate(GameEnabled(6, "nba", None))
    nba.table().open_round("p-9")
    nba.operate(ServiceStopped(3, None, None))
    with pytest.raises(InputRefusedError, match="the service is out of service"):
        nba.table().open_round("p-10")


# Zero and Zappit


def test_zero_restores_and_waits_without_a_disclosed_default() -> None:
    floor = Floor("zero")
    live = floor.deal(asked)
    live.lose_connection()
    floor.clock.forward(days=40)
    again = resume_round(floor.ledger, live.round_id)
    assert not again.apply_due()
    again.restore_connection()
    assert again.state == live.state
    assert isinstance(again.due, Decide)
    again.decide(again.due.hand, "stand")
    assert not floor.codes()


def test_zero_no_input_open_is_finished_and_credited() -> None:
    """The whole turn is one transaction: whoever is away finds the result in the history."""
    floor, wallet = Floor("zero"), MemoryWallet(1_000)

    def wins(moves: list[Played]) -> bool:
        return moves[-1].after.dealer.total > 21

    live = floor.deal(wins, wallet=wallet)
    while isinstance(live.due, Decide):
        live.decide(live.due.hand, "stand" if "stand" in live.offered else "decline")
    assert live.is_over
    assert wallet.balance_minor(live.player) >= 1_000


def test_zero_a_disclosed_default_of_the_operator_runs_from_the_loss_alone() -> None:
    floor = with_zero_default()
    live = floor.deal(asked)
    assert floor.said(live, DecisionOffered)[-1].deadline is None
    floor.clock.forward(hours=5)
    assert not live.apply_due()
    live.lose_connection()
    floor.clock.forward(minutes=10, microseconds=-1)
    assert not live.apply_due()
    assert not floor.codes()
    floor.clock.forward(microseconds=1)
    assert floor.codes() == []  # no leaf is as late as that yet
    assert live.apply_due()
    assert floor.acts(live) == [("s1", "stand", "system")]
    assert not floor.codes()


def test_a_round_keeps_the_policy_it_was_opened_under() -> None:
    floor = Floor("zero")
    live = floor.deal(asked)
    add_policy(floor.ledger, ZERO_DEFAULT)
    live.lose_connection()
    floor.clock.forward(hours=5)
    again = resume_round(floor.ledger, live.round_id)
    assert not again.apply_due()
    assert not floor.codes()


def test_zappit_is_restored_after_forty_days_to_the_state_before() -> None:
    floor = Floor("zappit")
    live = floor.deal(asked)
    live.lose_connection(5, "the app closed")
    floor.clock.forward(days=40)
    again = resume_round(floor.ledger, live.round_id)
    again.restore_connection()
    assert (again.state, again.offered) == (live.state, live.offered)
    assert floor.said(live, ConnectionLost) == [ConnectionLost(5, None, "the app closed")]
    assert not floor.codes()


# Not resumed once the dealer has shown more


def test_turns_are_whole_so_no_live_round_rests_after_the_hole_card_was_shown(nba: Floor) -> None:
    live = nba.deal(asked)
    assert not dealer_has_shown(nba.ledger.events(live.round_id))
    assert isinstance(live.due, Decide)
    live.decide(live.due.hand, "stand")
    assert live.is_over
