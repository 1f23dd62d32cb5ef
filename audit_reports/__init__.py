"""How much: the ledger projected into columns, and the figures counted from them."""

from typing import TYPE_CHECKING

from shoeproof.needs import need
from shoeproof.public import names_of

if TYPE_CHECKING:
    from shoeproof.audit_reports.case_report.write import render_case_report as render_case_report
    from shoeproof.audit_reports.fault_report.write import (
        render_fault_report as render_fault_report,
    )
    from shoeproof.audit_reports.inspection.run import inspect as inspect
    from shoeproof.audit_reports.rtp_report.figures import Scope as Scope
    from shoeproof.audit_reports.rtp_report.figures import cells as cells
    from shoeproof.audit_reports.rtp_report.from_ledger import ReportRequest as ReportRequest
    from shoeproof.audit_reports.rtp_report.write import render_rtp_report as render_rtp_report
    from shoeproof.audit_reports.tables.views import open_tables as open_tables

need("counting and reporting", "numpy", "pyarrow", "duckdb", "jinja2")

_PLACES = {
    "ReportRequest": "rtp_report.from_ledger",
    "Scope": "rtp_report.figures",
    "cells": "rtp_report.figures",
    "inspect": "inspection.run",
    "open_tables": "tables.views",
    "render_case_report": "case_report.write",
    "render_fault_report": "fault_report.write",
    "render_rtp_report": "rtp_report.write",
}
__all__ = list(_PLACES)
__getattr__ = names_of(__name__, _PLACES)
