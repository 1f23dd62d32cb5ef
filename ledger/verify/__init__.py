"""Verification: leaves read once, in order, and everything found against them.

What is shown, counted or judged of rounds is the bytes that were verified here, or held to them
where they are read again. A command about one round, case or complaint looks it up, and verifies it
by itself.
"""

from ledger.verify.one_stream import read_stream, verify_stream
from ledger.verify.second_reads import read_again
from ledger.verify.whole import VerifyResult, verify

__all__ = ["VerifyResult", "read_again", "read_stream", "verify", "verify_stream"]
