"""Where comparing bytes shows leaves to be sound, reading them one by one finds nothing wrong."""

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from shoeproof.ledger import findings
from shoeproof.ledger.leaf import canonical
from shoeproof.ledger.leaf.recorded import read_leaf
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.verify import scan as scanning
from shoeproof.ledger.verify.batch import LeafBatch
from shoeproof.ledger.verify.fast_check import sound_texts
from shoeproof.ledger.verify.scan import (
    Chains,
    Link,
    Scanned,
    ScannedLeaves,
    leaf_from_bytes,
    link_of,
    scan,
)
from tests.ledger.helpers import ORIGIN, OTHER_ROUND, ROUND, TickingClock, play

_PUT = [b"", b'"', b"0", b"9", b"-", b"{", b"}", b",", b"\n", b" ", b"\\u0031", b"\xff", b"null",
        b"1.5", b'"v":1,', b"Z", b"a", b"=", b"00000000000000000"]  # fmt: skip


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    made = Ledger.in_memory(ORIGIN, clock=TickingClock())
    play(made)
    play(made, OTHER_ROUND)
    return made


def of_rounds(ledger: Ledger) -> list[StoredLeaf]:
    return [leaf for leaf in ledger.leaves() if leaf.stream in (ROUND, OTHER_ROUND)]


def told(ledger: Ledger, leaves: Sequence[StoredLeaf], covered: int) -> list[bytes | None]:
    return sound_texts(LeafBatch.of_leaves(leaves), ORIGIN, ledger.key_ring(), covered)


def test_every_leaf_of_a_round_that_the_ledger_wrote_is_sound(ledger: Ledger) -> None:
    leaves = of_rounds(ledger)
    texts = [canonical.encode(read_leaf(leaf).event.data) for leaf in leaves]
    assert told(ledger, leaves, 0) == texts
    # Where a round goes on from leaves that are not at hand, its word is taken for the hash.
    assert [told(ledger, [leaf], 0)[0] for leaf in leaves] == texts


def test_a_round_begun_again_while_it_is_open(ledger: Ledger) -> None:
    """Its leaves are sound one by one; only where the runs meet is it seen."""
    whole = [leaf for leaf in ledger.leaves() if leaf.stream == ROUND]
    begun = [leaf._replace(leaf_index=place) for place, leaf in enumerate(whole[:4])]
    again = [leaf._replace(leaf_index=place) for place, leaf in enumerate(whole, 4)]
    chains = Chains(lambda *_: None)
    assert chains.join(_scanned(ledger, begun, 0).run) == []
    assert chains.open_rounds == 1
    run = _scanned(ledger, again, 0).run
    assert run.whole == {ROUND: 4}
    (found,) = chains.join(run)
    assert (found.code, found.leaf_index, found.stream) == (findings.SEQ_GAP, 4, ROUND)
    assert chains.open_rounds == 0


def test_a_round_that_goes_on_in_a_later_run_after_its_close(ledger: Ledger) -> None:
    """A closed round is forgotten; where something follows, its last link is looked up again."""
    whole = [leaf for leaf in ledger.leaves() if leaf.stream == ROUND]
    closing = link_of(whole[-1], read_leaf(whole[-1]).event)
    asked: list[tuple[str, int, int]] = []

    def earlier(*words: Any) -> Link:
        asked.append(words)
        return closing

    chains = Chains(earlier)
    assert chains.join(_scanned(ledger, whole, 0).run) == []
    late = Link(ROUND, 50, closing.seq + 1, "ab" * 32, False, True, closing.leaf_hash, closing.at)
    (found,) = chains.join(ScannedLeaves(50, 51, [], {ROUND: late}, {ROUND: late}, {}, 1))
    assert (found.code, found.leaf_index) == (findings.EVENT_AFTER_CLOSE, 50)
    assert asked == [(ROUND, closing.seq + 1, 50)]


def test_leaves_that_cannot_be_read_are_each_of_a_stream_of_their_own() -> None:
    one, other = leaf_from_bytes(7, b"no leaf"), leaf_from_bytes(8, b"")
    assert (one.leaf_index, one.state) == (7, b"no leaf")
    assert (one.stream, other.stream) == ("leaf 7", "leaf 8")


def _mutated(random: Random, leaf: StoredLeaf) -> StoredLeaf:
    state = leaf.state
    for _ in range(random.choice([0, 1, 1, 1, 2])):
        at = random.choice([random.randrange(len(state)), len(state) - random.randrange(1, 101)])
        state = state[:at] + random.choice(_PUT) + state[at + random.choice([0, 1, 1, 1, 2]) :]
    changes: list[dict[str, Any]] = [
        {}, {}, {}, {"stream": OTHER_ROUND}, {"stream": "rules"}, {"version": leaf.version + 1},
        {"topic": "RoundClosed"}, {"stream": f'{leaf.stream}"'}, {"version": 0}, {"topic": ""},
    ]  # fmt: skip
    return leaf._replace(state=state, **random.choice(changes))


