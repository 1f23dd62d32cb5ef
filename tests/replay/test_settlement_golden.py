"""The settlement table, every player hand against every dealer hand, by two methods."""

from pathlib import Path

import pytest

from shoeproof.replay.engine.settlement import settle_early
from shoeproof.replay.games.published import GAMES
from tests.replay.settlement_table import STAKE, dealers, golden, naively_pays, pays, players

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("game", sorted(GAMES))
def test_every_hand_is_paid_as_the_naive_settler_pays_it(game: str) -> None:
    rules = GAMES[game].rules
    against = dealers(rules)
    compared = 0
    for player in players(rules).values():
        for name, (dealer, cards) in against.items():
            if player.open_at_check and name != "natural":
                continue
            assert pays(rules, player, dealer)[1] == naively_pays(rules, player, cards), (
                player.cards, player.acts, cards,
            )  # fmt: skip
            compared += 1
    assert compared > 1_000


@pytest.mark.parametrize("game", sorted(GAMES))
def test_what_is_decided_early_is_what_every_dealer_hand_would_pay(game: str) -> None:
    rules = GAMES[game].rules
    for player in players(rules).values():
        if player.open_at_check:
            continue
        early = settle_early(rules, player.hand)
        lines = {pays(rules, player, dealer)[0] for dealer, _ in dealers(rules).values()}
        assert lines == {early.name} if early is not None else len(lines) > 1


@pytest.mark.parametrize("game", sorted(GAMES))
def test_every_settlement_line_applies_somewhere(game: str) -> None:
    rules = GAMES[game].rules
    met = {
        pays(rules, player, dealer)[0]
        for player in players(rules).values()
        for dealer, _ in dealers(rules).values()
    }
    assert met == {line.name for line in rules.settlement}


@pytest.mark.parametrize("game", sorted(GAMES))
def test_the_dealer_can_end_on_these_hands_and_no_others(game: str) -> None:
    ends = ["17", "18", "19", "20", "21", "22", "23", "24", "25", "26", "natural"]
    assert list(dealers(GAMES[game].rules)) == ends


@pytest.mark.parametrize("game", sorted(GAMES))
def test_regression_golden(game: str) -> None:
    """The table as it was last looked at; `python -m tests.replay.write_golden` writes it anew."""
    text = (GOLDEN / f"settlement_{game}.csv").read_text(encoding="ascii")
    assert golden(GAMES[game].rules) == text
    assert f"a stake of {STAKE}" in text
