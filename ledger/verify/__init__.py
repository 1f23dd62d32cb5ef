"""Verification: leaves read once, in order, and everything found against them.

What is shown, counted or judged of rounds is the bytes that were verified here, or held to them
where they are read again. Cases and complaints are looked up, and verified by themselves.
"""

from ledger.verify.second_reads import read_again
from ledger.verify.whole import VerifyResult, read_stream, verify, verify_stream

__all__ = ["VerifyResult", "read_again", "read_stream", "verify", "verify_stream"]
