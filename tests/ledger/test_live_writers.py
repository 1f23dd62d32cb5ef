"""Writers under real conditions: lost answers, keys that change under load, clocks, signers."""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import eventsourcing.sqlite as es
import pytest
from msgspec.structs import replace

from shoeproof.ledger.errors import (
    ClockStepped,
    IntentOpen,
    KeyNotValid,
    LedgerError,
    OutcomeUnknown,
    SignerFailed,
    StoreUnavailable,
    StreamConflict,
)
from shoeproof.ledger.keys.key import Signer
from shoeproof.ledger.leaf.clock import SteadyClock
from shoeproof.ledger.leaf.events import ROLES, DealRequested, KeyRevoked
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.rotation import revoke_key, rotate_key
from shoeproof.ledger.store.second_look import look_again
from shoeproof.ledger.verify.whole import verify
from tests.ledger.helpers import ORIGIN, OTHER_ROUND, ROUND, opened, play, round_id, short_round
from tests.lost_answers import losing_answers

MORNING = datetime(2026, 1, 2, 9, tzinfo=UTC)


# A commit whose answer is lost


@contextmanager
def lost_commit(monkeypatch: pytest.MonkeyPatch, *, persisted: bool) -> Iterator[None]:
    """Have the next commit of SQLite fail, after or before it took effect."""
    commit, left = es.SQLiteConnection.commit, [1]

    def failing(connection: es.SQLiteConnection) -> None:
        if not left:
            commit(connection)
            return
        left.clear()
        if persisted:
            commit(connection)
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(es.SQLiteConnection, "commit", failing)
        yield


