"""A report on a round straight from a ledger: the only part of a case report that reads one."""

import hashlib
import shlex
from collections.abc import Sequence
from typing import Final
from zoneinfo import ZoneInfo

from shoeproof.audit_reports.case_report.build import ReportSubject, build_report
from shoeproof.audit_reports.case_report.history import since
from shoeproof.audit_reports.case_report.model import Audience, CaseReport, Proof, Receipt
from shoeproof.ledger import Ledger
from shoeproof.ledger.checkpoint.signed import parse_checkpoint
from shoeproof.ledger.store.kept_checkpoints import kept_checkpoints
from shoeproof.replay.cases.case import Case, fold_cases, key_names, last_waiting
from shoeproof.replay.disputes.assess import assess
from shoeproof.replay.disputes.evidence import Evidence, evidence_of_case, gather
from shoeproof.replay.disputes.similar_rounds import with_touched
from shoeproof.replay.written.round_text import RoundText

UTC_ZONE: Final = ZoneInfo("UTC")


def report_on(
    ledger: Ledger,
    round_id: str,
    audience: Audience,
    *,
    case_number: int | None = None,
    shown: RoundText | None = None,
    zone: ZoneInfo = UTC_ZONE,
    receipt: Receipt | None = None,
) -> CaseReport:
    """Return the report about a round, with its case of a number (from 1).

    By default that is the last case that waits, else the last. A decided case is reported as it was
    decided, on what the ledger held before; what came after stands apart. `shown` is what the
    player's screen showed, `zone` that of the times, `receipt` the round's bundle that goes with
    the report. Raises UnknownStream for a round the ledger lacks, ValueError for a case number
    there is no case of, StoreUnavailable and StoreDamaged.
    """
    now = gather(ledger, round_id)
    names = key_names(ledger)
    cases = fold_cases(now.disputes, names)
    case = _asked(cases, case_number)
    before = now if case is None else evidence_of_case(ledger, round_id, case)
    after = now if case is None else _with_decision(ledger, now, case)
    claim = None if case is None else case.claim
    assessment = assess(before, claim, shown, zone)
    if audience != "player":
        assessment = with_touched(ledger, before, assessment)
    later: tuple[str, ...] = ()
    if case is not None and case.state == "decided":
        reassessed = None if audience == "player" else assess(now, claim, shown, zone)
        later = since(case, after, now, reassessed, cases, zone)
    return build_report(
        ReportSubject(before, after, assessment, case, cases, later),
        audience,
        zone,
        proof=_proof(ledger, after),
        names=names,
        commands=_commands(ledger, round_id, receipt),
        receipt=receipt,
    )


def receipt_of(name: str, bundle: bytes) -> Receipt:
    """Return a round's bundle as the receipt that goes with a report, in a file of that name."""
    return Receipt(name, hashlib.sha256(bundle).hexdigest(), bundle)


def receipt_name(round_id: str) -> str:
    """Return what the file of a round's receipt is called where nobody names it."""
    return f"receipt-{round_id}.json"


def _asked(cases: Sequence[Case], number: int | None) -> Case | None:
    if number is None:
        return last_waiting(cases)
    if not 1 <= number <= len(cases):
        there = f"it has {len(cases)}" if cases else "nobody opened one"
        raise ValueError(f"there is no case {number} about this round: {there}")
    return cases[number - 1]


def _with_decision(ledger: Ledger, now: Evidence, case: Case) -> Evidence:
    """Return what the ledger held of a decided case's round once the decision was written.

    Decision, payments and the end of an open round are one transaction: leaves without a gap, of
    one time.
    """
    leaf = case.decided_leaf
    if leaf is None:
        return now
    at = {each.leaf_index: each.event.at for each in (*now.events, *now.disputes)}
    size = leaf + 1
    while at.get(size) == at[leaf]:
        size += 1
    return gather(ledger, now.round_id, size)


def _proof(ledger: Ledger, evidence: Evidence) -> Proof:
    streams = (evidence.events, evidence.holds, evidence.disputes)
    leaves = tuple(sorted(each.leaf_index for stream in streams for each in stream))
    note = next(iter(kept_checkpoints(ledger.path)), None) if ledger.path is not None else None
    covered = 0 if note is None else parse_checkpoint(note).size
    return Proof(
        ledger=ledger.origin,
        tree_size=evidence.size,
        leaf_indices=leaves,
        checkpoint=None if note is None else note.decode(),
        uncovered=tuple(leaf for leaf in leaves if leaf >= covered),
    )


def _commands(ledger: Ledger, round_id: str, receipt: Receipt | None) -> tuple[str, ...]:
    """Return how the receipt is checked, and made where none goes with the report."""
    anchor = ledger.key_ring().anchor
    key = "OPERATOR_PUBLIC_KEY" if anchor is None else shlex.quote(anchor.public_key.vkey)
    name = shlex.quote(receipt_name(round_id) if receipt is None else receipt.name)
    make = () if receipt is not None else (f"shoeproof bundle {round_id} -o {name}",)
    return (*make, f"shoeproof bundle verify {name} --public-key {key}")
