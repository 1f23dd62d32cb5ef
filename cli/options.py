"""The options and openings that commands share."""

import os
import sys
from datetime import UTC, datetime
from getpass import getpass
from pathlib import Path
from typing import Annotated

import typer

from cli.errors import UsageError
from ledger import Ledger
from ledger.directory import keys_are_encrypted

PASSPHRASE_VARIABLE = "SHOEPROOF_PASSPHRASE"

LedgerOption = Annotated[
    Path | None,
    typer.Option("--ledger", envvar="SHOEPROOF_LEDGER", help="The ledger's directory."),
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
    passphrase = os.environ.get(PASSPHRASE_VARIABLE)
    if passphrase is None and keys_are_encrypted(where) and sys.stdin.isatty():
        passphrase = getpass("Passphrase of the ledger's keys: ")
    return Ledger.open(where, passphrase=None if passphrase is None else passphrase.encode())


def parse_moment(text: str | None) -> datetime | None:
    """Return an ISO 8601 moment, UTC where it has no offset; raise UsageError for other text."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        example = "2026-01-31 or 2026-01-31T20:15+01:00"
        raise UsageError(f"{text!r} is no time; write {example}") from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
