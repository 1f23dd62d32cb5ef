"""The life of an alarm: raised by monitoring, investigated and closed by staff, with signed notes.

Alarms are numbered from 1 in the order in which they were raised; an alarm is its events' fold. An
event about an alarm that was never raised, or that is closed, changes nothing.
"""

from collections.abc import Iterable, Mapping
from typing import Final, Literal, TypeAlias

import msgspec

from shoeproof.ledger import Ledger, Recorded
from shoeproof.ledger.keys.key import Signer
from shoeproof.ledger.leaf.events import AlarmClosed, AlarmInvestigated, AlarmRaised
from shoeproof.ledger.leaf.layout import claimed_key_id
from shoeproof.ledger.leaf.streams import OPERATIONS_STREAM
from shoeproof.replay.cases.case import key_names
from shoeproof.replay.disputes.record import sign_as_staff
from shoeproof.replay.errors import AlarmRefused
from shoeproof.replay.interruptions.check import operations_of

State: TypeAlias = Literal["open", "investigated", "closed"]
CLOSED: Final = "closed"


class AlarmChange(msgspec.Struct, frozen=True):
    """What happened to an alarm: its state from then on, when, by whose key, the note, the leaf."""

    state: State
    at: str
    by: str
    note: str
    leaf_index: int


class Alarm(msgspec.Struct, frozen=True):
    """An alarm by its number: the scope it was raised for, and every step of its life so far."""

    number: int
    scope: str | None
    steps: tuple[AlarmChange, ...]

    @property
    def state(self) -> State:
        """Return the state it is in."""
        return self.steps[-1].state

    @property
    def is_closed(self) -> bool:
        """Tell whether staff closed it."""
        return self.state == CLOSED

    @property
    def says(self) -> str:
        """Return what it was raised with."""
        return self.steps[0].note


def alarms_of(ledger: Ledger) -> list[Alarm]:
    """Return every alarm of a ledger, in the order in which they were raised."""
    return fold_alarms(operations_of(ledger), key_names(ledger))


def fold_alarms(operations: Iterable[Recorded], names: Mapping[str, str]) -> list[Alarm]:
    """Return the alarms that events of the service make; `names` are persons by their key's id.

    Events must have been verified, as `shoeproof.ledger.verify` does, for their signers to be
    believed.
    """
    found: list[Alarm] = []
    for recorded in operations:
        match recorded.event.data:
            case AlarmRaised(scope=scope, note=note):
                first = _step("open", recorded, note or "", names)
                found.append(Alarm(len(found) + 1, scope, (first,)))
            case AlarmInvestigated(alarm=number, note=note):
                _go_on(found, number, _step("investigated", recorded, note, names))
            case AlarmClosed(alarm=number, note=note):
                _go_on(found, number, _step("closed", recorded, note, names))
    return found


def investigate(ledger: Ledger, number: int, note: str, signer: Signer) -> Alarm:
    """Record that the signer's person is looking into an alarm; see `close`."""
    return _record(ledger, AlarmInvestigated(number, note), signer)


def close(ledger: Ledger, number: int, note: str, signer: Signer) -> Alarm:
    """Close an alarm with a note that the signer answers for, and return it.

    Raises AlarmRefused for an alarm that does not exist or is closed, and for an empty note;
    DisputeRefused for a key that may not sign for staff; and the ledger's errors.
    """
    return _record(ledger, AlarmClosed(number, note), signer)


def _record(ledger: Ledger, event: AlarmInvestigated | AlarmClosed, signer: Signer) -> Alarm:
    operations = operations_of(ledger)
    found = fold_alarms(operations, key_names(ledger))
    if not 1 <= event.alarm <= len(found):
        there = f"there are {len(found)}" if found else "none was raised"
        raise AlarmRefused(f"there is no alarm {event.alarm}: {there}")
    alarm = found[event.alarm - 1]
    if alarm.is_closed:
        last = alarm.steps[-1]
        raise AlarmRefused(f"alarm {event.alarm} was closed by {last.by} at {last.at}")
    if not event.note.strip():
        raise AlarmRefused("the note is empty: say what was found")
    sign_as_staff(ledger, signer)
    # The person who closes it must have seen what others recorded of it.
    seen = {OPERATIONS_STREAM: operations[-1].event.seq}
    recorded = ledger.append((OPERATIONS_STREAM, event), after=seen)
    return fold_alarms([*operations, *recorded], key_names(ledger))[event.alarm - 1]


def _step(state: State, recorded: Recorded, note: str, names: Mapping[str, str]) -> AlarmChange:
    key = claimed_key_id(recorded.leaf)
    return AlarmChange(state, recorded.event.at, names.get(key, key), note, recorded.leaf_index)


def _go_on(alarms: list[Alarm], number: int, step: AlarmChange) -> None:
    if 1 <= number <= len(alarms) and not alarms[number - 1].is_closed:
        alarm = alarms[number - 1]
        alarms[number - 1] = msgspec.structs.replace(alarm, steps=(*alarm.steps, step))
