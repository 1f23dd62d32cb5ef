"""Shares of an audit judged elsewhere and reported in order, also when workers die.

A share is what one call of a judge needs: the bounds of a range of leaves, or a part of an export.
Elsewhere are processes of this machine, or the workers of a Dask cluster
(`shoeproof.replay.bulk.cluster`).
"""

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from shoeproof.ledger.verify.workers import Share, end_with_parent, in_processes
from shoeproof.needs import need
from shoeproof.replay.bulk.ranges import Judge, RangeReport


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
        yield from in_processes(_judge_share, shares, workers, partial(_begin, make_judge), 2)
        return
    need("a cluster", "distributed", extra="cluster")
    from shoeproof.replay.bulk.cluster import on_cluster

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


_judge: list[Judge] = []
"""What a worker process judges by; filled once in each."""


def _begin(make_judge: Callable[[], Judge]) -> None:
    end_with_parent()
    # For good: see `uncollected`.
    gc.disable()
    _judge[:] = [make_judge()]


def _judge_share(*share: Any) -> RangeReport:
    return _judge[0](*share)
