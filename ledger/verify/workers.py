"""Work over ranges of leaves, shared between processes and returned in order.

Threads would start at once, but take turns at interpreting leaves, and were measured to lose up to
half of their time in waiting for each other. A script that verifies a large ledger must guard its
entry with `if __name__ == "__main__"`, as every script that starts processes, or ask for one
worker.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context, parent_process
from signal import SIG_BLOCK, SIG_SETMASK, SIGINT, pthread_sigmask
from threading import Thread
from typing import Any, Final, TypeAlias, TypeVar

from shoeproof.ledger.errors import WorkersLost
from shoeproof.ledger.store.errors import translated_errors

SHARED_FROM = 10_000
"""From how many leaves on worker processes are worth the time they take to start."""

TRIES: Final = 3
"""How often in a row workers may die on the same share."""

Share: TypeAlias = tuple[Any, ...]
"""The arguments of one call of what is done elsewhere, the first a number that says which."""

Answer = TypeVar("Answer")
Range = TypeVar("Range")

Fetch: TypeAlias = Callable[[int, int], Range]
"""Returns what stands at the leaves with `start <= leaf_index < stop`."""

Progress: TypeAlias = Callable[[int, int], None]
"""Told, from time to time, how many leaves are done and of how many."""

Job: TypeAlias = Callable[[Fetch[Range], int, int], Answer]
"""Does something with the leaves `start <= leaf_index < stop`, which it fetches itself."""


def over_leaves(
    job: Job[Range, Answer],
    here: Fetch[Range],
    elsewhere: Fetch[Range],
    ranges: Sequence[tuple[int, int]],
    workers: int,
) -> Iterator[Answer]:
    """Yield what a job returns for each of some ranges of leaves (`Store.ranges`), in order.

    It fetches by `here` in this process, or by `elsewhere` in `workers` others, where there are
    leaves enough; job and fetch must then be picklable, and ranges of workers that died are done
    again. Raises what the job raises, WorkersLost, StoreUnavailable and StoreDamaged.
    """
    if workers == 1 or not ranges or ranges[-1][1] - ranges[0][0] < SHARED_FROM:
        for bounds in ranges:
            yield job(here, *bounds)
        return
    with translated_errors():
        yield from in_processes(partial(job, elsewhere), ranges, workers, end_with_parent, 4)


def in_processes(
    job: Callable[..., Answer],
    shares: Iterable[Share],
    workers: int,
    begin: Callable[[], None],
    ahead: int,
) -> Iterator[Answer]:
    """Yield what a job returns for each share, in order, done by worker processes.

    A share holds the arguments of one call, the first a number that says which. Each worker calls
    `begin` when it starts; job, shares and `begin` must be picklable. For each worker up to `ahead`
    shares are done before their turn. Shares of workers that died are done again. Raises what the
    job raises, and WorkersLost when workers die three times in a row.
    """
    waiting, tries = deque(shares), 0
    while waiting:
        with ProcessPoolExecutor(workers, get_context("spawn"), begin) as pool:
            try:
                for answer in _in_order(pool, job, deque(waiting), ahead * workers):
                    waiting.popleft()
                    tries = 0
                    yield answer
            except KeyboardInterrupt:
                pool.shutdown(cancel_futures=True)
                raise
            except BrokenProcessPool as error:
                tries += 1
                if tries == TRIES:
                    raise WorkersLost(waiting[0][0], tries) from error


def end_with_parent() -> None:
    """End this worker process when the one that started it does, even where that was killed.

    It would wait for work for ever, since it holds the other end of its queue open itself.
    """
    if parent_process() is not None:
        Thread(target=_end_after_parent, daemon=True).start()


def _end_after_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Keep SIGINT waiting; a process started meanwhile never gets it, and ends with this one.

    A terminal sends it to every process, and those that still load would each print a traceback.
    """
    before = pthread_sigmask(SIG_BLOCK, {SIGINT})
    try:
        yield
    finally:
        pthread_sigmask(SIG_SETMASK, before)


def _in_order(
    pool: Executor, job: Callable[..., Answer], waiting: deque[Share], most: int
) -> Iterator[Answer]:
    ahead: deque[Future[Answer]] = deque()
    while ahead or waiting:
        # A bounded look-ahead keeps finished work from piling up.
        while waiting and len(ahead) < most:
            with _deaf_to_ctrl_c():
                ahead.append(pool.submit(job, *waiting.popleft()))
        yield ahead.popleft().result()
