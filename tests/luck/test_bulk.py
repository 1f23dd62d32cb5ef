"""Rounds taken apart in bulk are what they are one by one."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from shoeproof.ledger import Recorded
from shoeproof.ledger.leaf.events import BetSettled
from shoeproof.replay.engine.outcomes import MAIN
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.luck.bulk import RoundParts, decompose_batch
from shoeproof.replay.luck.counts import tallied
from shoeproof.replay.luck.kinds import LUCK, LUCK_KINDS, SKILL, SKILL_KINDS
from shoeproof.replay.luck.one_round import Decomposition
from shoeproof.replay.luck.recorded import decompose_replay
from shoeproof.replay.rounds.catalogue import rules_by_digest
from shoeproof.replay.rounds.replayer import replay_round
from tests.bulk.helpers import columns_of
from tests.bulk.rounds import corrupted, honest_round, renumbered, stakes_for
from tests.replay.helpers import new_ledger
from tests.strategies import randoms

_LEDGER = new_ledger()
_RULES = rules_by_digest(_LEDGER)

Rounds = list[list[Recorded]]


def _one_by_one(events: list[Recorded]) -> Decomposition | None:
    return decompose_replay(replay_round(events, _RULES))


def _rounds(random: Random, count: int) -> Rounds:
    games = [random.choice(sorted(GAMES)) for _ in range(count)]
    return [
        honest_round(_LEDGER, game, stakes_for(game, random), random, lively=random.random() < 0.7)
        for game in games
    ]


def _assert_alike(parts: RoundParts, rounds: Rounds) -> None:
    """Hold every row to the round taken apart by itself, and itself to what was paid."""
    total = parts.start + parts.luck.sum(axis=1) + parts.skill.sum(axis=1) + parts.error
    # A value shown for a hand may have been absurd: then the parts are large, and cancel.
    size = np.abs(parts.luck).sum(axis=1) + np.abs(parts.skill).sum(axis=1) + np.abs(parts.error)
    assert (np.abs(total - parts.returned) <= 1e-9 * (1 + parts.stake + size)).all()
    rows = {
        (int(place), bet): row
        for row, (place, bet) in enumerate(zip(parts.place, parts.bet, strict=True))
    }
    assert len(rows) == len(parts.bet)
    for place, events in enumerate(rounds):
        alone = _one_by_one(events)
        if alone is None or any(
            max(abs(bet.paid_minor), abs(bet.error_minor)) > 2**53 for bet in alone.bets
        ):
            assert place not in parts.place
            continue
        names = {bet.bet for bet in alone.bets}
        assert {bet for number, bet in rows if number == place} == names
        sums = alone.sums()
        for bet in names:
            row = rows[place, bet]
            mine = [each for each in alone.bets if each.bet == bet]
            assert parts.stake[row] == sum(each.initial_stake_minor for each in mine)
            assert parts.returned[row] == sum(each.returned_minor for each in mine)
            assert parts.error[row] == sum(each.error_minor for each in mine)
            counts = tallied(alone.counts) * (bet == MAIN)
            assert np.allclose(parts.counts[row], counts, rtol=0, atol=3)
            assert parts.start[row] == pytest.approx(sum(each.start_minor for each in mine))
            for term, kinds, found in (
                (LUCK, LUCK_KINDS, parts.luck[row]),
                (SKILL, SKILL_KINDS, parts.skill[row]),
            ):
                expected = [sums.get((bet, term, kind), 0.0) for kind in kinds]
                assert found.tolist() == pytest.approx(expected, rel=1e-9, abs=1e-8)


def test_sound_rounds_are_taken_apart_by_the_tables_alone() -> None:
    rounds = _rounds(Random(11), 150)
    parts, unfollowed = decompose_batch(columns_of(rounds), _RULES, lambda place: None)
    assert unfollowed == []
    _assert_alike(parts, rounds)
    assert (np.abs(parts.luck).sum(axis=0) > 0).all()
    assert (np.abs(parts.skill).sum(axis=0) > 0).sum() >= len(SKILL_KINDS) - 1


def test_a_wrong_payment_is_the_error_of_its_bet_and_moves_nothing_else() -> None:
    rounds = _rounds(Random(12), 40)
    planted: Rounds = []
    for events in rounds:
        data = [each.event.data for each in events]
        place = next(n for n, each in enumerate(data) if isinstance(each, BetSettled))
        settled = data[place]
        assert isinstance(settled, BetSettled)
        data[place] = replace(settled, paid_minor=settled.paid_minor + 31)
        planted.append(renumbered(events[0].event.stream, data))
    honest, _ = decompose_batch(columns_of(rounds), _RULES, lambda place: None)
    wrong, unfollowed = decompose_batch(
        columns_of(planted), _RULES, lambda place: _one_by_one(planted[place])
    )
    assert unfollowed == []
    _assert_alike(wrong, planted)
    assert honest.error.sum() == 0
    assert wrong.error.sum() == 31 * len(rounds)
    assert np.allclose(honest.luck.sum(axis=0), wrong.luck.sum(axis=0))


@given(randoms)
@settings(max_examples=10)
def test_broken_rounds_are_left_to_the_replayer(random: Random) -> None:
    rounds = _rounds(random, 6)
    broken = [corrupted(events, random) for events in rounds]
    parts, _ = decompose_batch(columns_of(broken), _RULES, lambda n: _one_by_one(broken[n]))
    _assert_alike(parts, broken)


def test_an_amount_too_large_to_record_is_not_summed() -> None:
    (events,) = _rounds(Random(13), 1)
    data = [each.event.data for each in events]
    place = next(n for n, each in enumerate(data) if isinstance(each, BetSettled))
    settled = data[place]
    assert isinstance(settled, BetSettled)
    data[place] = replace(settled, paid_minor=2**70)
    broken = [renumbered(events[0].event.stream, data)]
    parts, unfollowed = decompose_batch(
        columns_of(broken), _RULES, lambda place: _one_by_one(broken[place])
    )
    assert unfollowed == [0]
    assert not len(parts.place)
