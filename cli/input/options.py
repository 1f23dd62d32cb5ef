"""The options and openings that commands share."""

import os
import re
import shlex
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from getpass import getpass
from pathlib import Path
from typing import Annotated, Any, ClassVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer
from typer.core import TyperCommand, TyperGroup

from shoeproof.cli.errors import PASSPHRASE_VARIABLE, UsageError
from shoeproof.ledger import Ledger
from shoeproof.ledger.keys.key import Signer, read_key
from shoeproof.ledger.leaf.canonical import LARGEST_INTEGER
from shoeproof.ledger.leaf.clock import Clock
from shoeproof.ledger.leaf.streams import stream_kind
from shoeproof.ledger.store.directory import (
    KEYS,
    SETTINGS,
    check_lies_within,
    is_url,
    keys_are_encrypted,
)
from shoeproof.replay.currency import amount_text, decimal_places, exact_minor_units
from shoeproof.replay.local_time import moment_of

LEDGER_VARIABLE = "SHOEPROOF_LEDGER"
DEFAULT_NAME = "ledger"
"""What `init` calls a ledger's directory that it is given no name for."""

MOST_PASSPHRASE_BYTES = 1023
UTC_ZONE = ZoneInfo("UTC")
LONGEST_AGE = timedelta(days=36_525)

