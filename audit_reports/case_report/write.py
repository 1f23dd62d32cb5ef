"""A case report in the form a file's name asks for: HTML, PDF, JSON or plain text.

A player's is a letter of one page. In HTML the receipt is inside it, where it is not too large.
"""

from base64 import b64encode
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

import msgspec
from markupsafe import Markup

from shoeproof.audit_reports.case_report.letter import letter_of
from shoeproof.audit_reports.case_report.model import CaseReport
from shoeproof.audit_reports.case_report.text import lines
from shoeproof.audit_reports.case_report.words import (
    CLAIMS,
    REMEDIES,
    bet_name,
    hand_name,
    moment_words,
)
from shoeproof.audit_reports.pages.cards import cards_svg
from shoeproof.audit_reports.pages.forms import Forms, json_bytes, render_report
from shoeproof.audit_reports.pages.pdf import pdf_of
from shoeproof.audit_reports.pages.render import render_page
from shoeproof.ledger.files.durable import write_durably

MOST_EMBEDDED: Final = 1_000_000
"""The bytes of the largest receipt that a page carries inside it."""

FORMS: Final[Forms[CaseReport]] = {
    ".html": lambda report: _page(report, embed=True).encode(),
    ".pdf": lambda report: pdf_of(_page(report, embed=False)),
    ".json": lambda report: json_bytes(as_data(report)),
    ".txt": lambda report: ("\n".join(lines(report)) + "\n").encode(),
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
    """Return the report as JSON-ready data: each remedy with its sums, the receipt by its digest,
    since it is a file of its own.
    """
    data: dict[str, object] = msgspec.to_builtins(report)
    if report.receipt is not None:
        data["receipt"] = {"name": report.receipt.name, "sha256": report.receipt.sha256}
    if report.annex is not None:
        annex = msgspec.to_builtins(report.annex)
        annex["remedies"] = [
            {
                **msgspec.to_builtins(each),
                "due_minor": each.due_minor,
                "moves_minor": each.moves_minor,
            }
            for each in report.annex.remedies
        ]
        data["annex"] = annex
    return data


def is_embedded(report: CaseReport) -> bool:
    """Tell whether the receipt stands inside the HTML page, so that no file goes beside it."""
    receipt = report.receipt
    return (
        receipt is not None
        and report.audience == "player"
        and len(receipt.content) <= MOST_EMBEDDED
    )


def _page(report: CaseReport, *, embed: bool) -> str:
    zone = ZoneInfo(report.zone)
    return render_page(
        "letter.html" if report.audience == "player" else "case.html",
        title=f"{report.game}, round {report.round}",
        report=report,
        letter=letter_of(report),
        receipt=_data_link(report) if embed and is_embedded(report) else None,
        clauses=report.clause.parts,
        claims=CLAIMS,
        remedy_words=REMEDIES,
        draw=cards_svg,
        bet_name=bet_name,
        hand_name=hand_name,
        when=lambda at: moment_words(at, zone),
    )


def _data_link(report: CaseReport) -> Markup:
    """Return the receipt as an address that holds it whole."""
    assert report.receipt is not None
    return Markup("data:application/json;base64,{}").format(
        b64encode(report.receipt.content).decode()
    )
