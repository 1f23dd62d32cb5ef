"""The shoe itself in the verdict: the one committed to, of a seed that nobody knew, and shuffled.

Rounds are those of honest live tables, or made by hand; what the house then says of their shoes is
changed. The audit, which shares nothing with the tables, says how many rounds are wrong.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import msgspec
import pytest

from shoeproof.audit_reports.rtp_report.figures import Scope
from shoeproof.audit_reports.rtp_report.from_ledger import ReportRequest, judged_of
from shoeproof.audit_reports.rtp_report.model import BetReport, RtpReport, Shuffle
from shoeproof.audit_reports.rtp_report.shoes import shoe_readings
from shoeproof.audit_reports.rtp_report.write import render_rtp_report
from shoeproof.audit_reports.tables.views import open_tables
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import (
    DealRequested,
    EventData,
    RoundVoided,
    ShoeCommitted,
    ShoeRevealed,
)
from shoeproof.replay.audit.one_by_one import audit
from shoeproof.replay.engine.shoe import commitment
from shoeproof.replay.rounds.catalogue import add_published_games
from tests.audit_reports.helpers import (
    ANY_COMMITMENT,
    ANY_SEED,
    NBA,
    ZAPPIT,
    begun,
    cells_of,
    go_on,
    new_round,
    play,
    report_on,
    simple,
)
from tests.audit_reports.test_house_claims import STREAMS, committed, honest, main_bet

GAME = "zero"
ROUNDS = 60

Change = Callable[[list[EventData]], object]


def judged(change: Change, rounds: Iterable[int]) -> tuple[RtpReport, Counter[str]]:
    """The report on honest rounds some of which are changed, and what an audit of them finds."""
    changed = set(rounds)
    with Ledger.in_memory("shoes.example/bj") as made:
        add_published_games(made)
        for number, of_round in enumerate(honest(GAME, ROUNDS)):
            events = list(of_round)
            if number in changed:
                change(events)
            go_on(made, STREAMS[committed(of_round)], events)
        report = report_on(made, ReportRequest(shuffle_tests=False))
        return report, Counter(each.code for each in audit(made).findings)


def place_of(events: Sequence[EventData], kind: type[EventData]) -> int:
    return next(n for n, data in enumerate(events) if isinstance(data, kind))


def another_seed(events: list[EventData]) -> None:
    seed = committed(events)
    events[place_of(events, ShoeRevealed)] = ShoeRevealed(seed)


def no_seed(events: list[EventData]) -> None:
    del events[place_of(events, ShoeRevealed)]


def no_commitment(events: list[EventData]) -> None:
    del events[place_of(events, ShoeCommitted)]


def two_commitments(events: list[EventData]) -> None:
    events.insert(1, ShoeCommitted("ab" * 32, "c2VhbGVk", None))


def committed_late(events: list[EventData]) -> None:
    late = events.pop(place_of(events, ShoeCommitted))
    events.insert(place_of(events, DealRequested) + 1, late)


def shoe_of(bet: BetReport) -> str:
    (reading,) = [each for each in bet.readings if each.of == "shoe"]
    return reading.says


@pytest.mark.parametrize("wrong", [range(ROUNDS), range(0, ROUNDS, 20)])
@pytest.mark.parametrize(
    ("change", "says", "code"),
    [
        (another_seed, "the seed revealed is not the one committed to", "commitment_mismatch"),
        (no_seed, "the seed was never revealed", "seed_not_revealed"),
        (no_commitment, "no single shoe was committed to", None),
        (two_commitments, "no single shoe was committed to", None),
        (committed_late, "the shoe was committed to after the stakes were laid", None),
    ],
)
def test_a_shoe_that_is_not_the_one_committed_to_is_out_of_range_and_in_the_headline(
    change: Change, says: str, code: str | None, wrong: range
) -> None:
    report, found = judged(change, wrong)
    bet = main_bet(report, GAME)
    told = f"in {len(wrong):,} of {ROUNDS} rounds {says}"
    assert bet.word == report.word == "out of range"
    assert f"shoe: {told}" in bet.why
    assert told in report.headline
    assert told in render_rtp_report(report, ".html").decode()
    if code is not None:
        assert found[code] == len(wrong)


def test_honest_shoes_speak_against_nobody() -> None:
    report, found = judged(lambda events: None, ())
    bet = main_bet(report, GAME)
    assert not found
    assert bet.word == "inconclusive"
    assert shoe_of(bet) == f"{ROUNDS} rounds revealed the seed committed to, and no seed came twice"
    assert "shoe" not in report.headline


def with_seed(round_id: str, seed: bytes, digest: str = ZAPPIT) -> list[EventData]:
    """A closed round on a seed that it is truly committed to."""
    committed_to = commitment(round_id, digest, seed).hex()
    return [
        ShoeCommitted(committed_to, "c2VhbGVk", None) if data == ANY_COMMITMENT
        else ShoeRevealed(seed.hex()) if data == ANY_SEED
        else data
        for data in simple(0, digest=digest)
    ]  # fmt: skip


@pytest.mark.parametrize("digest", [ZAPPIT, NBA])
def test_seeds_used_again_are_out_of_range_whichever_game_had_them_first(
    ledger: Ledger, digest: str
) -> None:
    """One in twenty of the second game's rounds is dealt from a seed the first revealed."""
    seeds = [bytes([number]) * 32 for number in range(40)]
    for seed in seeds:
        stream = new_round()
        go_on(ledger, stream, with_seed(stream, seed))
    for number in range(60, 100):
        seed = seeds[number - 60] if number % 20 == 0 else bytes([number]) * 32
        stream = new_round()
        go_on(ledger, stream, with_seed(stream, seed, digest))
    with open_tables(ledger) as tables:
        games = judged_of([ledger], tables, Scope()).games
    (accused,) = [each for each in games if each.word == "out of range"]
    assert accused.rules_digest == digest
    (why,) = [each for each in accused.why if ": shoe: " in each]
    rounds = 80 if digest == ZAPPIT else 40
    assert f"in 2 of {rounds} rounds an earlier round had the same seed" in why
    assert Counter(each.code for each in audit(ledger).findings)["seed_repeated"] == 2


