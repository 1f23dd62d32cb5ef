"""Many rounds at once: what the engine makes of each alone, and nil luck in the mean."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from shoeproof.replay.engine.round import open_round
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.kernel.tables import SYMBOLS
from shoeproof.replay.luck.batch import BatchParts, decompose_moves
from shoeproof.replay.luck.kinds import (
    CHECK,
    DEALER_DRAW,
    HOLE_CARD,
    INITIAL_DEAL,
    LUCK,
    LUCK_KINDS,
    ROUNDING,
    SKILL,
    SKILL_KINDS,
)
from shoeproof.replay.luck.one_round import Decomposition, decompose
from shoeproof.replay.luck.values import values_of
from tests.luck.simulator import (
    STAKE_MINOR,
    Crooked,
    Simulated,
    greedy_player,
    players,
    simulate,
)
from tests.theory.helpers import changed

_PLAYERS = ("basic", "random", "greedy")


def _apart(rules: Rules, played: Simulated) -> BatchParts:
    return decompose_moves(values_of(rules), played.moves, played.stakes)


def _by_the_engine(rules: Rules, played: Simulated, seats: int) -> Iterator[Decomposition]:
    moves = played.moves
    stakes = dict.fromkeys(rules.bets, STAKE_MINOR)
    first = open_round(rules, {f"s{seat}": stakes for seat in range(1, seats + 1)})
    for number in range(len(played.stakes.main)):
        mine = np.flatnonzero(moves.number == number)
        symbols = zip(moves.symbol[mine].tolist(), moves.shown_minor[mine].tolist(), strict=True)
        yield decompose(
            first,
            [(SYMBOLS[each], shown if SYMBOLS[each] == "cash-out" else None)
             for each, shown in symbols],
        )  # fmt: skip


def _assert_alike(rules: Rules, played: Simulated, seats: int) -> None:
    parts, bets = _apart(rules, played), values_of(rules).bets
    for number, alone in enumerate(_by_the_engine(rules, played, seats)):
        sums = alone.sums()
        for place, bet in enumerate(bets):
            mine = [each for each in alone.bets if each.bet == bet]
            stake = sum(each.initial_stake_minor for each in mine)
            assert parts.stake[number, place] == stake
            rounding = sums.get((bet, SKILL, ROUNDING), 0.0)
            won = sum(each.returned_minor for each in mine) - stake - rounding
            assert parts.worth[number, place] == pytest.approx(won, abs=1e-6)
            for term, kinds, found in (
                (LUCK, LUCK_KINDS, parts.luck),
                (SKILL, SKILL_KINDS[:-1], parts.skill[:, :, :-1]),
            ):
                expected = [sums.get((bet, term, kind), 0.0) for kind in kinds]
                assert found[number, place].tolist() == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("name", _PLAYERS)
@pytest.mark.parametrize("game", sorted(GAMES))
@pytest.mark.parametrize(("seats", "cards"), [(1, "A23456789TJQK"), (3, "A45789TK"), (2, "A5T")])
def test_rounds_at_once_are_what_the_engine_makes_of_each(
    game: str, name: str, seats: int, cards: str
) -> None:
    rules = GAMES[game].rules
    random = np.random.default_rng(3)
    played = simulate(rules, players(rules)[name], 30, random, seats=seats, cards=cards)
    _assert_alike(rules, played, seats)


@pytest.mark.parametrize(
    ("game", "changes"),
    [
        ("zappit", {"dealer_checks": ()}),
        ("zero", {"dealer_checks": (), "decks": 1}),
        ("nba", {"dealer_checks": ("ten",), "dealer_hits_soft_17": True}),
    ],
    ids=["nobody-looks", "even-money-unlooked", "looks-with-a-ten-alone"],
)
def test_other_rules_are_taken_apart_alike(game: str, changes: dict[str, Any]) -> None:
    """Insurance that only the hole card decides, even money without a look, one deck."""
    rules = changed(GAMES[game].rules, **changes)
    for cards in ("A23456789TJQK", "A45789TK"):
        random = np.random.default_rng(4)
        played = simulate(rules, greedy_player(rules), 60, random, seats=2, cards=cards)
        _assert_alike(rules, played, 2)


def test_even_money_was_among_the_rounds_compared() -> None:
    rules = GAMES["zero"].rules
    random = np.random.default_rng(3)
    played = simulate(rules, greedy_player(rules), 40, random, seats=2, cards="A5T")
    assert _apart(rules, played).skill[:, 0, SKILL_KINDS.index("even_money")].any()


def _errors(parts: BatchParts, bet: int = 0) -> dict[str, float]:
    """Each kind's sum of luck in standard errors of itself."""
    luck = parts.luck[:, bet]
    spread = np.sqrt((luck**2).sum(axis=0))
    return {
        kind: float(luck[:, n].sum() / spread[n]) for n, kind in enumerate(LUCK_KINDS) if spread[n]
    }


@pytest.mark.parametrize("name", _PLAYERS)
@pytest.mark.parametrize("game", sorted(GAMES))
def test_the_mean_of_luck_is_nil_whoever_plays(game: str, name: str) -> None:
    """20,000 rounds each here; `python -m tests.bench.luck` plays a million."""
    rules = GAMES[game].rules
    played = simulate(rules, players(rules)[name], 20_000, np.random.default_rng(20_26))
    parts = _apart(rules, played)
    for bet in range(len(values_of(rules).bets)):
        for kind, errors in _errors(parts, bet).items():
            assert abs(errors) < 4.5, (bet, kind)


@pytest.mark.parametrize(
    ("crooked", "parts"),
    [
        (Crooked(tens=2.0), {INITIAL_DEAL, CHECK, HOLE_CARD, DEALER_DRAW}),
        (Crooked(naturals_taken=0.5), {INITIAL_DEAL}),
    ],
)
@pytest.mark.parametrize("name", ["basic", "random"])
def test_a_crooked_deal_shows_in_its_own_parts_and_in_no_other(
    name: str, crooked: Crooked, parts: set[str]
) -> None:
    """A gross fault, so that few rounds do; the bench has small ones."""
    rules, random = GAMES["zappit"].rules, np.random.default_rng(5)
    played = simulate(rules, players(rules)[name], 20_000, random, crooked=crooked)
    errors = _errors(_apart(rules, played))
    assert max(abs(errors[part]) for part in parts) > 5.5
    assert all(abs(each) < 4.5 for part, each in errors.items() if part not in parts)
