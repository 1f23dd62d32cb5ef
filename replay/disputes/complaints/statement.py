"""A wallet's statement as a player or an operator hands it in, compared with the ledger. Pure.

A statement is a CSV file with a header: time and amount, and where there are any a reference and
the balance after. What was taken from the player is negative. Of each of its movements the ledger's
is looked for: that of the same reference, else one of the same amount within `NEAR`.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Final
from zoneinfo import ZoneInfo

import msgspec

from shoeproof.ledger.leaf.clock import format_time, parse_time
from shoeproof.replay.currency import minor_units
from shoeproof.replay.disputes.complaints.wallet import PlayerMovement
from shoeproof.replay.errors import DisputeRefused, LocalTimeUnclear
from shoeproof.replay.local_time import moment_of

NEAR: Final = timedelta(minutes=2)
"""How far apart two clocks may be that told the time of one movement."""

_COLUMNS: Final = {
    "time": ("time", "date", "datetime", "timestamp", "at"),
    "amount": ("amount", "change", "value"),
    "reference": ("reference", "transaction", "transaction id", "ref", "id"),
    "balance": ("balance", "balance after"),
}


class StatementLine(msgspec.Struct, frozen=True):
    """One movement of a statement: its line in the file, when, how much, and the balance after."""

    line: int
    at: str
    amount: Decimal
    reference: str | None
    balance: Decimal | None


class Compared(msgspec.Struct, frozen=True):
    """A statement held to the ledger's movements.

    `without_round` are its movements that no round of the ledger has, `differing` those the ledger
    has with another amount, `not_following` those whose balance does not follow from the line
    before. `not_stated` are movements of the ledger within the statement's time that it lacks.
    """

    lines: int
    begin: str
    end: str
    without_round: tuple[StatementLine, ...]
    differing: tuple[StatementLine, ...]
    not_following: tuple[StatementLine, ...]
    not_stated: tuple[PlayerMovement, ...]

    @property
    def agrees(self) -> bool:
        """Tell whether the ledger accounts for every movement of the statement as it is stated."""
        return not (self.without_round or self.differing or self.not_following)


def read_statement(
    content: bytes, name: str, zone: ZoneInfo | None, columns: Mapping[str, str] | None = None
) -> tuple[StatementLine, ...]:
    """Read a statement, its movements in the order of their times.

    `zone` is that of times without an offset, `columns` what the file calls `time`, `amount`,
    `reference` and `balance`, where it calls one otherwise than people do. Raises DisputeRefused
    for a file that is not one, naming the line and what was expected there.
    """
    text = io.StringIO(_text(content, name), newline="")
    try:
        rows = list(csv.reader(text, delimiter=_mark(content)))
    except csv.Error as error:
        raise DisputeRefused(f"{name} cannot be read as CSV: {error}") from None
    header = [_plain(cell) for cell in rows[0]] if rows else []
    called = {column: (_plain(word),) for column, word in (columns or {}).items()}
    place = {
        column: next((header.index(word) for word in words if word in header), None)
        for column, words in {**_COLUMNS, **called}.items()
    }
    for column in ("time", "amount"):
        if place[column] is None:
            raise DisputeRefused(
                f"{name} has no column {column!r}: a statement's first line names its columns, "
                "time, amount, reference and balance"
            )
    lines = [
        _line(name, number, {column: _cell(row, at) for column, at in place.items()}, zone)
        for number, row in enumerate(rows[1:], 2)
        if any(cell.strip() for cell in row)
    ]
    if not lines:
        raise DisputeRefused(f"{name} has no movements: nothing follows its first line")
    return tuple(sorted(lines, key=lambda line: (line.at, line.line)))


def compare(lines: Sequence[StatementLine], moved: Sequence[PlayerMovement]) -> Compared:
    """Hold a statement to the ledger's movements of the same player; there is one line at least."""
    known = _Known(lines, moved)
    taken: set[int] = set()
    without: list[StatementLine] = []
    differing: list[StatementLine] = []
    for line in lines:
        match = known.of(line, taken)
        if match is None:
            without.append(line)
            continue
        taken.add(id(match))
        if minor_units(line.amount, match.currency) != match.change_minor:
            differing.append(line)
    begin, end = lines[0].at, lines[-1].at
    return Compared(
        lines=len(lines),
        begin=begin,
        end=end,
        without_round=tuple(without),
        differing=tuple(differing),
        not_following=tuple(_not_following(lines)),
        not_stated=tuple(m for m in moved if id(m) not in taken and begin <= m.at <= end),
    )


