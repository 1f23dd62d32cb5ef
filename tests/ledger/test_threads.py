"""Threads and processes that write to one ledger at once, on every store."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from shoeproof.ledger.errors import LedgerError, RoundStillOpen, StoreUnavailable, StreamClosed
from shoeproof.ledger.leaf.events import AlarmRaised, Seen
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.rotation import revoke_key, rotate_key
from shoeproof.ledger.store.group import Unit
from shoeproof.ledger.store.round_index import Alone
from shoeproof.ledger.verify.whole import verify
from tests.ledger.helpers import ORIGIN, ROUND, RULES, opened, play, round_id, short_round

THREADS = 32


@pytest.fixture(params=["sqlite", "memory", "postgresql"])
def ledger(request: pytest.FixtureRequest, path: Path) -> Iterator[Ledger]:
    """A new ledger in each kind of store."""
    if request.param == "memory":
        made = Ledger.in_memory(ORIGIN)
    else:
        is_postgres = request.param == "postgresql"
        url = request.getfixturevalue("postgres_url") if is_postgres else None
        made = Ledger.init(path, ORIGIN, database_url=url)
    with made:
        yield made


def at_once(number: int, work: Callable[[int], None]) -> list[BaseException]:
    """Run some work in so many threads, and return what it raised."""
    raised: list[BaseException] = []
    barrier = threading.Barrier(number)

    def run(mine: int) -> None:
        try:
            barrier.wait()
            work(mine)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(each,)) for each in range(number)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return raised


def batches(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Note how many writes each transaction takes from now on."""
    sizes: list[int] = []
    group = ledger.store.leaf_reader.group
    write = group._write

    def noted(units: list[Unit]) -> None:
        sizes.append(len(units))
        write(units)

    monkeypatch.setattr(group, "_write", noted)
    return sizes


def held_back(ledger: Ledger, writers: list[Callable[[], Any]]) -> list[Any]:
    """Have all of these wait while something is written, and return what each came to."""
    group = ledger.store.leaf_reader.group
    outcomes: list[Any] = [None] * len(writers)

    def run(mine: int) -> None:
        try:
            outcomes[mine] = writers[mine]()
        except LedgerError as error:
            outcomes[mine] = error

    threads = []
    with group._writing:
        for mine in range(len(writers)):
            threads.append(threading.Thread(target=run, args=(mine,)))
            threads[-1].start()
            while len(group._waiting) <= mine:
                threads[-1].join(0.001)
    group._wake_next()
    for each in threads:
        each.join()
    return outcomes


