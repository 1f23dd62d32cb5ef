"""Policies: which witnesses must have cosigned a checkpoint (C2SP tlog-policy).

A policy is a text file of lines: `log VKEY [URL]`, `witness NAME VKEY [URL]`,
`group NAME all|any|K MEMBER…`, and one `quorum NAME` (or `none`). A group for each organisation and
one above them say how many organisations must have seen a tree. What is judged here fails closed:
a signature that does not hold, a quorum that is not reached, or a cosignature that is too old.
"""

import re
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from shoeproof.ledger.checkpoint.note import (
    COSIGNATURE,
    Kind,
    NoteKey,
    VerifiedSignature,
    parse_note,
    parse_vkey,
    verify_note,
)
from shoeproof.ledger.errors import KeyUnusable, PolicyUnmet, PolicyUnreadable
from shoeproof.ledger.keys.key import ED25519

NO_QUORUM = "none"
"""The name of the quorum that asks for no cosignature."""

CLOCKS_DIFFER = 5 * 60
"""How many seconds a witness's clock may be ahead of this machine's."""

_forbidden = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]").search
_number = re.compile(r"[1-9][0-9]{0,8}", re.ASCII).fullmatch


class WitnessGroup(NamedTuple):
    """It saw a tree when at least `threshold` of its members did."""

    threshold: int
    members: tuple[str, ...]


class WitnessLine(NamedTuple):
    """A witness's key, and where it takes checkpoints (C2SP tlog-witness), if that is said."""

    key: NoteKey
    url: str | None


class WitnessPolicy(NamedTuple):
    """The logs and witnesses known, by the policy's own names, and the quorum's name."""

    logs: tuple[NoteKey, ...]
    witnesses: dict[str, WitnessLine]
    groups: dict[str, WitnessGroup]
    quorum: str

    def is_met(self, seen_by: Collection[str]) -> bool:
        """Say whether the witnesses with these names make up the quorum."""
        met = set(seen_by)
        # A group's members stand above it: in this order none is asked for before it is known.
        for name, group in self.groups.items():
            if sum(each in met for each in group.members) >= group.threshold:
                met.add(name)
        return self.quorum == NO_QUORUM or self.quorum in met


def parse_policy(data: bytes) -> WitnessPolicy:
    """Return the policy in a file.

    Raises PolicyUnreadable, naming the line, for any other text: also for a key of a kind that is
    not known here, since a witness left out could make a quorum easier to reach.
    """
    if _forbidden(data) is not None:
        raise PolicyUnreadable("a policy holds a control character")
    if not data.endswith(b"\n"):
        raise PolicyUnreadable("a policy does not end in a line feed: it may have been cut")
    parser = _Parser()
    # Names are opaque octets: an escape keeps those that are not UTF-8 apart from each other.
    for number, line in enumerate(data.decode("utf-8", "surrogateescape").split("\n"), 1):
        words = line.replace("\t", " ").split(" ")
        words = [word for word in words if word]
        if words and not words[0].startswith("#"):
            try:
                parser.read(words[0], words[1:])
            except (PolicyUnreadable, KeyUnusable) as error:
                raise PolicyUnreadable(f"policy file, line {number}: {error}") from None
    return parser.policy()


_KEYWORDS = ("log", "witness", "group", "quorum")


