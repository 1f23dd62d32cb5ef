"""Times as clocks of a player's zone show them, read and shown by every command."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from shoeproof.ledger import Ledger
from shoeproof.replay.disputes.record import open_case
from shoeproof.replay.rounds.catalogue import add_published_games
from tests.audit_reports.helpers import begun, go_on, new_round, simple
from tests.cli.conftest import Shoeproof

MALTA = ("--zone", "Europe/Malta")
PLAYED = {
    # When rounds were played, and what clocks in Malta showed: across the hour shown twice.
    datetime(2026, 10, 24, 21, 59, tzinfo=UTC): "2026-10-24 23:59",
    datetime(2026, 10, 24, 22, 1, tzinfo=UTC): "2026-10-25 00:01",
    datetime(2026, 10, 25, 0, 30, tzinfo=UTC): "2026-10-25 02:30",
    datetime(2026, 10, 25, 1, 30, tzinfo=UTC): "2026-10-25 02:30",
    datetime(2026, 10, 25, 22, 59, tzinfo=UTC): "2026-10-25 23:59",
    datetime(2026, 10, 25, 23, 1, tzinfo=UTC): "2026-10-26 00:01",
}


class SetClock:
    """Goes on by a millisecond a look."""

    now = min(PLAYED) - timedelta(hours=1)

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("zones") / "ledger"
    clock = SetClock()
    with Ledger.init(path, "test.example/zones", clock=clock) as ledger:
        add_published_games(ledger)
        for moment in PLAYED:
            clock.now = moment
            round_id = new_round()
            go_on(ledger, round_id, simple(100))
        open_round = new_round()
        go_on(ledger, open_round, begun({"s1": {"main": 100}}))
        open_case(ledger, open_round, "settlement")
    return path


@pytest.fixture
def call(shoeproof: Shoeproof, path: Path) -> Shoeproof:
    return lambda *words: shoeproof(*words, "--ledger", path)


def test_rounds_are_listed_by_the_clocks_of_a_zone(call: Shoeproof) -> None:
    text = call("rounds", *MALTA).out
    assert "opened (Europe/Malta)" in text
    for shown in PLAYED.values():
        assert shown in text
    in_utc = call("rounds").out
    assert "opened (UTC)" in in_utc
    for moment in PLAYED:
        assert f"{moment:%Y-%m-%d %H:%M}" in in_utc


def test_a_time_without_an_offset_is_one_of_the_zone(call: Shoeproof) -> None:
    times = ("--from", "2026-10-25", "--to", "2026-10-26", "--json")
    assert len(json.loads(call("rounds", *times, *MALTA).out)) == 4
    assert len(json.loads(call("rounds", *times, "--zone", "UTC").out)) == 5
    kolkata = json.loads(call("rounds", *times, "--zone", "Asia/Kolkata").out)
    assert [row["opened_at"][:16] for row in kolkata] == ["2026-10-25T01:30", "2026-10-25T00:30",
        "2026-10-24T22:01", "2026-10-24T21:59"]  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [("rounds",), ("dispute", "find"), ("rtp",), ("report", "rtp", "-o", "x.html")],
    ids=lambda words: " ".join(words),
)
@pytest.mark.parametrize("option", ["--from", "--to"])
@pytest.mark.parametrize(
    ("zone", "local", "moments"),
    [
        ("Europe/Malta", "2026-10-25T02:30", ("2026-10-25 00:30 UTC", "2026-10-25 01:30 UTC")),
        ("Europe/Malta", "2026-03-29T02:30", ("2026-03-29 00:30 UTC", "2026-03-29 01:30 UTC")),
        ("Pacific/Apia", "2011-12-30", ("2011-12-30 10:00 UTC", "2011-12-29 10:00 UTC")),
    ],
)
def test_an_hour_skipped_or_shown_twice_is_asked_about_in_one_line(
    call: Shoeproof,
    words: tuple[str, ...],
    option: str,
    zone: str,
    local: str,
    moments: tuple[str, str],
) -> None:
    result = call(*words, option, local, "--zone", zone)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert all(moment in result.err for moment in moments)


@pytest.mark.parametrize(
    "words",
    [
        ("rounds", "--from"),
        ("rounds", "--to"),
        ("dispute", "find", "--from"),
        ("rtp", "--from"),
        ("report", "rtp", "-o", "x.html", "--at"),
        ("fault", "settlement_mismatch", "--from"),
        ("simulate", "nba", "--at"),
        ("wallet", "reconcile", "--from"),
    ],
    ids=" ".join,
)
def test_a_time_without_a_zone_is_refused_everywhere(
    call: Shoeproof, words: tuple[str, ...]
) -> None:
    result = call(*words, "2026-10-25T02:00")
    assert (result.code, result.out) == (2, "")
    assert "'2026-10-25T02:00' has no time zone: add its offset, or --zone" in result.err


def test_either_of_two_hours_can_be_said_by_its_offset(call: Shoeproof) -> None:
    for offset, hour in (("+02:00", "00:30"), ("+01:00", "01:30")):
        times = (f"2026-10-25T02:29{offset}", "--to", f"2026-10-25T02:31{offset}")
        (row,) = json.loads(call("rounds", *MALTA, "--from", *times, "--json").out)
        assert row["opened_at"][11:16] == hour


def test_slices_by_day_are_days_of_the_zone(call: Shoeproof) -> None:
    def by_day(*zone: str) -> dict[str, int]:
        (game,) = json.loads(call("rtp", "--by", "day", *zone, "--json").out)["games"]
        rows = game["slices"]["day"]
        return {row["slice"]["day"]: row["rounds"] for row in rows if row["rounds"]}

    assert by_day() == {"2026-10-24": 2, "2026-10-25": 4}
    assert by_day(*MALTA) == {"2026-10-24": 1, "2026-10-25": 4, "2026-10-26": 1}
    assert "day (Europe/Malta)" in call("rtp", "--by", "day", *MALTA).out
    assert "day (UTC)" in call("rtp", "--by", "day").out


def test_a_report_has_the_days_of_the_zone(call: Shoeproof, tmp_path: Path) -> None:
    file = tmp_path / "rtp.json"
    call("report", "rtp", "-o", file, "--no-shuffle-tests", "--by", "day", *MALTA)
    report = json.loads(file.read_bytes())
    assert report["provenance"]["zone"] == "Europe/Malta"
    (game,) = report["games"]
    days = {day["day"]: sum(row["rounds"] for row in day["rows"]) for day in game["days"]}
    assert {day: rounds for day, rounds in days.items() if rounds} == {
        "2026-10-24": 1, "2026-10-25": 4, "2026-10-26": 1,
    }  # fmt: skip


def test_a_replay_an_assessment_and_a_search_say_whose_clocks_they_show(call: Shoeproof) -> None:
    rows = json.loads(call("rounds", "--json").out)
    twice = [row["round"] for row in rows if row["opened_at"][11:16] in ("00:30", "01:30")]
    for round_id, shown in zip(twice, ("02:30:00 CET", "02:30:00 CEST"), strict=True):
        for words in (("replay", round_id), ("dispute", "assess", round_id)):
            assert f"2026-10-25 {shown}" in call(*words, *MALTA).out
        assert shown in call("dispute", "find", "--player", "p-7f", *MALTA).out
    assert "2026-10-25 00:30:00 UTC" in call("replay", twice[1]).out


def test_open_rounds_and_cases_say_whose_clocks_they_show(call: Shoeproof) -> None:
    assert "2026-10-26 00:01:00 CET" in call("audit", *MALTA).out
    assert "2026-10-25 23:01:00 UTC" in call("audit").out
    assert "due (Europe/Malta)" in call("dispute", "list", *MALTA).out
    assert "system acts (Europe/Malta)" in call("rounds", "--open", *MALTA).out


@pytest.mark.parametrize("words", [("rounds",), ("rounds", "--open"), ("dispute", "list")])
def test_a_long_name_of_a_zone_fits_80_columns(
    call: Shoeproof, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = call(*words, "--zone", "America/Argentina/ComodRivadavia").out.splitlines()
    assert max(map(len, lines)) <= 80