def test_what_is_sealed_yet_or_never_dealt_is_no_reproach(ledger: Ledger) -> None:
    play(ledger, begun({"s1": {"main": 100}}))
    play(ledger, [*begun({"s1": {"main": 100}}), RoundVoided("malfunction", [])])
    play(ledger, [*begun({"s1": {"main": 100}})[:2], RoundVoided("nothing was dealt", [])])
    with open_tables(ledger) as tables:
        told = tables.ask("SELECT shoe, seed_print FROM rounds").to_pylist()
    assert told == [{"shoe": None, "seed_print": None}] * 3


def shuffle(*failed: str, beyond: tuple[str, ...] = ()) -> Shuffle:
    return Shuffle(
        level=0.01, shoes=1, deals=1, tested=20, failed=failed, beyond=beyond, untested=0,
        commitment_ages={},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "word"),
    [
        (shuffle("zappit: suit by position"), "watch"),
        (shuffle("zappit: suit by position", beyond=("zappit: suit by position",)), "out of range"),
        (shuffle(f"zappit {ZAPPIT[:8]}: suit by position"), "watch"),
        (shuffle("nba: suit by position", beyond=("nba: suit by position",)), None),
        (shuffle("zappit 00000000: suit by position"), None),
        (shuffle(), None),
        (None, None),
    ],
)
def test_a_shuffle_that_fails_stands_in_the_row_of_its_game_alone(
    ledger: Ledger, given: Shuffle | None, word: str | None
) -> None:
    play(ledger, simple(0))
    (cell,) = cells_of(ledger)
    found = [each for each in shoe_readings([], given, cell) if each.of == "shuffle"]
    assert [each.word for each in found] == ([] if word is None else [word])
    assert all("1 test of the shuffle failed: suit by position" in each.says for each in found)
    other = msgspec.structs.replace(cell, bet="insurance")
    assert not list(shoe_readings([], given, other))
