"""Cards nobody can read: what is decided is what every card that can lie there pays alike.

The second method is the naive settler, asked about each of those cards in turn.
"""

from collections import Counter
from collections.abc import Sequence

import msgspec
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shoeproof.replay.engine.cards import FACE_DOWN, PACK, VALUE
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.written.adjudicate import Judgement, adjudicate
from shoeproof.replay.written.round_text import (
    DealMove,
    Move,
    RoundText,
    StopMove,
    read_round,
    write_round,
)
from tests.replay.helpers import at_random, drawn_from, play, written
from tests.replay.naive_record import agreed, every_reading, naive_payments
from tests.strategies import Setting, settings_of_a_round

TABLE = "[stakes]\ns1 = 1000\n"


def _judge(game: str, moves: Sequence[str], stakes: str = TABLE) -> Judgement:
    lines = ", ".join(f'"{move}"' for move in moves)
    text = read_round(f'format="round/v2"\ngame="{game}"\nmoves=[{lines}]\n{stakes}'.encode())
    return adjudicate(text, GAMES[game].rules, {})


def _paid(judgement: Judgement) -> dict[tuple[str, str], int | None]:
    return {(bet.hand, bet.bet): bet.paid_minor for bet in judgement.bets}


def _one_or_two_seats(setting: Setting) -> Setting:
    seats = sorted(setting.stakes)[:2]
    return setting._replace(stakes={seat: setting.stakes[seat] for seat in seats})


def _moves(setting: Setting) -> list[Move]:
    cards = drawn_from(setting.pack, setting.random)
    rules = GAMES[setting.game].rules
    return written(list(play(rules, setting.stakes, cards, at_random(setting.random))))


def _hidden(moves: Sequence[Move], places: Sequence[int]) -> list[Move]:
    return [
        msgspec.structs.replace(move, card=FACE_DOWN) if number in places else move
        for number, move in enumerate(moves)
    ]


def _within(moves: Sequence[Move], decks: int) -> bool:
    seen = Counter(move.card for move in moves if isinstance(move, DealMove))
    return all(seen[card] <= decks for card in PACK)


@settings(max_examples=20)
@given(settings_of_a_round(), st.sampled_from([1, 2, 8]), st.data())
def test_unknown_cards_decide_what_every_card_that_fits_pays(
    setting: Setting, decks: int, data: st.DataObject
) -> None:
    """Two cards at any places, the hole card among them, of a shoe that may hold few of a kind."""
    setting = _one_or_two_seats(setting)
    moves = _moves(setting)
    assume(_within(moves, decks))
    dealt = [n for n, move in enumerate(moves) if isinstance(move, DealMove)]
    places = data.draw(st.sets(st.sampled_from(dealt), min_size=1, max_size=2))
    hidden = _hidden(moves, sorted(places))
    rules = msgspec.structs.replace(GAMES[setting.game].rules, decks=decks)
    readings = every_reading(hidden, decks)
    payments = [paid for r in readings if (paid := naive_payments(setting.game, setting.stakes, r))]
    text = RoundText(setting.game, setting.stakes, (*hidden, StopMove()), {})
    judgement = adjudicate(text, rules, {})
    assert not judgement.findings
    right = agreed(payments)
    assert _paid(judgement) == right
    assert judgement.complete == (None not in right.values())
    # Without the word that the dealer stopped, the record may also have been cut short.
    cut = adjudicate(msgspec.structs.replace(text, moves=tuple(hidden)), rules, {})
    assert not cut.findings
    assert all(paid in (None, right[bet]) for bet, paid in _paid(cut).items())


@settings(max_examples=25)
@given(settings_of_a_round(), st.integers(1, 3))
def test_a_dealer_who_stopped_short_owes_what_every_further_draw_pays(
    setting: Setting, cut: int
) -> None:
    setting = _one_or_two_seats(setting)
    moves = _moves(setting)
    draws = 0
    while isinstance(last := moves[-1 - draws], DealMove) and last.receiver == "dealer":
        if last.down or len(moves) - draws <= 2 * len(setting.stakes) + 2:
            break
        draws += 1
    assume(draws >= 1)
    assume(_within(moves, 6))
    kept = moves[: len(moves) - min(cut, draws)]
    payments = []
    # Which of equal cards comes changes nothing, so one of each value does.
    of_value = {VALUE[card]: card for card in PACK}
    waiting = [kept]
    while waiting:
        record = waiting.pop()
        paid = naive_payments(setting.game, setting.stakes, record)
        if paid is not None:
            payments.append(paid)
        elif len(record) - len(kept) < 12:
            waiting += [[*record, DealMove("dealer", card)] for card in of_value.values()]
    text = RoundText(setting.game, setting.stakes, (*kept, StopMove()), {})
    judgement = adjudicate(text, GAMES[setting.game].rules, {})
    assert [(each.code, each.move) for each in judgement.findings] == [("card_missing", len(kept))]
    assert _paid(judgement) == agreed(payments)
    assert not judgement.complete


