"""A case report in the form a file's name asks for: HTML, PDF, JSON or plain text."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from audit_reports.case_report.build import REMEDY_WORDS
from audit_reports.case_report.model import CaseReport
from audit_reports.forms import Forms, json_bytes, render_report
from audit_reports.pages.cards import cards_svg
from audit_reports.pages.pdf import pdf_of
from audit_reports.pages.render import render_page
from audit_reports.printable import printable
from audit_reports.words import bet_words
from ledger.files import write_durably
from replay.currency import amount_text
from replay.disputes.assessment import Remedy, Verdict
from replay.engine.cards import pretty

FORMS: Final[Forms[CaseReport]] = {
    ".html": lambda report: _page(report).encode(),
    ".pdf": lambda report: pdf_of(_page(report)),
    ".json": lambda report: json_bytes(as_data(report)),
    ".txt": lambda report: ("\n".join(_lines(report)) + "\n").encode(),
}

_TONES: Final[Mapping[Verdict, str]] = {
    "upheld": "bad",
    "partly_upheld": "bad",
    "rejected": "good",
    "inconclusive": "warn",
}


def write_case_report(report: CaseReport, path: Path) -> None:
    """Write a report whole or not at all, in the form its file's suffix names.

    Raises ReportError for another suffix, or where PDF cannot be made, and OSError.
    """
    write_durably(path, render_case_report(report, path.suffix.lower()))


def render_case_report(report: CaseReport, suffix: str) -> bytes:
    """Return a report as the bytes of a `.html`, `.pdf`, `.json` or `.txt` file.

    HTML, JSON and text are the same bytes for the same report. Raises ReportError.
    """
    return render_report(FORMS, report, suffix)


def as_data(report: CaseReport) -> dict[str, object]:
    """Return the report as JSON-ready data, each remedy with its sums."""
    data: dict[str, object] = msgspec.to_builtins(report)
    data["remedies"] = [
        msgspec.to_builtins(each) | {"due_minor": each.due_minor, "moves_minor": each.moves_minor}
        for each in report.remedies
    ]
    return data


def _page(report: CaseReport) -> str:
    title = f"Case report: {report.game}, round {report.round}"
    tone = "good" if report.classes == ("sound",) else _TONES[report.verdict]
    return render_page(
        "case.html",
        title=title,
        report=report,
        tone=tone,
        remedy_words=REMEDY_WORDS,
        draw=cards_svg,
        bet_words=bet_words,
        can_pay=_can_pay,
    )


def _can_pay(remedy: Remedy) -> bool:
    return remedy.lawful and remedy.due_minor is not None


def _lines(report: CaseReport) -> Iterator[str]:
    """Tell the report in plain text, in the order of the page."""
    for line in _told(report):
        yield printable(line, "\n")


def _told(report: CaseReport) -> Iterator[str]:
    def money(minor: int | None) -> str:
        return "undecided" if minor is None else amount_text(minor, report.currency)

    def comes_to(remedy: Remedy) -> str:
        if remedy.due_minor is None:
            return "its sum undecided"
        still = f", still to pay {money(remedy.moves_minor)}" if _can_pay(remedy) else ""
        return f"comes to {money(remedy.due_minor)}{still}"

    yield f"CASE REPORT FOR THE {report.audience.upper()}"
    yield f"{report.game}, round {report.round}"
    if report.case is not None:
        yield f"case {report.case.case}, claim {report.case.claim}, {report.case.state}"
    yield from ("", report.headline.upper(), *report.reasons)
    yield from _section("CIRCUMSTANCES", (f"{k}: {v}" for k, v in report.circumstances.items()))
    yield from _section("FINDINGS", report.findings)
    yield from _section("GOVERNING CLAUSE AND BASIS", report.basis)
    yield from _section(
        "CARDS",
        (
            f"{view.label}, {hand.name}: {' '.join(map(pretty, hand.cards))}  {hand.total}"
            for view in report.tables
            for hand in (view.dealer, *view.hands)
        ),
    )
    yield from _section(
        "EXPECTED AGAINST PAID",
        (
            f"{bet.hand} {bet_words(bet.bet)}: stake {money(bet.stake_minor)}, rules pay "
            f"{money(bet.expected_minor)}, was paid {money(bet.paid_minor)}, by decision "
            f"{money(bet.moved_minor)}"
            for bet in report.bets
        ),
    )
    yield from _section(
        "REMEDIES",
        (
            f"{'> ' if each.governs else '  '}{REMEDY_WORDS[each.name]}: "
            f"{'lawful' if each.lawful else 'not lawful'}, {comes_to(each)}. {each.why}"
            for each in report.remedies
        ),
    )
    yield from _section(
        "TIMELINE",
        (
            f"{row.leaf_index} {row.at} {row.actor}: {row.says}"
            f"{'  <== HERE' if row.is_fault else ''}"
            for row in report.timeline
        ),
    )
    yield from _section("DECISIONS MADE FOR THE PLAYER", report.platform_decisions)
    yield from _section("WHAT THE LEDGER CANNOT SHOW", report.lacks)
    yield from _section(
        "WHO AUTHORISED", (f"{each.at}: {each.by} {each.what}" for each in report.authorised)
    )
    yield from _section(
        "PROOF",
        (
            f"ledger {report.proof.ledger}, tree size {report.proof.tree_size}",
            f"leaves {', '.join(map(str, report.proof.leaf_indices))}",
            *report.proof.commands,
        ),
    )


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    told = list(lines)
    if told:
        yield from ("", title, *told)
