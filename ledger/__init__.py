"""Signed events in one verifiable order: what was said and by which key, not what it means."""

from ledger.envelope import Event
from ledger.errors import LedgerError
from ledger.findings import Finding
from ledger.ledger import Ledger
from ledger.recorded import Recorded
from ledger.schema import StoredLeaf

__all__ = ["Event", "Finding", "Ledger", "LedgerError", "Recorded", "StoredLeaf"]
