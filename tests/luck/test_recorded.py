"""Recorded rounds taken apart: honest ones, wrongly settled ones, and those nobody can follow."""

from collections.abc import Sequence
from random import Random

import pytest
from msgspec.structs import replace

from shoeproof.ledger import Recorded
from shoeproof.ledger.leaf.events import (
    BetSettled,
    DealRequested,
    DecisionMade,
    EventData,
    InputRefused,
)
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.luck.one_round import Decomposition
from shoeproof.replay.luck.recorded import decompose_replay
from shoeproof.replay.rounds.catalogue import rules_by_digest
from shoeproof.replay.rounds.replayer import replay_round
from tests.bulk.rounds import honest_round, renumbered, stakes_for
from tests.luck.helpers import assert_adds_up
from tests.replay.helpers import new_ledger

_LEDGER = new_ledger()
_RULES = rules_by_digest(_LEDGER)


def _rounds(count: int) -> list[list[Recorded]]:
    random = Random(7)
    games = [random.choice(sorted(GAMES)) for _ in range(count)]
    return [honest_round(_LEDGER, game, stakes_for(game, random), random) for game in games]


def _apart(events: Sequence[Recorded]) -> Decomposition | None:
    return decompose_replay(replay_round(events, _RULES))


def _changed(events: Sequence[Recorded], data: list[EventData]) -> Decomposition | None:
    return _apart(renumbered(events[0].event.stream, data))


@pytest.mark.parametrize("events", _rounds(60))
def test_an_honest_round_adds_up_without_error_and_a_wrong_payment_is_its_error(
    events: list[Recorded],
) -> None:
    honest = _apart(events)
    assert honest is not None
    assert_adds_up(honest)
    assert not any(bet.error_minor for bet in honest.bets)
    data = [each.event.data for each in events]
    for place, settled in enumerate(data):
        if isinstance(settled, BetSettled):
            planted = replace(settled, paid_minor=settled.paid_minor + 7)
            wrong = _changed(events, [*data[:place], planted, *data[place + 1 :]])
            assert wrong is not None
            assert_adds_up(wrong)
            assert wrong.parts == honest.parts
            name = settled.seat, settled.bet
            assert {(bet.seat, bet.bet): bet.error_minor for bet in wrong.bets}[name] == 7
            missing = _changed(events, data[:place] + data[place + 1 :])
            assert missing is not None
            assert sum(bet.error_minor for bet in missing.bets) == -settled.paid_minor
            doubled = _changed(events, [*data[: place + 1], *data[place:]])
            assert doubled is not None
            assert sum(bet.error_minor for bet in doubled.bets) == settled.paid_minor


def test_a_payment_for_a_bet_that_nobody_laid_is_an_error_whole() -> None:
    events = next(each for each in _rounds(9))
    data = [each.event.data for each in events]
    place = next(n for n, each in enumerate(data) if isinstance(each, BetSettled))
    gift = replace(data[place], bet="gift", paid_minor=12)
    wrong = _changed(events, [*data[:place], gift, *data[place:]])
    assert wrong is not None
    assert_adds_up(wrong)
    assert [bet.error_minor for bet in wrong.bets if bet.bet == "gift"] == [12]


def test_a_round_with_a_decision_missing_or_without_its_end_is_not_taken_apart() -> None:
    for events in _rounds(9):
        data = [each.event.data for each in events]
        assert _changed(events, data[:-1]) is None
        decided = [n for n, each in enumerate(data) if isinstance(each, DecisionMade)]
        for place in decided:
            assert _changed(events, data[:place] + data[place + 1 :]) is None


def test_refused_inputs_anywhere_after_the_deal_change_nothing() -> None:
    for events in _rounds(5):
        data = [each.event.data for each in events]
        dealt = next(n for n, each in enumerate(data) if isinstance(each, DealRequested))
        refused = InputRefused("s1 hit", "late")
        for place in range(dealt + 1, len(data)):
            told = _changed(events, [*data[:place], refused, *data[place:]])
            assert told == _apart(events)
