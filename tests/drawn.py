"""Ids and seeds of rounds that are the same in every run of the tests.

A round's shoe follows from both. Were they drawn, a test that plays rounds would see other cards
in every run, and what is true of nearly all cards would fail once in a while.
"""

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from random import Random

import shoeproof.replay.live.table
import shoeproof.replay.rounds.round_id

_FIRST_DAY = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp()) * 1000
_DAY = 86_400_000


class _Generator:
    """Stands in for the modules `secrets` and `time` where ids and seeds of rounds are drawn."""

    def __init__(self) -> None:
        self.begin("", 0)

    def begin(self, name: str, day: int) -> None:
        self._random = Random(name)
        self._milliseconds = _FIRST_DAY + day * _DAY

    def randbits(self, bits: int) -> int:
        return self._random.getrandbits(bits)

    def token_bytes(self, count: int) -> bytes:
        return self._random.randbytes(count)

    def time_ns(self) -> int:
        self._milliseconds += 1
        return self._milliseconds * 1_000_000


_generator = _Generator()


def draw_alike() -> None:
    """Have this process draw the same in every run; a process forked from it draws at random."""
    _put(_generator, _generator)
    os.register_at_fork(after_in_child=lambda: _put(secrets, time))


def begin(name: str) -> None:
    """Begin the draws of one test."""
    _generator.begin(name, 1)


@contextmanager
def shared(name: str) -> Iterator[None]:
    """Draw what several tests share by a name of its own, whichever test asks for it first."""
    before = vars(_generator).copy()
    _generator.begin(name, 0)
    try:
        yield
    finally:
        vars(_generator).update(before)


def _put(draws: object, clock: object) -> None:
    vars(shoeproof.replay.rounds.round_id).update(secrets=draws, time=clock)
    vars(shoeproof.replay.live.table).update(secrets=draws)
