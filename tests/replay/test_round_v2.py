"""round/v2: what was offered, that the dealer stopped, and what the screen showed at the end."""

from collections.abc import Sequence

import pytest

from shoeproof.replay.errors import RoundTextError
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.written.adjudicate import Judgement, adjudicate
from shoeproof.replay.written.round_text import (
    ActMove,
    DealMove,
    Move,
    OfferMove,
    Screen,
    StopMove,
    read_round,
    write_round,
)
from tests.replay.helpers import PROJECT

SIXTEEN = ("deal s1 Td", "deal dealer 7c", "deal s1 6h", "deal dealer Td down")
"""NBA's first block pays 0.57 for a hard 16 against a seven."""


def _text(moves: Sequence[str], rest: str = "", *, version: str = "v2", game: str = "nba") -> bytes:
    lines = ", ".join(f'"{move}"' for move in moves)
    head = f'format = "round/{version}"\ngame = "{game}"\nmoves = [{lines}]\n'
    return f"{head}[stakes]\ns1 = 1000\n{rest}".encode()


def _judge(moves: Sequence[str], rest: str = "", game: str = "nba") -> Judgement:
    return adjudicate(read_round(_text(moves, rest, game=game)), GAMES[game].rules, {})


def _said(judgement: Judgement) -> list[tuple[str, int | None, str]]:
    return [(each.code, each.move, each.text) for each in judgement.findings]


def _paid(judgement: Judgement) -> list[int | None]:
    return [bet.paid_minor for bet in judgement.bets]


# Reading and writing


def test_the_example_of_the_specification_is_judged_clean() -> None:
    specification = (PROJECT / "replay" / "README.md").read_text()
    example = specification.split("round/v1 and round/v2")[1].split("```toml\n")[1].split("```")[0]
    judged = adjudicate(read_round(example.encode()), GAMES["nba"].rules, {})
    assert (judged.complete, judged.findings, _paid(judged)) == (True, (), [2000, 0])


def test_every_move_is_read_and_written_back() -> None:
    moves: list[Move] = [
        DealMove("s1", "Kd"),
        DealMove("dealer", "??", down=True),
        DealMove("s1", "??"),
        DealMove("dealer", "??"),
        OfferMove("s1", ("insurance", "decline")),
        OfferMove("s1.2", ("hit", "stand", "cash-out"), (("double", "funds"),), 870),
        OfferMove("s1", (), (("cash-out", "hidden"),)),
        OfferMove("s1", ("cash-out",)),
        ActMove("s1", "cash-out", 0),
        ActMove("s1.1", "stand"),
        StopMove(),
    ]
    text = write_round("nba", {"s1": {"main": 1000}}, moves, {})
    assert text.startswith('format = "round/v2"')
    assert list(read_round(text.encode()).moves) == moves


@pytest.mark.parametrize("move", [DealMove("s1", "Kd"), DealMove("dealer", "??", down=True),
                                  ActMove("s1", "cash-out", 870)])  # fmt: skip
def test_what_round_v1_can_say_is_written_as_round_v1(move: DealMove | ActMove) -> None:
    assert write_round("nba", {"s1": {"main": 1}}, [move], {}).startswith('format = "round/v1"')


@pytest.mark.parametrize("move", [DealMove("s1", "??"), StopMove(), OfferMove("s1", ("hit",))])
def test_what_round_v1_cannot_say_is_written_as_round_v2(
    move: DealMove | StopMove | OfferMove,
) -> None:
    assert write_round("nba", {"s1": {"main": 1}}, [move], {}).startswith('format = "round/v2"')


def test_the_screen_is_read() -> None:
    rest = """
[screen]
currency = "EUR"
balance_before = 0
balance_after = 9007199254740991
paid = { "s1.2 main" = 0, "s1 insurance" = 1500 }
[screen.results]
"s1.2 main" = "lose"
"""
    assert read_round(_text(SIXTEEN, rest)).screen == Screen(
        paid={("s1.2", "main"): 0, ("s1", "insurance"): 1500},
        results={("s1.2", "main"): "lose"},
        balance_before=0,
        balance_after=2**53 - 1,
        currency="EUR",
    )
    assert read_round(_text(SIXTEEN, "[screen]\n")).screen == Screen({}, {})


