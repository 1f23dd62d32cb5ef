"""Fair shuffles pass and faulty ones are found by the test that should; seeds are fixed."""

from collections import defaultdict

import numpy as np
import pytest
from scipy import stats

from shoeproof.audit_reports.shuffle_tests.deals import FEWEST_DEALS
from shoeproof.audit_reports.shuffle_tests.results import (
    COUPON_COLLECTOR,
    DUPLICATES,
    INTERPLAY,
    OVERLAPS,
    RUNS,
    SERIAL,
    TOTAL_DISTRIBUTION,
)
from shoeproof.audit_reports.shuffle_tests.shoes import FEWEST_SHOES
from shoeproof.replay.engine.cards import PACK, VALUE
from tests.shuffle_tests.helpers import Ints, fair, of_deals, of_shoes, rejected, swapped

TENS = np.array([VALUE[card] == 10 for card in PACK])
COUNTED = {"same first two cards", "same place, shoe to shoe", "same neighbours, shoe to shoe"}
COUNTED_DEALS = {"first card, round to round"}
"""Tests of few coincidences: their p-values have jumps and are no smaller than uniform ones."""


def _assert_uniform(p_values: list[float], name: str, *, counted: bool) -> None:
    """Kolmogorov-Smirnov at 0.1%: the p-values of fair shuffles are uniform, or no smaller."""
    # Only against "greater": too many small ones would lift their distribution over the uniform.
    found = stats.kstest(p_values, "uniform", alternative="greater" if counted else "two-sided")
    assert found.pvalue > 0.001, name


def test_of_fair_shoes_p_values_are_uniform_and_alarms_rare() -> None:
    random = np.random.default_rng(11)
    p_values, alarms = defaultdict(list), 0
    for _ in range(400):
        tests = of_shoes(fair(random, FEWEST_SHOES), level=0.1)
        alarms += bool(rejected(tests))
        for name, test in tests.items():
            assert test.p_value is not None
            p_values[name].append(test.p_value)
    assert alarms <= 0.1 * 400 + 3 * (0.09 * 400) ** 0.5
    for name, values in p_values.items():
        _assert_uniform(values, name, counted=name in COUNTED)


def test_of_fair_deals_p_values_are_uniform_and_alarms_rare() -> None:
    random = np.random.default_rng(12)
    p_values, alarms = defaultdict(list), 0
    for _ in range(120):
        shoes = fair(random, FEWEST_DEALS, 1)
        tests = of_deals(shoes[:, :5], decks=1, level=0.1)
        alarms += bool(rejected(tests))
        for name, test in tests.items():
            assert test.p_value is not None
            p_values[name].append(test.p_value)
    assert alarms <= 0.1 * 120 + 3 * (0.09 * 120) ** 0.5
    for name, values in p_values.items():
        _assert_uniform(values, name, counted=name in COUNTED_DEALS)


def test_fair_shoes_of_eight_decks_pass() -> None:
    tests = of_shoes(fair(np.random.default_rng(13), 400, 8))
    assert not rejected(tests)
    assert tests["card by position"].degrees_of_freedom == 415**2
    assert tests["rank by position"].degrees_of_freedom == 12 * 415


def test_every_kind_of_test_is_there() -> None:
    kinds = {test.kind for test in of_shoes(fair(np.random.default_rng(14), 120)).values()}
    assert kinds == {
        TOTAL_DISTRIBUTION, OVERLAPS, COUPON_COLLECTOR, RUNS, INTERPLAY, SERIAL, DUPLICATES,
    }  # fmt: skip


def test_a_swap_with_any_place_is_found_by_card_and_position() -> None:
    """The well-known wrong shuffle: j uniform in [0, n) rather than in [i, n)."""
    chosen = np.random.default_rng(15).integers(0, 416, (600, 416))
    assert "card by position" in rejected(of_shoes(swapped(chosen)))


def test_sattolos_slip_is_found_by_card_and_position() -> None:
    """j uniform in (i, n): every shoe is one cycle and no card stays where it was."""
    random = np.random.default_rng(16)
    low = np.minimum(np.arange(52) + 1, 51)
    chosen = random.integers(low, 52, (3000, 52))
    assert "card by position" in rejected(of_shoes(swapped(chosen)))


def test_nine_bit_words_modulo_the_cards_left_are_found() -> None:
    """Modulo bias without rejection, at a word so short that statistics can see it."""
    words = np.random.default_rng(17).integers(0, 1 << 9, (800, 416))
    chosen = np.arange(416) + words % (416 - np.arange(416))
    assert "card by position" in rejected(of_shoes(swapped(chosen)))


def test_ten_cards_moved_towards_the_front_are_found_by_rank_and_position() -> None:
    random = np.random.default_rng(18)
    shoes = fair(random, 1500)
    for shoe in shoes[:700]:
        back = 26 + int(np.argmax(TENS[shoe[26:]]))
        if not TENS[shoe[0]]:
            shoe[[0, back]] = shoe[[back, 0]]
    assert "rank by position" in rejected(of_shoes(shoes))


def test_riffles_that_leave_neighbours_together_are_found() -> None:
    """Packets of two cards are shuffled, not cards."""
    random = np.random.default_rng(19)
    packets = random.permuted(np.tile(np.arange(208), (200, 1)), axis=1)
    shoes = np.stack([2 * packets, 2 * packets + 1], axis=2).reshape(200, 416).astype(np.int16)
    found = rejected(of_shoes(shoes))
    assert "serial, 1 apart" in found
    assert "colour runs" in found
    assert "rank pairs side by side" in found


