"""Shares of an audit on a Dask cluster: the same work, by workers on other machines.

A worker must run this version of this program, and must reach what is audited by the same path or
URL. A share whose worker died is judged by another, as Dask's scheduler sees to it. What workers
answer is believed, and unpickled: a cluster is as trusted as the machine that asks it.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from itertools import islice
from threading import Thread, local
from typing import Final
from uuid import uuid4

from distributed import Client, Future, KilledWorker
from distributed.client import FutureCancelledError, FuturesCancelledError
from distributed.comm.core import CommClosedError

from shoeproof.ledger.errors import WorkersLost
from shoeproof.ledger.verify.workers import Share
from shoeproof.replay.bulk.ranges import Judge, RangeReport
from shoeproof.replay.errors import ClusterUnusable

_AHEAD: Final = 512
"""How many shares are handed out ahead of the next report: enough for hundreds of workers, and
few reports wait for their turn."""

_ANSWERS_IN: Final = 5
"""Seconds in which a scheduler must answer."""

_WORKERS_IN: Final = 30
"""Seconds for which a cluster may have no workers, as when it is scaled up."""


class _Client(Client):
    """A client that is closed by `with`, and says nothing when it never came to be."""

    def __del__(self) -> None:
        pass


def on_cluster(
    address: str, shares: Iterable[Share], make_judge: Callable[[], Judge]
) -> Iterator[RangeReport]:
    """Yield the reports of shares in order, judged by the workers of a scheduler.

    `address` is Dask's, such as `tcp://host:8786`; `make_judge` is called once in each thread of a
    worker. Raises ClusterUnusable when no scheduler answers or it has no workers, WorkersLost when
    workers die on the same share oftener than the scheduler allows (`allowed-failures`), and what
    a judge raises.
    """
    with _quiet(), _connected(address) as client:
        _wait_for_workers(client, address)
        audit, mine = uuid4().hex, version("shoeproof")
        waiting = iter(shares)

        def hand_out(count: int) -> Iterator[tuple[Share, "Future[RangeReport]"]]:
            for share in islice(waiting, count):
                yield share, client.submit(_judge_share, audit, mine, make_judge, share, pure=False)

        ahead = deque(hand_out(_AHEAD))
        while ahead:
            share, future = ahead.popleft()
            yield _result(client, address, share, future)
            ahead.extend(hand_out(1))


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask's client from telling by a traceback what is raised here as one line."""
    log = logging.getLogger("distributed.client")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)


def _connected(address: str) -> Client:
    found: list[Client | Exception] = []

    def connect() -> None:
        try:
            # Dask's client has no annotations, so that its own type cannot be called.
            client: Callable[..., Client] = _Client
            found.append(client(address, timeout=_ANSWERS_IN, set_as_default=False))
        except Exception as error:
            # What is no scheduler may answer with bytes on which Dask fails in any way.
            found.append(error)

    # Dask would wait for ever for the answer of what takes a connection and then says nothing.
    thread = Thread(target=connect, daemon=True)
    thread.start()
    thread.join(2 * _ANSWERS_IN)
    if found and isinstance(found[0], Client):
        return found[0]
    why = found[0] if found else "it takes a connection and says nothing"
    raise ClusterUnusable(f"no Dask scheduler answers at {address!r}: {why}")


def _wait_for_workers(client: Client, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=_WORKERS_IN)
    except TimeoutError as error:
        raise ClusterUnusable(
            f"the cluster has no workers: start some by `dask worker {address}`"
        ) from error


def _result(
    client: Client, address: str, share: Share, future: "Future[RangeReport]"
) -> RangeReport:
    while True:
        try:
            return future.result(timeout=_WORKERS_IN)
        except TimeoutError:
            _wait_for_workers(client, address)
        except KilledWorker as error:
            raise WorkersLost(share[0], error.allowed_failures + 1) from error
        except (FutureCancelledError, FuturesCancelledError, CommClosedError) as error:
            raise ClusterUnusable(f"the scheduler at {address!r} has gone away") from error


_mine = local()
"""The judge of each of a worker's threads, and the audit it is for."""


def _judge_share(
    audit: str, wanted: str, make_judge: Callable[[], Judge], share: Share
) -> RangeReport:
    if getattr(_mine, "audit", None) != audit:
        found = version("shoeproof")
        if found != wanted:
            raise ClusterUnusable(f"a worker has shoeproof {found}, and here is {wanted}")
        _mine.judge, _mine.audit = make_judge(), audit
    report: RangeReport = _mine.judge(*share)
    return report
