"""Ranges judged by worker processes and reported in order, also when some of those die."""

import gc
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context

from replay.bulk.ranges import RangeReport
from replay.errors import ReplayError

Bounds = tuple[int, int]
JudgeRange = Callable[[int, int], RangeReport]

_TRIES = 3


class WorkersLost(ReplayError):
    """Worker processes died again and again on the same ranges."""


def shared(
    bounds: list[Bounds], workers: int, make_judge: Callable[[], JudgeRange]
) -> Iterator[RangeReport]:
    """Yield the reports of ranges in order, judged by worker processes.

    `make_judge` is called once in each of them. Ranges of a worker that died are judged again;
    raises WorkersLost when workers die three times in a row.
    """
    waiting = deque(bounds)
    tries = 0
    begin = partial(_begin, make_judge)
    while waiting:
        with ProcessPoolExecutor(workers, get_context("spawn"), begin) as pool:
            try:
                for report in _in_order(pool, deque(waiting), workers):
                    waiting.popleft()
                    tries = 0
                    yield report
            except BrokenProcessPool as error:
                tries += 1
                if tries == _TRIES:
                    start, stop = waiting[0]
                    raise WorkersLost(
                        f"worker processes died {tries} times on the range {start} to {stop - 1}"
                    ) from error


def _in_order(pool: Executor, bounds: deque[Bounds], workers: int) -> Iterator[RangeReport]:
    ahead: deque[Future[RangeReport]] = deque()
    while ahead or bounds:
        # A bounded look-ahead keeps reports from piling up.
        while bounds and len(ahead) < 2 * workers:
            ahead.append(pool.submit(_judge_range, *bounds.popleft()))
        yield ahead.popleft().result()


_judge: list[JudgeRange] = []
"""What a worker process judges by; filled once in each."""


def _begin(make_judge: Callable[[], JudgeRange]) -> None:
    # Reading makes millions of objects and no cycles: the collector would only walk them.
    gc.disable()
    _judge[:] = [make_judge()]


def _judge_range(start: int, stop: int) -> RangeReport:
    return _judge[0](start, stop)
