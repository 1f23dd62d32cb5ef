"""The bulk path never calls sound what the replayer objects to, and proves honest rounds sound."""

from random import Random

import pytest
from hypothesis import given, settings

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import EVENTS, CardDealt, EventData, InputRefused, RoundVoided
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.kernel.batch import sound
from shoeproof.replay.rounds.catalogue import rules_by_digest
from tests.bulk.helpers import assert_judged_alike, assert_play_judged_alike, columns_of
from tests.bulk.other_events import ASIDES, ELSEWHERE, ENDINGS
from tests.bulk.rounds import (
    Rounds,
    altered_offers,
    corrupted,
    every_corruption,
    every_hole,
    every_insertion,
    honest_round,
    recarded,
    renumbered,
    settled_late,
    stakes_for,
    unasked,
    under_rules,
)
from tests.replay.helpers import new_ledger
from tests.replay.lies_of_money import MONEY
from tests.replay.lies_of_play import PLAY
from tests.replay.lying_table import tell
from tests.strategies import Sitting, sittings

LIES = PLAY | MONEY
ROUNDS = 250

_ledger = new_ledger()
_rules = rules_by_digest(_ledger)


def _honest(game: str, random: Random, rounds: int, ledger: Ledger = _ledger) -> Rounds:
    return [
        honest_round(
            ledger,
            game,
            stakes_for(game, random),
            random,
            balance_minor=random.choice([None, None, 10**6, 40_000]),
            client_seed=random.choice([b"", b"seed"]),
            lively=random.random() < 0.7,
        )
        for _ in range(rounds)
    ]


