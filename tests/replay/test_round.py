"""What holds of every round, whatever the cards and whoever plays; held to the naive settler."""

from collections import Counter
from fractions import Fraction
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoeproof.replay.engine.cards import FACE_DOWN, PACK
from shoeproof.replay.engine.hand import INSURANCE_ACTS, PLAY_ACTS
from shoeproof.replay.engine.outcomes import Outcome, outcomes, total_staked_minor
from shoeproof.replay.engine.round import (
    Check,
    Deal,
    Decide,
    RoundState,
    Settle,
    Show,
    added_stake_minor,
    apply,
    describe,
    open_round,
)
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.engine.settlement import win_minor
from shoeproof.replay.errors import IllegalMove, StakeRefused
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.written.adjudicate import adjudicate
from shoeproof.replay.written.round_text import MAX_MINOR, DealMove, read_round, write_round
from tests.replay import naive
from tests.replay.helpers import Played, at_random, drawn_from, play, prefer, written
from tests.replay.shadow import Shadow
from tests.strategies import Setting, settings_of_a_round

SYMBOLS = (*PLAY_ACTS, *INSURANCE_ACTS, *PACK[:13], FACE_DOWN, "natural", "no-natural", "", "1c")


def _played(setting: Setting) -> list[Played]:
    cards = drawn_from(setting.pack, setting.random)
    rules = GAMES[setting.game].rules
    return list(play(rules, setting.stakes, cards, at_random(setting.random)))


def _paid(bets: list[Outcome]) -> dict[tuple[str, str], int | None]:
    return {(bet.hand, bet.bet): bet.paid_minor for bet in bets}


@settings(max_examples=400)
@given(settings_of_a_round())
def test_the_engine_allows_and_pays_what_the_naive_settler_does(setting: Setting) -> None:
    shadow = Shadow(setting.game, setting.stakes)
    last = None
    for move in _played(setting):
        due = move.before.due
        if isinstance(due, Decide) and "decline" in due.legal:
            assert shadow.question(due.hand) in due.legal
        elif isinstance(due, Decide):
            assert set(due.legal) == shadow.legal(due.hand)
            if "cash-out" in due.legal:
                assert due.cash_out_minor == shadow.cash_out_value(due.hand)
        elif isinstance(due, Check):
            assert naive.dealer_checks(setting.game, shadow.up)
        elif isinstance(due, Deal) and len(move.before.dealer_cards) >= 2:
            assert naive.dealer_draws(setting.game, shadow.dealer)
        shadow.take(move)
        last = move.after
    assert last is not None
    if not shadow.found_at_check:
        assert not naive.dealer_draws(setting.game, shadow.dealer)
        assert all(not shadow.legal(name) for name in shadow.hands)
    assert _paid(outcomes(last)) == shadow.paid()


@settings(max_examples=200)
@given(settings_of_a_round())
def test_a_decided_bet_never_changes(setting: Setting) -> None:
    moves = _played(setting)
    final = {(bet.hand, bet.bet): bet for bet in outcomes(moves[-1].after)}
    for move in moves:
        for bet in outcomes(move.before):
            if bet.paid_minor is not None:
                assert final[bet.hand, bet.bet] == bet


def _most_a_line_pays(rules: Rules) -> Fraction:
    odds = [
        Fraction(line.pays)
        for line in rules.settlement
        if line.pays not in ("push", "lose", "offer")
    ]
    return max(odds)