def _spoiled(random: Random, leaves: Sequence[StoredLeaf]) -> list[StoredLeaf]:
    """Alter a leaf, move one, remove one or tell one twice."""
    spoiled, place = list(leaves), random.randrange(len(leaves))
    match random.randrange(6):
        case 0:
            del spoiled[place]
        case 1:
            other = random.randrange(len(leaves))
            spoiled[place] = spoiled[other]._replace(leaf_index=spoiled[place].leaf_index)
        case _:
            spoiled[place] = _mutated(random, spoiled[place])
    return spoiled


def _one_by_one(
    monkeypatch: pytest.MonkeyPatch, ledger: Ledger, leaves: Sequence[StoredLeaf], covered: int
) -> Scanned:
    with monkeypatch.context() as patch:
        patch.setattr(scanning, "_sound_texts", lambda batch, *_: [None] * len(batch))
        return _scanned(ledger, leaves, covered)


def _scanned(ledger: Ledger, leaves: Sequence[StoredLeaf], covered: int) -> Scanned:
    batch, stop = LeafBatch.of_leaves(leaves), ledger.size()
    return scan(batch, leaves[0].leaf_index, stop, ORIGIN, ledger.key_ring(), covered)


@pytest.mark.parametrize("covered", [0, 1_000])
def test_both_ways_find_the_same(
    ledger: Ledger, covered: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random, leaves = Random(covered), of_rounds(ledger)
    altered = 0
    for _ in range(600):
        spoiled = _spoiled(random, leaves)
        fast = _scanned(ledger, spoiled, covered)
        slow = _one_by_one(monkeypatch, ledger, spoiled, covered)
        assert sorted(fast.run.findings) == sorted(slow.run.findings)
        assert fast.run.verified == slow.run.verified
        # A round that is told whole is not told by its ends.
        ends = fast.run.tails | {stream: slow.run.tails[stream] for stream in fast.run.whole}
        assert ends == slow.run.tails
        assert sorted(fast.anchors) == sorted(slow.anchors)
        altered += bool(slow.run.findings)
        for leaf, text in zip(spoiled, fast.texts, strict=True):
            assert text in (None, canonical.encode(read_leaf(leaf).event.data) if text else None)
    assert altered > 400


def test_a_signature_is_verified_where_nothing_covers_the_leaf(ledger: Ledger) -> None:
    leaf = next(leaf for leaf in ledger.leaves() if leaf.stream == ROUND)
    other = next(leaf for leaf in ledger.leaves() if leaf.stream == OTHER_ROUND)
    forged = leaf._replace(state=leaf.state[:-99] + other.state[-99:])
    assert told(ledger, [forged], 100) != [None]
    assert told(ledger, [forged], leaf.leaf_index) == [None]
    batch = LeafBatch.of_leaves([leaf])
    assert sound_texts(batch, "other.example", ledger.key_ring(), 100) == [None]


def test_a_number_that_json_readers_read_differently_is_not_sound(ledger: Ledger) -> None:
    leaf = next(leaf for leaf in ledger.leaves() if leaf.topic == "RoundClosed")
    for wrong in (b"9007199254740993", b"1.0", b"01"):
        start, end = leaf.state.index(b'_minor":') + 8, leaf.state.index(b",", 100)
        changed = leaf._replace(state=leaf.state[:start] + wrong + leaf.state[end:])
        assert told(ledger, [changed], 100) == [None]


@pytest.mark.parametrize("row", [(5, None, None, None, None), (5, 7, "x", b"\xff", "text"),
                                 (5, b"\xff\xfe", -1, b"RoundOpened", b"")])  # fmt: skip
def test_whatever_a_damaged_row_holds_can_be_scanned(ledger: Ledger, row: tuple[Any, ...]) -> None:
    batch = LeafBatch.of_rows([row])
    found = scan(batch, 5, 6, ORIGIN, ledger.key_ring(), 0).run.findings
    assert [finding.leaf_index for finding in found] == [5]


@pytest.mark.parametrize(
    "name", ["0193" + "z" * 32, ROUND.replace("-7", "-4"), ROUND.upper(), ROUND[:-1] + "-"]
)
def test_a_round_of_another_name_than_a_round_has_is_not_sound(ledger: Ledger, name: str) -> None:
    for leaf in (leaf for leaf in ledger.leaves() if leaf.stream == ROUND):
        state = leaf.state.replace(ROUND.encode(), name.encode())
        assert told(ledger, [leaf._replace(stream=name, state=state)], 100) == [None]
