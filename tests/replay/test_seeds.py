"""Seeds of revealed rounds held to one another, in the pure part and by the careful audit."""

from collections.abc import Sequence
from random import Random
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoeproof.ledger import Finding, Ledger
from shoeproof.ledger.leaf.events import ShoeRevealed
from shoeproof.replay.audit.one_by_one import AuditResult, audit
from shoeproof.replay.disputes.assess import assess
from shoeproof.replay.disputes.evidence import gather
from shoeproof.replay.live.live_round import LiveRound
from shoeproof.replay.rounds.seeds import NEAR, Revealed, Reveals, seed_findings
from tests.replay.helpers import new_ledger
from tests.replay.live import STAKES, play_on, table

SEED = int.from_bytes(Random(3).randbytes(32))


def begun(ledger: Ledger, seed: int, game: str = "nba") -> LiveRound:
    """A round on a seed, dealt; another player's each time."""
    live = table(ledger, game, seeds=lambda: seed.to_bytes(32)).open_round(f"p-{ledger.size()}")
    live.deal(STAKES)
    return live


def played(ledger: Ledger, seed: int, game: str = "nba") -> str:
    """A whole round on a seed."""
    live = begun(ledger, seed, game)
    play_on(live, Random(1))
    return live.round_id


def told(result: AuditResult) -> list[tuple[str, str | None]]:
    return [(each.code, each.stream) for each in result.findings]


def test_rounds_on_seeds_of_their_own_are_sound() -> None:
    ledger = new_ledger()
    for number in range(4):
        played(ledger, SEED + number * NEAR)
    assert audit(ledger).findings == ()


def test_a_seed_dealt_again_after_its_reveal() -> None:
    ledger = new_ledger()
    first, again = played(ledger, SEED), played(ledger, SEED, "zero")
    (found,) = audit(ledger).findings
    assert (found.code, found.stream) == ("seed_repeated", again)
    of_round = ledger.events(again)
    (revealed,) = [each for each in of_round if isinstance(each.event.data, ShoeRevealed)]
    assert (found.leaf_index, found.seq) == (revealed.leaf_index, revealed.event.seq)
    assert f"round {first} had revealed before" in found.text


def test_every_further_round_names_the_first() -> None:
    ledger = new_ledger()
    first, *later = [played(ledger, SEED) for _ in range(4)]
    found = audit(ledger).findings
    assert [(each.code, each.stream) for each in found] == [("seed_repeated", r) for r in later]
    assert all(first in each.text for each in found)


@pytest.mark.parametrize("ends_first", [0, 1])
def test_of_two_rounds_at_once_the_later_reveal_has_the_finding(ends_first: int) -> None:
    """Whichever was committed to first: its seed was known before it was over."""
    ledger = new_ledger()
    both = begun(ledger, SEED), begun(ledger, SEED)
    for live in (both[ends_first], both[1 - ends_first]):
        play_on(live, Random(1))
    later = max((live.round_id for live in both), key=lambda each: _revealed_at(ledger, each))
    assert told(audit(ledger)) == [("seed_repeated", later)]


def _revealed_at(ledger: Ledger, round_id: str) -> int:
    return next(
        each.leaf_index
        for each in ledger.events(round_id)
        if isinstance(each.event.data, ShoeRevealed)
    )


def test_a_seed_in_an_open_round_is_not_known_yet() -> None:
    ledger = new_ledger()
    live = table(ledger, seeds=lambda: SEED.to_bytes(32)).open_round("p-open")
    played(ledger, SEED)
    assert live.round_id in {each.round for each in audit(ledger).open_rounds}
    assert audit(ledger).findings == ()


@pytest.mark.parametrize("step", [1, -1, 977, NEAR - 1, 1 - NEAR])
def test_seeds_that_are_counted_up(step: int) -> None:
    ledger = new_ledger()
    rounds = [played(ledger, SEED + step * number) for number in range(3)]
    found = audit(ledger).findings
    assert [(each.code, each.stream) for each in found] == [
        ("seed_predictable", each) for each in rounds[1:]
    ]
    assert all(before in each.text for before, each in zip(rounds, found, strict=False))