def test_a_commit_that_was_persisted_stands(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lost_commit(monkeypatch, persisted=True):
        recorded = ledger.append((ROUND, opened()), (ROUND, short_round()[1]))
    assert [each.leaf_index for each in recorded] == [5, 6]
    assert ledger.events(ROUND) == recorded
    ledger.append((ROUND, short_round()[2]))
    assert verify(ledger).findings == []


def test_a_commit_that_was_not_persisted_leaves_nothing(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lost_commit(monkeypatch, persisted=False), pytest.raises(LedgerError) as caught:
        ledger.append((ROUND, opened()))
    assert not isinstance(caught.value, OutcomeUnknown)
    play(ledger)
    assert verify(ledger).findings == []


def test_a_lost_connection_to_postgresql(path: Path, postgres_url: str) -> None:
    Ledger.init(path, ORIGIN, database_url=postgres_url).close()
    with (
        losing_answers(postgres_url) as proxy,
        Ledger.open(path, database_url=proxy.url) as ledger,
    ):
        proxy.armed = True
        recorded = ledger.append((ROUND, opened()), (ROUND, short_round()[1]))
        assert ledger.events(ROUND) == recorded
        proxy.armed = proxy.deaf = True
        with pytest.raises(OutcomeUnknown, match="is not known"):
            ledger.append((ROUND, short_round()[2]))
        proxy.deaf = False
        assert len(ledger.events(ROUND)) == 3
        assert verify(ledger).findings == []


# Keys


@contextmanager
def writers(path: Path, number: int) -> Iterator[list[str]]:
    """Have servers of their own write rounds all the while; give what stopped one of them."""
    stopped, errors = threading.Event(), list[str]()

    def serve(first: int) -> None:
        with Ledger.open(path) as ledger:
            while not stopped.is_set():
                first += 1
                try:
                    ledger.append(*((round_id(first), data) for data in short_round()))
                except StoreUnavailable:
                    continue
                except LedgerError as error:
                    errors.append(str(error))
                    return

    threads = [threading.Thread(target=serve, args=(n * 10**6,)) for n in range(number)]
    for each in threads:
        each.start()
    try:
        yield errors
    finally:
        stopped.set()
        for each in threads:
            each.join()


@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
def test_a_key_revoked_under_load_costs_no_honest_leaf(
    path: Path, store: str, request: pytest.FixtureRequest
) -> None:
    url = None if store == "sqlite" else request.getfixturevalue("postgres_url")
    with Ledger.init(path, ORIGIN, database_url=url) as ledger, writers(path, 3) as errors:
        for _ in range(3):
            time.sleep(0.1)
            old = rotate_key(ledger, "engine").old_key_id_hex
            assert old is not None
            revoked = revoke_key(ledger, old)
            assert isinstance(revoked.event.data, KeyRevoked)
            assert revoked.event.data.first_untrusted_leaf_index == revoked.leaf_index
        before = ledger.size()
        time.sleep(0.3)
        assert ledger.size() > before
    assert errors == []
    assert verify(path).findings == []


# Clocks


def test_two_hosts_half_a_second_apart_write_sound_streams(path: Path) -> None:
    behind = timedelta(seconds=0.5)
    with (
        Ledger.init(path, ORIGIN, clock=lambda: MORNING) as fast,
        Ledger.open(path, clock=lambda: MORNING - behind) as slow,
    ):
        for number, data in enumerate(short_round()):
            writer = slow if number % 2 else fast
            writer._heads.clear()
            writer.append((ROUND, data))
        assert {each.event.at for each in fast.events(ROUND)} == {"2026-01-02T09:00:00.000000Z"}
    assert verify(path).findings == []


def test_a_clock_far_behind_a_stream_writes_nothing_in_it(path: Path) -> None:
    with Ledger.init(path, ORIGIN, clock=lambda: MORNING) as ledger:
        play(ledger, length=2)
    size = ledger_size(path)
    with Ledger.open(path, clock=lambda: MORNING - timedelta(seconds=6)) as late:
        with pytest.raises(ClockStepped, match=r"6\.0 seconds before the last event"):
            late.append((ROUND, short_round()[2]))
        with pytest.raises(ClockStepped):
            late.append((ROUND, short_round()[2]), at=MORNING - timedelta(hours=1))
        late.append((OTHER_ROUND, opened()))
    assert ledger_size(path) == size + 1
    assert verify(path).findings == []


def ledger_size(path: Path) -> int:
    with closing(Ledger.open(path)) as ledger:
        return ledger.size()


@pytest.mark.parametrize("leap", [timedelta(minutes=20), timedelta(seconds=-6)])
def test_a_clock_that_leaps_is_not_believed(leap: timedelta) -> None:
    wall, steady = [MORNING], [1000.0]
    clock = SteadyClock(lambda: wall[0], lambda: steady[0])
    wall[0] += timedelta(seconds=30.5)
    steady[0] += 30
    assert clock() == wall[0]
    right = wall[0]
    wall[0] += leap
    for _ in range(2):
        with pytest.raises(ClockStepped, match="jumped"):
            clock()
    wall[0] = right
    assert clock() == right


def test_a_leap_between_two_programs_asks_for_a_second_look(tmp_path: Path) -> None:
    look_again(tmp_path, MORNING, 100.0)
    look_again(tmp_path, MORNING + timedelta(seconds=64), 160.0)
    leapt = MORNING + timedelta(hours=1)
    with pytest.raises(ClockStepped, match=r"jumped forward by 3,476\.0 seconds"):
        look_again(tmp_path, leapt, 220.0)
    look_again(tmp_path, leapt + timedelta(seconds=60), 280.0)
    with pytest.raises(ClockStepped, match="jumped back"):
        look_again(tmp_path, MORNING, 300.0)


# Signers


class Module:
    """A hardware module in front of a key, which does whatever it is told."""

    def __init__(self, signer: Signer, answer: Callable[[bytes], Any]) -> None:
        self.name, self.key_id_hex = signer.name, signer.key_id_hex
        self.public_key, self.sign = signer.public_key, answer


def no_answer(_: bytes) -> bytes:
    raise TimeoutError("no answer from the module")


@pytest.mark.parametrize(
    "answer",
    [lambda _: bytes(64), lambda _: b"", lambda _: None, no_answer],
    ids=["wrong", "empty", "none", "no answer"],
)
@pytest.mark.parametrize("role", ROLES)
def test_a_signature_that_does_not_hold_is_never_written(
    ledger: Ledger, role: Any, answer: Callable[[bytes], bytes]
) -> None:
    signer = ledger.signer(role)
    size = ledger.size()
    ledger.sign_with(role, Module(signer, answer))
    with pytest.raises(SignerFailed, match=signer.name):
        ledger.signer(role).sign(b"anything")
    if role == "engine":
        with pytest.raises(SignerFailed):
            ledger.append((ROUND, opened()))
    assert ledger.size() == size
    ledger.sign_with(role, Module(signer, signer.sign))
    play(ledger)
    assert verify(ledger).findings == []


def test_a_module_that_names_another_key_is_not_believed(ledger: Ledger) -> None:
    other = Ledger.in_memory("other.example").signer("engine")
    module = Module(ledger.signer("engine"), other.sign)
    module.public_key = other.public_key
    ledger.sign_with("engine", module)
    with pytest.raises(SignerFailed):
        ledger.append((ROUND, opened()))


def test_what_another_process_wrote_and_the_caller_read_is_no_conflict(path: Path) -> None:
    opening, committed, dealt, card, *_ = short_round()
    with (
        Ledger.init(path, ORIGIN, clock=lambda: MORNING) as ledger,
        Ledger.open(path, clock=lambda: MORNING) as other,
    ):
        ledger.append((ROUND, opening), (ROUND, committed))
        other.append((ROUND, dealt), after={ROUND: 1})
        ledger.append((ROUND, card), after={ROUND: 2})
        with pytest.raises(StreamConflict):
            other.append((ROUND, card), after={ROUND: 2})


# Intents


STAKE = DealRequested({"s1": {"main": 100}}, "", None)


def test_a_movement_is_recorded_or_dropped_and_never_both(ledger: Ledger) -> None:
    play(ledger, length=2)
    intents = ledger.intents
    intent = intents.ask("r/deal/2", ROUND, "p", "debit", 100, after={ROUND: 1})
    assert intent.reference == "r/deal/2.0"
    assert intents.open(ROUND) == intents.open() == [intent]
    with pytest.raises(IntentOpen):
        intents.ask("r/deal/2", ROUND, "p", "debit", 500)
    assert intents.drop(intent.reference) == "dropped"
    with pytest.raises(StreamConflict, match="was dropped elsewhere"):
        ledger.append((ROUND, STAKE), records=[intent.reference])
    assert len(ledger.events(ROUND)) == 2
    assert intents.open() == [replace(intent, state="dropped")]
    assert intents.confirm(intent.reference) == "cancelled"
    again = intents.ask("r/deal/2", ROUND, "p", "debit", 500, after={ROUND: 1})
    assert again.reference == "r/deal/2.1"
    ledger.append((ROUND, STAKE), records=[again.reference])
    assert intents.drop(again.reference) == "recorded"
    assert intents.open() == []


def test_stakes_of_a_player_are_asked_for_one_at_a_time(ledger: Ledger) -> None:
    play(ledger, length=2)
    intents = ledger.intents
    first = intents.ask("r/deal/2", ROUND, "p", "debit", 100)
    assert intents.ask("r/deal/2", OTHER_ROUND, "q", "debit", 100).attempt == 1
    for stream, scope in ((ROUND, "r/deal/3"), (OTHER_ROUND, "o/deal/2")):
        with pytest.raises(
            IntentOpen, match=r"earlier movement r/deal/2\.0 of p is not settled yet"
        ):
            intents.ask(scope, stream, "p", "debit", 100)
        intents.ask(f"{scope}/paid", stream, "p", "credit", 100)
    intents.drop(first.reference)
    with pytest.raises(IntentOpen):
        intents.ask("r/deal/3", ROUND, "p", "debit", 100)
    intents.confirm(first.reference)
    assert not intents.all_recorded(ROUND)
    assert intents.ask("r/deal/3", ROUND, "p", "debit", 100).reference == "r/deal/3.0"


def test_nobody_is_asked_for_money_by_a_view_that_is_old(ledger: Ledger) -> None:
    play(ledger, length=3)
    with pytest.raises(StreamConflict):
        ledger.intents.ask("r/deal/2", ROUND, "p", "debit", 100, after={ROUND: 1})
    assert ledger.intents.open() == []


def test_a_revoked_key_records_no_movement(ledger: Ledger) -> None:
    play(ledger, length=2)
    intent = ledger.intents.ask("r/deal/2", ROUND, "p", "debit", 100)
    signer = ledger.signer("engine")
    ledger.sign_with("engine", signer)
    revoke_key(ledger, signer.key_id_hex)
    with pytest.raises(KeyNotValid):
        ledger.append((ROUND, STAKE), records=[intent.reference])
    assert ledger.intents.drop(intent.reference) == "dropped"
