"""Signed events in one verifiable order: what was said and by which key, not what it means."""

from shoeproof.ledger.errors import LedgerError
from shoeproof.ledger.findings import Finding
from shoeproof.ledger.leaf.envelope import Event
from shoeproof.ledger.leaf.recorded import Recorded
from shoeproof.ledger.leaf.stored import StoredLeaf
from shoeproof.ledger.ledger import Ledger

__all__ = ["Event", "Finding", "Ledger", "LedgerError", "Recorded", "StoredLeaf"]
