"""The published returns, and everything beside them, follow from the rules when computed afresh."""

from decimal import Decimal
from fractions import Fraction

import pytest

from shoeproof.replay.games.published import GAMES
from shoeproof.replay.theory.verdict import compare
from tests.theory.helpers import computed

POINT = 1e-2
"""A percentage point of return."""


@pytest.mark.parametrize(
    ("game", "percent"), [("nba", 99.2926), ("zero", 100.0047), ("zappit", 98.7149)]
)
def test_the_main_bet_returns(game: str, percent: float) -> None:
    assert computed(game).bet("main").returned == pytest.approx(percent * POINT, abs=5e-7)


@pytest.mark.parametrize(("game", "sd"), [("nba", 1.1131), ("zero", 1.1190), ("zappit", 1.0601)])
def test_the_main_bet_spreads(game: str, sd: float) -> None:
    assert computed(game).bet("main").sd == pytest.approx(sd, abs=5e-5)


@pytest.mark.parametrize(
    ("game", "win", "push", "loss"),
    [
        ("nba", 0.43284, 0.08827, 0.47889),
        ("zero", 0.43383, 0.08671, 0.47946),
        ("zappit", 0.40121, 0.15204, 0.44675),
    ],
)
def test_rounds_win_push_and_lose(game: str, win: float, push: float, loss: float) -> None:
    ends = computed(game).outcomes
    assert (ends.win, ends.push, ends.loss) == pytest.approx((win, push, loss), abs=5e-6)


def test_zaps_and_five_card_21s_are_as_frequent_as_known() -> None:
    assert computed("zappit").outcomes.zap == pytest.approx(0.2074, abs=5e-5)
    assert computed("zero").outcomes.lines["five_card_21"] == pytest.approx(0.0024, abs=5e-5)


def test_side_bets_and_insurance_are_exact_fractions() -> None:
    nba, zappit = computed("nba"), computed("zappit")
    assert nba.bet("perfect_pairs").fraction == Fraction(398, 415)
    assert nba.bet("twenty_one_plus_three").fraction == Fraction(119489, 124085)
    assert zappit.bet("insurance").fraction == 3 * Fraction(96, 311)


def test_the_deals_behind_the_side_bets_are_counted() -> None:
    pairs = computed("nba").bet("perfect_pairs").ways
    assert pairs == {
        "perfect_pair": 1456,
        "coloured_pair": 1664,
        "mixed_pair": 3328,
        "lost": 79872,
        "deals": 86320,
    }
    three = computed("nba").bet("twenty_one_plus_three").ways
    assert three["deals"] == 11_912_160
    lines = ("suited_trips", "straight_flush", "three_of_a_kind", "straight", "flush")
    assert [three[line] for line in lines] == [2912, 24576, 61568, 368640, 700928]


def test_cash_out_returns_and_ranges_as_published_and_never_beats_the_game() -> None:
    theory = computed("nba")
    assert theory.bet("cash_out_always").returned == pytest.approx(0.9680, abs=5e-5)
    optional, main = theory.bet("cash_out_optional").returned, theory.bet("main").returned
    assert optional == pytest.approx(main, abs=1e-12)
    assert theory.cash_out is not None
    assert (theory.cash_out.lowest, theory.cash_out.highest) == (
        Fraction(40, 100),
        Fraction(177, 100),
    )


@pytest.mark.parametrize("game", ["nba", "zero"])
def test_every_published_return_follows_from_the_rules(game: str) -> None:
    verdicts = [each for each in compare(computed(game), GAMES[game]) if each.published]
    assert len(verdicts) == len(GAMES[game].published)
    assert all(each.follows for each in verdicts)


def test_zappits_published_base_return_does_not_follow_and_the_difference_is_shown() -> None:
    main, _, insurance = compare(computed("zappit"), GAMES["zappit"])
    assert main.follows is False
    assert main.difference == pytest.approx(Decimal("-0.001551"), abs=Decimal("0.0000005"))
    assert insurance.follows is True


def test_even_money_is_worse_than_declining_it() -> None:
    zero = computed("zero")
    assert zero.bet("even_money").fraction == 2
    assert zero.bet("even_money_declined").fraction == 1 + 1 + Fraction(16, 413)
    assert zero.bet("even_money_declined_suited").fraction == 1 + 2 * Fraction(413 - 127, 413)


@pytest.mark.parametrize("game", sorted(GAMES))
def test_the_parts_add_up(game: str) -> None:
    theory = computed(game)
    main, ends = theory.bet("main").returned, theory.outcomes
    assert len(theory.classes) == 550
    assert sum(each.probability for each in theory.classes) == pytest.approx(1)
    by_class = sum(each.probability * each.net for each in theory.classes)
    by_net = sum(float(Fraction(net)) * chance for net, chance in ends.nets.items())
    assert (1 + by_class, 1 + by_net) == pytest.approx((main, main), abs=1e-12)
    assert sum(ends.nets.values()) == pytest.approx(1)
    assert sum(ends.lines.values()) == pytest.approx(1 + ends.split)
    assert ends.average_stake == pytest.approx(1 + ends.double + ends.split)


@pytest.mark.parametrize("game", sorted(GAMES))
def test_playing_by_totals_costs_a_little_and_never_gains(game: str) -> None:
    theory = computed(game)
    cost = theory.bet("main").returned - theory.bet("main_basic").returned
    assert 0 < cost < 2e-5
