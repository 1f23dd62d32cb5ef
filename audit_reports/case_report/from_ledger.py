"""A report on a round straight from a ledger: the only part of a case report that reads one."""

from itertools import count

import msgspec

from audit_reports.case_report.build import build_report
from audit_reports.case_report.model import Audience, CaseReport, Proof
from ledger import Ledger, Recorded
from ledger.checkpoint import parse_checkpoint
from ledger.events import DisputeDecided, DisputeOpened
from ledger.signing import kept_checkpoints
from replay.disputes.assess import assess
from replay.disputes.cases import Case, fold_cases, key_names
from replay.disputes.evidence import Evidence, gather
from replay.disputes.touched import with_touched
from replay.round_text import RoundText


def report_on(
    ledger: Ledger,
    round_id: str,
    audience: Audience,
    *,
    case_number: int | None = None,
    shown: RoundText | None = None,
) -> CaseReport:
    """Return the report about a round, with its case of a number (from 1), by default the last.

    A decided case is assessed on what the ledger held before its decision, so that the report
    gives the grounds and not what the decision left to do. `shown` is what the player's screen
    showed. Raises UnknownStream for a round the ledger lacks, ValueError for a case number there is
    no case of, StoreUnavailable and StoreDamaged.
    """
    evidence = gather(ledger, round_id)
    names = key_names(ledger)
    case = _case(fold_cases(evidence.disputes, names), case_number)
    before = evidence if case is None else as_it_was(evidence, case.number)
    assessment = assess(before, None if case is None else case.claim, shown)
    assessment = with_touched(ledger, before, assessment)
    return build_report(evidence, assessment, case, _proof(ledger, evidence), names, audience)


def as_it_was(evidence: Evidence, case_number: int) -> Evidence:
    """Return the evidence without what was decided of the case with that number, and after it."""
    numbers = count(1)
    number, kept = 0, list[Recorded]()
    for each in evidence.disputes:
        if isinstance(each.event.data, DisputeOpened):
            number = next(numbers)
        if number > case_number:
            break
        if number == case_number and isinstance(each.event.data, DisputeDecided):
            break
        kept.append(each)
    return msgspec.structs.replace(evidence, disputes=tuple(kept))


def _case(cases: tuple[Case, ...], number: int | None) -> Case | None:
    if number is None:
        return cases[-1] if cases else None
    if not 1 <= number <= len(cases):
        raise ValueError(f"there is no case {number} about this round; it has {len(cases)}")
    return cases[number - 1]


def _proof(ledger: Ledger, evidence: Evidence) -> Proof:
    streams = (evidence.events, evidence.holds, evidence.disputes)
    leaves = tuple(sorted(each.leaf_index for stream in streams for each in stream))
    note = next(iter(kept_checkpoints(ledger.path)), None) if ledger.path is not None else None
    covered = 0 if note is None else parse_checkpoint(note).size
    anchor = ledger.key_ring().anchor
    key = "OPERATOR_PUBLIC_KEY" if anchor is None else f"'{anchor.public_key.vkey}'"
    return Proof(
        ledger=ledger.origin,
        tree_size=evidence.size,
        leaf_indices=leaves,
        checkpoint=None if note is None else note.decode(),
        uncovered=tuple(leaf for leaf in leaves if leaf >= covered),
        commands=(
            f"shoeproof bundle {evidence.round_id} -o round.bundle",
            f"shoeproof bundle verify round.bundle --public-key {key}",
        ),
    )
