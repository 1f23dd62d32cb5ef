"""A report on a fault straight from a ledger: verify, count, choose, judge, sum up."""

import os
import shlex
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Final, NamedTuple

from shoeproof.audit_reports.fault_report.build import build_report
from shoeproof.audit_reports.fault_report.counted import CountedRound
from shoeproof.audit_reports.fault_report.judged import JudgedRound, judge_round, needs_judging
from shoeproof.audit_reports.fault_report.model import Basis, FaultReport
from shoeproof.audit_reports.fault_report.named import FaultName, NamedFault, choose, read_fault
from shoeproof.audit_reports.fault_report.scan import (
    Period,
    Scan,
    checkpoint_in,
    hold_to,
    must_reach,
    scan,
)
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.clock import format_time
from shoeproof.ledger.store.directory import keys_are_encrypted
from shoeproof.ledger.verify.workers import Progress, end_with_parent, in_processes
from shoeproof.replay.disputes.evidence import common_of, gather


class FaultRequest(NamedTuple):
    """What is asked for. `note` is a checkpoint that was kept, `size` a tree's size without one."""

    fault: str
    span: Period = Period()
    size: int | None = None
    note: bytes | None = None
    public_key: str | None = None


class Watch(NamedTuple):
    """What is told how many leaves are counted, and how many rounds judged, of how many."""

    counting: Progress | None = None
    judging: Progress | None = None


SHARED_FROM: Final = 1_000
"""From this many rounds on, worker processes are faster than this one alone."""

SHARE: Final = 50
"""How many rounds a worker judges at a time."""

UNWATCHED: Final = Watch()
"""Nobody is told."""


def fault_report(ledger: Ledger, request: FaultRequest, watch: Watch = UNWATCHED) -> FaultReport:
    """Return the blast radius of a fault in a ledger, or in the tree that was asked for.

    For the same tree and the same request it is the same, however the ledger went on since. Raises
    ReportError for a text that names no fault of this ledger, NoteRefused for a checkpoint of
    another history, LeafRefused where a leaf does not verify, and the ledger's errors.
    """
    asked = read_fault(request.fault)
    said = None if request.note is None else checkpoint_in(ledger, request.note)
    size = said.size if said is not None else request.size or ledger.size()
    must_reach(ledger, size)
    found = scan(
        ledger,
        asked,
        request.span,
        size,
        public_key=request.public_key,
        progress=watch.counting,
    )
    if said is not None:
        hold_to(said, found)
    fault, touched = chosen(asked, found)
    judged = list(judge_all(ledger, fault, found, touched, watch.judging))
    return build_report(fault, found, touched, judged, _basis(request, fault, found))


def chosen(asked: FaultName, found: Scan) -> tuple[NamedFault, list[CountedRound]]:
    """Return the fault meant, and the rounds it touched in the order of their leaves."""
    fault = choose(asked, found.names, found.kept)
    touched = [each for each in found.kept.values() if fault.touches(each)]
    return fault, sorted(touched, key=lambda each: each.first_leaf)


def judge_all(
    ledger: Ledger,
    fault: NamedFault,
    found: Scan,
    touched: Sequence[CountedRound],
    progress: Progress | None = None,
) -> list[JudgedRound]:
    """Judge the touched rounds that may come to anything but what they booked.

    Where the fault is a finding these are all of them. Many are shared between processes.
    """
    is_finding = fault.kind == "finding"
    asked = [each for each in touched if is_finding or needs_judging(each, found.cases)]
    judged: list[JudgedRound] = []
    for share in _shares(ledger, asked, found.size):
        judged += share
        if progress is not None:
            progress(len(judged), len(asked))
    return judged


def _shares(
    ledger: Ledger, asked: Sequence[CountedRound], size: int
) -> Iterator[Sequence[JudgedRound]]:
    shares = [asked[first : first + SHARE] for first in range(0, len(asked), SHARE)]
    path, workers = ledger.path, os.cpu_count() or 1
    # A worker has no passphrase: what it could not unseal it would judge otherwise.
    if path is None or keys_are_encrypted(path) or workers == 1 or len(asked) < SHARED_FROM:
        yield from (_judge_share(ledger, size, share) for share in shares)
        return
    job = partial(_judge_elsewhere, path, ledger.store.database, size)
    yield from in_processes(job, enumerate(shares), workers, end_with_parent, 2)


def _judge_elsewhere(
    path: Path, database: str, size: int, _: int, share: Sequence[CountedRound]
) -> Sequence[JudgedRound]:
    with Ledger.open(path, database_url=database) as ledger:
        return _judge_share(ledger, size, share)


def _judge_share(ledger: Ledger, size: int, share: Sequence[CountedRound]) -> list[JudgedRound]:
    common = common_of(ledger, size)
    return [judge_round(each, gather(ledger, each.round, common=common)) for each in share]


def _basis(request: FaultRequest, fault: NamedFault, found: Scan) -> Basis:
    begin, end = (None if each is None else format_time(each) for each in request.span)
    words = ["shoeproof", "fault", fault.text]
    words += ["--from", begin] if begin is not None else []
    words += ["--to", end] if end is not None else []
    words += ["--size", str(found.size)]
    return Basis(
        ledger=found.origin,
        operator_key=found.operator_key,
        size=found.size,
        root=found.root.hex(),
        is_held=request.note is not None,
        is_anchored=request.public_key is not None,
        begin=begin,
        end=end,
        command=shlex.join(words),
        software=f"shoeproof {version('shoeproof')}",
    )