def _plain(cell: str) -> str:
    return cell.strip().lower().replace("_", " ")


class _Known:
    """The ledger's movements, to be found by the wallet's name for them, or by amount and time."""

    def __init__(self, lines: Sequence[StatementLine], moved: Sequence[PlayerMovement]) -> None:
        self._by_name = {each.transaction: each for each in moved if each.transaction is not None}
        self._currencies = {each.currency for each in moved}
        self._by_amount: dict[tuple[str, int | None], list[PlayerMovement]] = {}
        for each in moved:
            self._by_amount.setdefault((each.currency, each.change_minor), []).append(each)
        # Where no name is known to the ledger, the statement's are of a different kind from its
        # own.
        self._is_named = any(line.reference in self._by_name for line in lines)

    def of(self, line: StatementLine, taken: set[int]) -> PlayerMovement | None:
        """Return the movement that a line tells of, None where there is none."""
        own = self._by_name.get(line.reference) if line.reference is not None else None
        if own is not None:
            return None if id(own) in taken else own
        at = parse_time(line.at)
        near = [
            (distance, each)
            for currency in self._currencies
            for each in self._by_amount.get((currency, minor_units(line.amount, currency)), ())
            if id(each) not in taken and self._may_be(line, each)
            if (distance := abs(parse_time(each.at) - at)) <= NEAR
        ]
        return min(near, key=lambda pair: pair[0])[1] if near else None

    def _may_be(self, line: StatementLine, each: PlayerMovement) -> bool:
        """Tell whether their names allow two to be the same: one that is made up matches none."""
        return not self._is_named or line.reference is None or each.transaction is None


def _not_following(lines: Sequence[StatementLine]) -> Iterator[StatementLine]:
    for before, line in pairwise(lines):
        if before.balance is None or line.balance is None:
            continue
        if before.balance + line.amount != line.balance:
            yield line


def _text(content: bytes, name: str) -> str:
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        raise DisputeRefused(
            f"{name} is not text in UTF-8 or UTF-16: save the statement as CSV, UTF-8"
        ) from None
    if "\0" in text:
        raise DisputeRefused(f"{name} holds binary data: save the statement as CSV, UTF-8")
    return text


def _mark(content: bytes) -> str:
    first = content.replace(b"\0", b"").splitlines()[0] if content.strip() else b""
    return max(",;\t", key=lambda mark: first.count(mark.encode()))


def _cell(row: Sequence[str], place: int | None) -> str:
    return row[place].strip() if place is not None and place < len(row) else ""


def _line(name: str, number: int, cells: dict[str, str], zone: ZoneInfo | None) -> StatementLine:
    where = f"{name}, line {number}"
    balance = cells["balance"]
    return StatementLine(
        line=number,
        at=_time(where, cells["time"], zone),
        amount=_amount(where, cells["amount"]),
        reference=cells["reference"] or None,
        balance=_amount(where, balance) if balance else None,
    )


def _time(where: str, text: str, zone: ZoneInfo | None) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise DisputeRefused(
            f"{where}: {text!r} is not a time; write 2026-01-31T20:15:00+01:00"
        ) from None
    if moment.tzinfo is None and zone is None:
        raise DisputeRefused(f"{where}: {text!r} has no time zone: add its offset, or --zone")
    try:
        if moment.tzinfo is None and zone is not None:
            moment = moment_of(moment, zone)
        return format_time(moment.astimezone(UTC))
    except LocalTimeUnclear as error:
        raise DisputeRefused(f"{where}: {error}, with its offset") from None
    except OverflowError:
        raise DisputeRefused(f"{where}: {text!r} is out of range") from None


def _amount(where: str, text: str) -> Decimal:
    if not re.fullmatch(r"[+-]?[0-9]{1,15}(\.[0-9]{1,18})?", text):
        raise DisputeRefused(f"{where}: {text!r} is not an amount; write it like -12.50")
    return Decimal(text)
