"""Which fault is meant: a finding, one finding at its place, a software build, rules, or a table.

Pure. A name is looked for among everything that the verified leaves hold; one that means two things
is refused until its kind is written before it (`build:1.4.2`), never guessed.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

import msgspec

from shoeproof.audit_reports.errors import ReportError
from shoeproof.audit_reports.fault_report.counted import CountedRound
from shoeproof.ledger import findings as of_ledger
from shoeproof.ledger.findings import EVENT_AFTER_CLOSE
from shoeproof.replay.cases.faults import KINDS

Kind: TypeAlias = Literal["finding", "build", "rules", "table"]
"""What a fault is named by."""

SHORTEST_DIGEST: Final = 6
"""A text of at least so many characters may be the beginning of a rules digest."""

MOST_NAMED: Final = 8
"""How many names a refusal lists."""

_OF_LEAVES: Final = {
    value for name, value in vars(of_ledger).items() if name.isupper() and isinstance(value, str)
} - {EVENT_AFTER_CLOSE}
"""Findings about leaves: what stands in such a leaf is not to be counted."""


class FaultName(NamedTuple):
    """A fault as it was written: its `kind` if given, the `place` of one finding among others."""

    text: str
    kind: Kind | None
    name: str
    place: str | None


class NamedFault(msgspec.Struct, frozen=True):
    """A fault that is known by one name.

    `name` is the code, build, whole digest or table. A finding at its place has the round it was
    made in, and touches rounds like that one: of its rules, and of its build or its table where
    those are known.
    """

    kind: Kind
    name: str
    round: str | None = None
    rules_digest: str | None = None
    build: str | None = None
    table: str | None = None

    @property
    def text(self) -> str:
        """The fault as a command takes it, even if something else has the same name."""
        return f"{self.kind}:{self.name}" + (f"@{self.round}" if self.round else "")

    @property
    def words(self) -> str:
        """The fault as a sentence names it."""
        if self.kind == "rules":
            return f"rules {self.name[:16]}…"
        if self.round is None:
            return f"{self.kind} {self.name}"
        return f"finding {self.name} as in round {self.round}"

    def touches(self, counted: CountedRound) -> bool:
        """Tell whether it touched a round."""
        match self.kind:
            case "build":
                return counted.build == self.name
            case "rules":
                return counted.rules_digest == self.name
            case "table":
                return counted.table == self.name
        return self.name in counted.codes and (self.round is None or self._is_alike(counted))

    def _is_alike(self, counted: CountedRound) -> bool:
        if counted.rules_digest != self.rules_digest:
            return False
        if self.build is None and self.table is None:
            return True
        same_build = self.build is not None and counted.build == self.build
        return same_build or (self.table is not None and counted.table == self.table)


class LedgerNames(NamedTuple):
    """Every name that the verified leaves of a ledger hold."""

    builds: frozenset[str]
    tables: frozenset[str]
    digests: frozenset[str]


def read_fault(text: str) -> FaultName:
    """Return what a text asks for; raises ReportError for one that names nothing."""
    kinds: tuple[Kind, ...] = get_args(Kind)
    kind = next((each for each in kinds if text.startswith(f"{each}:")), None)
    name = text if kind is None else text.removeprefix(f"{kind}:")
    code, at, place = name.rpartition("@")
    is_placed = bool(at) and (kind == "finding" or (kind is None and code in KINDS))
    asked = FaultName(text, kind, code if is_placed else name, place if is_placed else None)
    if not asked.name or asked.place == "":
        raise ReportError(f"{text!r} is not a fault: give a finding, a build, rules or a table")
    if kind == "finding" and asked.name not in KINDS:
        raise ReportError(f"there is no finding {asked.name!r}: `audit` prints those of a ledger")
    return asked


def may_touch(asked: FaultName, counted: CountedRound) -> bool:
    """Tell whether a round may be one of those asked for, before every name is known."""
    if asked.name in counted.codes:
        return True
    return asked.name in (counted.build, counted.table) or counted.rules_digest.startswith(
        asked.name.lower()
    )


def choose(asked: FaultName, names: LedgerNames, kept: Mapping[str, CountedRound]) -> NamedFault:
    """Return the one fault that is meant.

    `kept` are the rounds that it may have touched. Raises ReportError where nothing has the name,
    where several things have, and for a finding about leaves.
    """
    meant = [
        find(asked, names, kept) for kind, find in _FINDERS.items() if asked.kind in (None, kind)
    ]
    found = [fault for faults in meant for fault in faults]
    if len(found) == 1:
        return found[0]
    if not found:
        raise ReportError(_unknown(asked, names))
    listed = ", ".join(fault.text for fault in found[:MOST_NAMED])
    raise ReportError(f"{asked.text!r} names several things: say which, {listed}")


def _findings(
    asked: FaultName, _: LedgerNames, kept: Mapping[str, CountedRound]
) -> list[NamedFault]:
    if asked.name not in KINDS:
        return []
    if asked.name in _OF_LEAVES:
        raise ReportError(
            f"{asked.name} says that leaves are not what was signed, so nothing in them can be "
            "counted: `verify` names them"
        )
    if asked.place is None:
        return [NamedFault("finding", asked.name)]
    place = asked.place.lower()
    having = [each for each in kept.values() if asked.name in each.codes]
    if re.fullmatch("[0-9]{1,18}", place) and not any(_begins(each, place) for each in having):
        leaf = int(place)
        mine = [each for each in having if (asked.name, leaf) in each.found_at]
    else:
        mine = [each for each in having if _begins(each, place)]
    if not mine:
        raise ReportError(f"there is no finding {asked.name} at {asked.place!r}, a round or a leaf")
    if len(mine) > 1:
        raise ReportError(f"several rounds begin with {asked.place!r}: give more of the id")
    one = mine[0]
    return [NamedFault("finding", asked.name, one.round, one.rules_digest, one.build, one.table)]


def _begins(counted: CountedRound, place: str) -> bool:
    return counted.round.startswith(place)


def _builds(
    asked: FaultName, names: LedgerNames, _: Mapping[str, CountedRound]
) -> list[NamedFault]:
    return [NamedFault("build", asked.name)] if asked.name in names.builds else []


def _rules(asked: FaultName, names: LedgerNames, _: Mapping[str, CountedRound]) -> list[NamedFault]:
    prefix = asked.name.lower()
    if asked.kind is None and len(prefix) < SHORTEST_DIGEST:
        return []
    return [NamedFault("rules", each) for each in sorted(names.digests) if each.startswith(prefix)]


def _tables(
    asked: FaultName, names: LedgerNames, _: Mapping[str, CountedRound]
) -> list[NamedFault]:
    return [NamedFault("table", asked.name)] if asked.name in names.tables else []


_FINDERS: Final[
    dict[Kind, Callable[[FaultName, LedgerNames, Mapping[str, CountedRound]], list[NamedFault]]]
] = {
    "finding": _findings,
    "build": _builds,
    "rules": _rules,
    "table": _tables,
}


def _unknown(asked: FaultName, names: LedgerNames) -> str:
    told = {
        "build": _listed("builds", names.builds),
        "rules": _listed("rules", (digest[:16] for digest in names.digests)),
        "table": _listed("tables", names.tables),
    }
    there = "; ".join(text for kind, text in told.items() if asked.kind in (None, kind))
    what = "finding, build, rules or table" if asked.kind is None else asked.kind
    return f"this ledger has no {what} {asked.name!r}; it has {there}"


def _listed(what: str, names: Iterable[str]) -> str:
    known = sorted(names)
    more = ", …" if len(known) > MOST_NAMED else ""
    return f"the {what} {', '.join(known[:MOST_NAMED])}{more}" if known else f"no {what}"
