"""How a complaint and its assessment look: in a terminal, and as JSON."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TypeAlias

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from shoeproof.cli.commands.dispute.cases import currency_of_round
from shoeproof.cli.input.options import program, with_ledger
from shoeproof.cli.screen.render import amount, plain, plain_table, print_command
from shoeproof.ledger import Ledger
from shoeproof.replay.cases.assessment import Source
from shoeproof.replay.currency import amount_text
from shoeproof.replay.disputes.complaints.cases import Complaint
from shoeproof.replay.disputes.complaints.gather import rounds_played
from shoeproof.replay.disputes.complaints.played import FaultyRound
from shoeproof.replay.disputes.complaints.records import ComplaintAssessment
from shoeproof.replay.disputes.complaints.words import clock_text, span_text
from shoeproof.replay.rounds.narrative import counted, decision_word

MOST_ROUNDS = 10
"""How many rounds of a kind a terminal lists; `--json` has all."""

Json: TypeAlias = dict[str, object]


def complaint_json(complaint: Complaint, ledger: Ledger) -> Json:
    """Return a complaint for machines."""
    now = ledger.now()
    last = complaint.decisions[-1] if complaint.decisions else None
    return {
        "case": complaint.id,
        "complaint": complaint.id,
        "round": None,
        **msgspec.structs.asdict(complaint.opened),
        "state": complaint.state,
        "received_at": complaint.received_at,
        "opened_at": complaint.opened_at,
        "opened_by": complaint.opened_by,
        "age_seconds": int(complaint.age(now).total_seconds()),
        "is_overdue": complaint.is_overdue(now),
        "is_late": complaint.is_late,
        "decided_at": complaint.decided_at,
        "remedy": None if last is None else last.data.remedy,
        "reference": None if last is None else last.data.reference,
        "amount_minor": None if last is None else last.data.amount_minor,
        "currency": unit_of_sum(complaint, ledger) or None,
        "keys": [] if last is None else list(last.keys),
        "keys_needed": None if last is None else last.data.keys_needed,
    }


def unit_of_sum(complaint: Complaint, ledger: Ledger) -> str:
    """Return the unit of what a complaint's last decision pays, empty where nothing says.

    Before it is paid only the decision's clause names the currency. The exponent of one that ISO
    4217 does not know is that of a round the complaint is about.
    """
    if complaint.payments:
        return complaint.payments[-1].currency
    if not complaint.decisions or not complaint.decisions[-1].data.amount_minor:
        return ""
    decided, opened = complaint.decisions[-1].data, complaint.opened
    rows = rounds_played(ledger, opened.player, opened.begin, opened.end)
    of_rounds = (currency_of_round(ledger, row.round) for row in rows)
    # It is written `award of 20.00 EUR`, and a note after a colon.
    said = decided.clause.removeprefix(f"{decided.remedy} of ").partition(": ")[0]
    for unit in chain([said.rpartition(" ")[2]], of_rounds):
        if said == amount_text(decided.amount_minor, unit):
            return unit
    return ""


def complaint_assessment_json(assessment: ComplaintAssessment) -> Json:
    """Return an assessment for machines, shaped as that of a case about a round."""
    complaint, governing = assessment.complaint, assessment.governing
    opened = complaint.opened
    return {
        "kind": "complaint_assessment",
        "case": complaint.id,
        "complaint": complaint.id,
        "round": None,
        "claim": opened.claim,
        "question": complaint.question,
        "player": opened.player,
        "begin": opened.begin,
        "end": opened.end,
        "zone": opened.zone,
        "missing_round": opened.missing_round,
        "state": complaint.state,
        "size": assessment.size,
        "verdict": assessment.verdict,
        "governs": governing.name,
        "moves_minor": 0,
        "bets": [],
        "due_by_rounds_minor": assessment.due_minor,
        "clause": _source_json(governing.source),
        "answer": assessment.answer,
        "reasons": assessment.reasons,
        "remedies": [
            {
                "name": each.name,
                "lawful": each.lawful,
                "governs": each.governs,
                "moves_minor": 0,
                "why": each.why,
                "source": each.source.cited,
            }
            for each in assessment.options
        ],
        "findings": [
            {"code": each.code, "round": each.stream, "seq": each.seq, "text": each.text}
            for each in assessment.findings
        ],
        "lacks": assessment.lacks,
        "totals": assessment.totals,
        "luck": assessment.luck,
        "runs": assessment.runs,
        "wallet": {"sums": assessment.wallet, "not_following": assessment.jumps},
        "sessions": assessment.sessions,
        "rounds": [each.round for each in assessment.rounds],
        "open_rounds": [each.round for each in assessment.rounds if each.state == "open"],
        "void_rounds": [each.round for each in assessment.rounds if each.state == "void"],
        "held_wins": [each.round for each in assessment.rounds if each.held_minor > 0],
        "faulty_rounds": list(map(_fault_json, assessment.faults)),
        "other_rounds": list(map(_fault_json, assessment.others)),
        "searched": opened.searched,
        "statement": msgspec.to_builtins(assessment.compared),
    }


def print_complaint(out: Console, assessment: ComplaintAssessment, path: str | None) -> None:
    """Print an assessment: the answer first, then what it rests on."""
    complaint = assessment.complaint
    opened = complaint.opened
    top = Table.grid(padding=(0, 2, 0, 0))
    top.add_column(style="dim", no_wrap=True)
    top.add_column(overflow="fold")
    top.add_row("verdict", Text(assessment.verdict.replace("_", " ").upper(), "bold"))
    top.add_row("answer", plain(assessment.answer))
    top.add_row("to pay", _to_pay(assessment))
    top.add_row("claim", plain(opened.claim))
    top.add_row("about", plain(_about(complaint)))
    out.print(top)
    _print_list(out, "What the ledger shows", assessment.reasons)
    _print_sessions(out, assessment)
    _print_faults(out, "Rounds with something wrong", assessment.faults)
    _print_faults(out, "Rounds of other players at the same tables", assessment.others)
    _print_list(out, "What the ledger cannot show", assessment.lacks)
    _print_options(out, assessment)
    _print_next(out, assessment, path)


def _to_pay(assessment: ComplaintAssessment) -> str:
    if not assessment.due_minor:
        return "nothing by this complaint"
    due = ", ".join(amount(minor, currency) for currency, minor in assessment.due_minor.items())
    return f"nothing by this complaint; {due} by cases about the rounds below"


def _about(complaint: Complaint) -> str:
    opened = complaint.opened
    times = [
        f"{word} {clock_text(time, opened.zone)}"
        for word, time in (("from", opened.begin), ("to", opened.end))
        if time is not None
    ]
    what = "a round that the ledger does not hold, of" if opened.missing_round else "the rounds of"
    return " ".join([what, f"player {opened.player}", *times])


def _print_sessions(out: Console, assessment: ComplaintAssessment) -> None:
    zone = assessment.complaint.opened.zone
    _print_list(
        out,
        "Sessions",
        [
            f"{each.name or 'no session recorded'}: {counted(each.rounds, 'round')}, "
            f"{span_text(each.begin, each.end, zone)}"
            for each in assessment.sessions
        ],
    )


def _print_faults(out: Console, title: str, faults: Sequence[FaultyRound]) -> None:
    if not faults:
        return
    table = plain_table("round", "due", "findings", right=("due",), whole=("round",), gap=1)
    for fault in faults[:MOST_ROUNDS]:
        codes = ", ".join(sorted({each.code for each in fault.findings}))
        table.add_row(fault.round, amount(fault.due_minor, fault.currency), plain(codes))
    out.print(Text(f"\n{title}", "bold"))
    out.print(table)
    if len(faults) > MOST_ROUNDS:
        out.print(f"… and {len(faults) - MOST_ROUNDS:,} more; --json has them all")


def _print_options(out: Console, assessment: ComplaintAssessment) -> None:
    table = plain_table("remedy", "")
    for option in sorted(assessment.options, key=lambda each: (not each.governs, not each.lawful)):
        style = "bold" if option.governs else "" if option.lawful else "dim"
        table.add_row(option.name, plain(option.why), style=style)
    out.print(Text("\nHow it may be decided", "bold"))
    out.print(table)


def _print_next(out: Console, assessment: ComplaintAssessment, path: str | None) -> None:
    complaint = assessment.complaint
    out.print()
    if complaint.state == "decided":
        word = plain(decision_word(complaint.decisions[-1].data))
        out.print(f"Complaint {complaint.id} was decided: {word}.")
        return
    state = complaint.state.replace("_", " ")
    out.print(f"Complaint {complaint.id} is {state}. By what the ledger shows:")
    command = f"dispute {assessment.governing.name} {complaint.id} --key NAME"
    print_command(out, f"{program()} {command}{with_ledger(path)}")


def _print_list(out: Console, title: str, lines: Iterable[str]) -> None:
    grid = Table.grid(padding=(0, 1, 0, 0))
    for line in lines:
        grid.add_row("·", plain(line))
    if grid.row_count:
        out.print(Text(f"\n{title}", "bold"))
        out.print(grid)


def _source_json(source: Source) -> Json:
    return {"source": source.document, "section": source.section, "assumed": source.assumed}


def _fault_json(fault: FaultyRound) -> Json:
    return {
        "round": fault.round,
        "player": fault.player,
        "opened_at": fault.opened_at,
        "verdict": fault.verdict,
        "due_minor": fault.due_minor,
        "currency": fault.currency,
        "findings": sorted({each.code for each in fault.findings}),
    }