@pytest.mark.parametrize(
    ("move", "said"),
    [
        ("s1 stnad", "move 4, 's1 stnad': 'stnad' is not an act; acts are hit, stand, double"),
        ("deal s1 10d", "'10d' is not a card; write rank and suit, as Kd or Tc"),
        ("deal s10 Kd", "'s10' gets no card"),
        ("deal dealer Kd up", "only `down`"),
        ("s1.1 insurance", "insurance is answered before any split, by the seat"),
        ("dealer stops short", "a move is 'deal s1 Kd', 's1 hit'"),
        ("s1 offered hit hit", "hit is offered twice"),
        ("s1 offered cash-out 8.70", "'8.70' is not a value in minor units"),
        ("s1 cash-out 99999999999999999", "is not a value in minor units"),
        ("s1 cash-out 9999999999999999", "the value of cash out must be 0 to 9007199254740991"),
    ],
)
def test_an_error_names_the_move_and_what_would_be_right(move: str, said: str) -> None:
    with pytest.raises(RoundTextError) as error:
        read_round(_text([*SIXTEEN, move]))
    assert str(error.value).startswith("move 4, ")
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("move", "rest"),
    [("s1 offered hit", ""), ("dealer stops", ""), ("deal dealer ??", ""), ("s1 hit", "[screen]")],
)
def test_round_v1_names_the_version_that_can_say_it(move: str, rest: str) -> None:
    with pytest.raises(RoundTextError, match='write format = "round/v2"'):
        read_round(_text([*SIXTEEN, move], rest, version="v1"))


def test_an_unreadable_card_of_the_player_is_read_in_round_v1_too() -> None:
    """`??` says there what it always said: nobody knows this card."""
    moves = ["deal s1 Kd", "deal dealer 7c", "deal s1 ??", "deal dealer Td down", "s1 stand"]
    of_v1, of_v2 = (read_round(_text(moves, version=version)) for version in ("v1", "v2"))
    assert of_v1 == of_v2
    judgement = adjudicate(of_v1, GAMES["nba"].rules, {})
    assert (judgement.complete, _paid(judgement), judgement.findings) == (False, [None], ())


# Offers


def test_offers_that_nobody_took_change_no_payment() -> None:
    plain = _judge([*SIXTEEN, "s1 stand"])
    for offer in ("hit", "hit stand split", "cash-out 1", "hit stand double cash-out 999"):
        judged = _judge([*SIXTEEN, f"s1 offered {offer}", "s1 stand"])
        assert judged.bets == plain.bets
        assert judged.complete
        assert {each.move for each in judged.findings} == {4}


def test_a_value_off_the_table_is_told_with_the_right_one() -> None:
    judged = _judge([*SIXTEEN, "s1 offered hit stand double cash-out 571", "s1 cash-out"])
    sentence = "s1 was offered 571 minor units to cash out, the rules' table says 570 minor units"
    assert _said(judged) == [("cash_out_offer_wrong", 4, sentence)]
    assert _paid(judged) == [571]


def test_the_later_of_two_offers_is_the_one_taken() -> None:
    offers = [f"s1 offered hit stand double cash-out {value}" for value in (570, 569)]
    judged = _judge([*SIXTEEN, *offers, "s1 cash-out"])
    assert [each.move for each in judged.findings] == [5]
    assert _paid(judged) == [569]


def test_an_offer_does_not_outlive_the_next_card() -> None:
    """A hit to 18 is priced by the second block: the first offer is not taken after it."""
    judged = _judge([
        *SIXTEEN, "s1 offered hit stand double cash-out 999", "s1 hit", "deal s1 2c", "s1 cash-out",
    ])  # fmt: skip
    rules = _judge([*SIXTEEN, "s1 hit", "deal s1 2c", "s1 cash-out"])
    assert _paid(judged) == _paid(rules) != [999]


def test_a_cash_out_against_the_rules_is_paid_as_it_was_offered() -> None:
    """Zappit has none; this one was shown with a value and taken."""
    judged = _judge([*SIXTEEN, "s1 offered hit stand double zap cash-out 870", "s1 cash-out"],
                    game="zappit")  # fmt: skip
    assert [each.code for each in judged.findings] == ["offer_not_allowed", "illegal_decision"]
    assert _paid(judged) == [870]
    assert not judged.complete


@pytest.mark.parametrize("act", ["s1 cash-out", "s1 cash-out 870"])
def test_a_cash_out_nobody_offered_is_not_paid(act: str) -> None:
    assert _paid(_judge([*SIXTEEN, act], game="zappit")) == [None]
    offered = [*SIXTEEN, "s1 offered hit stand double zap"]
    assert _paid(_judge([*offered, act], game="zappit")) == [None]


