"""The wallet's movements compared with the ledger's, by reference. Pure except for reading.

It is the only way to find a round that was never logged, so it reads the statement of any wallet.
Of each reference the wallet's movements are added up, since a stake that was cancelled is there
twice; what is left must be what an event records, and nothing where none does. What a turn in
flight has asked for is not taken for an orphan.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from shoeproof.ledger import Ledger
from shoeproof.ledger.errors import EventUnreadable
from shoeproof.ledger.leaf.clock import parse_time
from shoeproof.ledger.leaf.events import RoundOpened
from shoeproof.ledger.leaf.recorded import read_leaf
from shoeproof.ledger.store.intents import Intent
from shoeproof.replay.currency import minor_units, unit_of
from shoeproof.replay.wallet.intents import IN_FLIGHT
from shoeproof.replay.wallet.movements import movements_of
from shoeproof.replay.wallet.wallet import is_accepted

LATE: Final = timedelta(minutes=2)
"""How long after its event a movement may be dated by another clock."""

Kind: TypeAlias = Literal[
    "movement_without_event", "event_without_movement", "other_amount", "doubled",
    "cancelled_before", "late", "owed",
]  # fmt: skip


class WalletLine(NamedTuple):
    """One movement of the wallet: what left the player is negative; `line` is where it stands."""

    reference: str
    at: str
    amount: Decimal
    line: int


class Booked(NamedTuple):
    """A movement that an event records, in minor units of `unit`."""

    reference: str
    stream: str
    seq: int
    at: str
    change_minor: int
    unit: str


class Difference(msgspec.Struct, frozen=True):
    """One reference about which the wallet and the ledger disagree, and how."""

    kind: Kind
    reference: str
    text: str
    at: str


class Reconciled(msgspec.Struct, frozen=True):
    """The result: how many lines from `begin` to `end`, and how many references `agree`."""

    begin: str
    end: str
    lines: int
    agree: int
    in_flight: int
    differences: tuple[Difference, ...]


def booked_in(ledger: Ledger) -> list[Booked]:
    """Return every movement that the ledger's events record as made, by a reference of the wallet.

    A movement without a reference is known by its transaction.
    """
    units: dict[str, str] = {}
    found = []
    for leaf in ledger.leaves():
        try:
            event = read_leaf(leaf).event
        except EventUnreadable:
            continue
        data = event.data
        if isinstance(data, RoundOpened):
            units[event.stream] = unit_of(data)
        unit = getattr(data, "currency", units.get(event.stream.rpartition("/")[2], ""))
        for funds in [each.funds for each in movements_of(data) if each.funds is not None]:
            name = funds.reference or funds.transaction
            if name is not None and is_accepted(funds.answer):
                change = funds.change_minor
                found.append(Booked(name, event.stream, event.seq, event.at, change, unit))
    return found


def reconcile(
    lines: Sequence[WalletLine], booked: Iterable[Booked], intents: Iterable[Intent], now: datetime
) -> Reconciled:
    """Compare the wallet's movements, at least one, with the ledger's."""
    by_reference: dict[str, list[WalletLine]] = defaultdict(list)
    for line in lines:
        by_reference[line.reference].append(line)
    recorded: dict[str, list[Booked]] = defaultdict(list)
    for each in booked:
        recorded[each.reference].append(each)
    asked = {intent.reference: intent for intent in intents}
    begin, end = min(line.at for line in lines), max(line.at for line in lines)
    flying = {
        name
        for name, intent in asked.items()
        if intent.state == "asked" and now - parse_time(intent.asked_at) < IN_FLIGHT
    }
    differences: list[Difference] = []
    agree = 0
    for name in sorted({*by_reference, *recorded} - flying):
        found = list(_of_one(name, by_reference[name], recorded[name], asked, begin, end))
        differences += found
        agree += not found and bool(by_reference[name])
    return Reconciled(
        begin=begin,
        end=end,
        lines=len(lines),
        agree=agree,
        in_flight=len(flying & set(by_reference)),
        differences=tuple(sorted(differences, key=lambda each: (each.at, each.reference))),
    )


def _of_one(
    name: str,
    lines: Sequence[WalletLine],
    booked: Sequence[Booked],
    asked: Mapping[str, Intent],
    begin: str,
    end: str,
) -> Iterator[Difference]:
    at = lines[0].at if lines else booked[0].at
    net = sum((line.amount for line in lines), Decimal(0))
    if not lines:
        if begin <= at <= end and booked[0].change_minor:
            where = f"event {booked[0].seq} of {booked[0].stream}"
            yield Difference("event_without_movement", name, f"only {where} says so", at)
        return
    yield from _of_lines(name, lines, asked.get(name))
    if not booked:
        if net:
            intent = asked.get(name)
            kind: Kind = "movement_without_event" if intent is None else "owed"
            why = "this ledger never asked for it" if intent is None else "it is to be cancelled"
            yield Difference(kind, name, f"{net:+} moved and no event records it: {why}", at)
        return
    wanted = sum(each.change_minor for each in booked)
    if minor_units(net, booked[0].unit) != wanted:
        says = f"{net:+} moved, and the ledger records {wanted:+} minor units"
        yield Difference("other_amount", name, says, at)
    last = max(line.at for line in lines)
    if parse_time(last) - parse_time(booked[-1].at) > LATE:
        says = f"moved at {last}, recorded at {booked[-1].at}"
        yield Difference("late", name, says, at)


def _of_lines(
    name: str, lines: Sequence[WalletLine], intent: Intent | None
) -> Iterator[Difference]:
    """Yield what is wrong with the wallet's own movements of one reference."""
    ordered = sorted(lines, key=lambda line: (line.at, line.line))
    signs = [line.amount > 0 for line in ordered]
    if len(signs) != len(set(signs)):
        says = f"moved {len(lines)} times, in lines {', '.join(str(e.line) for e in ordered)}"
        yield Difference("doubled", name, says, ordered[0].at)
    elif len(signs) == 2 and signs[0] and intent is not None and intent.direction == "debit":
        says = f"taken back in line {ordered[0].line}, before it was moved"
        yield Difference("cancelled_before", name, says, ordered[0].at)
