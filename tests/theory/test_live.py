"""The worth of an act in a live round: against a naive valuation, and against the whole game."""

import pytest

from shoeproof.replay.engine.cards import FACE_DOWN
from shoeproof.replay.engine.hand import EMPTY_HAND, step
from shoeproof.replay.engine.round import RoundState, apply, open_round
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.theory.hand_solver import HandSolver, Situation
from shoeproof.replay.theory.live import decision_values, hand_value, unseen_cards
from shoeproof.replay.theory.strategies import optimal_act
from tests.theory import naive
from tests.theory.helpers import changed, computed, play, shoe_cards


@pytest.mark.parametrize(
    ("game", "cards", "up", "left"),
    [
        ("nba", "5h 6d", "9s", (1, 1, 0, 1, 0, 2, 0, 1, 0, 3)),
        ("nba", "Ah 6d", "Ts", (2, 0, 2, 0, 1, 0, 0, 1, 1, 2)),
        ("nba", "Th 6d", "6s", (1, 1, 1, 1, 1, 1, 0, 0, 1, 2)),
        ("zero", "Ah 7d", "6s", (1, 2, 1, 1, 0, 1, 0, 1, 0, 2)),
        ("zero", "4h 5d", "5s", (2, 2, 0, 1, 1, 0, 1, 1, 0, 1)),
        ("zappit", "Ah 5d", "5s", (2, 1, 0, 1, 0, 2, 1, 1, 0, 1)),
    ],
)
def test_a_hand_in_a_tiny_shoe(game: str, cards: str, up: str, left: tuple[int, ...]) -> None:
    rules = changed(GAMES[game].rules, cash_out=None)
    hand = EMPTY_HAND
    for card in cards.split():
        hand = step(rules, hand, card)
    place = "A23456789T".index(up[0])
    solver = HandSolver(rules)
    values = solver.act_values(hand, Situation(place, left, checked=False))
    best = max(values[act] for act in values if act in ("hit", "stand", "double"))
    assert best == pytest.approx(float(naive.value(rules, hand, up, left)), abs=1e-12)


@pytest.mark.parametrize("game", sorted(GAMES))
def test_one_seats_first_decision_is_worth_what_the_whole_game_says(game: str) -> None:
    rules = GAMES[game].rules
    classes = {(each.hand, each.up): each for each in computed(game).classes}
    for first, second, up in (("8h", "8d", "6c"), ("9h", "7d", "5c"), ("Ah", "7s", "3d")):
        state = _dealt(game, first, second, up)
        known = classes[f"{first[0]},{second[0]}", up[0]]
        values = {act: worth for act, worth in decision_values(state).items() if act != "cash-out"}
        assert values == pytest.approx(known.acts, abs=1e-12)
        assert optimal_act(state) == known.best
        assert rules.decks * 52 - 3 == unseen_cards(state).sum()


def _dealt(game: str, first: str, second: str, up: str) -> RoundState:
    rules = GAMES[game].rules
    player, dealer = iter((first, second)), iter((up,))
    state = open_round(rules, {"s1": {"main": 1000}})
    for step_ in rules.deal_order:
        cards = {"seats": player, "up": dealer}
        state = apply(state, FACE_DOWN if step_ == "down" else next(cards[step_]))
    return state


def test_the_optimal_strategy_takes_the_best_act_whenever_it_sees_every_card() -> None:
    for entry in GAMES.values():

        def choose(state: RoundState) -> str:
            act = optimal_act(state)
            values = decision_values(state)
            split = len(state.hands) > 1
            best = max(worth for name, worth in values.items() if name != "cash-out")
            assert split or values[act] == pytest.approx(best, abs=1e-12)
            return act

        for number in range(150):
            play(entry.rules, shoe_cards(entry.rules, number), choose)


def test_other_seats_cards_count() -> None:
    rules = GAMES["nba"].rules
    values = []
    for neighbour in ("Th", "5h"):
        state = open_round(rules, {"s1": {"main": 1000}, "s2": {"main": 1000}})
        for card in ("Td", neighbour, "Ts", "6d", neighbour, FACE_DOWN):
            state = apply(state, card)
        values.append(decision_values(state))
    with_tens_gone, with_fives_gone = values
    assert with_tens_gone["hit"] > with_fives_gone["hit"]


def test_insurance_is_worth_its_odds_on_the_unseen_tens() -> None:
    state = open_round(GAMES["nba"].rules, {"s1": {"main": 1000}})
    for card in ("9d", "Ac", "8s", FACE_DOWN):
        state = apply(state, card)
    chance = 128 / 413
    assert decision_values(state) == pytest.approx(
        {"insurance": (2 * chance - (1 - chance)) / 2, "decline": 0.0}
    )


def test_a_hand_is_worth_the_same_before_the_check_as_its_two_outcomes() -> None:
    state = open_round(GAMES["nba"].rules, {"s1": {"main": 1000}})
    for card in ("9d", "Ac", "8s", FACE_DOWN):
        state = apply(state, card)
    before = hand_value(state, state.hands[0])
    state = apply(apply(state, "decline"), "no-natural")
    after = max(decision_values(state).values())
    assert before == pytest.approx(128 / 413 * -1 + (1 - 128 / 413) * after)


def test_even_money_is_priced_beside_the_natural() -> None:
    state = open_round(GAMES["zero"].rules, {"s1": {"main": 1000}})
    for card in ("Ad", FACE_DOWN, "Ts", "Ac"):
        state = apply(state, card)
    assert decision_values(state) == pytest.approx(
        {"even-money": 1.0, "decline": 1.5 * (1 - 127 / 413)}
    )


def test_without_a_decision_there_is_nothing_to_value() -> None:
    state = open_round(GAMES["nba"].rules, {"s1": {"main": 1000}})
    with pytest.raises(ValueError, match="no decision"):
        decision_values(state)


def test_a_zapped_pairs_cards_are_known_to_be_gone() -> None:
    rules = GAMES["zappit"].rules
    state = open_round(rules, {"s1": {"main": 1000}})
    for card in ("Td", "7c", "6s", FACE_DOWN):
        state = apply(state, card)
    state = apply(apply(apply(state, "zap"), "5d"), "4d")
    assert unseen_cards(state).sum() == 6 * 52 - 5
    assert unseen_cards(state)[[9, 5]].tolist() == [6 * 16 - 1, 6 * 4 - 1]
