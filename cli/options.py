"""The options and openings that commands share."""

import os
import shlex
import sys
from datetime import UTC, datetime
from getpass import getpass
from pathlib import Path
from typing import Annotated

import typer

from cli.errors import PASSPHRASE_VARIABLE, UsageError
from ledger import Ledger
from ledger.directory import keys_are_encrypted

LEDGER_VARIABLE = "SHOEPROOF_LEDGER"
MOST_PASSPHRASE_BYTES = 1023

LedgerOption = Annotated[
    Path | None,
    typer.Option("--ledger", envvar=LEDGER_VARIABLE, help="The ledger's directory."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def ledger_path(path: Path | None) -> Path:
    """Return the ledger's path; raise UsageError when none was given."""
    if path is None:
        raise UsageError("which ledger? give --ledger PATH or set SHOEPROOF_LEDGER")
    return path


def open_to_read(path: Path | None) -> Ledger:
    """Open a ledger for reading; no key is asked for."""
    return Ledger.open(ledger_path(path))


def open_to_write(path: Path | None) -> Ledger:
    """Open a ledger for writing, with the passphrase of its keys where they have one."""
    where = ledger_path(path)
    passphrase = passphrase_from_environment()
    if passphrase is None and keys_are_encrypted(where) and sys.stdin.isatty():
        passphrase = getpass("Passphrase of the ledger's keys: ").encode()
    return Ledger.open(where, passphrase=passphrase)


def passphrase_from_environment() -> bytes | None:
    """Return the passphrase in SHOEPROOF_PASSPHRASE, None where there is none.

    Raises UsageError for one that is empty or longer than OpenSSL takes.
    """
    text = os.environ.get(PASSPHRASE_VARIABLE)
    if text is None:
        return None
    passphrase = os.fsencode(text)
    if not 1 <= len(passphrase) <= MOST_PASSPHRASE_BYTES:
        raise UsageError(f"{PASSPHRASE_VARIABLE} must hold 1 to {MOST_PASSPHRASE_BYTES} bytes")
    return passphrase


def program() -> str:
    """Return how this command was called, for commands to be copied from the screen."""
    called = Path(sys.argv[0])
    return str(called) if called.parent != Path() and not called.is_absolute() else "shoeproof"


def with_ledger(place: object) -> str:
    """Return the option that names the ledger again, nothing where the environment names it."""
    if place is None or os.environ.get(LEDGER_VARIABLE) == str(place):
        return ""
    return f" --ledger {shlex.quote(str(place))}"


def parse_moment(text: str | None) -> datetime | None:
    """Return an ISO 8601 moment, UTC where it has no offset; raise UsageError for other text."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        example = "2026-01-31 or 2026-01-31T20:15+01:00"
        raise UsageError(f"{text!r} is no time; write {example}") from None
