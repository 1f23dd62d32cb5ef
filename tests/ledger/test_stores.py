"""What every store does, in memory, on SQLite and on PostgreSQL: one suite for all of them."""

import os
import signal
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from shoeproof.ledger.errors import KeyNotValid, StoreDamaged, StreamConflict
from shoeproof.ledger.keys.key import parse_vkey
from shoeproof.ledger.leaf.events import CardDealt, DisputeOpened, KeyRevoked
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.store import sqlite as store_module
from shoeproof.ledger.store.transaction import SealedEvent
from shoeproof.ledger.tree.merkle import leaf_hash, root_hash
from shoeproof.ledger.verify import whole, workers
from shoeproof.ledger.verify.whole import verify
from tests.ledger.helpers import (
    ORIGIN,
    OTHER_ROUND,
    ROUND,
    TickingClock,
    opened,
    play,
    round_id,
    short_round,
)

ROOT = Path(__file__).parents[2]
WRITERS, ROUNDS = 4, 12

ENDLESS_WRITER = """
import sys
from itertools import count
from pathlib import Path
from shoeproof.ledger.ledger import Ledger
from tests.ledger.helpers import round_id, short_round
ledger = Ledger.open(Path(sys.argv[1]))
for number in count():
    recorded = ledger.append(*((round_id(number), data) for data in short_round()))
    print(recorded[-1].leaf_index, flush=True)
"""

WRITER = """
import sys
from pathlib import Path
from shoeproof.ledger.ledger import Ledger
from tests.ledger.helpers import round_id, short_round
with Ledger.open(Path(sys.argv[1])) as ledger:
    for number in range(int(sys.argv[2]), int(sys.argv[3])):
        for data in short_round():
            ledger.append((round_id(number), data))
"""


def start(script: str, ledger: Ledger, *arguments: int) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", script, str(ledger.path), *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


