"""Signed events in one verifiable order: what was said and by which key, not what it means."""

from ledger.errors import LedgerError
from ledger.findings import Finding
from ledger.leaf.envelope import Event
from ledger.leaf.recorded import Recorded
from ledger.leaf.stored import StoredLeaf
from ledger.ledger import Ledger

__all__ = ["Event", "Finding", "Ledger", "LedgerError", "Recorded", "StoredLeaf"]
