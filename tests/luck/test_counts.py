"""Counted events: exact chances by hand, both ways of counting alike, and nil in the mean."""

import numpy as np
import pytest

from shoeproof.replay.engine.round import NO_NATURAL, open_round
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.luck.batch import BatchParts, decompose_moves
from shoeproof.replay.luck.counts import (
    BILLION,
    COUNT_KINDS,
    COUNT_SUMS,
    DEALER_BUST,
    DEALER_LATE_BUST,
    DEALER_NATURAL,
    DOUBLE_MADE,
    PLAYER_NATURAL,
    tallied,
)
from shoeproof.replay.luck.one_round import decompose
from shoeproof.replay.luck.values import values_of
from tests.luck.simulator import HONEST, Crooked, players, simulate
from tests.luck.test_batch import _by_the_engine

NBA = GAMES["nba"].rules


def _counted(
    game: str, player: str, rounds: int, crooked: Crooked = HONEST, seats: int = 1
) -> BatchParts:
    rules = GAMES[game].rules
    random = np.random.default_rng(8)
    played = simulate(rules, players(rules)[player], rounds, random, seats=seats, crooked=crooked)
    return decompose_moves(values_of(rules), played.moves, played.stakes)


def _z(parts: BatchParts, kind: str) -> float:
    _, came, expected, variance = parts.counts[:, COUNT_KINDS.index(kind)].sum(axis=0).tolist()
    return float((came - expected / BILLION) / (variance / BILLION) ** 0.5)


def test_the_chances_of_one_round_are_those_of_the_cards_left() -> None:
    """Six and five against a ten of eight decks: a nine to the double, and to the dealer's 15.

    Nobody looks below a ten in this game, so its natural is open until the hole card is shown.
    Unseen are 413 cards before the double, and one less with each card from then on.
    """
    moves = ["6c", "Tc", "5d", "??", "double", "9c", "5h", "9d"]
    found = decompose(open_round(NBA, {"s1": {"main": 100}}), [(each, None) for each in moves])
    assert [each.kind for each in found.counts] == [
        PLAYER_NATURAL, DOUBLE_MADE, DEALER_NATURAL, DEALER_BUST,
    ]  # fmt: skip
    natural, made, shown, bust = (each.chance for each in found.counts)
    assert natural == pytest.approx(2 * 32 * 128 / (416 * 415))
    # 31 sixes, 32 sevens, eights and nines each, 127 tens.
    assert made == pytest.approx((31 + 32 + 32 + 32 + 127) / 413)
    assert shown == pytest.approx(32 / 412)
    # 32 sevens and eights each, 31 nines, 127 tens.
    assert bust == pytest.approx((32 + 32 + 31 + 127) / 411)
    assert [each.came for each in found.counts] == [False, True, False, True]


def test_a_look_that_finds_none_tells_of_the_cards_to_come() -> None:
    """Against an ace of eight decks the hole card is known to be no ten, so more tens come.

    One of the 285 other cards lies there: a ten comes with 128/412, an eight with
    32/412 · 284/285.
    """
    moves = ["6c", "Ac", "5d", "??", "decline", NO_NATURAL, "double", "9c", "5h", "Td", "Ts"]
    found = decompose(open_round(NBA, {"s1": {"main": 100}}), [(each, None) for each in moves])
    assert [each.kind for each in found.counts[-2:]] == [DOUBLE_MADE, DEALER_LATE_BUST]
    look, made = (each.chance for each in found.counts[1:3])
    assert look == pytest.approx(128 / 413)
    others = (31 + 3 * 32) / 412 * 284 / 285
    assert made == pytest.approx(128 / 412 + others)


def test_a_second_seat_is_dealt_from_what_the_first_one_left() -> None:
    first = open_round(NBA, {"s1": {"main": 100}, "s2": {"main": 100}})
    cards = ["Ac", "Ad", "6c", "Tc", "Td", "??", "6d", "Ts"]
    found = decompose(first, [(each, None) for each in cards])
    naturals = [each for each in found.counts if each.kind == PLAYER_NATURAL]
    assert [each.came for each in naturals] == [True, True]
    assert naturals[1].chance == pytest.approx(2 * 31 * 127 / (414 * 413))


@pytest.mark.parametrize("name", ["basic", "random", "greedy"])
@pytest.mark.parametrize("game", sorted(GAMES))
@pytest.mark.parametrize(("seats", "cards"), [(1, "A23456789TJQK"), (3, "A45789TK")])
def test_rounds_at_once_count_what_each_counts_alone(
    game: str, name: str, seats: int, cards: str
) -> None:
    rules = GAMES[game].rules
    random = np.random.default_rng(5)
    played = simulate(rules, players(rules)[name], 40, random, seats=seats, cards=cards)
    parts = decompose_moves(values_of(rules), played.moves, played.stakes)
    alone = [tallied(each.counts) for each in _by_the_engine(rules, played, seats)]
    # A chance may be rounded to the billionth above or below.
    assert np.allclose(parts.counts, np.array(alone), rtol=0, atol=3)
    assert (parts.counts[:, :, :2] == np.array(alone)[:, :, :2]).all()


@pytest.mark.parametrize("game", sorted(GAMES))
def test_honest_dealing_has_no_count_far_from_its_mean(game: str) -> None:
    parts = _counted(game, "random", 40_000)
    for kind in COUNT_KINDS:
        assert abs(_z(parts, kind)) < 3.5, kind
    means = parts.counts.sum(axis=0)[:, COUNT_SUMS.index("chances")]
    assert means.min() > 100


def test_a_dealer_with_more_tens_busts_too_often() -> None:
    parts = _counted("nba", "basic", 20_000, Crooked(tens=1.5))
    assert _z(parts, DEALER_BUST) > 8
    assert _z(parts, DEALER_LATE_BUST) > 2
    assert abs(_z(parts, DOUBLE_MADE)) < 3.5


def test_naturals_dealt_again_are_missed_by_their_count() -> None:
    parts = _counted("zappit", "basic", 20_000, Crooked(naturals_taken=0.5))
    assert _z(parts, PLAYER_NATURAL) < -10
    assert abs(_z(parts, DEALER_BUST)) < 3.5
