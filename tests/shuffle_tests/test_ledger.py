"""What is read from a ledger, and what it must not show: repeats, late commitments, gaps."""

from collections.abc import Callable, Iterable
from datetime import timedelta
from itertools import cycle
from pathlib import Path
from random import Random, randbytes

import pytest
from msgspec.structs import replace

from shoeproof.audit_reports import findings as codes
from shoeproof.audit_reports.errors import LeafRefused
from shoeproof.audit_reports.shuffle_tests import counting, drawn
from shoeproof.audit_reports.shuffle_tests.battery import Battery, run_shuffle_tests
from shoeproof.audit_reports.shuffle_tests.records import DealtRound
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import (
    CardDealt,
    DealRequested,
    EventData,
    HoleCardShown,
    RoundVoided,
    ShoeCommitted,
    ShoeRevealed,
    StakesPlaced,
)
from shoeproof.replay.engine.cards import PACK
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.engine.shoe import Shoe, commitment
from shoeproof.replay.findings import CARD_MISMATCH
from shoeproof.replay.kernel.shoes import whole_shoes
from shoeproof.replay.live.batch import Batch
from shoeproof.replay.live.table import LiveTable, TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules, rules_by_digest
from shoeproof.replay.rounds.replayer import replay_round
from tests.audit_reports.helpers import ZAPPIT, begun, closed, go_on, new_round, play, settled
from tests.ledger.helpers import alter
from tests.shuffle_tests.helpers import dealt_rounds, run_on_rounds

SETTINGS = TableSettings(limits={"main": (1, 10_000)}, currency="EUR")


def dealt(ledger: Ledger, game: str, seeds: Iterable[bytes], seats: int = 1) -> list[str]:
    """Play a round of each seed, standing on everything; return the ids."""
    draw, batch = list(reversed(list(seeds))), Batch(ledger)
    rules = current_rules(ledger, game)
    table = LiveTable(ledger, rules, SETTINGS, journal=batch, seeds=draw.pop)
    ids: list[str] = []
    while draw:
        live = table.open_round("p-1")
        live.deal({f"s{seat}": {"main": 100} for seat in range(1, seats + 1)}, b"mine")
        while isinstance(live.due, Decide):
            live.decide(live.due.hand, "stand" if "stand" in live.offered else "decline")
        ids.append(live.round_id)
    batch.flush()
    return ids


def seeds(count: int) -> list[bytes]:
    random = Random(41)
    return [random.randbytes(32) for _ in range(count)]


def found(battery: Battery) -> list[str]:
    return [finding.code for finding in battery.findings]


def test_a_round_says_its_seeds_times_and_initial_cards(ledger: Ledger) -> None:
    (round_id,) = dealt(ledger, "nba", seeds(1), seats=2)
    (each,) = dealt_rounds(ledger)
    own = each.own
    assert (own.round_id, own.seed, own.client_seed) == (round_id, seeds(1)[0], b"mine")
    assert own.commitment == commitment(round_id, own.rules_digest or "", seeds(1)[0])
    shoe = Shoe(seeds(1)[0], round_id, own.rules_digest or "", b"mine", 8)
    assert each.is_dealt
    # Two cards a seat and the up card; the hole card lay face down.
    assert each.cards == [shoe[index] for index in range(5)]
    assert each.skipped_at is None
    assert each.committed_leaf is not None
    assert each.staked_leaf is not None
    assert each.committed_leaf < each.staked_leaf
    assert each.age is not None
    assert each.age >= timedelta(0)


def test_honest_rounds_of_every_game_are_tested_and_sound(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "BATCH", 100)
    for game in ("zappit", "zero", "nba"):
        dealt(ledger, game, seeds(120))
    told: list[tuple[int, int]] = []
    battery = run_shuffle_tests(ledger, progress=lambda done, size: told.append((done, size)))
    assert told[-1] == (ledger.size(), ledger.size())
    assert (battery.rounds, battery.shoes, battery.deals) == (360, 360, 360)
    # The same 120 seeds were used for each game.
    assert set(found(battery)) == {codes.SEED_REPEATED}
    assert {test.game for test in battery.tests} == {"zappit", "zero", "nba"}
    assert battery.tested == 3 * 16
    # Ids of rounds are drawn anew, and with them shoes: at 1% one run in a hundred would fail.
    assert all((test.adjusted or 1) > 1e-6 for test in battery.tests)
    assert sum(battery.commitment_ages.values()) == 360


def test_shoes_are_those_of_the_scalar_shuffle(ledger: Ledger) -> None:
    dealt(ledger, "zero", seeds(3))
    for each in dealt_rounds(ledger):
        digest = each.own.rules_digest or ""
        shoe = Shoe(each.own.seed or b"", each.own.round_id, digest, b"mine", 8)
        (places,) = whole_shoes([each.own], digest, 8).tolist()
        assert [PACK[place % 52] for place in places] == list(shoe)


