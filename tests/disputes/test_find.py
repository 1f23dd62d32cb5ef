"""Finding a round by what a player remembers."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import repeat

import pytest

from ledger import Ledger
from ledger.events import CardDealt, EventData, HoleCardShown
from replay.disputes.find import Remembered, Search, find_rounds, read_card
from replay.errors import DisputeRefused
from tests.audit_reports.helpers import begun, closed, doubled_push, play, settled, simple, voided

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
    with pytest.raises(DisputeRefused, match="say which player, or from when"):
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
    with pytest.raises(DisputeRefused, match="is no card"):
        read_card(words)
