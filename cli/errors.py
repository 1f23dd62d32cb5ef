"""What went wrong, as one sentence on stderr and an exit code."""

import errno
import os
import re
import sys
from pathlib import Path
from typing import Final

import shoeproof.ledger.errors as ledger_errors
import shoeproof.replay.errors as replay_errors
from shoeproof.audit_reports.errors import AuditError, ParSheetRefused, QueryRefused, ReportError
from shoeproof.cli.exit_codes import UNREADABLE, USAGE
from shoeproof.cli.screen.render import print_error
from shoeproof.cli.streams import are_for_machines, error_json
from shoeproof.needs import NotInstalled

PASSPHRASE_VARIABLE: Final = "SHOEPROOF_PASSPHRASE"
"""The environment variable that holds the passphrase of a ledger's private keys."""

_LONGEST: Final = 2_000
"""Characters of an error; one that quotes what was given may be as long as that."""

_begins_a_word = re.compile("(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_USAGE: Final = (
    ledger_errors.LedgerExists,
    ledger_errors.KeyNameTaken,
    ledger_errors.RolesRefused,
    ledger_errors.UnknownStream,
    ledger_errors.EventRefused,
    ledger_errors.StreamConflict,
    replay_errors.StakeRefused,
    replay_errors.UnknownGame,
    replay_errors.ShoeError,
    replay_errors.InputRefusedError,
    replay_errors.DisputeRefused,
    replay_errors.AlarmRefused,
    replay_errors.LocalTimeUnclear,
    ParSheetRefused,
    QueryRefused,
    ReportError,
    NotInstalled,
)
_NO_FILE: Final = (FileNotFoundError, IsADirectoryError, NotADirectoryError)
KNOWN: Final = (
    ledger_errors.LedgerError,
    replay_errors.ReplayError,
    AuditError,
    NotInstalled,
    OSError,
    MemoryError,
)
"""Every error that is told in one sentence; any other is a fault of this program."""


class UsageError(replay_errors.ReplayError):
    """The command line asks for something that cannot be."""


class Mistakes:
    """Collects what a command line asks for and cannot be, so that all of it is told at once."""

    def __init__(self) -> None:
        self._told: list[str] = []

    def __enter__(self) -> None:
        """Begin to look at one part of the command line."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        """Keep what was wrong with that part."""
        if not isinstance(error, UsageError):
            return False
        self._told.append(str(error))
        return True

    def tell(self) -> None:
        """Raise UsageError with everything that was wrong, if anything was."""
        if self._told:
            raise UsageError("; ".join(self._told))


def exit_code(error: Exception) -> int:
    """Return 2 for what the caller can mend by asking otherwise, 3 for what cannot be trusted."""
    if isinstance(error, _NO_FILE):
        # One of a ledger's own, or of what was published, is evidence that is missing.
        return USAGE if _is_named(error.filename) else UNREADABLE
    return USAGE if isinstance(error, (*_USAGE, UsageError)) else UNREADABLE


def _is_named(file: object) -> bool:
    """Tell whether the command line names a file, as a word or as the value of an option."""
    if not isinstance(file, str | Path):
        return False
    return any(Path(word.rpartition("=")[2]) == Path(file) for word in sys.argv[1:])


def tell(error: Exception) -> None:
    """Say on stderr in one sentence what was wrong, or as JSON where the command line asks for it.

    The error's code is its kind, in words: `not_a_ledger`.
    """
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        name = f"{error.filename}: " if error.filename else ""
        text = f"{name}{error.strerror}"
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            text += ": make room and try again"
    if isinstance(error, MemoryError):
        text = "there is not enough memory for this: try again where there is more"
    if "passphrase" in text and not os.environ.get(PASSPHRASE_VARIABLE):
        text += f" (set {PASSPHRASE_VARIABLE})"
    if are_for_machines():
        print(error_json(error_code(error), _in_one_line(text)), file=sys.stderr)
    else:
        say(text)


def error_code(error: Exception) -> str:
    """Return the name of an error's kind as JSON has it, `not_a_ledger`."""
    return _begins_a_word.sub("_", type(error).__name__).lower()


def say(text: str) -> None:
    """Say a sentence on stderr, broken between words where the screen ends."""
    print_error(f"shoeproof: {_in_one_line(text)}")


def _in_one_line(text: str) -> str:
    said = " ".join(text.split())
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST]}…"