def test_a_seed_used_twice_names_both_rounds(ledger: Ledger) -> None:
    first, second, again = seeds(3)[0], seeds(3)[1], seeds(3)[0]
    dealt(ledger, "zappit", [first, second, again])
    battery = run_shuffle_tests(ledger)
    (finding,) = battery.findings
    opened = [each.first_leaf for each in dealt_rounds(ledger)]
    assert (finding.code, finding.leaf_index) == (codes.SEED_REPEATED, opened[2])
    assert f"from leaf {opened[0]} had" in finding.text


def test_a_seed_used_again_and_again_is_found_each_time(ledger: Ledger) -> None:
    dealt(ledger, "zappit", [seed for seed, _ in zip(cycle(seeds(2)), range(7), strict=False)])
    assert found(run_shuffle_tests(ledger)) == [codes.SEED_REPEATED] * 5


def _copied(each: DealtRound) -> DealtRound:
    copy = DealtRound(each.own, each.first_leaf + 1000)
    copy.cards, copy.dealt, copy.seats = each.cards, each.dealt, each.seats
    return copy


def test_a_round_copied_whole_repeats_seed_shoe_and_commitment(ledger: Ledger) -> None:
    dealt(ledger, "zappit", seeds(2))
    rounds = dealt_rounds(ledger)
    battery = run_on_rounds(ledger, [*rounds, _copied(rounds[0])])
    assert found(battery) == [codes.COMMITMENT_REPEATED, codes.SEED_REPEATED, codes.SHOE_REPEATED]


SEED = "ef" * 32


def _events(round_id: str, cards: int = 4) -> list[EventData]:
    """A closed round with a true commitment, one seat, and its first cards."""
    committed = commitment(round_id, ZAPPIT, bytes.fromhex(SEED)).hex()
    events = begun({"s1": {"main": 100}})[:-1]
    events[1] = ShoeCommitted(committed, "c2VhbGVk", None)
    shoe = Shoe(bytes.fromhex(SEED), round_id, ZAPPIT, b"", 6)
    dealt = [CardDealt(index, "s1", shoe[index]) for index in range(cards - 1)]
    return closed([*events, *dealt, CardDealt(cards - 1, "dealer"), settled("s1", 100, 0)])


Change = Callable[[list[EventData]], None]


def _no_commitment(events: list[EventData]) -> None:
    del events[1]


def _committed_late(events: list[EventData]) -> None:
    events.insert(2, events.pop(1))


def _committed_after_chips(events: list[EventData]) -> None:
    events.insert(1, StakesPlaced({"s1": {"main": 100}}))


def _skips_a_card(events: list[EventData]) -> None:
    place = next(place for place, data in enumerate(events) if isinstance(data, CardDealt))
    events[place + 1] = CardDealt(9, "s1", "Ac")


def _another_seed(events: list[EventData]) -> None:
    events[-2] = ShoeRevealed("ee" * 32)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (_no_commitment, codes.COMMITMENT_LATE),
        (_committed_late, codes.COMMITMENT_LATE),
        (_committed_after_chips, codes.COMMITMENT_LATE),
        (_skips_a_card, codes.SHOE_INDEX_SKIPPED),
        (_another_seed, codes.COMMITMENT_BROKEN),
    ],
)
def test_what_is_wrong_with_one_rounds_shuffle(ledger: Ledger, change: Change, code: str) -> None:
    sound, faulty = new_round(), new_round()
    events = _events(faulty)
    change(events)
    go_on(ledger, sound, _events(sound)[:-2])
    go_on(ledger, faulty, events)
    battery = run_shuffle_tests(ledger)
    assert code in found(battery)
    assert {finding.stream for finding in battery.findings} == {faulty}


def _long_round(ledger: Ledger) -> tuple[str, list[EventData]]:
    """The id and events of an honest round with a card after the deal and a hole card shown."""
    while True:
        (round_id,) = dealt(ledger, "nba", [randbytes(32)])
        events = [each.event.data for each in ledger.events(round_id)]
        cards = sum(isinstance(data, CardDealt) for data in events)
        if cards > 4 and any(isinstance(data, HoleCardShown) for data in events):
            return round_id, events


def _another_first_card(events: list[EventData]) -> int:
    return _exchanged(events, 0)


def _another_later_card(events: list[EventData]) -> int:
    """One beyond the initial deal, which no test of deals counts."""
    return _exchanged(events, 4)


def _exchanged(events: list[EventData], index: int) -> int:
    places = [place for place, data in enumerate(events) if isinstance(data, CardDealt)]
    card = events[places[index]]
    assert isinstance(card, CardDealt)
    events[places[index]] = CardDealt(index, card.receiver, "9c" if card.card != "9c" else "9d")
    return places[index]


def _another_hole_card(events: list[EventData]) -> int:
    place = next(place for place, data in enumerate(events) if isinstance(data, HoleCardShown))
    shown = events[place]
    assert isinstance(shown, HoleCardShown)
    events[place] = HoleCardShown("9c" if shown.card != "9c" else "9d")
    return place


