"""Writes that fail, and processes killed at a write: `python -m tests.ledger.faults` is such a one.

Every way in which this package changes a disk is a seam here: a statement that writes, a commit, a
flush, a rename. The n-th of them fails, before or after it took effect.
"""

import os
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import eventsourcing.sqlite as es

from shoeproof.ledger.exchange.publish import publish
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from tests.ledger.helpers import round_id, short_round

BEFORE, AFTER = "failed", "failed but persisted"

_SEAMS: list[tuple[Any, str]] = [
    (es.SQLiteCursor, "execute"),
    (es.SQLiteCursor, "executemany"),
    (es.SQLiteConnection, "commit"),
    (os, "fsync"),
    (os, "replace"),
]


class Count:
    """How many writes there were."""

    def __init__(self) -> None:
        self.value = 0


@contextmanager
def failing(at: int, when: str, fail: Callable[[str], None]) -> Iterator[Count]:
    """Have the `at`-th write, counted from 1, fail before or after it took effect."""
    count = Count()

    def seam(original: Callable[..., Any], name: str) -> Callable[..., Any]:
        def call(*words: Any, **named: Any) -> Any:
            statement = next((each for each in words if isinstance(each, str)), "")
            if name.startswith("execute") and not statement.startswith(("INSERT", "UPDATE")):
                return original(*words, **named)
            count.value += 1
            mine = count.value == at
            if mine and when == BEFORE:
                fail(name)
            answer = original(*words, **named)
            if mine and when == AFTER:
                fail(name)
            return answer

        return call

    with ExitStack() as patches:
        for owner, name in _SEAMS:
            replacement = seam(getattr(owner, name), name)
            patches.enter_context(patch.object(owner, name, replacement))
        yield count


def raise_error(name: str) -> None:
    """Fail as a disk does."""
    if name in ("fsync", "replace"):
        raise OSError(5, "Input/output error")
    raise sqlite3.OperationalError("disk I/O error")


def kill(_: str) -> None:
    """Leave no time for anything."""
    os.kill(os.getpid(), signal.SIGKILL)


def work(path: Path, folder: Path, said: Callable[[str], None]) -> None:
    """Add a round, sign, publish, twice, and say each time what is promised."""
    with Ledger.open(path) as ledger:
        for number in range(2):
            recorded = ledger.append(
                *((round_id(ledger.size() + number), data) for data in short_round())
            )
            said(f"leaf {recorded[-1].leaf_index}")
            said(f"signed {sign_checkpoint(ledger).hex()}")
            publish(ledger, folder)
            said("published")


if __name__ == "__main__":
    with failing(int(sys.argv[3]), sys.argv[4], kill):
        work(Path(sys.argv[1]), Path(sys.argv[2]), lambda text: print(text, flush=True))
