"""What a card or an act does to one hand: every hand there can be, held to the naive settler."""

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoeproof.replay.engine.cards import FACE_DOWN, VALUE
from shoeproof.replay.engine.dealer import EMPTY_DEALER, Dealer, dealer_draws, dealer_step
from shoeproof.replay.engine.hand import (
    EMPTY_HAND,
    INSURANCE_ACTS,
    PLAY_ACTS,
    SPLIT,
    Hand,
    add_card,
    legal_acts,
    split,
    step,
)
from shoeproof.replay.errors import IllegalMove
from shoeproof.replay.games.published import GAMES
from tests.replay import naive
from tests.replay.settlement_table import RANKS, Player, reachable
from tests.strategies import cards

every_game = pytest.mark.parametrize("game", sorted(GAMES))


def _acts_on_this_hand(player: Player) -> list[str]:
    """The acts since the hand was dealt, zapped or split, as the naive settler counts them."""
    acts = list(player.acts)
    return acts[acts.index(SPLIT) + 1 :] if SPLIT in acts else acts


@every_game
def test_every_hand_may_do_what_the_naive_settler_lets_it(game: str) -> None:
    rules = GAMES[game].rules
    undecided = 0
    for player in reachable(rules):
        hand = player.hand
        if hand.owed or hand.over in ("cash_out", "even_money"):
            assert not legal_acts(rules, hand)
            continue
        assert set(legal_acts(rules, hand)) == naive.legal_acts(
            game,
            list(player.cards),
            from_split=hand.origin == "split",
            zapped="zap" in player.acts,
            acts_so_far=_acts_on_this_hand(player),
            up_card="7c",
        ), (player.cards, player.acts)
        undecided += not hand.over
    assert undecided > 300


@every_game
def test_every_hand_refuses_every_other_symbol(game: str) -> None:
    rules = GAMES[game].rules
    for player in reachable(rules):
        hand = player.hand
        legal = legal_acts(rules, hand)
        for act in (*PLAY_ACTS, *INSURANCE_ACTS, FACE_DOWN, "", "Xc"):
            takes_even_money = rules.even_money and hand.over == "natural" and act == "even-money"
            if act == SPLIT or not (act in legal or takes_even_money):
                with pytest.raises(IllegalMove):
                    step(rules, hand, act)
        if not hand.owed:
            with pytest.raises(IllegalMove):
                step(rules, hand, "2c")
        if SPLIT not in legal:
            with pytest.raises(IllegalMove):
                split(rules, hand)


@every_game
def test_every_hand_counts_its_cards_as_the_naive_settler_does(game: str) -> None:
    for player in reachable(GAMES[game].rules):
        hand, held = player.hand, list(player.cards)
        assert (hand.total, hand.soft, hand.count) == (
            naive.total(held) if held else 0,
            bool(held) and naive.is_soft(held),
            len(held),
        )


@every_game
def test_there_are_few_hands(game: str) -> None:
    """Tables for the bulk audit close over them, so they must stay within a few thousand."""
    assert 1_000 < sum(1 for _ in reachable(GAMES[game].rules)) < 4_000


@given(st.lists(cards, min_size=1, max_size=21))
def test_any_cards_count_the_same_in_any_order(held: list[str]) -> None:
    for order in (held, sorted(held), held[::-1]):
        total, soft = 0, False
        for card in order:
            total, soft = add_card(total, soft, card)
        assert (total, soft) == (naive.total(held), naive.is_soft(held))


@every_game
def test_the_dealer_draws_by_the_rule_and_never_otherwise(game: str) -> None:
    rules = GAMES[game].rules
    queue: deque[tuple[Dealer, list[str]]] = deque([(EMPTY_DEALER, [])])
    seen: set[Dealer] = set()
    while queue:
        dealer, held = queue.popleft()
        if dealer in seen:
            continue
        seen.add(dealer)
        if held:
            assert (dealer.total, dealer.soft) == (naive.total(held), naive.is_soft(held))
            assert dealer.natural == naive.is_natural(held)
            assert (dealer.up, dealer.up_value) == (held[0], VALUE[held[0]])
        if len(held) >= 2:
            assert dealer_draws(rules, dealer) == naive.dealer_draws(game, held)
            if not dealer_draws(rules, dealer):
                with pytest.raises(IllegalMove, match="the dealer stands"):
                    dealer_step(rules, dealer, "2c")
                continue
        queue.extend((dealer_step(rules, dealer, card), [*held, card]) for card in RANKS[:10])
    assert max(dealer.count for dealer in seen) <= 13


def test_an_empty_dealer_has_no_up_card() -> None:
    assert EMPTY_DEALER.up_value == 0


@every_game
def test_equal_hands_are_equal_whatever_led_there(game: str) -> None:
    rules = GAMES[game].rules
    one, other = EMPTY_HAND, EMPTY_HAND
    for symbol in ("2c", "7d", "hit", "3s"):
        one = step(rules, one, symbol)
    for symbol in ("5h", "4c", "hit", "3d"):
        other = step(rules, other, symbol)
    assert one == other == Hand(total=12, count=3, owed=0, acted=True)