def _no_card_at_all(events: list[EventData]) -> int:
    place = next(place for place, data in enumerate(events) if isinstance(data, CardDealt))
    events[place] = CardDealt(0, "s1", "stand")
    return place


@pytest.mark.parametrize(
    "change", [_another_first_card, _another_later_card, _another_hole_card, _no_card_at_all]
)
def test_a_card_other_than_its_seeds_is_named_as_replay_names_it(
    ledger: Ledger, change: Callable[[list[EventData]], int]
) -> None:
    round_id, events = _long_round(ledger)
    place = change(events)
    with Ledger.in_memory("other.example/bj") as lying:
        add_published_games(lying)
        begins = lying.size()
        go_on(lying, round_id, events)
        (finding,) = run_shuffle_tests(lying).findings
        replayed = replay_round(lying.events(round_id), rules_by_digest(lying)).findings
    (by_replay,) = [each for each in replayed if each.code == CARD_MISMATCH]
    assert (finding.code, finding.leaf_index) == (CARD_MISMATCH, begins + place)
    assert finding == replace(by_replay, seq=None)


def test_a_hole_card_that_was_never_shown_is_held_to_nothing(ledger: Ledger) -> None:
    round_id = new_round()
    go_on(ledger, round_id, _events(round_id))
    (each,) = dealt_rounds(ledger)
    assert [card.shoe_index for card in each.seen] == [0, 1, 2]
    assert (each.hole_index, each.dealt) == (3, 4)
    assert run_shuffle_tests(ledger).findings == []


@pytest.mark.parametrize("shoe_index", [-1, 312, (1 << 53) - 1])
def test_a_place_that_the_shoe_does_not_have_is_only_told_as_such(
    ledger: Ledger, shoe_index: int
) -> None:
    round_id = new_round()
    events = _events(round_id)
    events[4] = CardDealt(shoe_index, "s1", "9c")
    go_on(ledger, round_id, events)
    assert found(run_shuffle_tests(ledger)) == [codes.SHOE_INDEX_SKIPPED]


def test_of_very_many_wrong_cards_the_first_are_named_and_the_others_counted(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawn, "MOST_NAMED", 4)
    for _ in range(3):
        round_id = new_round()
        events = _events(round_id)
        _exchanged(events, 0)
        _exchanged(events, 2)
        go_on(ledger, round_id, events)
    findings = [each for each in run_shuffle_tests(ledger).findings if each.code == CARD_MISMATCH]
    assert [each.leaf_index is None for each in findings] == [False] * 4 + [True]
    assert findings[-1].text == "2 more cards are not the shoe's: `shoeproof audit` names each"


def test_open_voided_and_fun_rounds_count_as_far_as_they_go(ledger: Ledger) -> None:
    still_open, fun, voided = new_round(), new_round(), new_round()
    go_on(ledger, still_open, _events(still_open)[:-2])
    events = _events(fun)
    go_on(ledger, fun, [begun({}, mode="fun")[0], *events[1:]])
    go_on(ledger, voided, [*_events(voided)[:-2], ShoeRevealed("ab" * 32), RoundVoided("x", [])])
    battery = run_shuffle_tests(ledger)
    assert (battery.rounds, battery.shoes, battery.deals) == (3, 1, 3)
    assert found(battery) == [codes.COMMITMENT_BROKEN]


def test_deals_cut_short_and_cards_that_are_none_are_not_counted(ledger: Ledger) -> None:
    round_id = new_round()
    events = _events(round_id)
    go_on(ledger, round_id, [*events[:4], CardDealt(1, "s1", "Zz"), *events[5:]])
    play(ledger, begun({"s1": {"main": 100}}))
    play(ledger, [*begun({"s1": {"main": 5}})[:2], DealRequested({"s1": {"main": 5}}, "zz", None)])
    assert run_shuffle_tests(ledger).deals == 0


def test_rounds_under_unknown_rules_have_no_shoe(ledger: Ledger) -> None:
    play(ledger, closed(begun({"s1": {"main": 100}}, digest="ab" * 32)))
    battery = run_shuffle_tests(ledger)
    assert (battery.rounds, battery.shoes, battery.deals, battery.tests) == (1, 0, 0, [])


def test_an_empty_ledger_has_no_tests(ledger: Ledger) -> None:
    battery = run_shuffle_tests(ledger)
    assert (battery.rounds, battery.tests, battery.findings) == (0, [], [])


def test_an_altered_card_reaches_no_test(ledger: Ledger, path: Path) -> None:
    dealt(ledger, "zappit", seeds(2))
    (first, _) = dealt_rounds(ledger)
    leaf_index = next(
        each.leaf_index
        for each in ledger.events(first.own.round_id)
        if isinstance(each.event.data, CardDealt)
    )
    card = first.cards[0]
    other = "Ac" if card != "Ac" else "2c"
    alter(path, leaf_index, f'"{card}"'.encode(), f'"{other}"'.encode())
    with pytest.raises(LeafRefused, match=rf"leaf {leaf_index} of .* is refused"):
        run_shuffle_tests(ledger)
