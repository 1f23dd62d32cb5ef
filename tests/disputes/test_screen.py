"""What a screen showed, held to the ledger and to itself.

The round of the ledger: NBA, s1 has Jd 6d, the dealer Qd up and 9d down, s1 stood and lost 10.00.
"""

from collections.abc import Iterator

import pytest

from shoeproof.ledger import Ledger
from shoeproof.replay.disputes.evidence import gather
from shoeproof.replay.disputes.facts import Facts, establish
from shoeproof.replay.disputes.grounds import bets_of
from shoeproof.replay.disputes.screen import contradictions, differences, shown_bets, shown_minor
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.live.table import LiveTable
from shoeproof.replay.rounds.catalogue import current_rules
from shoeproof.replay.wallet.wallet import MemoryWallet
from shoeproof.replay.written.round_text import RoundText, read_round
from tests.disputes.live import SETTINGS, lost, play
from tests.disputes.money import new_ledger
from tests.disputes.scenario import SCENARIOS, read_scenario
from tests.disputes.shoes import ROUND
from tests.disputes.stage import staged

HANDS = ("deal s1 Jd", "deal dealer Qd", "deal s1 6d", "deal dealer 9d down")
OFFER = "s1 offered hit stand double cash-out 400"
"""NBA's first block pays 0.40 for a hard 16 against a ten."""
NBA = GAMES["nba"].rules


@pytest.fixture
def facts() -> Iterator[Facts]:
    scenario = read_scenario(SCENARIOS / "screen-differs-from-the-ledger.toml")
    with pytest.MonkeyPatch.context() as patch:
        yield establish(gather(staged(scenario, patch), ROUND))


def _shown(
    *moves: str, rest: str = "", head: str = "", stakes: str = "s1 = 1000", game: str = "nba"
) -> RoundText:
    lines = ", ".join(f'"{move}"' for move in moves)
    text = f'format="round/v2"\ngame="{game}"\n{head}\nmoves=[{lines}]\n[stakes]\n{stakes}\n{rest}'
    return read_round(text.encode())


# What agrees with the ledger


@pytest.mark.parametrize(
    "moves",
    [
        (),
        HANDS[:2],
        HANDS,
        (*HANDS, OFFER),
        (*HANDS, "s1 offered hit stand double cash-out", "s1 stand"),
        (*HANDS, OFFER, "s1 stand", "dealer stops"),
        ("deal s1 ??", "deal dealer Qd", "deal s1 6d", "deal dealer ?? down", "s1 stand"),
    ],
    ids=["stakes", "cut", "first-cards", "offer", "value-not-seen", "all", "unreadable"],
)
def test_a_screen_of_the_round_or_of_less_does_not_differ(
    facts: Facts, moves: tuple[str, ...]
) -> None:
    shown = _shown(*moves)
    assert differences(facts, bets_of(facts), shown) == []
    assert contradictions(shown, NBA) == []
    assert shown_minor(facts, shown) == 0


def test_what_the_screen_says_it_paid_is_what_it_showed(facts: Facts) -> None:
    for rest in ('[expect]\n"s1 main" = 2000', '[screen.paid]\n"s1 main" = 2000'):
        shown = _shown(*HANDS[:2], rest=rest)
        assert shown_bets(facts, shown)["s1", "main"].paid_minor == 2000
        assert shown_minor(facts, shown) == 2000
    both = _shown(rest='[expect]\n"s1 main" = 1\n[screen.paid]\n"s1 main" = 2000')
    assert shown_minor(facts, both) == 2000


