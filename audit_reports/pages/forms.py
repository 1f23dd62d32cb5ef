"""The form a report is written in, which the suffix of its file's name says."""

from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeVar

from shoeproof.audit_reports.errors import ReportError
from shoeproof.ledger.files.printable import printable_json

Report = TypeVar("Report")

Forms: TypeAlias = Mapping[str, Callable[[Report], bytes]]
"""The functions that turn a report into bytes, by the file's suffix, such as `.html`."""


def render_report(forms: Forms[Report], report: Report, suffix: str) -> bytes:
    """Return a report as the bytes of a file with a suffix; raise ReportError."""
    if suffix not in forms:
        raise ReportError(f"a report is a file ending in {', '.join(forms)}, not {suffix!r}")
    return forms[suffix](report)


def json_bytes(data: object) -> bytes:
    """Return data as indented JSON, ended by a line feed."""
    return f"{printable_json(data)}\n".encode()
