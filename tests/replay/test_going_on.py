"""What an open round may go on from, whatever was found in it; and how long it may stay open."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from shoeproof.ledger import Recorded
from shoeproof.ledger.keys.sealing import seal_seed
from shoeproof.ledger.leaf.clock import format_time
from shoeproof.ledger.leaf.events import (
    AlarmRaised,
    BetSettled,
    CardDealt,
    DealRequested,
    DecisionMade,
    DecisionOffered,
    EventData,
    HoleCardShown,
    InputRefused,
    RoundClosed,
    RoundOpened,
    ShoeCommitted,
    ShoeRevealed,
)
from shoeproof.ledger.leaf.streams import OPERATIONS_STREAM
from shoeproof.replay.audit.one_by_one import audit as scalar_audit
from shoeproof.replay.bulk.audit import audit
from shoeproof.replay.disputes.assess import assess
from shoeproof.replay.disputes.evidence import gather
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.errors import InputRefusedError
from shoeproof.replay.interruptions.waiting import dealer_has_shown
from shoeproof.replay.live.live_round import LiveRound
from shoeproof.replay.live.resume import resume_round
from shoeproof.replay.live.sweep import sweep
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.replay.faults import STAKES, Floor, asked
from tests.replay.helpers import NOON, Played
from tests.replay.lying import (
    TwiceDebited,
    broken_off,
    changing,
    dropped,
    having,
    settled,
    withholding,
)
from tests.replay.lying_table import truthfully

HOUR = timedelta(hours=1)
A_MOMENT = timedelta(microseconds=1)
GAMES = ("nba", "zero", "zappit")


def _codes(floor: Floor) -> list[str]:
    """What every audit of the ledger finds."""
    found = scalar_audit(floor.ledger)
    for partitions in (1, 5):
        assert audit(floor.ledger, partitions=partitions).rounds == found
    return [each.code for each in found.findings]


def _time_passes(floor: Floor) -> None:
    floor.ledger.append((OPERATIONS_STREAM, AlarmRaised(1, None, "time passes")))


def _stand(live: LiveRound) -> None:
    assert isinstance(live.due, Decide)
    live.decide(live.due.hand, "stand")


# A round in which no input is left is finished, whatever was recorded of its end


def _draws(moves: list[Played]) -> bool:
    """The dealer draws to beat a hand that stood."""
    return asked(moves) and moves[-1].after.dealer.count > 3


def _draw_from(place: int) -> Callable[[EventData], bool]:
    return lambda data: (
        isinstance(data, CardDealt) and data.receiver == "dealer" and data.shoe_index >= place
    )


BREAKS: dict[str, Callable[[EventData], bool]] = {
    "before the hole card is shown": lambda data: isinstance(data, HoleCardShown),
    "after the hole card was shown": _draw_from(4),
    "in the middle of the dealer's draws": _draw_from(5),
    "before the settlement": lambda data: isinstance(data, BetSettled),
    "before the reveal": lambda data: isinstance(data, ShoeRevealed),
    "before the close": lambda data: isinstance(data, RoundClosed),
}


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("when", BREAKS)
def test_a_round_that_broke_off_after_the_last_input_is_finished(when: str, game: str) -> None:
    """It comes to what it would have: the table that made it up knows, the ledger does not."""
    floor = Floor(game)
    floor.alter = broken_off(BREAKS[when])
    live = floor.deal(_draws)
    _stand(live)
    assert not floor.said(live, RoundClosed)
    assert [each.did for each in sweep(floor.ledger).swept] == ["finished"]
    assert floor.said(live, BetSettled) == list(live.settled)
    assert len(floor.said(live, ShoeRevealed)) == 1
    assert _codes(floor) == []


def test_a_dealer_s_card_too_many_leaves_a_finished_round_as_it_was() -> None:
    floor = Floor("zappit")
    floor.alter = broken_off(BREAKS["before the settlement"])
    live = floor.deal(asked)
    _stand(live)
    assert live._shoe is not None
    place = live._next_index
    floor.ledger.append((live.round_id, CardDealt(place, "dealer", live._shoe[place])))
    assert [each.did for each in sweep(floor.ledger).swept] == ["finished"]
    assert floor.said(live, BetSettled) == list(live.settled)
    assert _codes(floor) == ["card_order_wrong"]


def test_an_input_is_open_and_the_seed_is_revealed() -> None:
    floor = Floor("nba")
    live = floor.deal(asked)
    floor.ledger.append((live.round_id, ShoeRevealed(live._seed.hex())))
    with pytest.raises(InputRefusedError, match="the dealer's cards have been shown"):
        resume_round(floor.ledger, live.round_id)


def test_a_hole_card_dealt_face_up_was_shown() -> None:
    floor = Floor("nba")
    live = floor.deal(asked)
    events = floor.ledger.events(live.round_id)
    assert not dealer_has_shown(events)
    assert dealer_has_shown([_face_up(each, live) for each in events])


def _face_up(recorded: Recorded, live: LiveRound) -> Recorded:
    data = recorded.event.data
    if not isinstance(data, CardDealt) or isinstance(data.card, str):
        return recorded
    return recorded._replace(event=replace(recorded.event, data=replace(data, card=live._hole)))


# What was found and leaves the state whole does not hinder going on


def _doubles(moves: list[Played]) -> bool:
    offers = [move.before.due for move in moves if isinstance(move.before.due, Decide)]
    return bool(offers) and "double" in offers[0].legal and "cash-out" in offers[0].legal


WRONG_OFFERS = {
    "offer_withheld": (withholding("double"), None),
    "offer_withheld for funds": (withholding("double", double="funds"), MemoryWallet(100_000)),
    "offer_not_allowed": (lambda offer: replace(offer, legal=[*offer.legal, "zap"]), None),
    "cash_out_offer_wrong": (having(cash_out_minor=1), None),
}


@pytest.mark.parametrize("name", WRONG_OFFERS)
def test_a_round_resumes_with_the_right_offer(name: str) -> None:
    change, wallet = WRONG_OFFERS[name]
    floor = Floor("nba")
    floor.alter = changing(DecisionOffered, change)
    live = floor.deal(_doubles, wallet=wallet)
    floor.clock.forward(minutes=19)
    again = resume_round(floor.ledger, live.round_id, wallet=wallet)
    due = again.due
    assert isinstance(due, Decide)
    wrong, right = floor.said(live, DecisionOffered)
    assert wrong.legal != right.legal or wrong.cash_out_minor != right.cash_out_minor
    assert (set(right.legal), right.barred) == (set(due.legal), {})
    assert right.cash_out_minor == due.cash_out_minor
    assert right.deadline == format_time(NOON + timedelta(minutes=39))
    again.decide("s1", "double")
    while isinstance(again.due, Decide):
        _stand(again)
    assert _codes(floor) == [name.split(" ")[0]]
    assert again.is_over


def test_an_offer_that_a_crash_swallowed_is_made_when_the_round_is_resumed() -> None:
    floor = Floor("zappit")
    floor.alter = broken_off(lambda data: isinstance(data, DecisionOffered))
    live = floor.deal(asked)
    assert sweep(floor.ledger).swept == ()
    assert not floor.said(live, DecisionOffered)
    again = resume_round(floor.ledger, live.round_id)
    assert floor.said(live, DecisionOffered)[0].legal == list(again.offered)
    _stand(again)
    assert again.is_over
    assert _codes(floor) == []


def test_a_right_offer_is_not_made_again() -> None:
    floor = Floor("nba")
    live = floor.deal(asked)
    floor.clock.forward(minutes=5)
    resume_round(floor.ledger, live.round_id)
    assert len(floor.said(live, DecisionOffered)) == 1


def test_a_hidden_cash_out_stays_hidden_and_a_true_bar_stays() -> None:
    def hidden(offer: DecisionOffered) -> DecisionOffered:
        legal = [act for act in offer.legal if act != "cash-out"]
        barred = {**offer.barred, "cash-out": "hidden"}
        return replace(offer, legal=legal, barred=barred, cash_out_minor=None)

    floor, wallet = Floor("nba"), MemoryWallet(150)
    floor.alter = changing(DecisionOffered, hidden)
    live = floor.deal(_doubles, wallet=wallet)
    again = resume_round(floor.ledger, live.round_id, wallet=wallet)
    [offer] = floor.said(live, DecisionOffered)
    assert {"double": "funds", "cash-out": "hidden"}.items() <= offer.barred.items()
    assert again.hidden == {"cash-out"}
    assert again.offered == tuple(offer.legal)
    assert _codes(floor) == []


def test_where_the_default_is_due_it_comes_before_a_right_offer() -> None:
    floor = Floor("nba")
    floor.alter = changing(DecisionOffered, withholding("double"))
    live = floor.deal(_doubles)
    floor.clock.forward(minutes=20)
    again = resume_round(floor.ledger, live.round_id)
    assert len(floor.said(live, DecisionOffered)) == 1
    assert [each.did for each in sweep(floor.ledger).swept] == ["stood"]
    assert not again.is_over
    assert _codes(floor) == ["offer_withheld"]


def test_a_wrong_deadline_hinders_nothing() -> None:
    floor = Floor("nba")
    floor.alter = changing(DecisionOffered, having(deadline="2026-01-02T12:19:00.000000Z"))
    live = floor.deal(asked)
    floor.clock.forward(minutes=19, seconds=30)
    _stand(resume_round(floor.ledger, live.round_id))
    assert _codes(floor) == ["deadline_wrong"]


def test_a_wrong_refusal_hinders_nothing() -> None:
    floor = Floor("zero")
    refused = InputRefused("s1 stand", "closed")
    floor.alter = changing(DecisionOffered, lambda offer: (offer, refused))
    live = floor.deal(asked)
    _stand(resume_round(floor.ledger, live.round_id))
    assert _codes(floor) == ["refusal_wrong"]


def test_a_stake_debited_twice_hinders_nothing() -> None:
    floor, wallet = Floor("zero"), TwiceDebited(100_000)
    # A table that writes to its ledger plays nothing on such a stake; other software does.
    floor.alter = lambda: truthfully
    live = floor.deal(asked, wallet=wallet)
    _stand(resume_round(floor.ledger, live.round_id, wallet=wallet))
    assert "debit_mismatch" in _codes(floor)


def test_another_bet_settled_wrongly_hinders_nothing() -> None:
    floor = Floor("nba")
    floor.alter = settled("perfect_pairs", paid_minor=7)
    live = floor.deal(asked, stakes={"s1": {"main": 100, "perfect_pairs": 10}})
    again = resume_round(floor.ledger, live.round_id)
    _stand(again)
    assert _codes(floor) == ["settlement_mismatch"]
    paid = sum(bet.paid_minor for bet in again.settled)
    assert floor.said(live, RoundClosed)[0].total_paid_minor == paid


# What breaks the state does


def _of_another_suit(data: CardDealt) -> CardDealt:
    card = str(data.card)
    return replace(data, card=card[0] + ("c" if card[1] != "c" else "d"))


def _deal_broken(kind: type[EventData], change: Any, only: int | None = None) -> Floor:
    floor = Floor("nba")
    floor.alter = changing(kind, change, only=only)
    floor.deal(asked)
    return floor


def _resume(floor: Floor) -> LiveRound:
    return resume_round(floor.ledger, floor.ledger.rounds()[-1].round)


def test_a_card_that_is_not_the_sealed_seed_s_breaks_the_state() -> None:
    """The ledger alone cannot tell before the seed is revealed; the table can."""
    floor = _deal_broken(CardDealt, _of_another_suit, only=0)
    assert _codes(floor) == []
    with pytest.raises(InputRefusedError, match="cannot go on: card_mismatch"):
        _resume(floor)
    floor.clock.forward(minutes=20)
    [skipped] = sweep(floor.ledger).skipped
    assert "card_mismatch" in skipped.why


def test_a_card_from_another_place_breaks_the_state() -> None:
    floor = _deal_broken(CardDealt, lambda data: replace(data, shoe_index=9), only=2)
    with pytest.raises(InputRefusedError, match="cannot go on: shoe_index_wrong"):
        _resume(floor)


def test_a_decision_against_the_rules_breaks_the_state() -> None:
    floor = Floor("nba")
    live = floor.deal(asked)
    floor.ledger.append((live.round_id, DecisionMade("s1", "zap", "player", None, 0, None)))
    with pytest.raises(InputRefusedError, match="cannot go on: illegal_decision"):
        _resume(floor)


def _both_asked(moves: list[Played]) -> bool:
    """Both seats are asked how to play, so that the round goes on when one has stood."""
    seats = [move.before.due.hand for move in moves if isinstance(move.before.due, Decide)]
    return asked(moves) and len(set(seats)) > 1


def test_a_decision_that_is_not_recorded_breaks_the_state() -> None:
    """What the player chose is then guessed from what followed."""
    floor = Floor("zappit")
    floor.alter = changing(DecisionMade, dropped, only=0)
    live = floor.deal(_both_asked, stakes={"s1": {"main": 100}, "s2": {"main": 100}})
    _stand(live)
    with pytest.raises(InputRefusedError, match="cannot go on: missing_decision"):
        _resume(floor)


def test_without_a_commitment_there_is_no_shoe_to_go_on_from() -> None:
    floor = _deal_broken(ShoeCommitted, dropped)
    with pytest.raises(InputRefusedError, match="the round has 0 commitments, not one"):
        _resume(floor)


def test_a_sealed_seed_that_was_not_committed_to_breaks_the_state() -> None:
    """What it is sealed under is the commitment; what it commits to is another seed."""
    floor = Floor("nba")
    seal = floor.ledger.seal_public_key()

    def other(data: ShoeCommitted) -> ShoeCommitted:
        sealed = seal_seed(b"\1" * 32, seal, bytes.fromhex(data.commitment))
        return replace(data, sealed_seed=sealed)

    floor.alter = changing(ShoeCommitted, other)
    floor.deal(asked)
    with pytest.raises(InputRefusedError, match="sealed seed is not the one committed to"):
        _resume(floor)


def test_two_commitments_are_none() -> None:
    floor = _deal_broken(ShoeCommitted, lambda data: (data, data))
    with pytest.raises(InputRefusedError, match="the round has 2 commitments, not one"):
        _resume(floor)


def test_rules_that_the_ledger_does_not_carry() -> None:
    floor = _deal_broken(RoundOpened, having(rules_digest="00" * 32))
    with pytest.raises(InputRefusedError, match="cannot go on: rules_digest_unknown"):
        _resume(floor)


def test_a_client_seed_that_is_none() -> None:
    floor = _deal_broken(DealRequested, having(client_seed="no seed"))
    with pytest.raises(InputRefusedError, match="cannot go on: client_seed_invalid"):
        _resume(floor)


# Open past all reason


@pytest.mark.parametrize("game", ["zero", "zappit"])
@pytest.mark.parametrize(("after", "overdue"), [(HOUR, False), (HOUR + A_MOMENT, True)])
def test_a_round_with_no_input_left_is_to_be_settled_within_an_hour(
    after: timedelta, overdue: bool, game: str
) -> None:
    floor = Floor(game)
    floor.alter = broken_off(BREAKS["before the settlement"])
    live = floor.deal(asked)
    _stand(live)
    floor.clock.moment = NOON + after
    _time_passes(floor)
    assert _codes(floor) == ["settlement_overdue"] * overdue
    found = assess(gather(floor.ledger, live.round_id)).findings
    assert [each.code for each in found] == ["settlement_overdue"] * overdue
    sweep(floor.ledger)
    assert _codes(floor) == []


def test_a_year_after_the_dealer_was_beaten() -> None:
    floor = Floor("zero")
    floor.alter = broken_off(BREAKS["before the settlement"])
    live = floor.deal(lambda moves: asked(moves) and moves[-1].after.dealer.total > 21)
    _stand(live)
    floor.clock.forward(days=365)
    _time_passes(floor)
    [finding] = scalar_audit(floor.ledger).findings
    assert finding.text == (
        "no input was left in the round at 2026-01-02T12:00:00.000000Z, and it is still not"
        " settled at 2027-01-02T12:00:00.000000Z"
    )


@pytest.mark.parametrize("game", ["zero", "zappit"])
@pytest.mark.parametrize("laid_only", [False, True])
@pytest.mark.parametrize(
    ("after", "overdue"),
    [
        (timedelta(days=40), False),
        (timedelta(days=90), False),
        (timedelta(days=90, microseconds=1), True),
    ],
)
def test_without_a_timer_ninety_days_is_the_longest_wait(
    after: timedelta, overdue: bool, laid_only: bool, game: str
) -> None:
    floor = Floor(game)
    if laid_only:
        floor.table().open_round("p-1").place(STAKES)
    else:
        floor.deal(asked)
    floor.clock.moment = NOON + after
    _time_passes(floor)
    assert _codes(floor) == ["settlement_overdue"] * overdue


def test_where_the_default_is_overdue_nothing_else_is() -> None:
    floor = Floor("nba")
    floor.deal(asked)
    floor.clock.forward(days=365)
    _time_passes(floor)
    assert _codes(floor) == ["default_overdue"]


def test_a_round_in_which_nothing_was_laid_may_stay_open() -> None:
    floor = Floor("zappit")
    floor.table().open_round("p-1")
    floor.clock.forward(days=365)
    _time_passes(floor)
    assert _codes(floor) == []
