"""What the fast reader reads, the one that counts reads too, and as the same."""

from random import Random

import msgspec
import pytest

from shoeproof.ledger.errors import EventUnreadable
from shoeproof.ledger.leaf.envelope import read_event, split_leaf
from shoeproof.replay.kernel.reading import Reader
from shoeproof.replay.kernel.symbols import RoundColumns, Vocabulary
from tests.bulk.rounds import honest_round, stakes_for
from tests.replay.helpers import new_ledger

_SIGNATURE = b"\n0123abcd " + b"A" * 86 + b"==\n"


def _leaves() -> list[bytes]:
    random, ledger = Random(5), new_ledger()
    rounds = [
        honest_round(ledger, game, stakes_for(game, random), random) for game in ("nba", "zero")
    ]
    texts = [
        msgspec.json.encode(each.event, order="sorted") for events in rounds for each in events
    ]
    return [text + _SIGNATURE for text in texts] + [leaf.state for leaf in ledger.leaves()]


LEAVES = _leaves()
_PUT = [b"", b'"', b"0", b"9", b"-", b"{", b"}", b",", b"\n", b" ", b"\\u0031", b"\xff", b"null",
        b"1.5", b'"v":1,', b"Z", b"s1"]  # fmt: skip


def _mutated(random: Random) -> bytes:
    leaf = random.choice(LEAVES)
    for _ in range(random.choice([1, 1, 1, 2])):
        at = random.randrange(len(leaf))
        leaf = leaf[:at] + random.choice(_PUT) + leaf[at + random.choice([0, 1, 1, 1, 2]) :]
    return leaf


@pytest.mark.parametrize("seed", range(4))
def test_mutated_leaves_are_read_alike_or_not_at_all(seed: int) -> None:
    random, reader, vocabulary, met = Random(seed), Reader(), Vocabulary(), 0
    for _ in range(8_000):
        state = _mutated(random)
        own = RoundColumns("")
        try:
            head = reader.head(state)
            vocabulary.read(head.type, bytes(head.data), own)
        except (EventUnreadable, ValueError, RecursionError):
            continue
        met += 1
        event = read_event(split_leaf(state).payload)
        assert (event.stream, event.seq, event.type) == (head.stream, head.seq, head.type)
    assert met > 500


def test_every_leaf_of_a_ledger_is_read() -> None:
    reader, vocabulary = Reader(), Vocabulary()
    for state in LEAVES:
        head = reader.head(state)
        vocabulary.read(head.type, bytes(head.data), RoundColumns(head.stream))
    assert not vocabulary.is_full
