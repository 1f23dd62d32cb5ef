"""`rtp` and `report rtp`: what they say, at which width, and one clear line for bad input."""

import json
import re
import sys
import time
from pathlib import Path
from shutil import copytree

import duckdb
import pytest
from msgspec.structs import replace

from shoeproof.audit_reports.tables import projection as projections
from shoeproof.audit_reports.tables import read_model
from shoeproof.cli.commands.demo import alter_payment
from shoeproof.cli.main import run
from shoeproof.cli.screen.rtp import bar
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import AlarmRaised, BetSettled, RoundOpened
from shoeproof.replay.engine.rules import rules_digest
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.live.players import make_player
from shoeproof.replay.live.simulation import simulate
from shoeproof.replay.live.table import TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from tests.audit_reports.helpers import held_by_another_process, let_go, play, simple, voided
from tests.cli.conftest import Shoeproof
from tests.ledger.helpers import alter


@pytest.fixture
def ledger(played: Path, tmp_path: Path) -> Path:
    """A copy of the played ledger, whose tables may be written."""
    return copytree(played, tmp_path / "ledger")


def forge(ledger: Path) -> None:
    """Alter a payment of the last round."""
    with Ledger.open(ledger) as opened:
        stream = opened.rounds(limit=1)[0].round
        settled = next(
            each for each in opened.events(stream) if isinstance(each.event.data, BetSettled)
        )
    alter_payment(ledger / "events.sqlite", settled.leaf)


@pytest.fixture
def forged(ledger: Path) -> Path:
    """The same with a payment of its last round altered."""
    forge(ledger)
    return ledger


@pytest.fixture
def overpaid(tmp_path: Path) -> Path:
    """A ledger whose one side bet came back with more than its pay table has."""
    path = tmp_path / "overpaid"
    with Ledger.init(path, "test.example/overpaid") as made:
        add_published_games(made)
        digest = rules_digest(GAMES["nba"].rules)
        events = simple(0, digest=digest)
        events.insert(-2, BetSettled("s1", "s1", "perfect_pairs", 10, 9_999, "perfect_pair", None))
        play(made, events)
    return path