class _Parser:
    def __init__(self) -> None:
        self._logs: list[NoteKey] = []
        self._witnesses: dict[str, WitnessLine] = {}
        self._groups: dict[str, WitnessGroup] = {}
        self._members: set[str] = set()
        self._quorum: str | None = None

    def read(self, keyword: str, words: list[str]) -> None:
        if keyword == "log" and len(words) in (1, 2):
            self._logs.append(_key(words[0], ED25519, self._logs))
        elif keyword == "witness" and len(words) in (2, 3):
            key = _key(words[1], COSIGNATURE, [each.key for each in self._witnesses.values()])
            url = words[2] if len(words) == 3 else None
            self._witnesses[self._new(words[0])] = WitnessLine(key, url)
        elif keyword == "group" and len(words) >= 3:
            self._read_group(words[0], words[1], words[2:])
        elif keyword == "quorum" and len(words) == 1:
            if self._quorum is not None:
                raise PolicyUnreadable("the quorum was already given")
            if words[0] != NO_QUORUM:
                self._check_defined(words[0])
            self._quorum = words[0]
        else:
            problem = (
                f"{keyword!r} cannot be followed by {len(words)} words"
                if keyword in _KEYWORDS
                else f"unknown keyword {keyword!r} (expected log, witness, group or quorum)"
            )
            raise PolicyUnreadable(problem)

    def _read_group(self, name: str, threshold: str, members: list[str]) -> None:
        if threshold not in ("all", "any") and _number(threshold) is None:
            raise PolicyUnreadable(f"{threshold!r} is neither all, any nor a number")
        words = {"all": len(members), "any": 1}
        least = words[threshold] if threshold in words else int(threshold)
        if least > len(members):
            raise PolicyUnreadable(f"{least} of {len(members)} members can never be reached")
        for member in members:
            self._check_defined(member)
            if member in self._members:
                raise PolicyUnreadable(f"{member!r} would count twice")
            self._members.add(member)
        self._groups[self._new(name)] = WitnessGroup(least, tuple(members))

    def _new(self, name: str) -> str:
        if name == NO_QUORUM or name in self._witnesses or name in self._groups:
            raise PolicyUnreadable(f"the name {name!r} is taken")
        return name

    def _check_defined(self, name: str) -> None:
        if name not in self._witnesses and name not in self._groups:
            raise PolicyUnreadable(f"no line above this one defines {name!r}")

    def policy(self) -> WitnessPolicy:
        if self._quorum is None:
            raise PolicyUnreadable("the policy has no line `quorum NAME`")
        return WitnessPolicy(tuple(self._logs), self._witnesses, self._groups, self._quorum)


def _key(text: str, kind: Kind, others: Collection[NoteKey]) -> NoteKey:
    key = parse_vkey(text)
    if key.kind != kind:
        what = "a log's, of kind 1" if kind == ED25519 else "a witness's, of kind 4"
        raise PolicyUnreadable(f"the key of {key.name} is not {what}")
    if any(other.raw == key.raw for other in others):
        raise PolicyUnreadable(f"the key of {key.name} appears twice")
    return key


def require(
    policy: WitnessPolicy, note: bytes, *, now: datetime, max_age: timedelta | None = None
) -> dict[str, int]:
    """Return when each witness of a policy cosigned a checkpoint, by the policy's names.

    What is not UTF-8 in a name is written out. Times are in seconds since 1970. `max_age` bounds
    the age of the newest of them. Raises PolicyUnmet when the quorum is not reached, no log of the
    policy signed (where it names any), any cosignature is dated in the future or the newest is too
    old; NoteRefused when the signature of any key of the policy fails.
    """
    verified = _verified(policy, note)
    if policy.logs and not any(each.key in policy.logs for each in verified):
        raise PolicyUnmet("no log of the policy signed this checkpoint")
    times = {
        name: each.time
        for name, witness in policy.witnesses.items()
        for each in verified
        if each.key == witness.key and each.time is not None
    }
    if not policy.is_met(times):
        seen = ", ".join(sorted(map(_shown, times))) or "nobody"
        raise PolicyUnmet(f"the quorum {_shown(policy.quorum)} is not reached: cosigned by {seen}")
    # As integers: a note may state any time below 2^64, and few of those are dates.
    seconds = int(now.timestamp())
    if any(time > seconds + CLOCKS_DIFFER for time in times.values()):
        raise PolicyUnmet("a cosignature is dated in the future: a clock there or here is wrong")
    if max_age is not None:
        _check_age(times, seconds, max_age)
    return {_shown(name): time for name, time in times.items()}


def _verified(policy: WitnessPolicy, note: bytes) -> tuple[VerifiedSignature, ...]:
    keys = {*policy.logs, *(witness.key for witness in policy.witnesses.values())}
    signed_by = {(each.name, each.key_id) for each in parse_note(note).signatures}
    known = {key for key in keys if (key.name, key.key_id) in signed_by}
    return verify_note(note, known)[1] if known else ()


def _check_age(times: dict[str, int], now: int, max_age: timedelta) -> None:
    if not times:
        raise PolicyUnmet("no witness says when it saw this checkpoint: its age is not known")
    newest = max(times.values())
    if timedelta(seconds=now - newest) > max_age:
        moment = datetime.fromtimestamp(newest, UTC)
        raise PolicyUnmet(
            f"the newest cosignature dates from {moment:%Y-%m-%d %H:%M} UTC, more than "
            f"{max_age} ago: "
            "ask for a newer checkpoint"
        )


def _shown(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
