"""Shares of an audit judged elsewhere and reported in order, also when workers die.

A share is what one call of a judge needs: the bounds of a range of leaves, or a part of an export.
Elsewhere are processes of this machine, or the workers of a Dask cluster (`replay.bulk.cluster`).
"""

import gc
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from typing import Any

from ledger.errors import WorkersLost
from ledger.sharing import TRIES, end_with_parent
from replay.bulk.ranges import RangeReport
from replay.errors import ReplayError

Share = tuple[Any, ...]
"""The arguments of one call of a judge, the first a number that says which; they can be pickled."""

Judge = Callable[..., RangeReport]


class ClusterUnusable(ReplayError):
    """A Dask cluster that cannot be reached or cannot do an audit's work; the text says why."""


def shared(
    shares: Iterable[Share],
    make_judge: Callable[[], Judge],
    workers: int,
    scheduler: str | None = None,
) -> Iterator[RangeReport]:
    """Yield the reports of shares in order, judged by worker processes, or on a Dask cluster.

    `make_judge` is called once in each worker. `scheduler` is the address of a Dask scheduler,
    whose workers do the work instead of `workers` processes here. Shares of a worker that died are
    judged again. Raises WorkersLost when workers die three times in a row, and ClusterUnusable.
    """
    if scheduler is None:
        yield from _in_processes(shares, make_judge, workers)
        return
    try:
        from replay.bulk.cluster import on_cluster
    except ImportError:
        raise ClusterUnusable(
            "a cluster needs more to be installed: pip install 'shoeproof[cluster]'"
        ) from None
    yield from on_cluster(scheduler, shares, make_judge)


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep the garbage collector still: reading makes millions of objects and no cycles, which it
    would only walk.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _in_processes(
    shares: Iterable[Share], make_judge: Callable[[], Judge], workers: int
) -> Iterator[RangeReport]:
    waiting = deque(shares)
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
                if tries == TRIES:
                    raise WorkersLost(waiting[0][0], tries) from error


def _in_order(pool: Executor, shares: deque[Share], workers: int) -> Iterator[RangeReport]:
    ahead: deque[Future[RangeReport]] = deque()
    while ahead or shares:
        # A bounded look-ahead keeps reports from piling up.
        while shares and len(ahead) < 2 * workers:
            ahead.append(pool.submit(_judge_share, *shares.popleft()))
        yield ahead.popleft().result()


_judge: list[Judge] = []
"""What a worker process judges by; filled once in each."""


def _begin(make_judge: Callable[[], Judge]) -> None:
    end_with_parent()
    # For good: see `uncollected`.
    gc.disable()
    _judge[:] = [make_judge()]


def _judge_share(*share: Any) -> RangeReport:
    return _judge[0](*share)
