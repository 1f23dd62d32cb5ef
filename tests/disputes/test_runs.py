"""How likely a run of losses is, by every course that so many rounds can take."""

from itertools import groupby, product
from math import prod
from random import Random

import pytest

from shoeproof.replay.disputes.complaints.runs import (
    Chance,
    Ended,
    chance_of,
    chance_of_a_run,
    longest_runs,
)
from shoeproof.replay.games.published import GAMES

UNEQUAL = [0.5, 0.48, 0.3, 0.9, 0.44, 0.51, 0.2, 0.7, 0.48, 0.6]


def longest(hits: tuple[bool, ...]) -> int:
    return max((len([*same]) for hit, same in groupby(hits) if hit), default=0)


@pytest.mark.parametrize("length", range(1, 12))
def test_the_chance_is_that_of_all_courses_with_such_a_run(length: int) -> None:
    counted = sum(
        prod(p if hit else 1 - p for p, hit in zip(UNEQUAL, hits, strict=True))
        for hits in product((True, False), repeat=len(UNEQUAL))
        if longest(hits) >= length
    )
    assert chance_of_a_run(length, UNEQUAL) == pytest.approx(counted, abs=1e-12)


def test_the_chance_of_twelve_in_two_hundred_is_that_of_simulated_evenings() -> None:
    """10,000 evenings: a standard error of 0.15 points at two in a hundred."""
    random, p = Random(12), 0.4789
    seen = sum(longest(tuple(random.random() < p for _ in range(200))) >= 12 for _ in range(10_000))
    assert chance_of_a_run(12, [p] * 200) == pytest.approx(seen / 10_000, abs=0.006)


def test_the_longest_run_is_named_by_its_first_and_last_round() -> None:
    half = Chance(0.5, 0.6, True)
    won = [1, -1, -1, 0, -1, -1, -1, 1, -1]
    ended = [Ended(f"r{number}", each, half) for number, each in enumerate(won)]
    lost, not_won = longest_runs(ended)
    assert (lost.kind, lost.length, lost.first, lost.last) == ("lost", 3, "r4", "r6")
    assert (not_won.length, not_won.first, not_won.last) == (6, "r1", "r6")
    assert lost.probability == pytest.approx(chance_of_a_run(3, [0.5] * 9))
    assert not_won.probability == pytest.approx(chance_of_a_run(6, [0.6] * 9))


def test_without_a_loss_there_is_no_run() -> None:
    assert longest_runs([Ended("r", 5, None)]) == ()


def test_of_unknown_rules_no_chance_is_claimed() -> None:
    known = Ended("a", -5, Chance(0.5, 0.6, True))
    (run,) = longest_runs([known, Ended("b", -5, None)])
    assert (run.length, run.probability) == (2, None)


@pytest.mark.parametrize("game", GAMES)
def test_a_round_is_lost_somewhat_less_than_every_other_time(game: str) -> None:
    """All three games return about 99% with few doubled stakes, and push 8 to 16 times in 100."""
    chance = chance_of(GAMES[game].rules, seats=1)
    assert chance is not None
    assert chance.is_exact
    assert 0.43 < chance.lost < 0.49
    assert 0.08 < chance.not_won - chance.lost < 0.16
    several = chance_of(GAMES[game].rules, seats=2)
    assert several == (chance.lost, chance.not_won, False)


def test_without_rules_there_is_no_chance() -> None:
    assert chance_of(None, seats=1) is None
