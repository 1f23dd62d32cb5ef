"""What went wrong, as one line on stderr and an exit code."""

import os
import sys
from typing import Final

import ledger.errors as ledger_errors
import replay.errors as replay_errors
from audit_reports.errors import AuditError, ParSheetRefused, QueryRefused, ReportError
from cli.render import plain

PASSPHRASE_VARIABLE: Final = "SHOEPROOF_PASSPHRASE"
"""The environment variable that holds the passphrase of a ledger's private keys."""

SOUND: Final = 0
FINDINGS: Final = 1
USAGE: Final = 2
UNREADABLE: Final = 3

_USAGE: Final = (
    ledger_errors.LedgerExists,
    ledger_errors.UnknownStream,
    ledger_errors.EventRefused,
    ledger_errors.StreamConflict,
    replay_errors.StakeRefused,
    replay_errors.UnknownGame,
    replay_errors.ShoeError,
    replay_errors.InputRefusedError,
    replay_errors.DisputeRefused,
    ParSheetRefused,
    QueryRefused,
    ReportError,
)
KNOWN: Final = (
    ledger_errors.LedgerError,
    replay_errors.ReplayError,
    AuditError,
    OSError,
    MemoryError,
)
"""Every error that is told in one line; any other is a fault of this program."""


class UsageError(replay_errors.ReplayError):
    """The command line asks for something that cannot be."""


def exit_code(error: Exception) -> int:
    """Return 2 for what the caller can mend by asking otherwise, 3 for what cannot be trusted."""
    return USAGE if isinstance(error, (*_USAGE, UsageError)) else UNREADABLE


def tell(error: Exception) -> None:
    """Say on stderr in one line what was wrong."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        name = f"{error.filename}: " if error.filename else ""
        text = f"{name}{error.strerror}"
    if isinstance(error, MemoryError):
        text = "there is not enough memory for this: try again where there is more"
    if "passphrase" in text and not os.environ.get(PASSPHRASE_VARIABLE):
        text += f" (set {PASSPHRASE_VARIABLE})"
    print(f"shoeproof: {plain(' '.join(text.split()))}", file=sys.stderr)