@settings(max_examples=60)
@given(settings_of_a_round(), st.data())
def test_a_round_v1_file_is_judged_alike_as_round_v2(setting: Setting, data: st.DataObject) -> None:
    """Also with its hole card unknown, cut short, or with a move too many."""
    moves = _moves(setting)
    if data.draw(st.booleans()):
        moves = [
            msgspec.structs.replace(m, card=FACE_DOWN) if isinstance(m, DealMove) and m.down else m
            for m in moves
        ]
    moves = moves[: data.draw(st.integers(1, len(moves)))]
    moves.insert(data.draw(st.integers(0, len(moves))), data.draw(st.sampled_from(moves)))
    first = write_round(setting.game, setting.stakes, moves, {})
    assert first.startswith('format = "round/v1"')
    rules = GAMES[setting.game].rules
    of_v1, of_v2 = (
        adjudicate(read_round(text.encode()), rules, {})
        for text in (first, first.replace("round/v1", "round/v2"))
    )
    assert of_v1 == of_v2


def test_an_unknown_hole_card_is_not_taken_for_an_ace_after_a_move_too_many() -> None:
    """A 20 against a ten and an unknown card: no payment, whatever is wrong with the record."""
    judgement = _judge("zero", [
        "deal s1 Td", "deal dealer ?? down", "deal s1 Qh", "deal dealer Kc", "s1 stand", "s1 stand",
    ])  # fmt: skip
    assert [each.code for each in judgement.findings] == ["surplus_move"]
    assert _paid(judgement) == {("s1", "main"): None}


def test_where_cards_differ_and_pay_alike_the_line_says_that_a_card_is_unknown() -> None:
    """A five and a card that stood is at most a soft 16: it loses to 17, and to a natural."""
    moves = ["deal s1 5d", "deal dealer Kc", "deal s1 {}", "deal dealer ?? down", "s1 stand"]
    for card, line in [("??", "card_unknown"), ("Ah", "hole_card_unknown")]:
        said = [move.format(card) for move in moves]
        judgement = _judge("nba", [*said, "dealer stops"])
        assert [(bet.paid_minor, bet.line) for bet in judgement.bets] == [(0, line)]
        assert judgement.complete


def test_a_card_is_not_tried_more_often_than_the_shoe_holds_it() -> None:
    """Of one deck only the eight of spades is left to make the pair: two black eights, 12:1."""
    moves = ["deal s1 8c", "deal s2 8d", "deal dealer 8h", "deal s1 ??", "deal s2 Td",
             "deal dealer Tc down", "s1 split", "deal s1.1 Th", "deal s1.2 Ts", "s1.1 stand",
             "s1.2 stand", "s2 stand", "dealer stops"]  # fmt: skip
    lines = ", ".join(f'"{move}"' for move in moves)
    stakes = "s1 = { main = 1000, perfect_pairs = 100 }\ns2 = 1000"
    text = read_round(
        f'format="round/v2"\ngame="nba"\nmoves=[{lines}]\n[stakes]\n{stakes}'.encode()
    )
    for decks, paid in [(1, 1300), (8, None)]:
        rules = msgspec.structs.replace(GAMES["nba"].rules, decks=decks)
        judgement = adjudicate(text, rules, {})
        assert not judgement.findings
        assert _paid(judgement)["s1", "perfect_pairs"] == paid


def test_more_unknown_cards_than_are_told_apart_leave_open_what_hangs_on_them() -> None:
    """Five seats of which every card is unreadable, with side bets: nothing is decided."""
    seats = [f"s{number}" for number in range(1, 6)]
    cards = [f"deal {seat} ??" for seat in seats]
    moves = [*cards, "deal dealer 8c", *cards, "deal dealer ?? down"]
    stakes = "\n".join(f"{s} = {{ main = 1000, twenty_one_plus_three = 100 }}" for s in seats)
    judgement = _judge("nba", [*moves, *(f"{seat} stand" for seat in seats)], f"[stakes]\n{stakes}")
    assert not judgement.complete
    assert not judgement.findings
    assert set(_paid(judgement).values()) == {None}


def test_a_bet_decided_before_too_many_unknown_cards_stays_decided() -> None:
    """The pair of the first seat lies before the cards that nobody can read."""
    seats = [f"s{number}" for number in range(1, 6)]
    first = ["deal s1 Kd", *(f"deal {seat} 9c" for seat in seats[1:])]
    second = ["deal s1 Kh", *(f"deal {seat} ??" for seat in seats[1:])]
    stakes = "\n".join(f"{s} = {{ main = 1000, perfect_pairs = 100 }}" for s in seats)
    moves = [*first, "deal dealer 8c", *second, "deal dealer ?? down"]
    judgement = _judge("nba", moves, f"[stakes]\n{stakes}")
    assert _paid(judgement)["s1", "perfect_pairs"] == 1300
    assert _paid(judgement)["s2", "perfect_pairs"] is None
