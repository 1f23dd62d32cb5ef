"""A report on a fault in the form a file's name asks for: HTML, PDF, CSV or JSON."""

from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any, Final

import msgspec

from shoeproof.audit_reports.fault_report.model import FaultReport
from shoeproof.audit_reports.pages.cells import write_rows
from shoeproof.audit_reports.pages.forms import Forms, json_bytes, render_report
from shoeproof.audit_reports.pages.numerals import percent
from shoeproof.audit_reports.pages.pdf import pdf_of
from shoeproof.audit_reports.pages.render import render_page
from shoeproof.audit_reports.pages.words import bet_words
from shoeproof.ledger.files.durable import write_durably
from shoeproof.replay.disputes.sources import KEY_EVENT, STAKES_RETURNED

FORMS: Final[Forms[FaultReport]] = {
    ".html": lambda report: _page(report).encode(),
    ".pdf": lambda report: pdf_of(_page(report)),
    ".csv": lambda report: _table(report).encode(),
    ".json": json_bytes,
}

MOST_ROWS: Final = 200
"""How many rows of a list the page shows; CSV and JSON have all."""

SOURCES: Final = (KEY_EVENT, STAKES_RETURNED)
"""Why such a report is asked for, and what becomes of stakes."""

COLUMNS: Final = (
    "rows", "fault", "size", "root", "name", "player", "round", "opened_at", "ended_at", "state",
    "mode", "table", "build", "game", "rules_digest", "currency", "bet", "findings", "remedy",
    "clause", "waits", "rounds", "wrong_rounds", "touched_rounds", "players", "wrong_players",
    "initial_minor", "staked_minor", "paid_minor", "underpaid_minor", "overpaid_minor",
    "put_right_minor", "owed_minor", "rtp", "rtp_touched", "rtp_without", "rtp_right",
)  # fmt: skip


def write_fault_report(report: FaultReport, path: Path) -> None:
    """Write a report whole or not at all, in the form its file's suffix names.

    Raises ReportError for another suffix, or where PDF cannot be made, and OSError.
    """
    write_durably(path, render_fault_report(report, path.suffix.lower()))


def render_fault_report(report: FaultReport, suffix: str) -> bytes:
    """Return a report as the bytes of a `.html`, `.pdf`, `.csv` or `.json` file.

    HTML, CSV and JSON are the same bytes for the same report. Raises ReportError.
    """
    return render_report(FORMS, report, suffix)


def _page(report: FaultReport) -> str:
    return render_page(
        "fault.html",
        title=report.title,
        report=report,
        most=MOST_ROWS,
        bet_words=bet_words,
        percent=percent,
        sources=SOURCES,
        tone="bad" if report.is_due else "warn" if report.wrong_rounds else "good",
    )


def _table(report: FaultReport) -> str:
    out = StringIO()
    basis = {"fault": report.fault, "size": report.basis.size, "root": report.basis.root}
    write_rows(out, COLUMNS, ({**basis, **rows} for rows in _records(report)))
    return out.getvalue()


def _records(report: FaultReport) -> Iterator[dict[str, Any]]:
    for money in report.money:
        yield {"rows": "in all", **msgspec.structs.asdict(money)}
    for each in report.returns:
        yield {"rows": f"return: {each.by}", **msgspec.structs.asdict(each)}
    for player in report.players_owed:
        yield {"rows": "player", **msgspec.structs.asdict(player)}
    for wrong in report.wrong:
        told = msgspec.structs.asdict(wrong)
        yield {"rows": "round", **told, "findings": " ".join(wrong.findings)}