@pytest.mark.parametrize("columns", [80, 120, 160])
def test_every_line_fits_the_terminal(
    shoeproof: Shoeproof, ledger: Path, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    result = shoeproof("rtp", "--ledger", ledger, "--by", "table,stake_band")
    lines = result.out.splitlines()
    assert result.code == 0
    assert max(map(len, lines)) <= columns
    # No row is broken: every bet of a game stands in one line with its verdict.
    bets = [line for line in lines if "inconclusive" in line and "rules" not in line]
    assert len(bets) >= 5
    assert ("theory" in result.out) == (columns == 160)
    titles = [line for line in lines if "RTP ± 95%" in line]
    assert titles
    assert {"expected" in line for line in titles} == {columns >= 120}


@pytest.mark.parametrize("suffix", ["html", "csv", "json"])
def test_a_report_is_the_same_bytes_twice_and_from_tables_made_anew(
    shoeproof: Shoeproof, ledger: Path, tmp_path: Path, suffix: str
) -> None:
    asked = ("report", "rtp", "--at", "2026-12-01T00:00Z", "--by", "day", "--by", "player")
    written = []
    for name, options in (("a", ()), ("b", ()), ("c", ("--rebuild",))):
        file = tmp_path / f"{name}.{suffix}"
        result = shoeproof(*asked, "-o", file, *options, "--ledger", ledger)
        assert result.code == 0
        assert "Inconclusive: too few rounds" in result.out
        written.append(file.read_bytes())
    assert len(set(written)) == 1


def test_skill_is_told_of_each_player_and_of_each_kind_of_decision(
    shoeproof: Shoeproof, tmp_path: Path
) -> None:
    path = tmp_path / "skilled"
    with Ledger.init(path, "test.example/skilled") as made, Ledger.in_memory("other") as other:
        add_published_games(made)
        add_published_games(other)
        rules = current_rules(other, "nba")
        for name in ("basic", "random"):
            settings = TableSettings(limits={"main": (1, 10_000)}, currency="EUR")
            simulate(other, rules, settings, {"s1": {"main": 100}}, make_player(name, 5), 150)
            streams = [leaf.stream for leaf in other.leaves() if leaf.topic == "RoundOpened"][-150:]
            for stream in streams:
                events = (each.event.data for each in other.events(stream))
                play(made, (replace(each, player=name) if isinstance(each, RoundOpened) else each
                            for each in events))  # fmt: skip
    told = json.loads(shoeproof("rtp", "--by", "player", "--json", "--ledger", path).out)
    rows = {
        row["slice"]["player"]: row
        for row in told["games"][0]["slices"]["player"]
        if row["bet"] == "main"
    }
    assert rows["random"]["skill"] < -0.1 < -0.01 < rows["basic"]["skill"] < 0.01
    assert rows["random"]["expected"] < rows["basic"]["expected"]
    shown = shoeproof("rtp", "--by", "player", "--ledger", path).out
    assert f"{100 * rows['random']['expected']:.2f}%" in shown
    select = """SELECT player, SUM(COLUMNS('^skill_')) / SUM(initial_minor)
        FROM round_bets WHERE state = 'closed' AND bet = 'main' GROUP BY player"""
    by_kind = json.loads(shoeproof("sql", select, "--json", "--ledger", path).out)
    assert {row["player"] for row in by_kind} == {"basic", "random"}
    for row in by_kind:
        kinds = sum(value for name, value in row.items() if name != "player")
        assert kinds == pytest.approx(rows[row["player"]]["skill"], abs=1e-6)


def test_slices_by_day_name_the_days_without_any(shoeproof: Shoeproof, ledger: Path) -> None:
    period = ("--from", "2001-01-01T00:00Z", "--to", "2101-01-01T00:00Z")
    out = shoeproof("rtp", "--by", "day", *period, "--ledger", ledger).out
    idle = [line for line in out.splitlines() if "no activity" in line]
    assert len(idle) == 6
    assert idle[0].startswith("  2001-01-01 to ")
    assert " to 2100-12-31" in idle[1]


def test_json_has_every_game_judged(shoeproof: Shoeproof, ledger: Path) -> None:
    told = json.loads(shoeproof("rtp", "--json", "--ledger", ledger).out)
    assert told["objection"] is None
    assert {game["game"]: game["word"] for game in told["games"]} == dict.fromkeys(
        ("nba", "zappit", "zero"), "inconclusive"
    )
    assert {bet["row"]["rounds"] for game in told["games"] for bet in game["bets"][:1]} == {40}


def test_an_approved_return_stands_with_its_sheet(
    shoeproof: Shoeproof, ledger: Path, tmp_path: Path
) -> None:
    sheet = {
        "id": "PAR-7", "date": "2026-01-05", "sha256": "ab" * 32, "game": "zero",
        "rules_digest": rules_digest(GAMES["zero"].rules), "bet": "main", "percent": "100.00",
    }  # fmt: skip
    sheets, file = tmp_path / "sheets.json", tmp_path / "report.html"
    sheets.write_text(json.dumps([sheet]))
    result = shoeproof(
        "report", "rtp", "-o", file, "--par-sheets", sheets, "--no-shuffle-tests",
        "--ledger", ledger,
    )  # fmt: skip
    page = file.read_text()
    assert result.code == 0
    assert "PAR-7, 2026-01-05" in page
    assert "ab" * 32 in page
    assert "The shuffle was not tested for this report." in page
    assert "other rules" not in page
    sheets.write_text(json.dumps([sheet | {"percent": "99.50"}]))
    data = tmp_path / "report.json"
    other = shoeproof(
        "report", "rtp", "-o", data, "--par-sheets", sheets, "--no-shuffle-tests",
        "--ledger", ledger,
    )  # fmt: skip
    assert other.code == 1
    assert "Findings: 1, listed in it" in other.out
    note = "the rules return 100.00%: the sheet is for other rules or another way to play"
    approved = {**sheet, "percent": "99.50", "note": note}
    games = {game["game"]: game for game in json.loads(data.read_text())["games"]}
    main = games["zero"]["bets"][0]
    assert main["approved"].items() <= approved.items()
    assert main["word"] == "inconclusive"


@pytest.mark.parametrize("words", [("rtp",), ("report", "rtp", "-o", "x.html")])
@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--by", "colour"), "figures cannot be shown by 'colour'; there is ledger, table, player"),
        (("--by", "day,month"), "names several periods"),
        (("--from", "2026-02-01Z"), "is not a valid time"),
        (("--from", "2026-02-01"), "has no time zone"),
        (("--from", "2026-02-01T00:00Z", "--to", "2026-01-01T00:00Z"), "ends before it begins"),
        (("--zone", "Mars/Olympus"), "is not a valid time zone"),
        (("--from", "0001-01-01", "--zone", "Europe/Malta"), "is not a valid time"),
        (("--to", "9999-12-31T23:59", "--zone", "America/New_York"), "is not a valid time"),
    ],
)
def test_what_cannot_be_asked_is_one_line(
    shoeproof: Shoeproof,
    played: Path,
    words: tuple[str, ...],
    options: tuple[str, ...],
    says: str,
) -> None:
    result = shoeproof(*words, *options, "--ledger", played)
    assert (result.code, result.out) == (2, "")
    assert says in result.err
    assert result.err.count("\n") == 1