def test_tens_kept_apart_are_found_by_runs() -> None:
    """In each shoe one ten-card beside another changes places with a card far from any."""
    shoes = fair(np.random.default_rng(20), 300, 2)
    for shoe in shoes:
        tens = TENS[shoe % 52]
        beside = 1 + int(np.argmax(tens[1:] & tens[:-1]))
        apart = 1 + int(np.argmin(tens[2:] | tens[1:-1] | tens[:-2]))
        shoe[[beside, apart]] = shoe[[apart, beside]]
    assert "ten-card runs" in rejected(of_shoes(shoes))


def test_a_repeated_shoe_is_found_from_shoe_to_shoe() -> None:
    shoes = np.repeat(fair(np.random.default_rng(21), 100), 2, axis=0)
    found = rejected(of_shoes(shoes))
    assert {"same place, shoe to shoe", "same neighbours, shoe to shoe"} <= found
    assert {"serial, shoe to shoe", "first halves, shoe to shoe", "same first two cards"} <= found


def test_one_order_cut_anew_is_found_by_neighbours() -> None:
    """One shuffle for all rounds, only the cut is random: every neighbour stays one."""
    random = np.random.default_rng(22)
    order = fair(random, 1, 6)[0]
    shoes = np.stack([np.roll(order, cut) for cut in random.integers(0, 312, 200)])
    tests = of_shoes(shoes)
    assert "same neighbours, shoe to shoe" in rejected(tests)


def test_a_cut_that_does_not_move_is_found() -> None:
    """Each shoe is the one before it, cut after the 60th card."""
    order = fair(np.random.default_rng(23), 1, 6)[0]
    shoes = np.stack([np.roll(order, -60 * number) for number in range(200)])
    assert "same neighbours, shoe to shoe" in rejected(of_shoes(shoes))


def test_a_pool_of_few_shoes_is_found_by_first_cards() -> None:
    random = np.random.default_rng(24)
    pool = fair(random, 300, 6)
    found = rejected(of_shoes(pool[random.permutation(np.repeat(np.arange(300), 4))]))
    assert "same first two cards" in found
    assert "card by position" in found


def test_shoes_too_even_are_found() -> None:
    """Every rotation of one order: each card stands once in each place."""
    order = fair(np.random.default_rng(25), 1, 6)[0]
    shoes = np.stack([np.roll(order, cut) for cut in np.random.default_rng(26).permutation(312)])
    test = of_shoes(shoes)["card by position"]
    assert test.statistic == 0
    assert test.rejected


def _deals(random: np.random.Generator, count: int, ten_share: float = 16 / 52) -> Ints:
    """Deals of five cards, drawn with replacement: for 6 decks the difference is not seen."""
    others, tens = np.flatnonzero(~TENS), np.flatnonzero(TENS)
    is_ten = random.random((count, 5)) < ten_share
    return np.where(is_ten, random.choice(tens, is_ten.shape), random.choice(others, is_ten.shape))


def test_ten_cards_dealt_2_percent_too_often_are_found() -> None:
    deals = _deals(np.random.default_rng(27), 80_000, 1.02 * 16 / 52)
    found = rejected(of_deals(deals))
    assert "dealt ten-cards" in found
    assert "dealt rank, all cards" in found


def test_a_dealers_up_card_too_good_is_found_in_its_place() -> None:
    random = np.random.default_rng(28)
    deals = _deals(random, 4000)
    aces = np.flatnonzero([card[0] == "A" for card in PACK])
    lucky = random.random(4000) < 0.03
    deals[lucky, 2] = random.choice(aces, int(lucky.sum()))
    assert rejected(of_deals(deals)) >= {"dealt rank, card 3"}
    assert "dealt rank, card 2" not in rejected(of_deals(deals))


@pytest.mark.parametrize(
    ("fault", "found_by"),
    [
        ("again", "first card, round to round"),
        ("sticky", "first card, ten-card runs"),
        ("following", "dealt ranks, round to round"),
        ("paired", "dealt ranks, cards 1 and 2"),
    ],
)
def test_what_ties_deals_together_is_found(fault: str, found_by: str) -> None:
    random = np.random.default_rng(29)
    deals = _deals(random, 5000)
    for number in np.flatnonzero(random.random(4999) < 0.12) + 1:
        match fault:
            case "again":
                deals[number, 0] = deals[number - 1, 0]
            case "sticky":
                kind = TENS[deals[number - 1, 0]] == TENS
                deals[number, 0] = random.choice(np.flatnonzero(kind))
            case "following":
                deals[number] = deals[number - 1][::-1]
            case "paired":
                deals[number, 1] = (deals[number, 0] + 13) % 52
    assert found_by in rejected(of_deals(deals))


def test_too_little_is_said_to_be_too_little() -> None:
    random = np.random.default_rng(30)
    for tests in (of_shoes(fair(random, FEWEST_SHOES - 1)), of_deals(_deals(random, 999))):
        assert tests
        assert {test.p_value for test in tests.values()} == {None}
        assert all(test.needs for test in tests.values())


def test_first_cards_of_one_kind_have_no_runs_to_count() -> None:
    tests = of_deals(np.tile([[9, 20, 30]], (FEWEST_DEALS, 1)))
    assert tests["first card, ten-card runs"].needs == "both kinds of first card"
    assert tests["first card, ten-card runs"].p_value is None