def test_a_size_read_before_others_wrote_is_no_shrinking(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds = count()
    ledger.append((round_id(next(rounds)), short_round()[0]))

    def overtaken() -> int:
        size = ledger.size()
        ledger.append((round_id(next(rounds)), short_round()[0]))
        return size

    monkeypatch.setattr(ledger.growth, "_size", overtaken)
    ledger.growth.check_size()
    ledger.growth.check()


def test_threads_share_a_ledger(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = batches(ledger, monkeypatch)

    def work(mine: int) -> None:
        for data in short_round():
            ledger.append((round_id(mine), data))
        intent = ledger.intents.ask(f"{mine}/deal", round_id(mine), f"p-{mine}", "debit", 100)
        assert ledger.intents.drop(intent.reference) == "dropped"

    assert at_once(THREADS, work) == []
    assert sum(sizes) == THREADS * 10
    result = verify(ledger)
    assert (result.findings, result.open_rounds) == ([], 0)
    assert len(ledger.rounds(state="closed")) == THREADS
    assert ledger.seen() == Seen(ledger.tree(ledger.size()).root().hex(), ledger.size())


def test_threads_share_a_stream(ledger: Ledger) -> None:
    """Each of them goes on from where the one before it ended."""

    def work(mine: int) -> None:
        for _ in range(5):
            ledger.append(("operations", AlarmRaised(mine, None, "at once")))

    assert at_once(THREADS, work) == []
    assert len(ledger.events("operations")) == THREADS * 5
    assert verify(ledger).findings == []


def test_one_that_is_refused_leaves_the_others_of_its_transaction(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = batches(ledger, monkeypatch)
    play(ledger, length=2)
    closing = short_round()[2:]
    alone = Alone("p-1", (RULES,))
    del sizes[:]
    first, second, closed, late, asked, alarm = held_back(
        ledger,
        [
            lambda: ledger.append((round_id(1), opened("p-1")), alone=alone),
            lambda: ledger.append((round_id(2), opened("p-1")), alone=alone),
            lambda: ledger.append(*((ROUND, data) for data in closing)),
            lambda: ledger.append((ROUND, closing[0])),
            lambda: ledger.intents.ask("r/deal", round_id(1), "p-1", "debit", 5),
            lambda: ledger.append(("operations", AlarmRaised(1, None, "last"))),
        ],
    )
    assert sizes == [6]
    assert isinstance(second, RoundStillOpen)
    assert isinstance(late, StreamClosed)
    assert [each.leaf_index for each in (*first, *closed, *alarm)] == list(range(7, 15))
    assert ledger.intents.open() == [asked]
    assert [row.round for row in ledger.rounds(player="p-1")] == [round_id(1)]
    assert verify(ledger).findings == []


def test_a_commit_that_failed_is_told_to_each_and_undone_for_all(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who goes on afterwards goes on from what stands, not from what was to be written."""
    play(ledger, length=2)
    reader = ledger.store.leaf_reader
    write = reader._write_together

    def failing(units: list[Unit]) -> None:
        with reader.writing() as cursor:
            monkeypatch.setattr(reader.group, "_write", write)
            reader.attempt(cursor, units)
            raise StoreUnavailable("the disk is gone")

    monkeypatch.setattr(reader.group, "_write", failing)
    data = short_round()[2]
    outcomes = held_back(
        ledger,
        [lambda: ledger.append((ROUND, data)), lambda: ledger.append((round_id(1), opened()))],
    )
    assert [str(each) for each in outcomes] == ["the disk is gone"] * 2
    assert ledger.size() == 7
    [again] = ledger.append((ROUND, data))
    assert again.event.seq == 2
    ledger.append((round_id(1), opened()))
    assert verify(ledger).findings == []


def test_keys_that_change_while_threads_write(ledger: Ledger) -> None:
    if ledger.path is None:
        pytest.skip("keys of a ledger in memory are not rotated")
    stopped = threading.Event()
    raised: list[BaseException] = []

    def work() -> None:
        raised.extend(at_once(8, write))

    def write(mine: int) -> None:
        for number in count(1000 * mine):
            if stopped.is_set():
                return
            ledger.append(*((round_id(number), data) for data in short_round()))

    writing = threading.Thread(target=work)
    writing.start()
    for _ in range(3):
        old = rotate_key(ledger, "engine").old_key_id_hex
        assert old is not None
        revoke_key(ledger, old)
    stopped.set()
    writing.join()
    assert raised == []
    assert verify(ledger).findings == []


PROCESS = """
import sys, threading
from pathlib import Path
from shoeproof.ledger.ledger import Ledger
from tests.ledger.helpers import RULES, round_id, short_round

def work(first):
    for number in range(first, first + 5):
        for data in short_round():
            ledger.append((round_id(number), data))

if __name__ == "__main__":
    with Ledger.open(Path(sys.argv[1])) as ledger:
        threads = [threading.Thread(target=work, args=(int(sys.argv[2]) + 5 * each,))
                   for each in range(8)]
        for each in threads: each.start()
        for each in threads: each.join()
"""


def test_processes_whose_threads_write_at_once(ledger: Ledger) -> None:
    if ledger.path is None:
        pytest.skip("a ledger in memory is its process's own")
    root = Path(__file__).parents[2]
    words = [sys.executable, "-c", PROCESS, str(ledger.path)]
    running = [subprocess.Popen([*words, str(first)], cwd=root) for first in (0, 1000)]
    assert [each.wait(300) for each in running] == [0, 0]
    result = verify(ledger)
    assert (result.findings, result.open_rounds) == ([], 0)
    assert len(ledger.rounds(state="closed")) == 80
    play(ledger, round_id(9999))
    assert ledger.seen() == Seen(ledger.tree(ledger.size()).root().hex(), ledger.size())


def test_a_process_that_does_not_get_its_turn(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from shoeproof.ledger.store import recorder
    from shoeproof.ledger.store.errors import turn_of_a_process

    with Ledger.init(path, ORIGIN) as ledger:
        queue = path / "events.sqlite-queue"
        with monkeypatch.context() as patch, turn_of_a_process(queue):
            patch.setattr(recorder, "turn_of_a_process", lambda at: turn_of_a_process(at, 0.05))
            with pytest.raises(StoreUnavailable, match="locked by another program"):
                ledger.append((ROUND, opened()))
        play(ledger)
        assert verify(ledger).findings == []