def test_a_period_may_lie_in_the_hour_that_clocks_show_twice(
    shoeproof: Shoeproof, ledger: Path
) -> None:
    zone = ("--zone", "Europe/Malta", "--ledger", ledger)
    for begin, end in (("02:30+02:00", "02:30+01:00"), ("02:45+02:00", "02:15+01:00")):
        times = ("--from", f"2026-10-25T{begin}", "--to", f"2026-10-25T{end}")
        assert shoeproof("rtp", *times, *zone).code == 0


def test_too_little_memory_is_one_line_and_no_finding(
    ledger: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def need_more(*_: object, **__: object) -> None:
        raise duckdb.OutOfMemoryException("Out of Memory Error: Allocation failure")

    monkeypatch.setattr(projections, "rows_by_table", need_more)
    monkeypatch.setattr(sys, "argv", ["shoeproof", "project", "--rebuild", "--ledger", str(ledger)])
    with pytest.raises(SystemExit) as ended:
        run()
    assert ended.value.code == 3
    assert capfd.readouterr() == (
        "",
        "shoeproof: there is not enough memory for this: try again where there is more\n",
    )


def test_another_form_is_refused_before_anything_is_counted(
    shoeproof: Shoeproof, tmp_path: Path
) -> None:
    result = shoeproof("report", "rtp", "-o", tmp_path / "x.docx", "--ledger", tmp_path / "none")
    assert result.code == 2
    assert "use one of .html, .pdf, .csv, .json" in result.err


def test_an_empty_ledger_and_an_empty_period_are_said_to_be_so(
    shoeproof: Shoeproof, ledger: Path, tmp_path: Path
) -> None:
    with Ledger.init(tmp_path / "empty", "test.example/empty"):
        pass
    nothing = "no rounds for real money are recorded in this period\n"
    assert shoeproof("rtp", "--ledger", tmp_path / "empty").out == nothing
    past = ("--from", "2001-01-01T00:00Z", "--to", "2001-02-01T00:00Z")
    assert shoeproof("rtp", *past, "--ledger", ledger).out == nothing


def test_mixed_currencies_and_unknown_rules_stand_apart(
    shoeproof: Shoeproof, tmp_path: Path
) -> None:
    path = tmp_path / "mixed"
    with Ledger.init(path, "test.example/mixed") as made:
        add_published_games(made)
        for currency in ("EUR", "GBP"):
            play(made, simple(200, currency=currency))
        play(made, simple(200, digest="ab" * 32))
    out = shoeproof("rtp", "--ledger", path).out
    heads = [line for line in out.splitlines() if "rules" in line and "…" in line]
    assert [line.split(",")[0] for line in heads] == [
        "zappit in EUR", "zappit in GBP", "unknown rules in EUR",
    ]  # fmt: skip
    assert "no readable rules of this digest" in out


def test_a_forged_ledger_is_refused_unless_its_sound_part_is_asked_for(
    shoeproof: Shoeproof, forged: Path, tmp_path: Path
) -> None:
    file = tmp_path / "report.html"
    refused = shoeproof("report", "rtp", "-o", file, "--ledger", forged)
    assert (refused.code, file.exists()) == (3, False)
    assert "is refused" in refused.err
    part = shoeproof("report", "rtp", "-o", file, "--verified-only", "--ledger", forged)
    assert part.code == 1
    assert "This ledger fails verification at leaf" in part.out.splitlines()[0]
    page = file.read_text()
    (said,) = re.findall("<strong>(.*?)</strong>", page)
    assert said.startswith("This ledger fails verification. Of the part before: no ")
    main = page[page.index("<main>") :].split("\n")
    assert main[1].startswith('<p class="alarm" role="alert">This ledger fails verification')
    told = json.loads(shoeproof("rtp", "--verified-only", "--json", "--ledger", forged).out)
    assert sum(game["bets"][0]["row"]["rounds"] for game in told["games"]) < 120
    table = shoeproof("report", "rtp", "-o", tmp_path / "r.csv", "--verified-only",
                      "--ledger", forged)  # fmt: skip
    assert table.code == 1
    assert (tmp_path / "r.csv").read_text().startswith("# NOT VERIFIED: This ledger fails")


def test_a_ledger_altered_after_it_was_counted_is_refused(
    shoeproof: Shoeproof, ledger: Path
) -> None:
    """What was kept is shown only where that is asked for, and says so."""
    assert shoeproof("rtp", "--ledger", ledger).code == 0
    with Ledger.open(ledger) as opened:
        staked = next(leaf for leaf in opened.leaves() if leaf.topic == "DealRequested")
    alter(ledger, staked.leaf_index, b'"main":', b'"mair":')
    cached = shoeproof("rtp", "--cached", "--ledger", ledger)
    assert cached.code == 0
    assert "were not read again" in cached.out.splitlines()[0] + cached.out.splitlines()[1]
    assert json.loads(shoeproof("rtp", "--cached", "--json", "--ledger", ledger).out)["cached"]
    asked = shoeproof("sql", "SELECT 1", "--cached", "--ledger", ledger)
    assert "were not read again" in asked.err
    for command in ("rtp", "project", "shuffle-tests"):
        refused = shoeproof(command, "--ledger", ledger)
        assert (refused.code, "is refused" in refused.err) == (3, True), command


def test_an_alarm_is_recorded_once_when_asked_for(shoeproof: Shoeproof, overpaid: Path) -> None:
    assert shoeproof("rtp", "--ledger", overpaid).code == 1
    for said in (1, 0):
        result = shoeproof("rtp", "--raise", "--ledger", overpaid)
        assert result.code == 1
        assert result.out.count("alarm recorded: out of range: perfect_pairs bet of nba") == said
    with Ledger.open(overpaid) as opened:
        (alarm,) = [
            each.event.data
            for each in opened.events("operations")
            if isinstance(each.event.data, AlarmRaised)
        ]
    assert (alarm.cause, alarm.scope) == (7, "nba")
    assert "pay table" in str(alarm.note)


@pytest.mark.parametrize("other", ["--json", "--raise"])
def test_watching_goes_with_nothing_that_ends(
    shoeproof: Shoeproof, played: Path, other: str
) -> None:
    assert shoeproof("rtp", "--watch", other, "--ledger", played).code == 2


def test_watching_counts_on_as_the_ledger_grows(
    shoeproof: Shoeproof, ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = iter([True, True])

    def grow(seconds: float) -> None:
        assert seconds > 0
        if not next(waits, False):
            raise KeyboardInterrupt
        with Ledger.open(ledger) as opened:
            play(opened, simple(250, currency="GBP"))

    monkeypatch.setattr(time, "sleep", grow)
    result = shoeproof("rtp", "--watch", "--ledger", ledger)
    assert result.code == 130
    shown = result.out.split("Ctrl-C ends")[:-1]
    assert len(shown) == 3
    assert ["zappit in GBP" in each for each in shown] == [False, True, True]


@pytest.mark.parametrize(("option", "code"), [("--rebuild", 3), ("--verified-only", 130)])
def test_watching_counts_as_it_was_asked_to(
    shoeproof: Shoeproof, ledger: Path, monkeypatch: pytest.MonkeyPatch, option: str, code: int
) -> None:
    def end(seconds: float) -> None:
        raise KeyboardInterrupt

    if option == "--rebuild":
        # Tables that were counted before the leaf was altered do not show it.
        assert shoeproof("project", "--ledger", ledger).code == 0
    forge(ledger)
    monkeypatch.setattr(time, "sleep", end)
    result = shoeproof("rtp", "--watch", option, "--ledger", ledger)
    assert result.code == code, result.err
    assert ("fails verification" in " ".join(result.out.split())) == (code == 130)


def test_watching_outlasts_another_who_counts(
    shoeproof: Shoeproof, ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shoeproof("project", "--ledger", ledger)
    with held_by_another_process(ledger) as other:

        def wait(seconds: float) -> None:
            if other.poll() is not None:
                raise KeyboardInterrupt
            let_go(other)

        monkeypatch.setattr(time, "sleep", wait)
        result = shoeproof("rtp", "--watch", "--ledger", ledger)
    assert result.code == 130, result.err
    assert result.out.count("Ctrl-C ends") == 1


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize(
    "words", [("rtp",), ("project",), ("sql", "SELECT 1 AS one"), ("report", "rtp", "-o")]
)
def test_who_counts_waits_for_another_who_counts_and_says_so_once_on_a_terminal(
    shoeproof: Shoeproof,
    ledger: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    terminal: bool,
) -> None:
    if terminal:
        monkeypatch.setenv("TTY_COMPATIBLE", "1")
    if words[-1] == "-o":
        words = (*words, str(ledger / "x.json"), "--no-shuffle-tests")
    shoeproof("project", "--ledger", ledger)
    with held_by_another_process(ledger) as other:
        monkeypatch.setattr(time, "sleep", lambda _: let_go(other))
        result = shoeproof(*words, "--ledger", ledger)
    assert result.code == 0, result.err
    said = "another process is counting this ledger; waiting for it to end"
    assert result.err.count(said) == terminal
    assert said not in result.out


def test_a_ledger_that_another_counts_for_too_long_is_refused_in_one_line(
    shoeproof: Shoeproof, ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_model, "WAIT_SECONDS", 0.1)
    shoeproof("project", "--ledger", ledger)
    with held_by_another_process(ledger):
        result = shoeproof("rtp", "--ledger", ledger)
    assert (result.code, result.out) == (3, "")
    assert result.err == (
        "shoeproof: the projection is being written by another process: try again when it ends\n"
    )


@pytest.mark.parametrize("columns", [60, 120])
@pytest.mark.parametrize("words", [("rtp",), ("rtp", "--by", "table,day"), ("rounds",)])
def test_where_no_terminal_is_no_line_ends_in_blanks(
    shoeproof: Shoeproof,
    ledger: Path,
    monkeypatch: pytest.MonkeyPatch,
    columns: int,
    words: tuple[str, ...],
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    with Ledger.open(ledger) as opened:
        play(opened, voided(300))
    piped = shoeproof(*words, "--ledger", ledger).out
    assert re.search(" +$", piped, re.MULTILINE) is None
    assert len(piped.splitlines()) > 5
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    seen = re.sub("\x1b\\[[0-9;]*m", "", shoeproof(*words, "--ledger", ledger).out)
    # On a terminal the same is told, filled up by blanks.
    assert re.sub(" +$", "", seen, flags=re.MULTILINE) == piped
    assert len(seen) > len(piped)


def test_a_long_name_is_cut_on_the_screen_alone(shoeproof: Shoeproof, ledger: Path) -> None:
    with Ledger.open(ledger) as opened:
        begin, *rest = simple(200)
        assert isinstance(begin, RoundOpened)
        play(opened, [replace(begin, player="x" * 3000), *rest])
    shown = shoeproof("rtp", "--by", "player", "--ledger", ledger).out
    assert "x" * 39 + "…" in shown
    assert "x" * 40 not in shown
    data = shoeproof("rtp", "--by", "player", "--json", "--ledger", ledger).out
    assert "x" * 3000 in data


def test_the_bar_has_the_expected_return_in_its_middle() -> None:
    from shoeproof.audit_reports.rtp_report.model import ReturnInterval

    band = ReturnInterval(0.94, 1.06)
    assert bar(1.0, 1.0, band) == "···[··●··]···"
    assert bar(0.5, 1.0, band) == "●··[··│··]···"
    assert bar(9.0, 1.0, band) == "···[··│··]··●"
    assert bar(None, 1.0, band) == ""
    assert bar(1.0, None, None) == ""