LedgerOption = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="PATH",
        envvar=LEDGER_VARIABLE,
        help="The ledger's directory, by default one found from here; or postgresql://….",
    ),
]
LedgersOption = Annotated[
    list[str] | None,
    typer.Option(
        "--ledger",
        metavar="PATH",
        help="A ledger's directory, or postgresql://…; repeat it for several, which are counted "
        f"as one.  [env var: {LEDGER_VARIABLE}]",
    ),
]
PUBLIC_KEY = "The operator's public key, obtained independently of this ledger: the key or a file."
PublicKeyOption = Annotated[str | None, typer.Option(metavar="KEY", help=PUBLIC_KEY)]
NeededPublicKeyOption = Annotated[str, typer.Option("--public-key", metavar="KEY", help=PUBLIC_KEY)]
CheckpointOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A signed checkpoint to use, such as a cosigned one."),
]
KeptCheckpointOption = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        metavar="FILE",
        help="A checkpoint you kept: the ledger must extend it, an export must carry it.",
    ),
]
PolicyOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Who must have cosigned the checkpoint (C2SP tlog-policy)."),
]
EverySignatureOption = Annotated[
    bool,
    typer.Option(
        "--every-signature", help="Verify every signature, even if a checkpoint lets it be skipped."
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="Write it to this file, not the screen."),
]
StoreOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="An empty PostgreSQL database for the leaves, postgresql://user@host/name.",
    ),
]
RulesOption = Annotated[
    Path | None,
    typer.Option("--rules", metavar="FILE", help="Changed rules, as `rules show --json` prints."),
]
RoundArgument = Annotated[str, typer.Argument(metavar="ROUND", help="Its id, or how it begins.")]
KeyOption = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="Whose key signs: its name in the ledger's keys/, or a .pem file."
    ),
]
StaffKeyOption = Annotated[
    str | None,
    typer.Option(
        "--key", metavar="NAME", help="Whose key signs; by default the ledger's staff key."
    ),
]
OpenedFromOption = Annotated[
    str | None,
    typer.Option(
        "--from", metavar="TIME", help="Rounds opened at or after: 2026-01-31T20:15+01:00."
    ),
]
OpenedToOption = Annotated[
    str | None, typer.Option("--to", metavar="TIME", help="Rounds opened before.")
]
MaxAgeOption = Annotated[
    str | None,
    typer.Option(metavar="AGE", help="How old the newest cosignature may be: 36h, 2d, 30m."),
]
ZoneOption = Annotated[
    str | None,
    typer.Option(
        metavar="ZONE",
        help="The time zone, such as Europe/Malta; by default times are shown in UTC.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def ledger_path(place: str | None) -> Path:
    """Return the ledger's directory; raise UsageError when none, or a database, was given."""
    where = _given(place)
    if is_url(where):
        raise UsageError("give the ledger's directory: it holds the keys, a database holds none")
    return Path(where)


def _given(place: str | None) -> str:
    found = place or _found_from_here()
    if found is None:
        raise UsageError(
            f"which ledger? there is none here, nor in a folder above: give --ledger PATH, set "
            f"{LEDGER_VARIABLE}, or make one by `init`"
        )
    return found


def _found_from_here() -> str | None:
    """Return the ledger that the working directory is or holds, or a folder above it, as git does.

    Who holds one holds it by the name `init` gives it.
    """
    here = Path.cwd()
    places = (each for folder in (here, *here.parents) for each in (folder, folder / DEFAULT_NAME))
    return next((str(each) for each in places if (each / SETTINGS).is_file()), None)


def open_to_read(place: str | None) -> Ledger:
    """Open a ledger for reading; no key is asked for."""
    where = _given(place)
    return Ledger.open_url(where) if is_url(where) else Ledger.open(Path(where))


def given_ledgers(places: Sequence[str | None] | None) -> list[str | None]:
    """Return the ledgers that were given, or the one that the environment names.

    Typer would take a name with a blank in it, in the environment, for two.
    """
    return [*places] if places else [os.environ.get(LEDGER_VARIABLE)]


@contextmanager
def open_all_to_read(places: Sequence[str | None] | None) -> Iterator[list[Ledger]]:
    """Open ledgers for reading, until the block ends; raise UsageError for one given twice."""
    with ExitStack() as stack:
        ledgers = [stack.enter_context(open_to_read(place)) for place in given_ledgers(places)]
        for number, each in enumerate(ledgers):
            if each.origin in (other.origin for other in ledgers[:number]):
                raise UsageError(
                    f"the ledger {each.origin} is given twice: its rounds would count twice"
                )
        yield ledgers


def open_to_write(place: str | None, clock: Clock | None = None) -> Ledger:
    """Open a ledger for writing, with the passphrase of its keys where they have one.

    Its events are dated by `clock`, by default this machine's.
    """
    path = ledger_path(place)
    return Ledger.open(path, passphrase=passphrase_of_keys(path), clock=clock)


def passphrase_of_keys(path: Path) -> bytes | None:
    """Return the passphrase of a ledger's keys, from the environment or asked for once.

    It is None when there is none, or nobody to ask.
    """
    passphrase = passphrase_from_environment()
    check_lies_within(path)
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


def parse_age(text: str | None) -> timedelta | None:
    """Return a span like `36h`, `2d` or `30m`; raise UsageError for other text."""
    if text is None:
        return None
    units = {"d": "days", "h": "hours", "m": "minutes"}
    if not text[:-1].isascii() or not text[:-1].isdecimal() or text[-1] not in units:
        raise UsageError(f"{text!r} is not a valid age; write 36h, 2d or 30m")
    try:
        age = timedelta(**{units[text[-1]]: int(text[:-1])})
    except (OverflowError, ValueError):  # the latter for thousands of digits
        age = timedelta.max
    if age > LONGEST_AGE:
        raise UsageError(f"{text[:20]!r} is too long an age: at most a hundred years")
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
        raise UsageError(
            f"{output} has no ending that names a format: use one of {', '.join(suffixes)}"
        )


def no_such_key(text: str, directory: Path | None) -> UsageError:
    """Return the error for a key that is not there; `directory` is where a ledger keeps its own."""
    there = [] if directory is None else sorted(each.stem for each in directory.glob("*.pem"))
    return UsageError(f"there is no key {text!r}; {KEYS}/ has {', '.join(there) or 'none'}")


def find_round(ledger: Ledger, text: str) -> str:
    """Return the id of the one round that begins so; raise UsageError for none or several."""
    text = text.strip().lower()
    if stream_kind(text) == "round":
        # A whole id needs no look-up index, which may have been altered.
        return text
    if not text:
        # Every id begins so: a script whose variable is empty would mean the only round there is.
        raise UsageError(
            "which round? give its id, or how it begins; `shoeproof rounds` lists them"
        )
    found = ledger.round_ids(text)
    if not found:
        round_id, _, number = text.rpartition(".")
        if number.isdecimal() and stream_kind(round_id) == "round":
            raise UsageError(f"{text} is a case about a round, which is {round_id}")
        raise UsageError(f"this ledger has no round {text!r}; `shoeproof rounds` lists them")
    if len(found) > 1:
        raise UsageError(f"several rounds begin with {text!r}; give more of the id")
    return found[0]


def staff_signer(ledger: Ledger, text: str) -> Signer:
    """Return who signs with a key named as it lies in the ledger's `keys/`, or by its PEM file.

    Raises UsageError when there is no such file, and KeyUnusable when it cannot be used or is
    not a key of this ledger.
    """
    directory = None if ledger.path is None else ledger.path / KEYS
    by_path = os.sep in text or text.endswith(".pem") or directory is None
    file = Path(text) if by_path or directory is None else directory / f"{text}.pem"
    if not file.is_file():
        raise no_such_key(text, directory)
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
        raise UsageError(
            f"{text!r} is not a valid time zone; write one such as Europe/Malta"
        ) from None


def parse_local(text: str | None, zone: ZoneInfo | None) -> datetime | None:
    """Return a moment, in UTC, given with its offset, or as clocks in `zone` showed it.

    Raises UsageError for text that is not a time, for a time without a zone, and
    LocalTimeUnclear for one that clocks in the zone skipped or showed twice.
    """
    if text is None:
        return None
    try:
        given = datetime.fromisoformat(text)
        if given.tzinfo is not None:
            return given.astimezone(UTC)
        if zone is not None:
            return moment_of(given, zone)
    except (ValueError, OverflowError):
        example = "2026-01-31 or 2026-01-31T20:15+01:00"
        raise UsageError(f"{text!r} is not a valid time; write {example}") from None
    raise UsageError(f"{text!r} has no time zone: add its offset, or --zone Europe/Malta")


def parse_amount(text: str | None) -> Decimal | None:
    """Return an amount like `12.50`; raise UsageError for other text."""
    if text is None:
        return None
    if text.startswith("-"):
        raise UsageError(
            f"{text!r} is not a valid amount: amounts are not negative, write it like 12.50"
        )
    if "," in text:
        raise UsageError(f"{text!r} could mean two amounts: write it without commas, like 1250.00")
    if not re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,18})?", text):
        raise UsageError(f"{text!r} is not a valid amount; write it like 12.50")
    return Decimal(text)


