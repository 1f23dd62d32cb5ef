"""The charts say what is known of these games, and the players built on them keep to the rules."""

import pytest

from replay.engine.round import RoundState
from replay.games import GAMES
from replay.theory import ChartRow, basic_act, optimal_act, strategy
from replay.theory.chart_html import UP_NAMES, chart_page
from tests.theory.helpers import play, shoe_cards


def _row(game: str, hand: str, cards: int = 0, section: str | None = None) -> dict[str, str]:
    found = [
        row
        for row in strategy(GAMES[game].rules)
        if (row.hand, row.cards) == (hand, cards) and section in (None, row.section)
    ]
    return dict(zip(UP_NAMES, found[0].acts, strict=True))


@pytest.mark.parametrize("game", sorted(GAMES))
def test_every_row_answers_every_up_card(game: str) -> None:
    rows = strategy(GAMES[game].rules)
    assert all(len(row.acts) == len(UP_NAMES) for row in rows)
    assert len({(row.section, row.hand, row.cards) for row in rows}) == len(rows)


def test_what_every_blackjack_player_knows() -> None:
    assert set(_row("nba", "8,8").values()) == {"split", "hit"}
    assert set(_row("nba", "10,10").values()) == {"stand"}
    assert _row("nba", "hard 11")["6"] == "double/hit"
    assert _row("nba", "hard 16", section="hard")["10"] == "hit"
    assert _row("nba", "hard 16", section="later")["10"] == "stand"
    assert _row("nba", "soft 18")["9"] == "hit"


def test_zappit_zaps_all_stiff_hands_and_then_plays_on_without() -> None:
    for total in (15, 16, 17):
        assert set(_row("zappit", f"hard {total}", section="hard").values()) == {"zap"}
    assert "zap" not in _row("zappit", "hard 16", section="zapped").values()


def test_zeros_four_cards_draw_for_the_fifth() -> None:
    assert _row("zero", "hard 12", cards=4)["6"] == "hit"
    assert _row("zero", "hard 12")["6"] == "stand"


def test_aces_are_never_split_where_they_may_not_be() -> None:
    assert "A,A" not in {row.hand for row in strategy(GAMES["zero"].rules)}


def test_a_page_stands_alone_and_shows_every_row() -> None:
    rows: list[ChartRow] = strategy(GAMES["zero"].rules)
    page = chart_page("Zero <Blackjack>", rows)
    assert "Zero &lt;Blackjack&gt;" in page
    assert page.count("<td ") == len(UP_NAMES) * len(rows)
    assert "http" not in page
    assert "src=" not in page


@pytest.mark.parametrize("game", sorted(GAMES))
def test_both_players_keep_to_the_rules_at_full_tables(game: str) -> None:
    rules = GAMES[game].rules
    for number in range(200):
        play(rules, shoe_cards(rules, number), basic_act, seats=rules.seats)
        play(rules, shoe_cards(rules, number), optimal_act, seats=rules.seats)


def test_an_act_that_cannot_be_paid_for_gives_way_to_the_best_that_can() -> None:
    seen: list[str] = []

    def choose(state: RoundState) -> str:
        wanted = optimal_act(state)
        if wanted != "double":
            return wanted
        seen.append(optimal_act(state, offered=["hit", "stand"]))
        return seen[-1]

    rules = GAMES["nba"].rules
    for number in range(100):
        play(rules, shoe_cards(rules, number), choose)
    assert set(seen) <= {"hit", "stand"}
    assert seen
