"""`table` and `rounds --open`: outages recorded, rounds swept, wins released, from a terminal."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.clock import utc_now
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.live.table import LiveTable, TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from tests.cli.conftest import Shoeproof
from tests.replay.faults import Floor
from tests.replay.helpers import ORIGIN
from tests.replay.test_holds import won

SETTINGS = TableSettings(limits={"main": (1, 2_000_000)}, currency="GBP", table="t-1")


@pytest.fixture
def waiting(tmp_path: Path) -> Path:
    """Three rounds of NBA that wait since two hours, and one of Zero."""
    path = tmp_path / "ledger"
    ago = utc_now() - timedelta(hours=2)
    with Ledger.init(path, ORIGIN, clock=lambda: ago) as ledger:
        add_published_games(ledger)
        for game, count in (("nba", 3), ("zero", 1)):
            table = LiveTable(ledger, current_rules(ledger, game), SETTINGS)
            found = 0
            while found < count:
                live = table.open_round(f"{game}-{found}")
                live.deal({"s1": {"main": 1050}})
                found += isinstance(live.due, Decide)
    return path


def test_open_rounds_show_what_is_held_and_how_long(shoeproof: Shoeproof, waiting: Path) -> None:
    rows = json.loads(shoeproof("rounds", "--open", "--json", "--ledger", waiting).out)
    assert {row["held_minor"] for row in rows} == {1050}
    assert all(7200 <= row["waits_seconds"] < 8000 for row in rows)
    due = {row["game"]: row["default_due"] for row in rows}
    assert due["zero"] is None
    assert due["nba"] is not None
    shown = shoeproof("rounds", "--open", "--ledger", waiting)
    assert shown.code == 0
    assert shown.out.count("10.50 GBP") == 4
    assert shown.out.count("2:00:0") == 4
    assert "never" in shown.out


def test_sweep_says_what_it_did_and_then_finds_nothing(shoeproof: Shoeproof, waiting: Path) -> None:
    overdue = shoeproof("audit", "--json", "--ledger", waiting)
    assert overdue.code == 0  # by the last leaf no time has passed
    first = shoeproof("table", "sweep", "--ledger", waiting)
    assert first.code == 0, first
    assert "4 rounds were open, 3 ended." in first.out
    assert first.out.count("stood") == 3
    again = shoeproof("table", "sweep", "--json", "--ledger", waiting)
    assert again.code == 0
    assert json.loads(again.out)["swept"] == []
    assert json.loads(again.out)["open_rounds"] == 1
    audited = shoeproof("audit", "--json", "--ledger", waiting)
    assert (audited.code, json.loads(audited.out)["findings"]) == (0, [])


def test_an_outage_is_recorded_and_no_time_runs(shoeproof: Shoeproof, waiting: Path) -> None:
    started = shoeproof("table", "start", "--note", "after a power cut", "--ledger", waiting)
    assert started.code == 0
    assert "the service started at" in started.out
    swept = json.loads(shoeproof("table", "sweep", "--json", "--ledger", waiting).out)
    assert swept["swept"] == []
    assert swept["next_due"] is not None


def test_a_disabled_game_opens_no_round(shoeproof: Shoeproof, waiting: Path) -> None:
    assert shoeproof("table", "disable", "nba", "--note", "trial", "--ledger", waiting).code == 0
    refused = shoeproof("simulate", "nba", "--rounds", "1", "--ledger", waiting)
    assert refused.code == 2
    assert "nba is out of service (trial)" in refused.err
    assert shoeproof("table", "enable", "nba", "--ledger", waiting).code == 0
    assert shoeproof("simulate", "nba", "--rounds", "1", "--ledger", waiting).code == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["disable", "faro"], "'faro' is neither a game nor a table of this ledger"),
        (["stop", "--scope", "t-9"], "'t-9' is neither a game nor a table"),
        (["stop", "--cause", "8"], "less than or equal to 7"),
        (["release", "0190"], "has no round '0190'"),
    ],
)
def test_what_cannot_be_recorded(
    words: list[str], says: str, shoeproof: Shoeproof, waiting: Path
) -> None:
    with Ledger.open(waiting) as ledger:
        size = ledger.size()
    refused = shoeproof("table", *words, "--ledger", waiting)
    assert refused.code == 2
    assert says in refused.err
    with Ledger.open(waiting) as ledger:
        assert ledger.size() == size


def test_a_second_round_of_a_player_is_refused_in_one_line(
    shoeproof: Shoeproof, waiting: Path
) -> None:
    with Ledger.open(waiting) as ledger:
        [row] = ledger.rounds(player="nba-0", state="open")
    refused = shoeproof("play", "nba", "--player", "nba-0", "--ledger", waiting)
    assert refused.code == 2
    assert f"go on with {row.round} first" in refused.err


def test_a_held_win_is_listed_and_released_once(shoeproof: Shoeproof, tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    with Ledger.init(path, ORIGIN) as ledger:
        add_published_games(ledger)
        live = won(Floor("zero", ledger=ledger), 1_500_000)
    listed = shoeproof("table", "holds", "--ledger", path)
    assert live.round_id in listed.out
    assert "15,000.00 GBP" in listed.out
    released = shoeproof("table", "release", live.round_id[:20], "--ledger", path)
    assert (released.code, "released 15,000.00 GBP" in released.out) == (0, True)
    assert "no win is held" in shoeproof("table", "holds", "--ledger", path).out
    again = shoeproof("table", "release", live.round_id, "--ledger", path)
    assert again.code == 2
    assert "released before" in again.err
    assert (
        len(json.loads(shoeproof("table", "holds", "--all", "--json", "--ledger", path).out)) == 1
    )


def test_replay_names_what_departs_from_the_policy(shoeproof: Shoeproof, waiting: Path) -> None:
    with Ledger.open(waiting) as ledger:
        [row] = ledger.rounds(player="nba-0", state="open")
    assert shoeproof("simulate", "zappit", "--rounds", "1", "--ledger", waiting).code == 0
    replayed = shoeproof("replay", row.round, "--json", "--ledger", waiting)
    assert replayed.code == 1
    found = json.loads(replayed.out)["findings"]
    assert [each["code"] for each in found] == ["default_overdue"]


def test_who_resumes_too_late_is_shown_what_was_done(shoeproof: Shoeproof, waiting: Path) -> None:
    with Ledger.open(waiting) as ledger:
        [row] = ledger.rounds(player="nba-0", state="open")
    resumed = shoeproof("play", "--resume", row.round, "--ledger", waiting)
    assert resumed.code == 0, resumed
    assert "what the policy provides was done" in resumed.out
    assert "balance" in resumed.out
    replayed = shoeproof("replay", row.round, "--ledger", waiting)
    assert replayed.code == 0


def test_chips_laid_long_ago_go_back_when_resumed(shoeproof: Shoeproof, waiting: Path) -> None:
    ago = utc_now() - timedelta(hours=1)
    with Ledger.open(waiting, clock=lambda: ago) as ledger:
        table = LiveTable(ledger, current_rules(ledger, "nba"), SETTINGS)
        live = table.open_round("laid")
        live.place({"s1": {"main": 1000}})
    resumed = shoeproof("play", "--resume", live.round_id, "--ledger", waiting)
    assert resumed.code == 0, resumed
    assert "the round is void" in resumed.out
