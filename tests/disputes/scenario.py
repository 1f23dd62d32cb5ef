"""The language of the scenarios: a disputed round as a person would tell it, in TOML.

::

    name = "The system stands a hand after 19 minutes"
    source = "NBA, Disconnection Policy: 20 minutes"   # what the expectation rests on
    game = "nba"
    client_seed = "00002135"                           # picks the shoe; see shoes.py
    shoe = "Jd Qd 6d 9d 5h"                            # its first cards, checked
    claim = "disconnection"                            # absent: nobody complained
    lie = ["pays natural 1/1"]                         # what the table does against the rules
    steps = [
        "12:00:00 deal s1 main 10.00",
        "12:00:05 connection lost",
        "12:19:05 system decides",
    ]

    [policy]                                           # other values than the game's policy
    default = "none"

    [expect]
    findings = ["default_early"]
    class = "system_decision_error"                    # and also = [...] for further ones
    verdict = "upheld"
    governs = "void"
    moves = "10.00"
    due = "s1 main 10.00"                              # bet by bet; `?` is for play to say

A step begins with the time of day, after `+3d` for days later. Steps: `lay BETS`, `deal BETS`,
`SEAT ACT`, `SEAT ACT refused` (the table refuses it by its own rules), `refuses INPUT as REASON`
(the table records that it refused an input, as in `refuses s1 double as late`), `connection lost`,
`connection restored`, `sweep`, `sweep finds nothing`, `system decides`, `service stopped`, `service
started`, `game disabled`, `game enabled`, `staff voids BETS`, `staff releases AMOUNT`, `staff
decides REMEDY` (a case about the round, opened and decided at once), `time passes`. The lies are
listed in `lies.py`.
"""

import re
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from shoeproof.replay.cases.assessment import Claim
from tests.replay.helpers import CASES

SCENARIOS = CASES / "disputes"
DAY = datetime(2026, 3, 1, tzinfo=UTC)

_STEP = re.compile(r"(?:\+(\d+)d )?(\d\d):(\d\d):(\d\d(?:\.\d+)?) (.+)")
_BET = re.compile(r"(s\d(?:\.\d)?) (\w+) (\?|\d+\.\d\d)")


class Step(msgspec.Struct, frozen=True):
    """What happened, and when."""

    at: datetime
    words: str


class Expected(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What an assessment must come to; `due` is what each bet comes to by what governs."""

    findings: list[str]
    decides: str = msgspec.field(name="class")
    also: list[str] = []
    verdict: str
    governs: str
    moves: str
    due: str = ""
    money_may_move: bool = True
    shown: str | None = None


class Scenario(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One scenario, as it is written."""

    name: str
    source: str
    game: str
    client_seed: str
    shoe: str
    steps: list[str]
    expect: Expected
    claim: Claim | None = None
    lie: list[str] = []
    policy: dict[str, Any] = {}
    shown: str | None = None


def read_scenario(path: Path) -> Scenario:
    """Read a scenario's file."""
    return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Scenario)


def steps_of(scenario: Scenario) -> list[Step]:
    """Return the steps with their times, which begin on the first of March 2026."""
    found = []
    for text in scenario.steps:
        match = _STEP.fullmatch(text)
        assert match, f"no step: {text!r}"
        days, hours, minutes, seconds, words = match.groups()
        after = timedelta(
            days=int(days or 0), hours=int(hours), minutes=int(minutes), seconds=float(seconds)
        )
        found.append(Step(DAY + after, words))
    return found


def minor(text: str) -> int:
    """Return the minor units of an amount like `10.00`."""
    whole, part = text.split(".")
    return int(whole) * 100 + int(part)


def bets_of(text: str) -> dict[tuple[str, str], int | None]:
    """Return what a text like `s1 main 10.00, s1 insurance ?` says of each bet."""
    found: dict[tuple[str, str], int | None] = {}
    for each in filter(None, text.split(", ")):
        match = _BET.fullmatch(each)
        assert match, f"no bet: {each!r}"
        found[match[1], match[2]] = None if match[3] == "?" else minor(match[3])
    return found


def stakes_of(text: str) -> dict[str, dict[str, int]]:
    """Return stakes as the table takes them."""
    stakes: dict[str, dict[str, int]] = {}
    for (seat, bet), amount in bets_of(text).items():
        assert amount is not None
        stakes.setdefault(seat, {})[bet] = amount
    return stakes
