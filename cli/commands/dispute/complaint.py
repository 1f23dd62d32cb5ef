"""`dispute` for complaints that are not about one round: opened, assessed, decisions planned."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

from shoeproof.cli.commands.dispute.cases import received_at, tell_due
from shoeproof.cli.commands.dispute.complaint_screen import (
    complaint_assessment_json,
    complaint_json,
    print_complaint,
)
from shoeproof.cli.errors import UsageError
from shoeproof.cli.exit_codes import FINDINGS, SOUND, UNREADABLE
from shoeproof.cli.input.options import (
    UTC_ZONE,
    in_minor_units,
    parse_amount,
    parse_local,
    parse_zone,
)
from shoeproof.cli.screen.render import (
    console,
    print_json,
    print_sentence,
    print_verdict,
    progress_bar,
)
from shoeproof.ledger import Ledger
from shoeproof.ledger.keys.key import Signer
from shoeproof.ledger.leaf.events import Attachment
from shoeproof.replay.currency import decimal_places
from shoeproof.replay.disputes.complaints.assess import assess_complaint
from shoeproof.replay.disputes.complaints.cases import Complaint, ComplaintRemedy, find_complaint
from shoeproof.replay.disputes.complaints.decide import ComplaintPlan, plan_for
from shoeproof.replay.disputes.complaints.gather import gather_complaint
from shoeproof.replay.disputes.complaints.open import begun_at, open_complaint
from shoeproof.replay.disputes.complaints.records import ComplaintAssessment
from shoeproof.replay.disputes.complaints.statement import StatementLine, read_statement


class ComplaintInput(NamedTuple):
    """What `dispute open` was told of a complaint; times are as they were written."""

    player: str | None
    since: str | None
    until: str | None
    zone: str | None
    no_round: bool
    evidence: tuple[Path, ...]


def open_span(
    ledger: Ledger,
    span: ComplaintInput,
    claim: str,
    *,
    note: str | None,
    days: int,
    signer: Signer | None,
    received: str | None = None,
) -> Complaint:
    """Open a complaint about a span, or a round the ledger lacks.

    `received` is a time, written as those of the span. Raises UsageError for what was written and
    cannot be meant, and what `open_complaint` raises.
    """
    if span.player is None or not span.player.strip():
        raise UsageError("which player? give the operator's name for the player: --player")
    zone = parse_zone(span.zone)
    attachments, statement = read_evidence(span.evidence, zone)
    begin, end = parse_local(span.since, zone), parse_local(span.until, zone)
    begun = begun_at(ledger, span.player, begin, end, missing_round=span.no_round)
    return open_complaint(
        ledger,
        claim,
        player=span.player,
        begin=begin,
        end=end,
        zone=span.zone,
        missing_round=span.no_round,
        note=note,
        attachments=attachments,
        statement=statement,
        received=received_at(received, zone, begun),
        days=days,
        signer=signer,
    )


def tell_opened(complaint: Complaint, ledger: Ledger, path: str | None, *, as_json: bool) -> None:
    """Say which complaint was opened, what was searched, and what to do next."""
    if as_json:
        print_json(complaint_json(complaint, ledger))
        return
    out = console()
    out.print(f"Opened complaint {complaint.id}")
    for sentence in complaint.opened.searched:
        print_sentence(out, sentence, 2)
    tell_due(out, complaint, path, parse_zone(complaint.opened.zone) or UTC_ZONE)


def assess_and_print(
    ledger: Ledger, text: str, evidence: Sequence[Path], path: str | None, *, as_json: bool
) -> int:
    """Assess a complaint, print what it comes to, and return the exit code."""
    assessment = assess_text(ledger, text, evidence)
    if as_json:
        print_verdict(complaint_assessment_json(assessment), sound=not assessment.findings)
    else:
        print_complaint(console(), assessment, path)
    if assessment.verdict == "inconclusive" and assessment.findings:
        return UNREADABLE
    return FINDINGS if assessment.findings else SOUND


def assess_text(ledger: Ledger, text: str, evidence: Sequence[Path] = ()) -> ComplaintAssessment:
    """Return the assessment of a complaint by its id, or how it begins.

    `evidence` are files that were attached when it was opened: a wallet's statement is read again.
    Raises UsageError for a file that was not attached, and what gathering raises.
    """
    with progress_bar() as bar:
        task = bar.add_task("judging rounds", total=None)

        def progress(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        gathered = gather_complaint(ledger, find_complaint(ledger, text), progress)
    opened = gathered.complaint.opened
    attachments, statement = read_evidence(evidence, parse_zone(opened.zone))
    for attachment in attachments:
        if attachment.sha256 not in {each.sha256 for each in opened.attachments}:
            raise UsageError(f"{attachment.name} is not what was attached to this complaint")
    return assess_complaint(gathered, statement)


def plan_text(
    ledger: Ledger,
    text: str,
    remedy: ComplaintRemedy,
    signer: Signer,
    *,
    reference: str | None = None,
    sum_text: str | None = None,
    currency: str | None = None,
    note: str | None = None,
) -> ComplaintPlan:
    """Return what deciding a complaint would record; `decide.carry_out_complaint` records it.

    `sum_text` is an amount as people write it, of `currency`, by default that of the player's
    rounds. Raises UsageError where that is not one currency, and what planning raises.
    """
    assessment = assess_text(ledger, text)
    money, unit, minor = parse_amount(sum_text), "", 0
    if money is not None:
        known = sorted({each.currency for each in assessment.rounds})
        if currency is None and len(known) != 1:
            there = ", ".join(known) or "no currency"
            raise UsageError(f"which currency? give --currency: the rounds are in {there}")
        unit = currency or known[0]
        _must_be_of(unit, known)
        minor = in_minor_units(money, unit)
    return plan_for(
        ledger,
        assessment,
        remedy,
        signer,
        reference=reference,
        amount_minor=minor,
        currency=unit,
        note=note,
    )


def _must_be_of(unit: str, known: Sequence[str]) -> None:
    """Refuse a currency the player's rounds are not in, and for want of rounds one nobody has."""
    if known and unit not in known:
        raise UsageError(f"the rounds are in {', '.join(known)}, not in {unit}")
    if decimal_places(unit) is None:
        raise UsageError(f"{unit!r} is not an ISO 4217 currency code, such as EUR")


def read_evidence(
    files: Sequence[Path], zone: ZoneInfo | None
) -> tuple[list[Attachment], tuple[StatementLine, ...]]:
    """Return what is kept of files, and the movements of those that are statements (`.csv`)."""
    attachments: list[Attachment] = []
    lines: list[StatementLine] = []
    for file in files:
        content = file.read_bytes()
        attachments.append(Attachment(file.name, hashlib.sha256(content).hexdigest()))
        if file.suffix.lower() == ".csv":
            lines += read_statement(content, file.name, zone)
    return attachments, tuple(sorted(lines, key=lambda line: line.at))
