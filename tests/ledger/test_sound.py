"""Where comparing bytes shows a leaf to be sound, reading it finds nothing wrong."""

from random import Random

import pytest

from ledger import canonical
from ledger.envelope import payload, split_leaf
from ledger.ledger import Ledger
from ledger.merkle import leaf_hash
from ledger.recorded import read_leaf
from ledger.scan import check_leaf, check_link, link_of
from ledger.schema import StoredLeaf
from ledger.sound import Sound, SoundOf, sound_leaves
from tests.ledger.helpers import ORIGIN, OTHER_ROUND, ROUND, TickingClock, play

_PUT = [b"", b'"', b"0", b"9", b"-", b"{", b"}", b",", b"\n", b" ", b"\\u0031", b"\xff", b"null",
        b"1.5", b'"v":1,', b"Z", b"a", b"=", b"00000000000000000"]  # fmt: skip


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    made = Ledger.in_memory(ORIGIN, clock=TickingClock())
    play(made)
    play(made, OTHER_ROUND)
    return made


def test_every_leaf_the_ledger_wrote_is_sound(ledger: Ledger) -> None:
    sound_of = sound_leaves(ORIGIN, ledger.key_ring(), 0)
    last: dict[str, Sound] = {}
    for leaf in ledger.leaves():
        sound = _told(sound_of, leaf, last.get(leaf.stream))
        assert sound is not None
        assert sound[4] == canonical.encode(read_leaf(leaf).event.data)
        # Where a round goes on from leaves that are not at hand, its word is taken for the hash.
        assert _told(sound_of, leaf) == sound
        last[leaf.stream] = sound


def _told(sound_of: SoundOf, leaf: StoredLeaf, before: Sound | None = None) -> Sound | None:
    return sound_of(leaf, leaf_hash(leaf.state), before)


def _mutated(random: Random, leaf: StoredLeaf) -> StoredLeaf:
    state = leaf.state
    for _ in range(random.choice([0, 1, 1, 1, 2])):
        at = random.choice([random.randrange(len(state)), len(state) - random.randrange(1, 101)])
        state = state[:at] + random.choice(_PUT) + state[at + random.choice([0, 1, 1, 1, 2]) :]
    changes: list[dict[str, object]] = [
        {}, {}, {}, {"stream": OTHER_ROUND}, {"stream": "rules"}, {"version": leaf.version + 1},
        {"topic": "RoundClosed"}, {"stream": f'{leaf.stream}"'}, {"leaf_index": 1},
    ]  # fmt: skip
    return leaf._replace(state=state, **random.choice(changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("covered", [0, 1_000])
def test_mutated_leaves_are_sound_for_reading_too(ledger: Ledger, covered: int) -> None:
    random, ring, leaves = Random(covered), ledger.key_ring(), list(ledger.leaves())
    of_round = [leaf for leaf in leaves if leaf.stream == ROUND]
    sound_of = sound_leaves(ORIGIN, ring, covered)
    met = 0
    for _ in range(12_000):
        place = random.randrange(1, len(of_round))
        leaf, before = _mutated(random, of_round[place]), of_round[place - 1]
        known = random.choice([True, False])
        sound = _told(sound_of, leaf, _told(sound_of, before) if known else None)
        if sound is None:
            continue
        met += 1
        event, found = check_leaf(leaf, ORIGIN, ring, is_covered=covered > 0)
        assert event is not None
        assert not found
        assert split_leaf(leaf.state).payload == payload(event)
        assert canonical.encode(event.data) == sound[4]
        if known:
            link = link_of(before, read_leaf(before).event)
            assert not check_link(link, link_of(leaf, event))
    assert met > 500


def test_a_signature_is_verified_where_nothing_covers_the_leaf(ledger: Ledger) -> None:
    leaf = next(leaf for leaf in ledger.leaves() if leaf.stream == ROUND)
    other = next(leaf for leaf in ledger.leaves() if leaf.stream == OTHER_ROUND)
    forged = leaf._replace(state=leaf.state[:-99] + other.state[-99:])
    ring = ledger.key_ring()
    assert _told(sound_leaves(ORIGIN, ring, 100), forged) is not None
    assert _told(sound_leaves(ORIGIN, ring, leaf.leaf_index), forged) is None
    assert _told(sound_leaves("other.example", ring, 100), leaf) is None


def test_a_number_that_json_readers_read_differently_is_not_sound(ledger: Ledger) -> None:
    leaf = next(leaf for leaf in ledger.leaves() if leaf.topic == "RoundClosed")
    for wrong in (b"9007199254740993", b"1.0", b"01"):
        start, end = leaf.state.index(b'_minor":') + 8, leaf.state.index(b",", 100)
        changed = leaf._replace(state=leaf.state[:start] + wrong + leaf.state[end:])
        assert _told(sound_leaves(ORIGIN, ledger.key_ring(), 100), changed) is None
