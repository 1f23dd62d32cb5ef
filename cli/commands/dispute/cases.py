"""What the commands about cases share: naming one, assessing it, and telling of it."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Annotated, NamedTuple
from zoneinfo import ZoneInfo

import typer
from rich.console import Console
from rich.text import Text

from shoeproof.cli.errors import UsageError
from shoeproof.cli.input.options import find_round, parse_local, program, with_ledger
from shoeproof.cli.screen.render import print_command
from shoeproof.ledger import Ledger
from shoeproof.ledger.errors import UnknownStream
from shoeproof.ledger.leaf.events import Attachment, RoundOpened
from shoeproof.replay.cases.assessment import Assessment
from shoeproof.replay.cases.case import Case, fold_cases, key_names, last_waiting
from shoeproof.replay.currency import unit_of
from shoeproof.replay.disputes.assess import assess
from shoeproof.replay.disputes.complaints.cases import Complaint, find_complaint, is_complaint
from shoeproof.replay.disputes.evidence import Evidence, evidence_of_case, gather
from shoeproof.replay.local_time import clock_text
from shoeproof.replay.written.round_text import RoundText, read_round

CaseArgument = Annotated[
    str,
    typer.Argument(metavar="CASE", help="The round, or how its id begins; .N for its N-th case."),
]
ShownOption = Annotated[
    Path | None,
    typer.Option(help="What the player's screen showed, as a `.round` file."),
]


class Assessed(NamedTuple):
    """A round's evidence and assessment, all cases about it, and the one asked for if any."""

    evidence: Evidence
    assessment: Assessment
    cases: Sequence[Case]
    case: Case | None


def find_case(ledger: Ledger, text: str) -> tuple[str, int | None]:
    """Return the round, and the number where one is given, of a case named `ROUND` or `ROUND.N`.

    Raises UsageError for a round that is not there, for a complaint, which is about no one round,
    and for text that is not a number.
    """
    name, dot, number = text.strip().partition(".")
    if dot and not (number.isascii() and number.isdecimal() and len(number) < 10):
        raise UsageError(f"{text!r} names no case: write the round's id, a dot and a number")
    if is_complaint(ledger, name):
        raise UsageError(
            f"{text!r} is a complaint, and reports and cases with a number are about one round: "
            f"`dispute assess {find_complaint(ledger, name)}` shows what it comes to"
        )
    round_id = find_round(ledger, name)
    must_exist(ledger, round_id)
    return round_id, int(number) if dot else None


def assess_case(
    ledger: Ledger,
    text: str,
    shown: RoundText | None,
    *,
    as_decided: bool = False,
    zone: tzinfo = UTC,
) -> Assessed:
    """Assess the round of a case, with the claim of that case, by default the last one.

    A decided case that is named by its number is assessed on what it was decided on where
    `as_decided`; all else on what the ledger holds now. `zone` is that of the times in the answer.
    Raises UsageError when there is no such case.
    """
    round_id, number = find_case(ledger, text)
    evidence = gather(ledger, round_id)
    cases = fold_cases(evidence.disputes, key_names(ledger))
    if number is not None and not 1 <= number <= len(cases):
        there = f"its cases are 1 to {len(cases)}" if cases else "nobody opened one"
        raise UsageError(f"there is no case {number} about {round_id}: {there}")
    case = last_waiting(cases) if number is None else cases[number - 1]
    if as_decided and case is not None and number is not None:
        evidence = evidence_of_case(ledger, round_id, case)
    claim = None if case is None else case.claim
    return Assessed(evidence, assess(evidence, claim, shown, zone), cases, case)


def must_exist(ledger: Ledger, round_id: str) -> None:
    """Raise UnknownStream unless the ledger has anything of this round, its opening or not."""
    if ledger.store.head(round_id) is None:
        raise UnknownStream(
            f"this ledger, {ledger.origin}, has no round {round_id}: is it another ledger's?"
        )


def received_at(text: str | None, zone: ZoneInfo | None, begun: datetime | None) -> datetime | None:
    """Return when a complaint came in; of a day alone its begin, but not before it had a cause.

    What it is about began at `begun`, None where nothing tells.
    """
    moment = parse_local(text, zone)
    if text is None or moment is None or begun is None or len(text) > len("2026-01-31"):
        return moment
    return begun if moment < begun < moment + timedelta(days=1) else moment


def tell_due(out: Console, case: Case | Complaint, place: str | None, zone: tzinfo) -> None:
    """Say by when a case that was opened is to be answered, or was, and what to do next.

    The day is that of calendars in `zone`.
    """
    due = day(case.opened.deadline, zone)
    if case.is_late:
        out.print(Text(f"LATE: the answer was due by {due}.", "bold red"))
        out.print("See what the ledger shows:")
    else:
        out.print(f"The answer is due by {due}. To see what the ledger shows:")
    print_command(out, f"{program()} dispute assess {case.id}{with_ledger(place)}")


def attachment(file: Path) -> Attachment:
    """Return a file by its name and SHA-256; raises OSError."""
    with open(file, "rb") as content:
        return Attachment(file.name, hashlib.file_digest(content, "sha256").hexdigest())


def read_shown(file: Path | None) -> RoundText | None:
    """Return what a screen showed, None where no file is given."""
    return None if file is None else read_round(file.read_bytes())


def currency_of_round(ledger: Ledger, round_id: str) -> str:
    """Return the unit of a round's amounts, empty where the ledger does not say."""
    try:
        opened = ledger.events(round_id)[0].event.data
    except UnknownStream:
        return ""
    return unit_of(opened) if isinstance(opened, RoundOpened) else ""


def case_json(case: Case, ledger: Ledger) -> dict[str, object]:
    """Return a case for machines."""
    now = ledger.now()
    last = case.decisions[-1] if case.decisions else None
    return {
        "case": case.id,
        "round": case.round,
        "claim": case.opened.claim,
        "note": case.opened.note,
        "attachments": case.opened.attachments,
        "state": case.state,
        "received_at": case.received_at,
        "opened_at": case.opened_at,
        "opened_by": case.opened_by,
        "deadline": case.opened.deadline,
        "age_seconds": int(case.age(now).total_seconds()),
        "is_overdue": case.is_overdue(now),
        "is_late": case.is_late,
        "was_answered_late": case.was_answered_late,
        "decided_at": case.decided_at,
        "remedy": None if last is None else last.data.remedy,
        "reference": None if last is None else last.data.reference,
        "amount_minor": None if last is None else last.data.amount_minor,
        "currency": currency_of_round(ledger, case.round),
        "keys": [] if last is None else list(last.keys),
        "keys_needed": None if last is None else last.data.keys_needed,
    }


def day(time: str | None, zone: tzinfo) -> str:
    """Return the day of a time on calendars in `zone`, which is named."""
    return date(time, zone) if time is None else f"{date(time, zone)} ({zone})"


def date(time: str | None, zone: tzinfo) -> str:
    """Return the day of a time on calendars in `zone`."""
    return "no day" if time is None else clock_text(time, zone)[:10]