def test_an_offer_that_one_of_the_possible_cards_explains_is_no_finding() -> None:
    """A pair of kings may split, and no other two cards of which one is a king."""
    hands = ["deal s1 Kd", "deal dealer 7c", "deal s1 ??", "deal dealer Td down"]
    for offer, found in [
        ("hit stand double split cash-out", []),
        ("hit stand double cash-out", []),
        ("hit stand double zap cash-out", ["offer_not_allowed"]),
        ("hit stand cash-out", ["offer_withheld"]),
        ("hit stand double cash-out 570", []),
        ("hit stand double cash-out 5700", ["cash_out_offer_wrong"]),
    ]:
        judged = _judge([*hands, f"s1 offered {offer}", "s1 stand"])
        assert [each.code for each in judged.findings] == found, offer


# The dealer's end


def test_where_the_dealer_stopped_short_the_total_and_the_rule_are_said() -> None:
    """An ace, a four and a seven are 12, taken for 22 on the screen, which paid."""
    judged = _judge(
        ["deal s1 Td", "deal dealer 4c", "deal s1 2h", "deal dealer Ad down", "s1 stand",
         "deal dealer 7d", "dealer stops"],
        '[screen.paid]\n"s1 main" = 2000\n',
    )  # fmt: skip
    assert _said(judged) == [(
        "card_missing", 6, "the dealer had 12 (4c Ad 7d) and drew no more; by the rules the dealer "
        "draws to 16 and stands on every 17: a card is missing",
    )]  # fmt: skip
    assert _paid(judged) == [None]


def test_on_a_soft_17_the_rules_of_the_game_count() -> None:
    moves = ["deal s1 Td", "deal dealer Ac", "deal s1 9h", "deal dealer 6d down", "s1 decline",
             "s1 stand", "dealer stops"]  # fmt: skip
    assert _said(_judge(moves)) == []
    (finding,) = _judge(moves, game="zappit").findings
    assert "a soft 17 (Ac 6d)" in finding.text
    assert "draws to 16 and on a soft 17" in finding.text


def test_where_every_further_card_pays_alike_that_is_paid() -> None:
    """Zappit's soft 17 against a natural; a 22 in the end pushes no natural."""
    judged = _judge(["deal s1 Td", "deal dealer 6c", "deal s1 Ah", "deal dealer Ad down",
                     "dealer stops"], game="zappit")  # fmt: skip
    assert [each.code for each in judged.findings] == ["card_missing"]
    assert _paid(judged) == [2500]
    assert not judged.complete


def test_an_unknown_hole_card_can_explain_that_the_dealer_stopped() -> None:
    moves = ["deal s1 Td", "deal dealer {}", "deal s1 9h", "deal dealer ?? down", "s1 stand",
             "dealer stops"]  # fmt: skip
    assert _said(_judge([move.format("8c") for move in moves])) == []
    (finding,) = _judge([move.format("3c") for move in moves]).findings
    assert finding.text.startswith("the dealer had 4 to 14 and drew no more") is False
    assert finding.text.startswith("the dealer had 5 to 14 and drew no more")


# The screen


@pytest.mark.parametrize(
    ("screen", "said"),
    [
        ('paid = { "s1 main" = 0 }\nresults = { "s1 main" = "lose" }', None),
        ("balance_before = 10000\nbalance_after = 9000", None),
        ("balance_after = 10000", None),
        ('paid = { "s1 main" = 2000 }',
         "the screen showed 20.00 EUR paid for main of s1, its own cards come to 0.00 EUR (loss)"),
        ('results = { "s1 main" = "push" }',
         "the screen showed 'push' for main of s1; by its own cards it is 'lose'"),
    ],
)  # fmt: skip
def test_the_screen_is_held_to_its_own_cards(screen: str, said: str | None) -> None:
    judged = _judge([*SIXTEEN, "s1 stand"], f'[screen]\ncurrency = "EUR"\n{screen}\n')
    assert [each.text for each in judged.findings] == ([] if said is None else [said])


def test_a_screen_may_contradict_itself_beside_its_cards() -> None:
    moves = [*SIXTEEN, "s1 double", "deal s1 5c"]
    screen = """[screen]
currency = "EUR"
balance_before = 10000
balance_after = 14000
paid = { "s1 main" = 4000 }
results = { "s1 main" = "cash-out" }
"""
    assert [each.text for each in _judge(moves, screen).findings] == [
        "the screen showed 'cash-out' for main of s1; by the amount it showed it is 'win'",
        "the screen's balance was 100.00 EUR; less 20.00 EUR staked and with 40.00 EUR paid it is "
        "120.00 EUR, the screen showed 140.00 EUR",
    ]


def test_of_a_round_not_played_to_its_end_no_balance_is_demanded() -> None:
    screen = '[screen]\nbalance_before = 10000\nbalance_after = 1\npaid = { "s1 main" = 2000 }\n'
    assert not _judge(SIXTEEN, screen).findings