# What differs


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        (_shown(*HANDS[:3], "deal dealer 5d down"),
         "the screen showed 'deal dealer 5d down' where the ledger has 'deal dealer 9d down'"),
        (_shown(*HANDS, "s1 hit", "deal s1 5h"),
         "the screen showed 's1 hit' where the ledger has 's1 stand'"),
        (_shown(*HANDS, "s1 stand", "deal dealer 2c"),
         "the screen showed 'deal dealer 2c', which the ledger does not have"),
        (_shown(*HANDS, "dealer stops"),
         "the screen showed 'dealer stops' where the ledger has 's1 stand'"),
        (_shown(*HANDS[:2], "deal s1 ??", "deal s1 9d"),
         "the screen showed 'deal s1 9d' where the ledger has 'deal dealer 9d down'"),
        (_shown(stakes="s1 = 2000"),
         "the screen showed a main stake of 20.00 EUR at s1, the ledger has 10.00 EUR"),
        (_shown(stakes="s2 = 1000"),
         "the screen showed a main stake of 10.00 EUR at s2, the ledger has -"),
        (_shown(*HANDS, "s1 offered hit stand double split cash-out 400"),
         "the screen offers split to s1, the ledger does not"),
        (_shown(*HANDS, "s1 offered hit stand double"),
         "the ledger offers cash-out to s1, the screen does not"),
        (_shown(*HANDS, "s1 offered hit stand double cash-out 401"),
         "the screen offered 4.01 EUR to cash out s1, the ledger has 4.00 EUR"),
        (_shown(*HANDS, "s1 stand", "s1 offered hit stand"),
         "the screen showed 's1 offered hit stand', an offer the ledger does not have there"),
        (_shown(rest='[screen.paid]\n"s1 main" = 2000'),
         "the screen showed 20.00 EUR paid for main of s1, the ledger has 0.00 EUR"),
        (_shown(rest='[screen.paid]\n"s1 insurance" = 1500'),
         "the screen showed insurance of s1 settled, the ledger has no such bet"),
        (_shown(rest='[screen.results]\n"s1 main" = "win"'),
         "the screen showed 'win' for main of s1, the ledger has 'lose'"),
    ],
)  # fmt: skip
def test_a_difference_is_one_sentence(facts: Facts, shown: RoundText, said: str) -> None:
    assert differences(facts, bets_of(facts), shown) == [said]


def test_an_offer_after_another_act_is_not_told_besides(facts: Facts) -> None:
    shown = _shown(*HANDS, OFFER, "s1 hit", "deal s1 2c", "s1 offered hit stand cash-out 100")
    assert differences(facts, bets_of(facts), shown) == [
        "the screen showed 's1 hit' where the ledger has 's1 stand'"
    ]


@pytest.mark.parametrize(
    ("head", "rest"),
    [
        ('currency = "JPY"', '[expect]\n"s1 main" = 2000'),
        ('currency = "JPY"', '[screen.paid]\n"s1 main" = 2000'),
        ("", '[screen]\ncurrency = "JPY"\npaid = { "s1 main" = 2000 }'),
        ('currency = "JPY"', ""),
    ],
)
def test_an_amount_in_another_currency_is_no_amount_of_the_round(
    facts: Facts, head: str, rest: str
) -> None:
    """2,000 JPY is not 20.00 EUR, and a stake of 1,000 JPY is not one of 10.00 EUR."""
    shown = _shown(*HANDS, head=head, rest=rest)
    (said,) = differences(facts, bets_of(facts), shown)
    assert said.startswith("the screen showed amounts in JPY, the round is in EUR")
    assert shown_minor(facts, shown) is None
    assert {each.paid_minor for each in shown_bets(facts, shown).values()} == {None}


def test_in_another_currency_cards_and_bets_are_compared_all_the_same(facts: Facts) -> None:
    shown = _shown(
        *HANDS[:3], "deal dealer 5d down", head='currency = "JPY"', stakes="s1 = 7\ns2 = 7",
        rest='[screen.results]\n"s1 main" = "win"',
    )  # fmt: skip
    first, *others = differences(facts, bets_of(facts), shown)
    assert "JPY" in first
    assert others == [
        "the screen showed a main stake at s2, the ledger has no such bet",
        "the screen showed 'deal dealer 5d down' where the ledger has 'deal dealer 9d down'",
        "the screen showed 'win' for main of s1, the ledger has 'lose'",
    ]


def test_the_currency_of_the_round_is_no_difference(facts: Facts) -> None:
    assert not differences(
        facts, bets_of(facts), _shown(*HANDS, head='currency = "EUR"', rest="[screen]")
    )


def test_a_screen_of_another_game_shows_no_amount_of_the_round(facts: Facts) -> None:
    shown = _shown(*HANDS, game="zappit", rest='[screen.paid]\n"s1 main" = 2000')
    assert (
        differences(facts, bets_of(facts), shown)[0]
        == "the screen showed zappit, the round is of nba"
    )
    assert shown_minor(facts, shown) is None
    assert shown_bets(facts, shown)["s1", "main"].paid_minor is None


# Balances


@pytest.fixture
def paid_round() -> tuple[Ledger, str]:
    """A round of a table with a wallet, which held 500.00 before it."""
    ledger = new_ledger()
    table = LiveTable(ledger, current_rules(ledger, "nba"), SETTINGS, wallet=MemoryWallet(50_000))
    live = table.open_round("p-1")
    live.deal({"s1": {"main": 1_000}})
    while isinstance(live.due, Decide):
        live.decide(live.due.hand, "stand" if "stand" in live.offered else "decline")
    return ledger, live.round_id


