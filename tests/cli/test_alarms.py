"""The life of an alarm at the command line: raised, investigated, closed by a person's key."""

import json
from pathlib import Path
from typing import Any

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import AlarmClosed, AlarmRaised, BetSettled, EventData
from shoeproof.ledger.verify.whole import verify
from shoeproof.replay.engine.rules import rules_digest
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.live.alarms import alarms_of
from shoeproof.replay.rounds.catalogue import add_published_games
from tests.audit_reports.helpers import play, simple
from tests.cli.conftest import Result, Shoeproof
from tests.cli.test_inspect import key_of, report, simulated

RAISED = "alarm recorded: out of range: perfect_pairs bet of nba"


def side_bet(paid_minor: int) -> list[EventData]:
    events = simple(0, digest=rules_digest(GAMES["nba"].rules))
    line = "perfect_pair" if paid_minor else "lost"
    events.insert(-2, BetSettled("s1", "s1", "perfect_pairs", 10, paid_minor, line, None))
    return events


@pytest.fixture
def path(shoeproof: Shoeproof, tmp_path: Path) -> Path:
    """A ledger whose one side bet came back with more than its pay table has; ann is staff."""
    place = tmp_path / "ledger"
    with Ledger.init(place, "test.example/alarms") as made:
        add_published_games(made)
        play(made, side_bet(9_999))
    for name, role in (("ann", "staff"), ("eve", "engine")):
        added = shoeproof("keys", "new", name, "--role", role, "--ledger", place)
        assert added.code == 0, added.err
    return place


def raised(shoeproof: Shoeproof, path: Path) -> int:
    return shoeproof("rtp", "--raise", "--ledger", path).out.count(RAISED)


def act(shoeproof: Shoeproof, path: Path, what: str, note: str, number: int = 1,
        key: str = "ann") -> Result:  # fmt: skip
    words = ("alarms", what, number, "--note", note, "--key", key, "--ledger", path)
    return shoeproof(*words)


def listed(shoeproof: Shoeproof, path: Path, *options: str) -> Any:
    told = json.loads(shoeproof("alarms", "list", "--json", *options, "--ledger", path).out)
    return told["alarms"]


def test_an_alarm_is_raised_investigated_and_closed(shoeproof: Shoeproof, path: Path) -> None:
    none = shoeproof("alarms", "list", "--ledger", path)
    assert (none.code, none.out) == (0, "no alarm was raised\n")
    assert raised(shoeproof, path) == 1
    assert raised(shoeproof, path) == 0
    done = act(shoeproof, path, "investigate", "asked the studio for its pay table")
    assert (done.code, "alarm 1 investigated by ann" in done.out) == (0, True)
    assert raised(shoeproof, path) == 0
    shown = shoeproof("alarms", "list", "--ledger", path)
    assert shown.code == 1
    assert shown.out.startswith("alarm 1, investigated since 20")
    assert "by ann" in shown.out
    assert "investigated by ann: asked the studio" in shown.out
    assert act(shoeproof, path, "close", "pay table 4.2 was put right").code == 0
    after = shoeproof("alarms", "list", "--ledger", path)
    assert (after.code, after.out) == (0, "every alarm is closed\n")
    assert listed(shoeproof, path) == []
    (alarm,) = listed(shoeproof, path, "--all")
    assert [step["state"] for step in alarm["steps"]] == ["open", "investigated", "closed"]
    assert [step["by"].partition(".")[0] for step in alarm["steps"]] == ["engine", "ann", "ann"]
    with Ledger.open(path) as ledger:
        names = [each.event.type for each in ledger.events("operations")]
        assert names == ["AlarmRaised", "AlarmInvestigated", "AlarmClosed"]
        assert not verify(ledger).findings


def test_a_closed_alarm_is_raised_again_only_with_rounds_that_ended_since(
    shoeproof: Shoeproof, path: Path
) -> None:
    assert raised(shoeproof, path) == 1
    with Ledger.open(path) as ledger:
        play(ledger, side_bet(0))
    assert act(shoeproof, path, "close", "one wrong payment, refunded").code == 0
    assert raised(shoeproof, path) == 0
    with Ledger.open(path) as ledger:
        play(ledger, simple(200))  # of another game
    assert raised(shoeproof, path) == 0
    with Ledger.open(path) as ledger:
        play(ledger, side_bet(0))
    assert raised(shoeproof, path) == 1
    assert raised(shoeproof, path) == 0
    assert [each["number"] for each in listed(shoeproof, path)] == [2]


@pytest.mark.parametrize(
    ("what", "number", "note", "key", "says"),
    [
        ("close", 2, "x", "ann", "there is no alarm 2: there are 1"),
        ("close", 0, "x", "ann", "there is no alarm 0"),
        ("investigate", 1, "  ", "ann", "the note is empty"),
        ("close", 1, "x", "eve", "may not sign for staff"),
        ("close", 1, "x", "bob", "there is no key 'bob'"),
    ],
)
def test_what_cannot_be_noted_is_one_line_and_records_nothing(
    shoeproof: Shoeproof, path: Path, what: str, number: int, note: str, key: str, says: str
) -> None:
    raised(shoeproof, path)
    result = act(shoeproof, path, what, note, number, key)
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert says in result.err
    assert [each["state"] for each in listed(shoeproof, path)] == ["open"]


def test_a_closed_alarm_is_not_closed_again(shoeproof: Shoeproof, path: Path) -> None:
    raised(shoeproof, path)
    assert act(shoeproof, path, "close", "done").code == 0
    for what in ("close", "investigate"):
        result = act(shoeproof, path, what, "again")
        assert (result.code, "alarm 1 was closed by ann" in result.err) == (2, True)


def test_notes_on_what_was_never_raised_or_is_closed_change_nothing(path: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.append(("operations", AlarmClosed(1, "beforehand")))
        assert alarms_of(ledger) == []


def test_an_inspection_watches_what_is_not_closed(shoeproof: Shoeproof, tmp_path: Path) -> None:
    """Whatever chance gives it to watch besides."""
    place = simulated(tmp_path / "honest", 20)
    with Ledger.open(place) as ledger:
        ledger.append(("operations", AlarmRaised(7, "zappit", "odd: the wheel squeaks")))

    def of_alarms() -> list[tuple[str, int, str]]:
        result = shoeproof("inspect", "--public-key", key_of(place), "--ledger", place,
                           "-o", tmp_path / "r")  # fmt: skip
        assert result.code == 4, result.out
        found = [each for each in report(tmp_path / "r")["found"] if each["kind"] == "alarms"]
        return [(each["weight"], each["cases"], each["says"]) for each in found]

    says = "1 alarm is not closed. Alarm 1, open: odd: the wheel squeaks"
    assert of_alarms() == [("watch", 1, says)]
    assert act(shoeproof, place, "close", "oiled", key="staff").code == 0
    assert of_alarms() == []
