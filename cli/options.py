"""The options and openings that commands share."""

import os
import re
import shlex
import sys
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from getpass import getpass
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer

from cli.errors import PASSPHRASE_VARIABLE, UsageError
from ledger import Ledger
from ledger.directory import KEYS, is_url, keys_are_encrypted
from ledger.keys import Signer, read_key

LEDGER_VARIABLE = "SHOEPROOF_LEDGER"
MOST_PASSPHRASE_BYTES = 1023
LONGEST_AGE = timedelta(days=36_525)

LedgerOption = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        envvar=LEDGER_VARIABLE,
        help="The ledger's directory; postgresql://… reads one without its directory.",
    ),
]
PublicKeyOption = Annotated[
    str | None,
    typer.Option(help="The operator's public key as you were handed it: a key or a file."),
]
CheckpointOption = Annotated[
    Path | None,
    typer.Option(help="A signed checkpoint to use, such as a cosigned one."),
]
PolicyOption = Annotated[
    Path | None,
    typer.Option(help="Who must have cosigned the checkpoint (C2SP tlog-policy)."),
]
MaxAgeOption = Annotated[
    str | None,
    typer.Option(help="How old the newest cosignature may be: 36h, 2d, 30m."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def ledger_path(place: str | None) -> Path:
    """Return the ledger's directory; raise UsageError when none, or a database, was given."""
    where = _given(place)
    if is_url(where):
        raise UsageError("give the ledger's directory: it holds the keys, a database holds none")
    return Path(where)


def _given(place: str | None) -> str:
    if place is None:
        raise UsageError("which ledger? give --ledger PATH or set SHOEPROOF_LEDGER")
    return place


def open_to_read(place: str | None) -> Ledger:
    """Open a ledger for reading; no key is asked for."""
    where = _given(place)
    return Ledger.open_url(where) if is_url(where) else Ledger.open(Path(where))


def open_to_write(place: str | None) -> Ledger:
    """Open a ledger for writing, with the passphrase of its keys where they have one."""
    path = ledger_path(place)
    return Ledger.open(path, passphrase=passphrase_of_keys(path))


def passphrase_of_keys(path: Path) -> bytes | None:
    """Return the passphrase of a ledger's keys, from the environment or asked for once.

    It is None when there is none, or nobody to ask.
    """
    passphrase = passphrase_from_environment()
    if passphrase is None and keys_are_encrypted(path) and sys.stdin.isatty():
        return _ask()
    return passphrase


@cache
def _ask() -> bytes:
    return getpass("Passphrase of the ledger's keys: ").encode()


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
    moment = _iso(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def _iso(text: str, zone: ZoneInfo | None = None, fold: int = 0) -> datetime:
    """Return an ISO 8601 time, in UTC where it has an offset or a `zone`, or raise UsageError."""
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None and zone is not None:
            moment = moment.replace(tzinfo=zone, fold=fold)
        # Times of one zone would be compared as its clocks show them, with no regard to `fold`.
        return moment if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        example = "2026-01-31 or 2026-01-31T20:15+01:00"
        raise UsageError(f"{text!r} is no time; write {example}") from None


def parse_age(text: str | None) -> timedelta | None:
    """Return a span like `36h`, `2d` or `30m`; raise UsageError for other text."""
    if text is None:
        return None
    units = {"d": "days", "h": "hours", "m": "minutes"}
    if not text[:-1].isascii() or not text[:-1].isdecimal() or text[-1] not in units:
        raise UsageError(f"{text!r} is no age; write 36h, 2d or 30m")
    try:
        age = timedelta(**{units[text[-1]]: int(text[:-1])})
    except (OverflowError, ValueError):  # the latter for thousands of digits
        age = timedelta.max
    if age > LONGEST_AGE:
        raise UsageError(f"{text[:20]!r} is too long an age: give a hundred years at most")
    return age


def given_public_key(public_key: str | None) -> str | None:
    """Return a public key given as such or as a file; raise UsageError when it is neither."""
    if public_key is None or "+" in public_key or public_key.endswith("="):
        return public_key
    try:
        return Path(public_key).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        raise UsageError(f"{public_key!r} is neither a public key nor a file with one") from None


def check_suffix(output: Path, suffixes: Collection[str]) -> None:
    """Raise UsageError for a file whose suffix does not say in which form to write it."""
    if output.suffix.lower() not in suffixes:
        raise UsageError(f"{output} does not say in which form: end it in {', '.join(suffixes)}")


def staff_signer(ledger: Ledger, text: str) -> Signer:
    """Return who signs with a key named as it lies in the ledger's `keys/`, or by its PEM file.

    Raises UsageError when there is no such file, and KeyUnusable when it cannot be used or is no
    key of this ledger.
    """
    directory = None if ledger.path is None else ledger.path / KEYS
    by_path = os.sep in text or text.endswith(".pem") or directory is None
    file = Path(text) if by_path or directory is None else directory / f"{text}.pem"
    if not file.is_file():
        there = [] if directory is None else sorted(each.stem for each in directory.glob("*.pem"))
        raise UsageError(f"there is no key {text!r}; {KEYS}/ has {', '.join(there) or 'none'}")
    passphrase = passphrase_from_environment()
    if passphrase is None and sys.stdin.isatty() and b"ENCRYPTED" in file.read_bytes()[:64]:
        passphrase = getpass(f"Passphrase of the key {file.stem}: ").encode()
    return ledger.signer_of(read_key(file, passphrase))


def parse_zone(text: str | None) -> ZoneInfo | None:
    """Return a time zone by its IANA name; raise UsageError for another name."""
    if text is None:
        return None
    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UsageError(f"{text!r} is no time zone; write one such as Europe/Malta") from None


def parse_local(text: str | None, zone: ZoneInfo | None, *, last: bool = False) -> datetime | None:
    """Return a moment, in UTC, given with its offset, or as a clock in `zone` showed it.

    Where clocks went back a time was shown twice: `last` takes the later one. Raises UsageError for
    text that is no time, and for one that no zone goes with.
    """
    if text is None:
        return None
    moment = _iso(text, zone, int(last))
    if moment.tzinfo is None:
        raise UsageError(f"{text!r} has no time zone: add its offset, or --zone Europe/Malta")
    return moment


def parse_amount(text: str | None) -> Decimal | None:
    """Return an amount like `12.50`; raise UsageError for other text."""
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,3})?", text):
        raise UsageError(f"{text!r} is no amount; write it like 12.50")
    return Decimal(text)
