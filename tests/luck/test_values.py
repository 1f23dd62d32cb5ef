"""The table of values: what is shipped is what the theory gives, and its mean is the return."""

from importlib.resources import files

import msgspec
import numpy as np
import pytest

from shoeproof.replay.engine.cards import PACK
from shoeproof.replay.engine.hand import EMPTY_HAND, step
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.luck.values import Shipped, compute, values_of
from shoeproof.replay.theory.cache import theory
from shoeproof.replay.theory.values import place


@pytest.mark.parametrize("game", sorted(GAMES))
def test_what_is_shipped_is_what_is_computed(game: str) -> None:
    """To the last place but one: another machine may add in another order."""
    fresh = compute(GAMES[game].rules)
    text = (files("shoeproof.replay.luck") / "data" / f"{fresh.rules_digest}.json").read_bytes()
    shipped = msgspec.json.decode(text, type=Shipped)
    assert shipped.start_mean == pytest.approx(fresh.start_mean, abs=1e-9)
    for one, other in ((shipped.start, fresh.start), (shipped.play, fresh.play)):
        assert [row is None for row in one] == [row is None for row in other]
        pairs = zip(filter(None, one), filter(None, other), strict=True)
        assert all(np.abs(np.subtract(row, same)).max() <= 1 for row, same in pairs)


@pytest.mark.parametrize("game", sorted(GAMES))
def test_the_mean_before_the_first_card_is_what_the_theory_returns(game: str) -> None:
    rules = GAMES[game].rules
    known = theory(rules)
    for bet, mean in values_of(rules).means.items():
        assert 1 + mean == pytest.approx(known.bet(bet).returned, abs=1e-8)


@pytest.mark.parametrize("game", sorted(GAMES))
def test_the_mean_of_all_deals_is_the_mean_before_them(game: str) -> None:
    """Every ordered deal of two cards and an up card, counted here by itself."""
    rules, values = GAMES[game].rules, values_of(GAMES[game].rules)
    size, decks, total = 52 * rules.decks, rules.decks, 0.0
    same = np.eye(52)
    for i, first in enumerate(PACK):
        one = step(rules, EMPTY_HAND, first)
        for j, second in enumerate(PACK):
            row = values.start[values.hand_number[step(rules, one, second)]]
            ways = decks * (decks - same[i, j]) * (decks - same[i] - same[j])
            total += float(ways @ row[[place(card) for card in PACK]])
    mean = total / (size * (size - 1) * (size - 2))
    assert mean == pytest.approx(values.means["main"], abs=1e-12)


@pytest.mark.parametrize("game", sorted(GAMES))
def test_the_two_tables_meet_where_the_hole_card_is_shown(game: str) -> None:
    """A hand that stands is worth about the same before and after; its own cards are the rest."""
    values = values_of(GAMES[game].rules)
    standing = [hand for hand in values.tables.hands if hand.over == "stood" and hand.count == 2]
    for dealer in values.tables.dealers:
        if dealer.count == 1 and 1 < dealer.up_value < 10:
            for hand in standing:
                before = values.in_play(hand, dealer.up_value - 1)
                assert values.at_end(hand, dealer) == pytest.approx(before, abs=0.02)
