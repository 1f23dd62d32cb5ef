"""Finding a round by what a player remembers."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import repeat

import pytest
from msgspec.structs import replace

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import BetSettled, CardDealt, EventData, HoleCardShown
from shoeproof.replay.disputes.find import (
    Remembered,
    Result,
    Search,
    SeenHand,
    find_rounds,
    read_card,
)
from shoeproof.replay.engine.hand import DECLINE, STAND
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.errors import DisputeRefused
from shoeproof.replay.live.table import LiveTable
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from tests.audit_reports.helpers import (
    begun,
    closed,
    doubled_push,
    made,
    play,
    settled,
    simple,
    voided,
)
from tests.disputes.live import SETTINGS

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


class SetClock:
    """Stands where it is put."""

    now = NOON

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def ledger(clock: SetClock) -> Ledger:
    return Ledger.in_memory("tests.example/find", clock=clock)


def ids(search: Search) -> list[str]:
    return [each.row.round for each in search.found]


def with_cards(*cards: str) -> list[EventData]:
    begin = begun({"s1": {"main": 100}})
    dealt = [CardDealt(index, "s1", card) for index, card in enumerate(cards[:-1], 1)]
    return closed([*begin, *dealt, HoleCardShown(cards[-1]), settled("s1", 100, 0)])


@pytest.mark.parametrize("words", ["2.00", "1", "2", "1.0"])
def test_a_stake_is_what_was_laid_at_first_or_in_the_end(ledger: Ledger, words: str) -> None:
    doubled, other = play(ledger, doubled_push()), play(ledger, simple(0, 700))
    found = find_rounds(ledger, Remembered(player="p-7f", staked=Decimal(words)))
    assert ids(found) == [doubled]
    assert other not in ids(found)


def test_a_stake_may_be_that_of_one_bet(ledger: Ledger) -> None:
    round_id = play(ledger, begun({"s1": {"main": 100, "perfect_pairs": 30}}))
    assert ids(find_rounds(ledger, Remembered(player="p-7f", staked=Decimal("0.3")))) == [round_id]


def test_amounts_are_in_the_currency_of_the_round(ledger: Ledger) -> None:
    yen = play(ledger, simple(0, 1250, currency="JPY"))
    euro = play(ledger, simple(0, 125_000))
    assert ids(find_rounds(ledger, Remembered(player="p-7f", staked=Decimal(1250)))) == [euro, yen]
    assert ids(find_rounds(ledger, Remembered(player="p-7f", staked=Decimal("12.5")))) == []


def test_amounts_have_the_places_recorded_with_the_round(ledger: Ledger) -> None:
    coins = play(ledger, simple(0, 100_000, currency="BTC", exponent=8))
    euro = play(ledger, simple(0, 100_000))
    unknown = play(ledger, simple(0, 100_000, currency="BTC"))

    def staked(words: str) -> list[str]:
        return ids(find_rounds(ledger, Remembered(player="p-7f", staked=Decimal(words))))

    assert staked("0.001") == [coins]
    assert staked("1000") == [euro]
    assert staked("100000") == [unknown]


def test_paid_nothing_is_of_the_whole_round(ledger: Ledger) -> None:
    bets = {"s1": {"main": 100, "perfect_pairs": 10}}
    won = [settled("s1", 100, 200), settled("s1", 10, 0, "perfect_pairs")]
    play(ledger, closed([*begun(bets), *won]))
    lost = play(ledger, simple(0))
    assert ids(find_rounds(ledger, Remembered(player="p-7f", paid=Decimal(0)))) == [lost]


def test_what_a_void_gave_back_was_paid(ledger: Ledger) -> None:
    round_id = play(ledger, voided(4_400))
    assert ids(find_rounds(ledger, Remembered(player="p-7f", paid=Decimal(44)))) == [round_id]


def test_cards_count_as_often_as_they_are_named(ledger: Ledger) -> None:
    two = play(ledger, with_cards("Ks", "Kh", "5d"))
    one = play(ledger, with_cards("Ks", "4h", "5d"))
    for cards, wanted in (
        (("Ks",), [one, two]),
        (("K", "K"), [two]),
        (("Ks", "K"), [two]),
        (("Ks", "Ks"), []),
        (("5d", "4h"), [one]),
    ):
        assert ids(find_rounds(ledger, Remembered(player="p-7f", cards=cards))) == wanted, cards


def test_the_players_cards_are_not_the_dealers(ledger: Ledger) -> None:
    round_id = play(ledger, with_cards("Ks", "Kh", "5d"))
    for remembered, wanted in (
        (Remembered(player="p-7f", player_cards=("K", "K")), [round_id]),
        (Remembered(player="p-7f", dealer_cards=("5d",)), [round_id]),
        (Remembered(player="p-7f", player_cards=("5",)), []),
        (Remembered(player="p-7f", dealer_cards=("K",)), []),
    ):
        assert ids(find_rounds(ledger, remembered)) == wanted


def test_a_bet_is_remembered_with_how_it_ended(ledger: Ledger) -> None:
    add_published_games(ledger)
    bets = begun({"s1": {"main": 100, "perfect_pairs": 10}})
    pair = [settled("s1", 100, 0), settled("s1", 10, 60, "perfect_pairs")]
    insured = [settled("s1", 50, 0, "insurance"), settled("s1", 100, 200)]
    lost_and_paired = play(ledger, closed([*bets, *pair]))
    won_and_insured = play(ledger, closed([*begun({"s1": {"main": 100}}), *insured]))
    pushed, void = play(ledger, simple(100)), play(ledger, voided())
    cases: tuple[tuple[str | None, Result | None, list[str]], ...] = (
        ("insurance", None, [won_and_insured]),
        ("insurance", "lost", [won_and_insured]),
        ("insurance", "won", []),
        ("perfect_pairs", "won", [lost_and_paired]),
        ("main", "lost", [lost_and_paired]),
        (None, "lost", [lost_and_paired]),
        (None, "won", [won_and_insured]),
        ("main", "push", [pushed]),
        (None, "void", [void]),
    )
    for bet, result, wanted in cases:
        asked = Remembered(player="p-7f", bet=bet, result=result)
        assert ids(find_rounds(ledger, asked)) == wanted, (bet, result)


def test_a_bet_that_no_game_has(ledger: Ledger) -> None:
    add_published_games(ledger)
    with pytest.raises(DisputeRefused, match="no game here has a bet 'red'; there is insurance,"):
        find_rounds(ledger, Remembered(player="p-7f", bet="red"))


def test_totals_are_those_the_cards_come_to(ledger: Ledger) -> None:
    """Counted a second time by hand: aces are eleven as long as that does not bust."""
    add_published_games(ledger)
    rules = current_rules(ledger, "nba")
    table = LiveTable(ledger, rules, SETTINGS)
    came_to: dict[str, tuple[int, int, Result]] = {}
    for _ in range(60):
        live = table.open_round("p-1")
        live.deal({"s1": {"main": 1_000}})
        while isinstance(live.due, Decide):
            live.decide(live.due.hand, STAND if STAND in live.offered else DECLINE)
        came_to[live.round_id] = by_hand(ledger, live.round_id)
    for total, dealer_total, result in set(came_to.values()):
        asked = Remembered(player="p-1", total=total, dealer_total=dealer_total, result=result)
        wanted = {each for each, known in came_to.items() if known == (total, dealer_total, result)}
        assert {*ids(find_rounds(ledger, asked, most=100))} == wanted


def by_hand(ledger: Ledger, round_id: str) -> tuple[int, int, Result]:
    """Both totals and the result of a round in which nobody split."""
    cards: dict[str, str] = {"s1": "", "dealer": ""}
    result: Result = "void"
    for recorded in ledger.events(round_id):
        match recorded.event.data:
            case CardDealt(card=str(card), receiver=receiver):
                cards[receiver] += card[0]
            case HoleCardShown(card=card):
                cards["dealer"] += card[0]
            case BetSettled(stake_minor=stake, paid_minor=paid):
                result = "won" if paid > stake else "push" if paid == stake else "lost"
    worth = {**{str(pips): pips for pips in range(2, 10)}, "A": 1} | dict.fromkeys("TJQK", 10)
    totals = []
    for held in cards.values():
        low = sum(worth[rank] for rank in held)
        totals.append(low + 10 if "A" in held and low <= 11 else low)
    return totals[0], totals[1], result


def test_of_a_split_seat_the_total_and_the_result_are_of_one_hand(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    hands = (SeenHand("s1.1", "s1", ("8s", "Td"), 18), SeenHand("s1.2", "s1", ("8h", "3c"), 11))
    dealer = SeenHand("dealer", "dealer", ("Ts", "7s"), 17)
    monkeypatch.setattr(
        "shoeproof.replay.disputes.find._with_totals",
        lambda candidate, *_: replace(candidate, hands=hands, dealer=dealer),
    )
    main = [settled("s1.1", 100, 200), settled("s1.2", 100, 0)]
    insurance = settled("s1", 50, 0, "insurance")
    bets = [*begun({"s1": {"main": 100}}), made("s1", "split", 100), insurance, *main]
    round_id = play(ledger, closed(bets))
    cases: tuple[tuple[int, str | None, Result | None, bool], ...] = (
        (18, None, "won", True),
        (18, None, "lost", False),
        (11, "main", "lost", True),
        (11, "insurance", "lost", True),
        (12, None, None, False),
    )
    for total, bet, result, is_found in cases:
        asked = Remembered(player="p-7f", total=total, bet=bet, result=result)
        assert ids(find_rounds(ledger, asked)) == [round_id] * is_found, (total, bet, result)


def test_a_round_that_cannot_be_followed_may_have_any_total(ledger: Ledger) -> None:
    round_id = play(ledger, simple(0))
    (found,) = find_rounds(ledger, Remembered(player="p-7f", total=20, dealer_total=19)).found
    assert (found.row.round, found.dealer, found.hands) == (round_id, None, ())


def test_a_round_is_found_by_any_moment_it_was_played_at(ledger: Ledger, clock: SetClock) -> None:
    first, *rest = simple(0)
    round_id = play(ledger, [first])
    clock.now = NOON + timedelta(minutes=30)
    ledger.append(*zip(repeat(round_id), rest))
    for begin, end, wanted in (
        (-10, 0, []),
        (-10, 1, [round_id]),
        (10, 20, [round_id]),
        (30, 40, [round_id]),
        (31, 40, []),
    ):
        begins, ends = (NOON + timedelta(minutes=each) for each in (begin, end))
        for player in (None, "p-7f"):
            found = find_rounds(ledger, Remembered(player=player, begin=begins, end=ends))
            assert ids(found) == wanted, (begin, end)


def test_a_round_still_open_is_found_by_its_player_for_ever(
    ledger: Ledger, clock: SetClock
) -> None:
    round_id = play(ledger, begun({"s1": {"main": 100}}))
    later = NOON + timedelta(days=40)
    assert ids(find_rounds(ledger, Remembered(player="p-7f", begin=later))) == [round_id]
    assert ids(find_rounds(ledger, Remembered(begin=later))) == []


def test_a_search_tells_how_far_it_went(ledger: Ledger) -> None:
    for _ in range(5):
        play(ledger, simple(0))
    search = find_rounds(ledger, Remembered(player="p-7f", paid=Decimal(9)))
    assert (ids(search), search.read, search.size) == ([], 5, ledger.size())
    assert search.complete
    some = find_rounds(ledger, Remembered(player="p-7f"), most=2)
    assert (len(some.found), some.read, some.complete) == (2, 2, False)


def test_a_search_that_nothing_narrows_is_refused(ledger: Ledger) -> None:
    with pytest.raises(DisputeRefused, match="give the player or a start time"):
        find_rounds(ledger, Remembered(paid=Decimal(1)))


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("Qs", "Qs"),
        ("qS", "Qs"),
        ("10d", "Td"),
        ("10♦", "Td"),
        ("A♥", "Ah"),
        ("k", "K"),
        ("10", "T"),
    ],
)
def test_cards_as_people_write_them(words: str, code: str) -> None:
    assert read_card(words) == code


@pytest.mark.parametrize("words", ["", "11d", "A2", "Qx", "joker", "1", "♠"])
def test_what_is_no_card(words: str) -> None:
    with pytest.raises(DisputeRefused, match="is not a card"):
        read_card(words)
