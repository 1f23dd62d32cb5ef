"""The charts say what is known of these games, and the players built on them keep to the rules."""

from collections import Counter
from itertools import combinations_with_replacement

import pytest

from shoeproof.replay.engine.round import Decide, RoundState
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.theory.chart import ChartRow
from shoeproof.replay.theory.chart_html import UP_NAMES, chart_page
from shoeproof.replay.theory.strategies import basic_act, optimal_act, strategy
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


def test_zeros_five_cards_are_past_the_line_and_stand_as_elsewhere() -> None:
    row = _row("zero", "hard 16", cards=5)
    assert row["10"] == _row("nba", "hard 16", section="later")["10"] == "stand"
    assert _row("zero", "hard 16", section="hard")["10"] == "hit"


@pytest.mark.parametrize("game", sorted(GAMES))
def test_the_chart_lists_no_hand_that_no_cards_make(game: str) -> None:
    made = {(_hand_of(cards), len(cards)) for n in range(2, 7) for cards in _all_cards(n)}
    fewest = {"later": (3, 4, 5, 6)}
    for row in strategy(GAMES[game].rules):
        if row.section != "pairs":
            counts = [row.cards] if row.cards else fewest.get(row.section, (2,))
            assert any((row.hand, count) in made for count in counts), row


@pytest.mark.parametrize("game", sorted(GAMES))
def test_who_follows_the_chart_plays_as_the_basic_player_does(game: str) -> None:
    rules, met = GAMES[game].rules, Counter[str]()
    rows = {(row.section, row.hand, row.cards): row for row in strategy(rules)}

    def choose(state: RoundState) -> str:
        act = basic_act(state)
        if act not in ("insurance", "even-money", "decline"):
            row, read = _read(rows, state)
            assert act == read, (state, row)
            met[f"{row.section} {row.cards}"] += 1
        return act

    for number in range(1500):
        play(rules, shoe_cards(rules, number), choose, seats=rules.seats)
    assert {"hard 0", "soft 0", "pairs 0", "later 0"} <= met.keys()
    assert game != "zero" or {"later 3", "later 4", "later 5"} <= met.keys()


def _read(rows: dict[tuple[str, str, int], ChartRow], state: RoundState) -> tuple[ChartRow, str]:
    """Read the chart as a person does: the row nearest to the hand, else that of its first two."""
    due = state.due
    assert isinstance(due, Decide)
    hand = next(held for held in state.hands if held.name == due.hand).hand
    name = f"{'soft' if hand.soft else 'hard'} {hand.total}"
    kind = "soft" if hand.soft else "hard"
    nearest = [("later", min(hand.count, 5)), ("later", 0), (kind, 0)]
    if hand.count == 2:
        nearest = [(kind, 0), ("split", 0), ("later", 0)]
        if hand.origin != "initial":
            section = "split" if hand.origin == "split" else "zapped"
            nearest = [(section, 0), ("zapped", 0), *nearest[:1], ("later", 0)]
        elif "split" in due.legal:
            pair = hand.total // 2 if not hand.soft else "A"
            return _at(rows["pairs", f"{pair},{pair}", 0], state, due)
    found = [rows[section, name, n] for section, n in nearest if (section, name, n) in rows]
    return _at(found[0], state, due)


def _at(row: ChartRow, state: RoundState, due: Decide) -> tuple[ChartRow, str]:
    up = "A" if state.dealer.up_value == 1 else str(state.dealer.up_value)
    act, _, instead = row.acts[UP_NAMES.index(up)].partition("/")
    return row, act if act in due.legal else instead


def _all_cards(count: int) -> list[tuple[int, ...]]:
    return list(combinations_with_replacement(range(1, 11), count))


def _hand_of(cards: tuple[int, ...]) -> str:
    is_soft = 1 in cards and sum(cards) <= 11
    return f"soft {sum(cards) + 10}" if is_soft else f"hard {sum(cards)}"


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
