"""Writes of many threads in one transaction: the first thread to come writes all that waits.

A write is a unit of work inside a transaction. Units are written in the order they came, a lone one
at once and alone; those that come while a transaction is under way go into the next one together.
Each stands or falls by itself: the failure of one is undone and told to its own caller. Only where
the transaction itself fails, or the answer to its commit is lost, does each of its callers hear so.
"""

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Event, Lock
from typing import Any, Final, TypeAlias, TypeVar, cast

from shoeproof.ledger.errors import StoreUnavailable
from shoeproof.ledger.store.transaction import Transaction

Answer = TypeVar("Answer")

Work: TypeAlias = Callable[[Transaction], Answer]

MOST: Final = 64
"""How many units one transaction takes, so that nobody waits long for the others of it."""


def nothing() -> None:
    """Do nothing."""


class Unit:
    """One write on its way: its work, how to forget it where it failed, and what became of it."""

    def __init__(self, work: Work[Any], undo: Callable[[], None]) -> None:
        self.turn = Event()
        self.is_done = False
        self._work, self._undo = work, undo
        self._answer: Any = None
        self._error: BaseException | None = None

    def attempt(self, transaction: Transaction, *, is_alone: bool) -> None:
        """Do the work, or undo it and nothing else; raise what ends the whole transaction."""
        if is_alone:
            self._answer = self._work(transaction)
            return
        mark = transaction.mark()
        try:
            self._answer = self._work(transaction)
            transaction.release()
        except Exception as error:
            try:
                transaction.undo(mark, error)
            except Exception:
                # The error was the database's, and undid everything.
                raise error from None
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        """Have the caller be told that it failed."""
        self._error = error
        self._undo()

    def end(self) -> None:
        """Let the caller go on."""
        self.is_done = True
        self.turn.set()

    def answer(self) -> Any:
        """Return what the work came to, or raise it."""
        if self._error is not None:
            raise self._error
        return self._answer


class CommitGroup:
    """The units that wait to be written to one store; `most` of them go into a transaction."""

    def __init__(self, write: Callable[[Sequence[Unit]], None]) -> None:
        """Write by `write`, which commits units together and raises where it could not."""
        self.most = MOST
        self._write = write
        self._waiting: deque[Unit] = deque()
        self._writing = Lock()

    def do(self, work: Work[Answer], undo: Callable[[], None] = nothing) -> Answer:
        """Do some work in a transaction and return what it returns, once it is durable.

        `undo` is called where it failed, before anything else is written. The work may be done in
        another thread, and must not read the store but by its transaction.
        """
        unit = Unit(work, undo)
        self._waiting.append(unit)
        try:
            while not unit.is_done:
                if self._writing.acquire(blocking=False):
                    self._lead()
                else:
                    unit.turn.wait()
                    unit.turn.clear()
        except BaseException:
            self._leave(unit)
            raise
        return cast(Answer, unit.answer())

    def _lead(self) -> None:
        try:
            units = [self._waiting.popleft() for _ in range(min(len(self._waiting), self.most))]
            if units:
                self._write_all(units)
        finally:
            self._writing.release()
            self._wake_next()

    def _write_all(self, units: Sequence[Unit]) -> None:
        try:
            self._write(units)
        except BaseException as error:
            is_own = isinstance(error, Exception)
            # Who only waited was not interrupted, and is to look what became of it.
            told = error if is_own else StoreUnavailable("the thread that wrote was interrupted")
            for each in units:
                each.fail(told)
            if not is_own:
                raise
        finally:
            for each in units:
                each.end()

    def _wake_next(self) -> None:
        """Have the first that waits look whether it is to write, unless somebody does already."""
        with suppress(IndexError):
            self._waiting[0].turn.set()

    def _leave(self, unit: Unit) -> None:
        """Do not wait any more: what was not begun yet is not written."""
        with suppress(ValueError):
            self._waiting.remove(unit)
        self._wake_next()
