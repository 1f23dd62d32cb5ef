"""What was counted is kept, and comes to the same in whatever parts it was counted."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from random import Random

import msgspec
import pytest

from shoeproof.audit_reports import findings as codes
from shoeproof.audit_reports.rows import verified as verification
from shoeproof.audit_reports.shuffle_tests import counting, deals, order, shoes
from shoeproof.audit_reports.shuffle_tests import saved_counts as kept
from shoeproof.audit_reports.shuffle_tests.battery import Battery, battery_of, run_shuffle_tests
from shoeproof.audit_reports.shuffle_tests.counting import ComparedRound
from shoeproof.audit_reports.shuffle_tests.order import BeginningOrder
from shoeproof.audit_reports.tables import sql
from shoeproof.audit_reports.tables.read_model import ReadModel
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import (
    DealRequested,
    EventData,
    RoundOpened,
    ShoeCommitted,
    ShoeRevealed,
)
from shoeproof.replay.engine.cards import PACK
from shoeproof.replay.engine.shoe import Shoe
from shoeproof.replay.kernel.shoes import whole_shoes
from shoeproof.replay.kernel.symbols import RoundColumns
from shoeproof.replay.rounds.catalogue import add_published_games, rules_by_digest
from tests.shuffle_tests.helpers import Ints
from tests.shuffle_tests.test_ledger import dealt, found, seeds

GAMES = ("zappit", "zero", "nba")


@pytest.fixture(scope="module")
def rounds() -> list[tuple[str, list[EventData]]]:
    """Honest rounds of every game, one after the other, each with its events."""
    with Ledger.in_memory("elsewhere.example/bj") as other:
        add_published_games(other)
        drawn = seeds(45)
        ids = [each for n, game in enumerate(GAMES) for each in dealt(other, game, drawn[n::3])]
        return [(each, [found.event.data for found in other.events(each)]) for each in ids]


@pytest.fixture
def interleaved(rounds: list[tuple[str, list[EventData]]]) -> list[tuple[str, EventData]]:
    """Their events as twelve tables at a time would record them."""
    random, waiting = Random(9), list(rounds)
    at_tables: list[tuple[str, Iterator[EventData]]] = []
    random.shuffle(waiting)
    events: list[tuple[str, EventData]] = []
    while waiting or at_tables:
        if waiting and len(at_tables) < 12:
            round_id, mine = waiting.pop()
            at_tables.append((round_id, iter(mine)))
        round_id, rest = random.choice(at_tables)
        data = next(rest, None)
        if data is None:
            at_tables.remove((round_id, rest))
        else:
            events.append((round_id, data))
    return events


@pytest.fixture(autouse=True)
def few_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shoes, "FEWEST_SHOES", 2)
    monkeypatch.setattr(deals, "FEWEST_DEALS", 2)


def said(battery: Battery) -> bytes:
    return msgspec.json.encode(battery)


def at_once(ledger: Ledger) -> bytes:
    """What is said when nothing was kept, and nothing is."""
    with ReadModel(ledger, kept.VERSION, None, sql.connect()) as model:
        counts = kept.counts_of(model, ledger.size())
    return said(battery_of(counts, rules_by_digest(ledger)))


def anew(ledger: Ledger) -> bytes:
    return said(run_shuffle_tests(ledger, rebuild=True))


def test_counted_bit_by_bit_is_counted_at_once(
    ledger: Ledger, interleaved: list[tuple[str, EventData]]
) -> None:
    random, bit_by_bit = Random(3), b""
    while interleaved:
        some = random.randint(1, 60)
        ledger.append(*interleaved[:some])
        del interleaved[:some]
        bit_by_bit = said(run_shuffle_tests(ledger))
        assert bit_by_bit == at_once(ledger)
        assert bit_by_bit == said(run_shuffle_tests(ledger))
    battery = msgspec.json.decode(bit_by_bit, type=Battery)
    assert (battery.rounds, battery.shoes, battery.findings) == (45, 45, [])


def test_open_rounds_count_though_nothing_more_is_said_of_them(
    ledger: Ledger, interleaved: list[tuple[str, EventData]]
) -> None:
    begun = interleaved[:300]
    never_committed = next(each for each, data in begun if isinstance(data, ShoeCommitted))
    ledger.append(
        *(
            (each, data)
            for each, data in begun
            if each != never_committed or isinstance(data, RoundOpened | DealRequested)
        )
    )
    at_once = anew(ledger)
    battery = msgspec.json.decode(at_once, type=Battery)
    assert battery.rounds > battery.deals > battery.shoes
    assert found(battery) == [codes.COMMITMENT_LATE]
    for _ in range(2):
        assert said(run_shuffle_tests(ledger)) == at_once
    dealt(ledger, "zappit", seeds(46)[45:])
    counted = said(run_shuffle_tests(ledger))
    assert counted == said(run_shuffle_tests(ledger)) == anew(ledger)


@pytest.mark.parametrize("leaves", [1, 7, 40])
def test_counts_do_not_depend_on_the_ranges_in_which_leaves_are_checked(
    ledger: Ledger,
    interleaved: list[tuple[str, EventData]],
    monkeypatch: pytest.MonkeyPatch,
    leaves: int,
) -> None:
    ledger.append(*interleaved)
    in_one_range = at_once(ledger)
    monkeypatch.setattr(verification, "RUN", leaves)
    assert at_once(ledger) == in_one_range


def test_worker_processes_count_the_same(
    ledger: Ledger, interleaved: list[tuple[str, EventData]], monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.append(*interleaved)
    here = at_once(ledger)
    monkeypatch.setattr(verification, "SHARED_FROM", 0)
    monkeypatch.setattr(verification, "SHARED_RUN", 150)
    monkeypatch.setattr("shoeproof.ledger.verify.workers.SHARED_FROM", 0)
    assert at_once(ledger) == here


def test_counting_stopped_anywhere_goes_on_to_the_same(
    ledger: Ledger, interleaved: list[tuple[str, EventData]], monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.append(*interleaved)
    monkeypatch.setattr(verification, "RUN", 10)
    monkeypatch.setattr(kept, "KEEP_LEAVES", 25)

    class Stopped(Exception):
        pass

    def stop_at(leaves: int) -> Callable[[int, int], None]:
        def progress(done: int, _: int) -> None:
            if done >= leaves:
                raise Stopped

        return progress

    for leaves in range(20, ledger.size(), 90):
        with pytest.raises(Stopped):
            run_shuffle_tests(ledger, progress=stop_at(leaves))
    assert said(run_shuffle_tests(ledger)) == at_once(ledger)


def test_what_was_counted_is_not_derived_again(
    ledger: Ledger, interleaved: list[tuple[str, EventData]], monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.append(*interleaved)
    before = said(run_shuffle_tests(ledger))

    def none(*_: object) -> None:
        raise AssertionError("derived again")

    monkeypatch.setattr(counting, "whole_shoes", none)
    assert said(run_shuffle_tests(ledger)) == before
    with pytest.raises(AssertionError, match="derived again"):
        anew(ledger)


def test_counts_of_another_version_are_made_anew(
    ledger: Ledger, interleaved: list[tuple[str, EventData]], monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.append(*interleaved[:300])
    run_shuffle_tests(ledger)
    monkeypatch.setattr("shoeproof.audit_reports.shuffle_tests.battery.VERSION", kept.VERSION + 1)
    derived: list[int] = []

    def deriving(rounds: Sequence[RoundColumns], digest: str, decks: int) -> Ints:
        derived.append(len(rounds))
        return whole_shoes(rounds, digest, decks)

    monkeypatch.setattr(counting, "whole_shoes", deriving)
    battery = run_shuffle_tests(ledger)
    assert sum(derived) == battery.shoes > 0


def test_a_seed_of_long_ago_is_found_again(ledger: Ledger) -> None:
    dealt(ledger, "zappit", seeds(3))
    assert found(run_shuffle_tests(ledger)) == []
    dealt(ledger, "zappit", seeds(1))
    for _ in range(2):
        assert found(run_shuffle_tests(ledger)) == [codes.SEED_REPEATED]


def test_shoes_follow_each_other_as_their_rounds_began(
    ledger: Ledger, interleaved: list[tuple[str, EventData]]
) -> None:
    """Cards that stand in the same place one after the other, counted from the shuffle itself."""
    ledger.append(*interleaved)
    began: dict[str, list[list[int]]] = {}
    for round_id in dict.fromkeys(each for each, _ in interleaved):
        events = [each.event.data for each in ledger.events(round_id)]
        assert isinstance(events[0], RoundOpened)
        digest = events[0].rules_digest
        revealed = next(each for each in events if isinstance(each, ShoeRevealed))
        decks = rules_by_digest(ledger)[digest].decks
        shoe = Shoe(bytes.fromhex(revealed.seed), round_id, digest, b"mine", decks)
        began.setdefault(rules_by_digest(ledger)[digest].id, []).append(
            [PACK.index(card) for card in shoe]
        )
    tests = {(each.game, each.name): each for each in run_shuffle_tests(ledger).tests}
    for game, orders in began.items():
        scores = [[shoes.SCORE[card] for card in each] for each in orders]
        products = sum(
            int(x) * int(y)
            for one, other in pairwise(scores)
            for x, y in zip(one, other, strict=True)
        )
        size = len(orders[0])
        variance = (len(orders) - 1) * sum(int(x) ** 2 for x in scores[0]) ** 2 / (size - 1)
        statistic = tests[game, "serial, shoe to shoe"].statistic
        assert statistic == pytest.approx(products / variance**0.5)
        alike = sum(one[0] == other[0] for one, other in pairwise(orders))
        assert tests[game, "first card, round to round"].statistic == alike


def in_turn(begun: list[int], ended: list[tuple[int, int]]) -> Iterator[int]:
    """Whose turn it is when rounds begin at leaves and end at others, in ranges of ten leaves."""
    waiting = BeginningOrder()
    for start in range(0, 100, 10):
        counted = [
            ComparedRound("ab", first, last) for first, last in ended if start <= last < start + 10
        ]
        now = [leaf for leaf in begun if start <= leaf < start + 10]
        yield from (each.first_leaf for each in waiting.take(now, counted))
    yield from (each.first_leaf for each in waiting.rest())


def test_rounds_come_in_the_order_of_their_beginnings_however_they_end() -> None:
    assert list(in_turn([1, 2, 3, 4], [(4, 11), (2, 15), (1, 33), (3, 21)])) == [1, 2, 3, 4]


def test_a_round_that_never_ends_holds_up_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "MOST_WAITING", 3)
    later = [(leaf, leaf + 1) for leaf in range(2, 40, 2)]
    assert list(in_turn([1, *(first for first, _ in later)], later)) == [f for f, _ in later]


@pytest.mark.parametrize(("last", "is_left_out"), [(8, False), (9, True), (55, True)])
def test_who_is_left_out_depends_on_what_began_before_it_ended(
    monkeypatch: pytest.MonkeyPatch, last: int, is_left_out: bool
) -> None:
    monkeypatch.setattr(order, "MOST_WAITING", 3)
    others = [(leaf, leaf + 1) for leaf in range(2, 40, 2)]
    turns = list(in_turn([1, *(first for first, _ in others)], [(1, last), *others]))
    assert (1 not in turns) is is_left_out
    assert [each for each in turns if each != 1] == [first for first, _ in others]