def test_balances_are_held_to_the_wallet(paid_round: tuple[Ledger, str]) -> None:
    ledger, round_id = paid_round
    facts = establish(gather(ledger, round_id))
    assert facts.replay is not None
    after = 50_000 - 1_000 + sum(each.paid_minor for each in facts.replay.settled.values())
    right = f"[screen]\nbalance_before = 50000\nbalance_after = {after}\n"
    assert differences(facts, bets_of(facts), _shown(rest=right)) == []
    wrong = f"[screen]\nbalance_before = 50001\nbalance_after = {after + 5}\n"
    first, second = differences(facts, bets_of(facts), _shown(rest=wrong))
    assert first == (
        "the screen showed a balance of 500.01 EUR before the round, the wallet recorded 500.00 EUR"
    )
    assert "after the round" in second
    yen = wrong.replace("[screen]", '[screen]\ncurrency = "JPY"')
    (only,) = differences(facts, bets_of(facts), _shown(rest=yen))
    assert "JPY" in only


def test_without_a_wallet_no_balance_differs() -> None:
    ledger = new_ledger()
    facts = establish(gather(ledger, play(ledger, lost)))
    assert not differences(
        facts, bets_of(facts), _shown(rest="[screen]\nbalance_before = 1\nbalance_after = 2")
    )


# What contradicts itself


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        (_shown(*HANDS, "s1 stand", rest='[screen.paid]\n"s1 main" = 2000'),
         "the screen showed 20.00 EUR paid for main of s1, its own cards come to 0.00 EUR (loss)"),
        (_shown(*HANDS, "s1 stand", rest='[expect]\n"s1 main" = 2000'),
         "the screen showed 20.00 EUR paid for main of s1, its own cards come to 0.00 EUR (loss)"),
        (_shown(*HANDS, "s1 stand", rest="[screen]\nbalance_before = 10000\nbalance_after = 9500"),
         "the screen's balance was 100.00 EUR; less 10.00 EUR staked and with 0.00 EUR paid it is "
         "90.00 EUR, the screen showed 95.00 EUR"),
        (_shown(*HANDS, "s1 stand", game="zappit", rest='[screen.paid]\n"s1 main" = 2000'),
         "the screen showed 20.00 EUR paid for main of s1, its own cards come to 0.00 EUR (loss)"),
        (_shown(*HANDS, "s1 stand", head='currency = "EUR"', rest='[screen]\ncurrency = "JPY"'),
         "the screen's amounts are in JPY, the stakes in EUR: they cannot be compared"),
        (_shown(*HANDS, "s1 stand", game="poker", rest='[screen.paid]\n"s1 main" = 2000'), None),
        (_shown(*HANDS, "s1 stand", rest='[screen.paid]\n"s1 lucky_ladies" = 2000'), None),
    ],
)  # fmt: skip
def test_a_screen_that_contradicts_itself_is_said_to(shown: RoundText, said: str | None) -> None:
    wanted = [] if said is None else [f"the screen contradicts itself: {said}"]
    assert contradictions(shown, NBA, "EUR") == wanted


def test_a_card_seen_more_often_than_the_shoe_holds_it() -> None:
    """Three seats show the two of clubs nine times; eight decks hold eight."""
    seats = ("s1", "s2", "s3", "s4", "s5")
    moves = [*(f"deal {seat} 2c" for seat in seats), "deal dealer 9d",
             *(f"deal {seat} 2c" for seat in seats)]  # fmt: skip
    shown = _shown(*moves, stakes="\n".join(f"{seat} = 1000" for seat in seats))
    assert contradictions(shown, NBA) == [
        "the screen contradicts itself: 2c came 9 times; 8 decks hold 8"
    ]


def test_a_dealer_who_stopped_short_is_no_contradiction_of_the_screen() -> None:
    """It showed an ace, a four and a seven as 22 and paid: the fault is the dealer's."""
    shown = _shown(
        "deal s1 Td", "deal dealer 4c", "deal s1 2h", "deal dealer Ad down", "s1 stand",
        "deal dealer 7d", "dealer stops",
        rest='[screen]\nbalance_before = 10000\nbalance_after = 11000\npaid = {"s1 main" = 2000}',
    )  # fmt: skip
    assert contradictions(shown, NBA) == []