def test_seeds_next_to_each_other_across_the_part_that_is_kept() -> None:
    """The first bytes differ, and the seeds by one all the same."""
    ledger, border = new_ledger(), 5 << 192
    played(ledger, border - 1)
    assert told(audit(ledger)) == []
    second = played(ledger, border)
    assert told(audit(ledger)) == [("seed_predictable", second)]


def test_one_game_alone_is_held_to_the_seeds_of_all() -> None:
    ledger = new_ledger()
    played(ledger, SEED, "zappit")
    again = played(ledger, SEED, "nba")
    assert told(audit(ledger, only="nba")) == [("seed_repeated", again)]
    assert told(audit(ledger, only="zappit")) == []


def test_an_assessment_says_what_the_audit_says() -> None:
    ledger = new_ledger()
    first, second, third = (played(ledger, SEED) for _ in range(3))
    by_round = {each.stream: each for each in audit(ledger).findings}
    for round_id in (second, third):
        found = assess(gather(ledger, round_id), "fairness")
        assert found.findings == (by_round[round_id],)
        assert (found.classes, found.verdict) == (("shoe_error",), "upheld")
    sound = assess(gather(ledger, first), "fairness")
    assert (sound.findings, sound.verdict) == ((), "rejected")


def _naive(reveals: Sequence[Revealed]) -> list[tuple[int, str]]:
    """Each round's first reveal held to every one before it."""
    by_leaf = sorted(reveals, key=lambda each: each.leaf_index)
    firsts = [
        each
        for place, each in enumerate(by_leaf)
        if each.stream not in {other.stream for other in by_leaf[:place]}
    ]
    found = []
    for place, each in enumerate(firsts):
        distances = [abs(each.seed - other.seed) for other in firsts[:place]]
        if 0 in distances:
            found.append((each.leaf_index, "seed_repeated"))
        elif distances and min(distances) < NEAR:
            found.append((each.leaf_index, "seed_predictable"))
    return found


_seeds = st.one_of(
    st.integers(0, 2**256 - 1),
    st.integers(-4, 4).map(lambda step: SEED + step * NEAR // 2),
    st.integers(-2, 2).map(lambda step: SEED + step),
)


@given(st.lists(st.tuples(_seeds, st.integers(0, 12)), max_size=20))
def test_what_is_found_is_what_comparing_all_pairs_finds(drawn: list[tuple[int, int]]) -> None:
    reveals = [
        Revealed(seed, leaf, str(UUID(int=stream)), 1) for leaf, (seed, stream) in enumerate(drawn)
    ]
    assert _places(seed_findings(reveals)) == _naive(reveals)


@given(st.lists(_seeds, max_size=20))
def test_no_pair_is_lost_where_only_suspects_are_read(seeds: list[int]) -> None:
    reveals = [Revealed(seed, leaf, str(leaf), 1) for leaf, seed in enumerate(seeds)]
    noted = Reveals()
    for each in reveals:
        noted.add(each.seed.to_bytes(32), each.leaf_index)
    suspects = noted.suspects()
    assert suspects == sorted(set(suspects))
    assert _places(seed_findings(reveals[leaf] for leaf in suspects)) == _naive(reveals)


def _places(found: Sequence[Finding]) -> list[tuple[int | None, str]]:
    return [(each.leaf_index, each.code) for each in found]


def test_sixteen_bytes_a_reveal() -> None:
    noted = Reveals()
    for number in range(100):
        noted.add(Random(number).randbytes(32), number)
    noted.add(b"no seed", 100)
    noted.add(None, 101)
    assert len(noted.raw) == 100 * 16
    joined = Reveals()
    joined.merge(noted.raw)
    joined.merge(noted.raw)
    assert noted.suspects() == []
    assert joined.suspects() == sorted([*range(100)] * 2)
