"""Verification: leaves read once, in order, and everything found against them.

What is shown, counted or judged of rounds is the bytes that were verified here, or held to them
where they are read again. A command about one round, case or complaint looks it up, and verifies it
by itself.
"""

from typing import TYPE_CHECKING

from shoeproof.public import names_of

if TYPE_CHECKING:
    from shoeproof.ledger.verify.whole import VerifyResult as VerifyResult
    from shoeproof.ledger.verify.whole import verify as verify

_PLACES = {
    "VerifyResult": "whole",
    "verify": "whole",
}
__all__ = list(_PLACES)
__getattr__ = names_of(__name__, _PLACES)