def in_minor_units(money: Decimal, unit: str) -> int:
    """Return an amount in minor units of a currency.

    Raises UsageError for one with more decimal places than those, or more than an event can hold.
    """
    minor = exact_minor_units(money, unit)
    if minor is None:
        raise UsageError(f"{money} is not a valid amount of {unit}: it has too many decimal places")
    if minor > LARGEST_INTEGER:
        most = amount_text(LARGEST_INTEGER, unit)
        raise UsageError(f"{money} is more than a ledger can record, which is {most}")
    return minor


def check_places(money: Decimal | None, units: Collection[str]) -> None:
    """Raise UsageError for an amount with more decimal places than any of these currencies has."""
    known = [decimal_places(unit) for unit in units]
    if money is None or not known or None in known:
        return
    if all(exact_minor_units(money, unit) is None for unit in units):
        named = " or ".join(sorted(units))
        raise UsageError(
            f"{money} is not a valid amount of {named}: it has too many decimal places"
        )


def read_minor_units(text: str, unit: str) -> int:
    """Return an amount like `12.50` in minor units of a currency; raise UsageError for none."""
    money = parse_amount(text)
    assert money is not None
    return in_minor_units(money, unit)


class DefaultGroup(TyperGroup):
    """A group in which the command `default` is meant where the first word names none."""

    default: ClassVar[str]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default before what names no command."""
        if args and args[0] not in (*self.commands, "-h", "--help"):
            args = [self.default, *args]
        return super().parse_args(ctx, args)


class TakesAmount(TyperCommand):
    """A command with an amount among its words, for which a negative one is not an option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse a negative amount as any other text that is not an amount."""
        takes = {
            name
            for each in self.params
            for name in (*each.opts, *each.secondary_opts)
            if not getattr(each, "is_flag", False)
        }
        for before, word in zip(["", *args], args, strict=False):
            if re.fullmatch(r"-[0-9.,]+", word) and before not in takes:
                parse_amount(word)
        return super().parse_args(ctx, args)


ReferenceOption = Annotated[
    str | None, typer.Option(help="The reference of an adjudicator's decision.")
]
BetOption = Annotated[
    str | None, typer.Option(help="The bet whose payment becomes the award in all: s1:main.")
]
CurrencyOption = Annotated[
    str | None,
    typer.Option(help="The amount's currency: that of the rounds."),
]
AmountArgument = Annotated[
    str, typer.Argument(metavar="AMOUNT", help="The amount of money: 20.00.")
]