class StoreSuite(ABC):
    """The suite; each store says how a ledger is made in it."""

    @pytest.fixture
    @abstractmethod
    def ledger(self, request: pytest.FixtureRequest) -> Iterator[Ledger]:
        """A new ledger."""

    def test_what_is_appended_is_read_back_verbatim(self, ledger: Ledger) -> None:
        first = ledger.size()
        recorded = ledger.append(*((ROUND, data) for data in short_round()))
        assert ledger.events(ROUND) == recorded
        stored = [StoredLeaf(r.leaf_index, ROUND, r.event.seq + 1, r.event.type, r.leaf)
                  for r in recorded]  # fmt: skip
        assert list(ledger.leaves(first)) == ledger.store.stream(ROUND) == stored
        assert ledger.store.fetch(first + 1, first + 3) == stored[1:3]
        assert ledger.store.head(ROUND) == stored[-1]
        assert ledger.store.head(OTHER_ROUND) is None
        assert [leaf.leaf_index for leaf in ledger.leaves()] == list(range(ledger.size()))
        assert verify(ledger).findings == []

    def test_bytes_that_are_no_text_are_kept_as_they_are(self, ledger: Ledger) -> None:
        state = bytes(range(256))
        [index] = ledger.store.append([SealedEvent("operations", 1, "AlarmRaised", state)])
        assert ledger.store.fetch(index, index + 1)[0].state == state

    def test_leaves_come_in_pages_without_a_seam(
        self, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        play(ledger)
        monkeypatch.setattr(store_module, "PAGE", 3)
        leaves = list(ledger.leaves())
        assert [leaf.leaf_index for leaf in leaves] == list(range(ledger.size()))

    def test_tree_is_that_of_the_leaves(self, ledger: Ledger) -> None:
        ledger.append(*((round_id(number), opened()) for number in range(600)))
        play(ledger)
        hashes = [leaf_hash(leaf.state) for leaf in ledger.leaves()]
        for size in (1, 255, 256, 257, 512, len(hashes)):
            assert ledger.tree(size).root() == root_hash(hashes[:size])

    def test_append_that_conflicts_leaves_nothing(self, ledger: Ledger) -> None:
        play(ledger, length=2)
        size, root = ledger.size(), ledger.tree(ledger.size()).root()
        late = SealedEvent(ROUND, 2, "CardDealt", b"late")
        fresh = SealedEvent(OTHER_ROUND, 1, "RoundOpened", ledger.events(ROUND)[0].leaf)
        with pytest.raises(StreamConflict):
            ledger.store.append([fresh, late])
        assert (ledger.size(), ledger.tree(ledger.size()).root()) == (size, root)
        assert [row.round for row in ledger.rounds()] == [ROUND]
        play(ledger, OTHER_ROUND)
        assert verify(ledger).findings == []

    def test_append_that_rests_on_a_stream_which_went_on_leaves_nothing(
        self, ledger: Ledger
    ) -> None:
        play(ledger, length=3)
        opened_case = ("disputes/" + ROUND, DisputeOpened(ROUND, "fairness", None, [], None))
        size = ledger.size()
        for read in ({ROUND: 1}, {ROUND: 2, OTHER_ROUND: 0}):
            with pytest.raises(StreamConflict, match="another writer appended"):
                ledger.append(opened_case, after=read)
        assert ledger.size() == size
        ledger.append(opened_case, after={ROUND: 2, OTHER_ROUND: -1, "disputes/" + ROUND: -1})
        assert verify(ledger).findings == []

    def test_append_that_is_not_admitted_leaves_nothing(self, ledger: Ledger) -> None:
        play(ledger, length=2)
        engine = parse_vkey(ledger.public_keys()["engine"])
        revoked = KeyRevoked(engine.name, engine.key_id_hex, ledger.size(), "stolen")
        size, root = ledger.size(), ledger.tree(ledger.size()).root()
        with pytest.raises(KeyNotValid, match="not trusted"):
            ledger.append(("keys", revoked), (ROUND, CardDealt(0, "s1", "Td")))
        assert (ledger.size(), ledger.tree(ledger.size()).root()) == (size, root)
        ledger.append((ROUND, CardDealt(0, "s1", "Td")))
        ledger.append(("keys", KeyRevoked(engine.name, engine.key_id_hex, ledger.size(), None)))
        with pytest.raises(KeyNotValid, match="not trusted"):
            ledger.append((ROUND, CardDealt(1, "s1", "9c")))
        assert verify(ledger).findings == []

    def test_rounds_are_found_by_what_they_are(self, ledger: Ledger) -> None:
        for day in (2, 3, 4):
            moment = datetime(2026, 1, day, tzinfo=UTC)
            ledger.append((round_id(day), opened(f"p-{day}")), at=moment)
        ledger.append(*((round_id(3), data) for data in short_round()[1:]), at=moment)

        def found(**conditions: Any) -> list[str]:
            return [row.round for row in ledger.rounds(**conditions)]

        assert found() == [round_id(day) for day in (2, 3, 4)]
        assert found(state="closed") == found(player="p-3") == [round_id(3)]
        assert found(opened_from=datetime(2026, 1, 3, tzinfo=UTC)) == [round_id(3), round_id(4)]
        assert found(limit=1) == [round_id(2)]
        assert found(rules_digests=["00"]) == found(rules_digests=[]) == []
        assert ledger.round_ids(round_id(3)[:-1]) == [round_id(2), round_id(3)]

    def test_disputed_rounds_are_listed(self, ledger: Ledger) -> None:
        play(ledger)
        assert ledger.disputed() == []
        for disputed in (OTHER_ROUND, ROUND, OTHER_ROUND):
            claim = DisputeOpened(disputed, "fairness", None, [], None)
            ledger.append((f"disputes/{disputed}", claim))
        assert ledger.disputed() == [f"disputes/{ROUND}", f"disputes/{OTHER_ROUND}"]

    def test_notifications_are_leaves_numbered_from_one(self, ledger: Ledger) -> None:
        play(ledger)
        reader = ledger.store.recorder
        assert reader.max_notification_id() == ledger.size()
        ids = [each.id for each in reader.select_notifications(None, 100)]
        assert ids == list(range(1, ledger.size() + 1))
        cards = reader.select_notifications(1, 100, topics=["CardDealt"])
        assert [each.topic for each in cards] == ["CardDealt"]
        after = reader.select_notifications(2, 2, inclusive_of_start=False)
        assert [each.id for each in after] == [3, 4]

    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE stored_events SET topic = 'x'",
            "DELETE FROM stored_events",
            "UPDATE leaves SET event_rowid = event_rowid + 100",
            "DELETE FROM leaves",
            "INSERT INTO leaves VALUES (99, 99)",
            "INSERT INTO leaves VALUES (-1, 99)",
            "DELETE FROM tiles",
            "UPDATE tiles SET hashes = substr(hashes, 1, 32)",
        ],
    )
    def test_what_is_written_is_never_changed(self, ledger: Ledger, statement: str) -> None:
        with pytest.raises(StoreDamaged, match=r"only ever added to|must follow"):
            ledger.store.query(statement)
        assert verify(ledger).findings == []


