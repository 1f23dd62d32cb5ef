"""The theories shipped with the package are the ones the rules give."""

import time
from typing import Any

import msgspec
import pytest

from shoeproof.replay.games.published import GAMES
from shoeproof.replay.theory.cache import read_theory, theory, write_theory
from tests.theory.helpers import changed, computed


def _same(shipped: Any, fresh: Any) -> bool:
    """Compare plain data; floats may differ where another machine adds in another order."""
    if isinstance(fresh, float):
        return bool(shipped == pytest.approx(fresh, abs=1e-12))
    if isinstance(fresh, dict):
        return list(shipped) == list(fresh) and all(
            _same(shipped[key], fresh[key]) for key in fresh
        )
    if isinstance(fresh, list | tuple):
        pairs = zip(shipped, fresh, strict=True)
        return all(_same(one, other) for one, other in pairs)
    return bool(shipped == fresh)


@pytest.mark.parametrize("game", sorted(GAMES))
def test_what_is_shipped_is_what_is_computed(game: str) -> None:
    shipped, fresh = theory(GAMES[game].rules), computed(game)
    for field in fresh.__struct_fields__:
        one, other = getattr(shipped, field), getattr(fresh, field)
        plain = [msgspec.to_builtins(each, enc_hook=str) for each in (one, other)]
        assert _same(*plain), field


def test_the_shipped_theories_come_at_once() -> None:
    began = time.perf_counter()
    for game in GAMES.values():
        theory(game.rules)
    assert time.perf_counter() - began < 1


def test_a_theory_survives_being_written() -> None:
    assert read_theory(write_theory(computed("nba"))) == computed("nba")


def test_changed_rules_are_computed_and_progress_is_told() -> None:
    steps: list[tuple[int, int]] = []
    rules = changed(GAMES["nba"].rules, decks=6)
    fresh = theory(rules, lambda done, of: steps.append((done, of)))
    assert steps == [(done, 10) for done in range(11)]
    assert fresh.rules_digest != computed("nba").rules_digest
    assert fresh.bet("main").returned > computed("nba").bet("main").returned
