"""The fixtures of the tests over ledgers."""

from tests.audit_reports.conftest import ledger, path

__all__ = ["ledger", "path"]