class SharedStoreSuite(StoreSuite):
    """What stores do that several processes can open."""

    def test_reopened_ledger_goes_on(self, ledger: Ledger) -> None:
        assert ledger.path is not None
        play(ledger, length=3)
        with Ledger.open(ledger.path) as reopened:
            reopened.append(*((ROUND, data) for data in short_round()[3:]))
        assert [each.event.seq for each in ledger.events(ROUND)] == list(range(8))

    def test_second_writer_of_a_stream_is_refused(self, ledger: Ledger) -> None:
        assert ledger.path is not None
        play(ledger, length=2)
        with Ledger.open(ledger.path) as second:
            second.append((ROUND, short_round()[2]))
            with pytest.raises(StreamConflict):
                ledger.append((OTHER_ROUND, opened()), (ROUND, short_round()[2]))
        assert ledger.store.stream(OTHER_ROUND) == []
        ledger.append((ROUND, short_round()[3]))
        assert verify(ledger).findings == []

    def test_key_revoked_by_another_process_signs_nothing_more(self, ledger: Ledger) -> None:
        assert ledger.path is not None
        play(ledger, length=2)
        engine = parse_vkey(ledger.public_keys()["engine"])
        with Ledger.open(ledger.path) as other:
            other.append(("keys", KeyRevoked(engine.name, engine.key_id_hex, other.size(), None)))
        with pytest.raises(KeyNotValid, match="not trusted"):
            ledger.append((ROUND, short_round()[2]))
        assert verify(ledger).findings == []

    def test_work_shared_between_processes_finds_the_same(
        self, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        play(ledger)
        monkeypatch.setattr(whole, "RUN", 5)
        monkeypatch.setattr(workers, "SHARED_FROM", 0)
        assert verify(ledger, workers=2).findings == []

    def test_killed_in_the_middle_of_appending(self, ledger: Ledger) -> None:
        """Whole turns are there or not at all, and what was said to be there is."""
        first = ledger.size()
        writer = start(ENDLESS_WRITER, ledger)
        assert writer.stdout is not None
        promised = [int(writer.stdout.readline()) for _ in range(30)][-1]
        writer.send_signal(signal.SIGKILL)
        rest = writer.communicate()[0].split("\n")
        promised = max([promised, *(int(line) for line in rest[:-1])])
        result = verify(ledger)
        assert (result.findings, result.open_rounds) == ([], 0)
        assert result.size > promised
        assert (result.size - first) % len(short_round()) == 0
        assert ledger.rounds(state="open") == []

    def test_four_writers_and_a_reader_who_follows(self, ledger: Ledger) -> None:
        """Nothing is lost, nothing is reordered, and nothing appears behind the reader."""
        writers = [
            start(WRITER, ledger, number, number + ROUNDS)
            for number in range(0, WRITERS * ROUNDS, ROUNDS)
        ]
        first = ledger.size()
        seen: list[StoredLeaf] = []
        running = True
        while running:
            running = any(writer.poll() is None for writer in writers)
            seen += ledger.leaves(first + len(seen))
        assert [writer.communicate()[0] for writer in writers] == [""] * WRITERS
        assert [writer.returncode for writer in writers] == [0] * WRITERS
        assert seen == list(ledger.leaves(first))
        assert [leaf.leaf_index for leaf in seen] == list(range(first, ledger.size()))
        assert len(seen) == WRITERS * ROUNDS * len(short_round())
        assert verify(ledger).findings == []


class TestMemory(StoreSuite):
    """A store that lives as long as its object."""

    @pytest.fixture
    def ledger(self) -> Iterator[Ledger]:
        with Ledger.in_memory(ORIGIN, clock=TickingClock()) as made:
            yield made


class TestSQLite(SharedStoreSuite):
    """A store in a file."""

    @pytest.fixture
    def ledger(self, path: Path) -> Iterator[Ledger]:
        with Ledger.init(path, ORIGIN) as made:
            yield made


class TestPostgres(SharedStoreSuite):
    """A store in a real PostgreSQL."""

    @pytest.fixture
    def ledger(self, path: Path, postgres_url: str) -> Iterator[Ledger]:
        with Ledger.init(path, ORIGIN, database_url=postgres_url) as made:
            yield made