@pytest.mark.parametrize("name", LIES)
def test_every_lie_is_told_alike(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = tell(LIES[name], name, monkeypatch)
    rounds = [told.ledger.events(told.round_id)]
    assert assert_judged_alike(rounds, rules_by_digest(told.ledger)) == 0


@pytest.mark.parametrize("game", GAMES)
def test_honest_rounds_are_proved_sound(game: str) -> None:
    rounds = _honest(game, Random(f"honest {game}"), ROUNDS)
    assert assert_judged_alike(rounds, _rules) == len(rounds)


@pytest.mark.parametrize("game", GAMES)
def test_corrupted_rounds_are_judged_alike(game: str) -> None:
    random = Random(f"corrupted {game}")
    rounds = _honest(game, random, ROUNDS // 5)
    changed = [corrupted(random.choice(rounds), random) for _ in range(8 * ROUNDS)]
    mixed = [*changed, *rounds]
    random.shuffle(mixed)
    assert assert_judged_alike(mixed, _rules) >= len(rounds)


@pytest.mark.parametrize("game", GAMES)
def test_play_is_judged_alike_whatever_the_shoe(game: str) -> None:
    """With no shoe to give a false card away, what a course says of play has to do so."""
    random = Random(f"play {game}")
    rounds = _honest(game, random, ROUNDS)
    changed = [recarded(random.choice(rounds), random) for _ in range(3 * ROUNDS)]
    changed += [corrupted(random.choice(rounds), random) for _ in range(ROUNDS)]
    for alter in (altered_offers, every_hole, settled_late, unasked):
        changed += [each for events in rounds[: ROUNDS // 2] for each in alter(events)]
    # A course is judged by the last round that takes it: an honest one has to clear no lie.
    assert assert_play_judged_alike([*changed, *rounds], _rules) > len(rounds)


@pytest.mark.parametrize("game", GAMES)
def test_a_course_is_shared_by_equal_openings_alone(game: str) -> None:
    """Where half a stake is nothing nobody is asked about an ace; elsewhere that is a finding."""
    lies: Rounds = []
    rounds: Rounds = []
    for seed in range(ROUNDS):
        small, large = (
            honest_round(_ledger, game, {"s1": {"main": stake}}, Random(seed), lively=False)
            for stake in (1, 100)
        )
        rounds += [small, large]
        lies += [*unasked(large), *settled_late(large)]
    assert assert_play_judged_alike([*lies, *rounds], _rules) >= len(rounds)


@pytest.mark.parametrize("game", GAMES)
def test_a_busted_hand_is_paid_in_its_turn(game: str) -> None:
    """Its payment moved behind the others' is a finding; that of a hand that stands is not."""
    random = Random(f"busted {game}")
    stakes = {"s1": {"main": 100}, "s2": {"main": 100}}
    rounds = [honest_round(_ledger, game, stakes, random) for _ in range(2 * ROUNDS)]
    lies = [each for events in rounds for each in settled_late(events)]
    assert assert_play_judged_alike([*lies, *rounds], _rules) >= len(rounds)


def test_no_game_s_rounds_pass_for_another_s() -> None:
    random = Random(11)
    rounds = [events for game in GAMES for events in _honest(game, random, ROUNDS)]
    others = [under_rules(events, digest) for digest in _rules for events in rounds]
    assert assert_play_judged_alike([*others, *rounds], _rules) >= 2 * len(rounds)


@pytest.mark.parametrize("game", GAMES)
def test_every_single_corruption_is_judged_alike(game: str) -> None:
    """Each event of some rounds dropped, doubled, swapped, and each of its fields changed."""
    random = Random(f"single {game}")
    rounds = [
        changed
        for events in _honest(game, random, 12)
        for changed in every_corruption(events, random)
    ]
    assert assert_judged_alike(rounds, _rules) < len(rounds) / 2


def test_every_event_of_the_table_is_met() -> None:
    """A kind of event that is new has to join these tests."""
    random = Random(8)
    played = [each for game in GAMES for events in _honest(game, random, 60) for each in events]
    met = {each.event.type for each in played}
    met |= {type(each).__name__ for each in (*ASIDES, *ELSEWHERE, *ENDINGS)}
    assert met == set(EVENTS)


@pytest.mark.parametrize("aside", ASIDES, ids=repr)
def test_asides_within_a_round_are_proved_sound(aside: EventData) -> None:
    """Interruptions, late inputs and views seen stand anywhere in a round and change nothing."""
    random = Random(6)
    rounds = [
        told
        for game in GAMES
        for events in _honest(game, random, 4)
        for told in every_insertion(events, aside)
    ]
    assert assert_judged_alike(rounds, _rules) == len(rounds)


@pytest.mark.parametrize("other", [*ELSEWHERE, *ENDINGS], ids=lambda each: type(each).__name__)
def test_events_of_other_streams_are_left_to_the_replayer(other: EventData) -> None:
    random = Random(7)
    rounds = [
        told
        for game in GAMES
        for events in _honest(game, random, 2)
        for told in every_insertion(events, other)
    ]
    assert assert_judged_alike(rounds, _rules) == 0


@pytest.mark.parametrize("game", GAMES)
def test_every_card_changed_is_noticed(game: str) -> None:
    """Each card of a round made each of a few others: none may pass for sound."""
    random = Random(f"cards {game}")
    rounds = []
    for events in _honest(game, random, 10):
        data = [each.event.data for each in events]
        for place, each in enumerate(data):
            if isinstance(each, CardDealt) and isinstance(each.card, str):
                for card in ("Ac", "5d", "Kh", each.card[0] + "s"):
                    if card != each.card:
                        changed = [*data]
                        changed[place] = CardDealt(each.shoe_index, each.receiver, card)
                        rounds.append(renumbered(events[0].event.stream, changed))
    assert assert_judged_alike(rounds, _rules) == 0


@pytest.mark.parametrize("game", GAMES)
def test_offers_told_otherwise_are_judged_alike(game: str) -> None:
    random = Random(f"offers {game}")
    honest = _honest(game, random, 8)
    rounds = [each for events in honest for each in altered_offers(events)]
    rounds += [
        honest_round(_ledger, "nba", {"s1": {"main": 50}}, random, hides_cash_out=True)
        for _ in range(20)
    ]
    assert assert_judged_alike(rounds, _rules) >= 20


@given(sittings())
@settings(max_examples=60)
def test_any_sitting_is_proved_sound(sitting: Sitting) -> None:
    events = honest_round(
        _ledger,
        sitting.game,
        sitting.stakes,
        sitting.random,
        balance_minor=sitting.balance_minor,
        hides_cash_out=sitting.hides_cash_out,
        client_seed=sitting.client_seed,
    )
    assert assert_judged_alike([events], _rules) == 1


def test_rounds_of_all_games_in_one_batch() -> None:
    random = Random(3)
    rounds = [events for game in GAMES for events in _honest(game, random, 40)]
    random.shuffle(rounds)
    assert assert_judged_alike(rounds, _rules) == len(rounds)


def test_what_only_the_replayer_judges() -> None:
    """Open and void rounds, unknown rules, events after the close: never proved, judged alike."""
    events = _honest("zero", Random(4), 1)[0]
    data, stream = [each.event.data for each in events], events[0].event.stream
    rounds = [events[:cut] for cut in range(1, len(events))]
    rounds.append(renumbered(stream, [*data[:-1], RoundVoided("idle", [])]))
    rounds.append(renumbered(stream, [*data, InputRefused("s1 hit", "closed")]))
    rounds.append(renumbered(stream, [*data, data[-1]]))
    assert assert_judged_alike(rounds, _rules) == 0
    assert assert_judged_alike([events], {}) == 0


def test_no_rounds() -> None:
    assert not len(sound(columns_of([]), _rules))
