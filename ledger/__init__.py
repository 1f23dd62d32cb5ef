"""Signed events in one verifiable order: what was said and by which key, not what it means."""

from typing import TYPE_CHECKING

from shoeproof.public import names_of

if TYPE_CHECKING:
    from shoeproof.ledger.errors import LedgerError as LedgerError
    from shoeproof.ledger.exchange.bundle import make_bundle as make_bundle
    from shoeproof.ledger.exchange.bundle import verify_bundle as verify_bundle
    from shoeproof.ledger.exchange.publish import publish as publish
    from shoeproof.ledger.exchange.rebuild import rebuild as rebuild
    from shoeproof.ledger.exchange.transfer import export_leaves as export_leaves
    from shoeproof.ledger.exchange.transfer import import_leaves as import_leaves
    from shoeproof.ledger.findings import Finding as Finding
    from shoeproof.ledger.leaf.envelope import Event as Event
    from shoeproof.ledger.leaf.recorded import Recorded as Recorded
    from shoeproof.ledger.leaf.stored import StoredLeaf as StoredLeaf
    from shoeproof.ledger.ledger import Ledger as Ledger
    from shoeproof.ledger.rotation import revoke_key as revoke_key
    from shoeproof.ledger.rotation import rotate_key as rotate_key
    from shoeproof.ledger.witness.cosigner import Witness as Witness

_PLACES = {
    "Event": "leaf.envelope",
    "Finding": "findings",
    "Ledger": "ledger",
    "LedgerError": "errors",
    "Recorded": "leaf.recorded",
    "StoredLeaf": "leaf.stored",
    "Witness": "witness.cosigner",
    "export_leaves": "exchange.transfer",
    "import_leaves": "exchange.transfer",
    "make_bundle": "exchange.bundle",
    "publish": "exchange.publish",
    "rebuild": "exchange.rebuild",
    "revoke_key": "rotation",
    "rotate_key": "rotation",
    "verify_bundle": "exchange.bundle",
}
__all__ = list(_PLACES)
__getattr__ = names_of(__name__, _PLACES)
