"""A ledger that does not extend what was signed of it is read and not written."""

from io import BytesIO
from pathlib import Path

import pytest

from shoeproof.ledger.errors import SigningRefused
from shoeproof.ledger.exchange.transfer import export_leaves, import_leaves
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.store.guard import Guard, Signed
from tests.ledger.helpers import (
    FIRST,
    OTHER_ROUND,
    ROUND,
    cut_tiles,
    opened,
    play,
    round_id,
    tampering,
)


def put_back(path: Path, size: int) -> None:
    """Put a database of a few leaves back to what it was when it had `size` of them."""
    with tampering(path) as connection:
        connection.execute("DELETE FROM leaves WHERE leaf_index >= ?", (size,))
        connection.execute("DELETE FROM stored_events WHERE event_rowid > ?", (size,))
        cut_tiles(connection, size)


@pytest.fixture
def restored(played: Path) -> Path:
    """A ledger of 13 leaves of which 21 were signed."""
    with Ledger.open(played) as ledger:
        play(ledger, OTHER_ROUND)
        sign_checkpoint(ledger)
    put_back(played, FIRST + 8)
    return played


def test_a_restored_copy_is_read(restored: Path) -> None:
    with Ledger.open(restored) as ledger:
        assert len(ledger.events(ROUND)) == 8
        assert ledger.tree(13).root()
        assert list(export_leaves(ledger))


def test_a_restored_copy_writes_nothing(restored: Path) -> None:
    with Ledger.open(restored) as ledger:
        stream = b"".join(export_leaves(ledger))
        writes = (
            lambda: ledger.append((round_id(1), opened())),
            lambda: ledger.append_at_size(lambda size: (round_id(1), opened())),
            lambda: ledger.intents.ask("a", ROUND, "p", "debit", 100),
            lambda: ledger.intents.drop("a.0"),
            lambda: import_leaves(ledger, BytesIO(stream)),
        )
        for write in writes:
            with pytest.raises(SigningRefused, match="13 leaves, but 21 were signed"):
                write()
        assert ledger.size() == 13
        assert ledger.intents.all() == []


def test_a_ledger_without_its_guard_is_read_and_not_written(played: Path) -> None:
    (played / "guard").unlink()
    with Ledger.open(played) as ledger:
        assert len(ledger.events(ROUND)) == 8
        with pytest.raises(SigningRefused, match="is missing"):
            play(ledger, OTHER_ROUND)


def test_a_database_put_back_under_an_open_ledger(played: Path) -> None:
    """What was written since is not missed by the guard, since it was never signed."""
    with Ledger.open(played) as ledger:
        play(ledger, OTHER_ROUND)
        put_back(played, FIRST + 8)
        for write in (
            lambda: play(ledger, round_id(1)),
            lambda: ledger.intents.ask("a", ROUND, "p", "debit", 100),
        ):
            with pytest.raises(SigningRefused, match="had 21 leaves and has 13"):
                write()


def test_a_database_put_back_under_a_ledger_that_saw_less(played: Path) -> None:
    """Another process wrote and signed what vanished: the guard tells, which was set since."""
    with Ledger.open(played) as idle:
        play(idle, OTHER_ROUND, length=1)
        with Ledger.open(played) as other:
            play(other, round_id(1))
            sign_checkpoint(other)
        put_back(played, FIRST + 9)
        with pytest.raises(SigningRefused, match="14 leaves, but 22 were signed"):
            play(idle, round_id(2))


def test_the_guard_is_read_when_something_was_signed_and_not_at_each_append(
    played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = []
    read = Guard.read

    def counted(guard: Guard) -> Signed:
        reads.append(guard)
        return read(guard)

    with Ledger.open(played) as ledger:
        monkeypatch.setattr(Guard, "read", counted)
        play(ledger, OTHER_ROUND)
        play(ledger, round_id(1))
        assert len(reads) == 1
        sign_checkpoint(ledger)
        before = len(reads)
        play(ledger, round_id(2))
        assert len(reads) == before + 1