@settings(max_examples=200)
@given(settings_of_a_round())
def test_chips_are_conserved(setting: Setting) -> None:
    """No bet is paid beyond the best line of its table, no seat lays more than its acts allow.

    A seat's main bets come to four initial stakes at most (a split, both hands doubled), its
    insurance to half of one; each stake wins at most the best odds, rounded half up.
    """
    rules = GAMES[setting.game].rules
    moves = _played(setting)
    bets = outcomes(moves[-1].after)
    added = sum(added_stake_minor(move.before, move.symbol) for move in moves)
    initial = sum(sum(of_seat.values()) for of_seat in setting.stakes.values())
    assert total_staked_minor(bets) == initial + added
    best = {"main": _most_a_line_pays(rules)}
    best |= {name: max(bet.pays.values()) for name, bet in rules.side_bets.items()}
    assert rules.insurance is not None
    best["insurance"] = rules.insurance.odds
    for bet in bets:
        assert bet.paid_minor is not None
        most = bet.stake_minor + win_minor(best[bet.bet], bet.stake_minor, rules.rounding)
        assert 0 <= bet.paid_minor <= most
    for seat, of_seat in setting.stakes.items():
        mine = [bet for bet in bets if bet.seat == seat]
        main = sum(bet.stake_minor for bet in mine if bet.bet == "main")
        assert main in (of_seat["main"] * times for times in (1, 2, 3, 4))
        insurance = sum(bet.stake_minor for bet in mine if bet.bet == "insurance")
        assert insurance in (0, of_seat["main"] // 2)


@settings(max_examples=200)
@given(settings_of_a_round())
def test_no_sequence_of_legal_moves_gets_stuck(setting: Setting) -> None:
    """A hand of 21 aces is 21, so no hand takes more than 21 cards and 21 acts.

    A seat answers once and has two hands at most, or one that is zapped; the dealer's rule takes
    13 cards at most, looks at the hole card once and turns it over once.
    """
    most = len(setting.stakes) * (1 + 2 * 2 * 21 + 3) + 13 + 2
    for number, move in enumerate(_played(setting)):
        assert number < most
        due = move.before.due
        assert not isinstance(due, Settle)
        assert not isinstance(due, Decide) or due.legal


def _fits(state: RoundState, symbol: str) -> bool:
    due = state.due
    if isinstance(due, Deal):
        return symbol == FACE_DOWN if due.down else symbol in PACK
    if isinstance(due, Decide):
        return symbol in due.legal
    if isinstance(due, Check):
        return symbol in ("natural", "no-natural")
    return isinstance(due, Show) and symbol in PACK


@settings(max_examples=60)
@given(settings_of_a_round())
def test_every_illegal_move_is_refused_and_changes_nothing(setting: Setting) -> None:
    moves = _played(setting)
    for state in [*(move.before for move in moves), moves[-1].after]:
        as_it_was = msgspec.json.encode((state.seats, state.hands, state.dealer, state.due))
        for symbol in SYMBOLS:
            if not _fits(state, symbol):
                with pytest.raises(IllegalMove):
                    apply(state, symbol)
            else:
                apply(state, symbol)
        now = msgspec.json.encode((state.seats, state.hands, state.dealer, state.due))
        assert now == as_it_was


@settings(max_examples=150)
@given(settings_of_a_round())
def test_a_round_as_text_is_judged_as_it_was_paid(setting: Setting) -> None:
    moves = _played(setting)
    rules = GAMES[setting.game].rules
    paid = _paid(outcomes(moves[-1].after))
    expect = {bet: amount for bet, amount in paid.items() if amount is not None}
    text = write_round(setting.game, setting.stakes, written(moves), expect, name='the "first"')
    read = read_round(text.encode())
    assert read.stakes == setting.stakes
    assert list(read.moves) == written(moves)
    assert read.expect == expect
    judgement = adjudicate(read, rules, {})
    seen = Counter(move.card for move in written(moves) if isinstance(move, DealMove))
    if any(seen[card] > rules.decks for card in PACK):
        # What was paid may then differ from what the hands still come to.
        codes = {found.code for found in judgement.findings}
        assert codes - {"expect_mismatch"} == {"card_impossible"}
        return
    assert judgement.complete
    assert not judgement.findings
    assert _paid(list(judgement.bets)) == paid


@settings(max_examples=150)
@given(settings_of_a_round())
def test_an_unknown_hole_card_leaves_open_only_what_hangs_on_it(setting: Setting) -> None:
    moves = _played(setting)
    lines = [str(line) for line in written(moves)]
    lines = [f"{line.rsplit(' ', 2)[0]} ?? down" if "down" in line else line for line in lines]
    text = write_round(setting.game, setting.stakes, [], {}).replace(
        "moves = [", "moves = [" + ", ".join(f'"{line}"' for line in lines)
    )
    judgement = adjudicate(read_round(text.encode()), GAMES[setting.game].rules, {})
    if judgement.findings:
        assert {found.code for found in judgement.findings} <= {"card_impossible"}
        return
    paid = _paid(outcomes(moves[-1].after))
    for bet in judgement.bets:
        assert bet.paid_minor in (None, paid[bet.hand, bet.bet])


# What a round opens with

BAD_STAKES = {
    "no-seat": {},
    "a-seat-the-table-lacks": {"s6": {"main": 100}},
    "seat-zero": {"s0": {"main": 100}},
    "a-side-bet-without-a-main-stake": {"s1": {"perfect_pairs": 100}},
    "a-bet-the-game-lacks": {"s1": {"main": 100, "lucky_ladies": 100}},
    "nothing": {"s1": {"main": 0}},
    "less-than-nothing": {"s1": {"main": -1}},
    "half-a-unit": {"s1": {"main": 0.5}},
    "a-truth-value": {"s1": {"main": True}},
    "words": {"s1": {"main": "100"}},
}


@pytest.mark.parametrize("name", BAD_STAKES)
def test_stakes_refused(name: str) -> None:
    stakes: Any = BAD_STAKES[name]
    with pytest.raises(StakeRefused):
        open_round(GAMES["nba"].rules, stakes)


@pytest.mark.parametrize(("game", "seats"), [("zappit", 3), ("zero", 5), ("nba", 5)])
def test_a_table_has_its_seats_and_no_more(game: str, seats: int) -> None:
    rules = GAMES[game].rules
    full = {f"s{number}": {"main": 100} for number in range(1, seats + 1)}
    assert len(open_round(rules, full).seats) == seats
    with pytest.raises(StakeRefused):
        open_round(rules, {f"s{seats + 1}": {"main": 100}})


@given(st.integers(2, MAX_MINOR))
def test_the_largest_stakes_are_paid_to_the_unit(stake: int) -> None:
    """A natural at 3:2 and its lost insurance, without a float between."""
    cards = iter(["Ac", "Ad", "Kc", "6d", "9s"])
    moves = list(play(GAMES["nba"].rules, {"s1": {"main": stake}}, cards, prefer("insurance")))
    paid = _paid(outcomes(moves[-1].after))
    assert paid == {("s1", "main"): stake + (3 * stake + 1) // 2, ("s1", "insurance"): 0}


# Order of play


def test_what_is_due_can_be_said_in_words() -> None:
    cards = drawn_from(["Ac", "8d"], random := Random(4))
    stakes = {"s1": {"main": 100}}
    said = set()
    for _ in range(30):
        for move in play(GAMES["zappit"].rules, stakes, cards, at_random(random)):
            said.add(describe(move.before.due).split(" (")[0])
            assert added_stake_minor(move.before, "stand") == 0
    assert {"a card to s1", "a card to dealer, face down", "the hole card"} <= said
    assert {"the check for a natural", "a decision of s1", "a decision of s1.2"} <= said


@pytest.mark.parametrize(
    ("game", "order"),
    [
        ("zappit", ["s1", "s3", "dealer", "s1", "s3", "dealer down"]),
        ("zero", ["s1", "s3", "dealer down", "s1", "s3", "dealer"]),
        ("nba", ["s1", "s3", "dealer", "s1", "s3", "dealer down"]),
    ],
)
def test_the_initial_deal_goes_round_in_order(game: str, order: list[str]) -> None:
    cards = iter(["7c", "7d", "7h", "9c", "9d", "9h", "Tc", "Td"])
    stakes = {"s1": {"main": 100}, "s3": {"main": 100}}
    dealt = []
    for move in play(GAMES[game].rules, stakes, cards, prefer("stand")):
        if isinstance(due := move.before.due, Deal):
            dealt.append(f"{due.receiver}{' down' if due.down else ''}")
    assert dealt[:6] == order


def test_a_split_hand_is_finished_before_its_sister_begins() -> None:
    cards = iter(["8c", "6d", "8h", "Td", "2c", "3c", "9c", "9d", "Tc"])
    asked = []
    for move in play(GAMES["zero"].rules, {"s1": {"main": 100}}, cards, prefer("split", "stand")):
        if isinstance(due := move.before.due, Decide):
            asked.append(due.hand)
    assert asked == ["s1", "s1.1", "s1.2"]
