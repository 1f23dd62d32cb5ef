"""The form a report is written in, which the suffix of its file's name says."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias, TypeVar

import msgspec

from audit_reports.errors import ReportError
from ledger.files import write_durably

Report = TypeVar("Report")

Forms: TypeAlias = Mapping[str, Callable[[Report], bytes]]
"""What makes a report into the bytes of a file, by the file's suffix, such as `.html`."""


def write_report(forms: Forms[Report], report: Report, path: Path) -> None:
    """Write a report whole or not at all, in the form its file's suffix names.

    Raises ReportError for another suffix, or where PDF cannot be made, and OSError.
    """
    write_durably(path, render_report(forms, report, path.suffix.lower()))


def render_report(forms: Forms[Report], report: Report, suffix: str) -> bytes:
    """Return a report as the bytes of a file with a suffix; raise ReportError."""
    if suffix not in forms:
        raise ReportError(f"a report is a file ending in {', '.join(forms)}, not {suffix!r}")
    return forms[suffix](report)


def json_bytes(data: object) -> bytes:
    """Return data as indented JSON, ended by a line feed."""
    return msgspec.json.format(msgspec.json.encode(data), indent=2) + b"\n"
