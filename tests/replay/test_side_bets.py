"""Side bets over every deal there is: the counts, the returns and the naive settler agree."""

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement
from math import comb, prod

import pytest
from msgspec.structs import replace

from shoeproof.replay.engine.cards import PACK
from shoeproof.replay.engine.side_bets import side_bet_line, side_bet_odds
from shoeproof.replay.games.published import GAMES
from tests.replay import naive

DECKS = 8
PAIRS = GAMES["nba"].rules.side_bets["perfect_pairs"]
THREE = GAMES["nba"].rules.side_bets["twenty_one_plus_three"]


def _ways(cards: tuple[str, ...]) -> int:
    """How often these cards lie among eight decks."""
    return prod(comb(DECKS, held) for held in Counter(cards).values())


def test_perfect_pairs_over_every_two_cards() -> None:
    """The counts are combinatorics: of 52 cards with 8 copies each, C(8, 2) of one card, and so on.

    A rank has 4 suits, so 52·C(8,2) perfect, 13·2·8² coloured and 13·4·8² mixed pairs.
    """
    found: Counter[str | None] = Counter()
    returned = Fraction(0)
    for two in combinations_with_replacement(PACK, 2):
        line = side_bet_line(PAIRS, two, "2c")
        paid = 0 if line is None else 100 + 100 * side_bet_odds(PAIRS, line)
        assert paid == naive.settle_perfect_pairs(100, list(two))
        found[line] += _ways(two)
        returned += paid * _ways(two)
    assert found.pop(None) == comb(416, 2) - 1_456 - 1_664 - 3_328
    assert found == {
        "perfect_pair": 52 * comb(8, 2),
        "coloured_pair": 13 * 2 * 64,
        "mixed_pair": 13 * 4 * 64,
    }
    assert returned / 100 / comb(416, 2) == Fraction(398, 415)


def test_twenty_one_plus_three_over_every_three_cards() -> None:
    """Twelve runs of three ranks, the ace at both ends; suits by choice, copies by eights."""
    found: Counter[str | None] = Counter()
    returned = Fraction(0)
    for three in combinations_with_replacement(PACK, 3):
        line = side_bet_line(THREE, three[:2], three[2])
        paid = 0 if line is None else 100 + 100 * side_bet_odds(THREE, line)
        assert paid == naive.settle_twenty_one_plus_three(100, list(three[:2]), three[2])
        found[line] += _ways(three)
        returned += paid * _ways(three)
    trips = 52 * comb(8, 3)
    runs = 12 * 4 * 8**3
    assert found["suited_trips"] == trips == 2_912
    assert found["straight_flush"] == runs == 24_576
    assert found["three_of_a_kind"] == 13 * comb(32, 3) - trips == 61_568
    assert found["straight"] == 12 * 32**3 - runs == 368_640
    assert found["flush"] == 4 * comb(104, 3) - trips - runs == 700_928
    assert sum(found.values()) == comb(416, 3)
    assert returned / 100 / comb(416, 3) == Fraction(119_489, 124_085)


def test_an_ace_that_is_low_only_ends_no_run_of_queen_and_king() -> None:
    low = replace(THREE, ace_high_and_low=False)
    assert side_bet_line(low, ("Qs", "Kd"), "Ah") is None
    assert side_bet_line(low, ("Qs", "Ks"), "As") == "flush"
    assert side_bet_line(low, ("As", "2d"), "3h") == "straight"
    assert side_bet_line(low, ("Js", "Qd"), "Kh") == "straight"


@pytest.mark.parametrize(
    ("cards", "line"),
    [
        (("Qs", "Ks", "As"), "straight_flush"),
        (("As", "2s", "3s"), "straight_flush"),
        (("Ks", "Ad", "2s"), None),
        (("7c", "7d", "7c"), "three_of_a_kind"),
        (("7c", "7c", "7c"), "suited_trips"),
        (("2h", "9h", "Kh"), "flush"),
    ],
)
def test_three_cards_in_any_order(cards: tuple[str, str, str], line: str | None) -> None:
    one, two, up = cards
    assert side_bet_line(THREE, (one, two), up) == line
    assert side_bet_line(THREE, (up, one), two) == line
    assert side_bet_line(THREE, (two, up), one) == line
