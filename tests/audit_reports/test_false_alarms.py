"""Whole pages of honest houses over years of daily looks; `tests.bench.false_alarms` does many."""

from functools import cache

import numpy as np

from tests.bench.false_alarms import Pool, guilty, pools, theories, years_of

ROUNDS_A_DAY = 40


@cache
def honest() -> list[Pool]:
    return pools(np.random.default_rng(7), 10_000)


def named(made: list[Pool], years: int) -> list[list[str]]:
    random, known = np.random.default_rng(8), theories()
    return [guilty(list(years_of(made, ROUNDS_A_DAY, random)), known) for _ in range(years)]


def test_honest_pages_are_not_out_of_range_on_any_day_of_a_year() -> None:
    """At one page in twenty a year, three honest ones would all pass with a chance of 86%."""
    assert named(honest(), 3) == [[]] * 3


def test_a_house_that_takes_a_tenth_of_a_stake_is_named() -> None:
    rigged = [pool._replace(units=pool.units - 0.1 * (pool.units != 0)) for pool in honest()]
    (found,) = named(rigged, 1)
    assert "nba main unit_all" in found
    assert any(each.startswith("main at table") for each in found)
