"""Work over ranges of leaves, shared between processes and returned in order.

Threads would start at once, but take turns at interpreting leaves, and were measured to lose up to
half of their time in waiting for each other. A script that verifies a large ledger must guard its
entry with `if __name__ == "__main__"`, as every script that starts processes, or ask for one
worker.
"""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from typing import TypeAlias, TypeVar

from ledger.store_errors import translated_errors

SHARED_FROM = 10_000
"""From how many leaves on worker processes are worth the time they take to start."""

Answer = TypeVar("Answer")
Row = TypeVar("Row")

Fetch: TypeAlias = Callable[[int, int], list[Row]]
"""Returns what stands at the leaves with `start <= leaf_index < stop`."""

Progress: TypeAlias = Callable[[int, int], None]
"""Told, from time to time, how many leaves are done and of how many."""

Job: TypeAlias = Callable[[Fetch[Row], int, int], Answer]
"""Does something with the leaves `start <= leaf_index < stop`, which it fetches itself."""


def over_leaves(
    job: Job[Row, Answer],
    here: Fetch[Row],
    elsewhere: Fetch[Row],
    start: int,
    stop: int,
    step: int,
    workers: int,
) -> Iterator[Answer]:
    """Yield what a job returns for each `step` leaves from `start` to `stop`, in order.

    It fetches by `here` in this process, or by `elsewhere` in `workers` others, where there are
    leaves enough; job and fetch must then be picklable. Raises what the job raises,
    StoreUnavailable and StoreDamaged.
    """
    ranges = ((first, min(first + step, stop)) for first in range(start, stop, step))
    if workers == 1 or stop - start < SHARED_FROM:
        for bounds in ranges:
            yield job(here, *bounds)
        return
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool, translated_errors():
        # A bounded look-ahead keeps finished work from piling up.
        ahead = deque(pool.submit(job, elsewhere, *each) for each in islice(ranges, 4 * workers))
        while ahead:
            yield ahead.popleft().result()
            ahead.extend(pool.submit(job, elsewhere, *each) for each in islice(ranges, 1))
