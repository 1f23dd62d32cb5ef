"""Questions in SQL at the terminal: read-only, in every form, refused in one line."""

import csv
import io
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from shoeproof.audit_reports.tables import memory
from shoeproof.ledger import Ledger
from shoeproof.replay.rounds.catalogue import add_published_games
from tests.audit_reports.helpers import begun, closed, doubled_push, play, simple
from tests.cli.conftest import Result, Shoeproof
from tests.ledger.helpers import alter


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Ledger.init(tmp_path / "ledger", "ledger.example/bj") as ledger:
        add_published_games(ledger)
        play(ledger, simple(200))
        play(ledger, doubled_push())
    return tmp_path / "ledger"


Run = Callable[..., Result]


@pytest.fixture
def run(shoeproof: Shoeproof, path: Path) -> Run:
    return lambda *arguments: shoeproof(*arguments, "--ledger", path)


SUMS = "SELECT game, COUNT(*) AS rounds, SUM(paid_minor) AS paid FROM rounds GROUP BY game"


def test_an_answer_as_table_csv_json_and_parquet(run: Run, path: Path, tmp_path: Path) -> None:
    shown = run("sql", SUMS)
    assert shown.code == 0
    assert [line.split() for line in shown.out.splitlines()] == [
        ["game", "rounds", "paid"],
        ["zappit", "2", "400"],
    ]
    as_csv = run("sql", SUMS, "--csv").out
    assert list(csv.reader(io.StringIO(as_csv))) == [
        ["game", "rounds", "paid"],
        ["zappit", "2", "400"],
    ]
    as_json = json.loads(run("sql", SUMS, "--json").out)
    assert as_json == [{"game": "zappit", "rounds": 2, "paid": 400}]
    file = tmp_path / "answer.parquet"
    assert run("sql", SUMS, "--parquet", str(file)).code == 0
    assert pq.read_table(file).num_rows == 1


@pytest.mark.parametrize(
    "statement",
    [
        "COPY rounds TO '{folder}/x.csv'",
        "COPY (SELECT 1) TO '{folder}/x.parquet'",
        "ATTACH '{folder}/x.db'",
        "CREATE TABLE x AS SELECT 1",
        "DELETE FROM par_sheets",
        "SET enable_external_access = true",
        "INSTALL httpfs",
        "SELECT 1; DROP VIEW rounds",
        "SELECT * FROM read_text('{folder}/ledger/origin')",
        "SELECT * FROM glob('{folder}/*')",
        "FROM query('COPY rounds TO ''{folder}/x.csv''')",
        "FROM read_csv('https://ledger.example/x.csv')",
        "FROM read_blob('{folder}/ledger/keys/engine.pem')",
        "SELECT nothing FROM rounds",
        "SELEC",
        "",
    ],
)
def test_what_is_no_question_is_refused_in_one_line(
    run: Run, path: Path, tmp_path: Path, statement: str
) -> None:
    before = sorted(tmp_path.iterdir())
    result = run("sql", statement.format(folder=tmp_path))
    assert result.code == 2, result.err
    assert len(result.err.splitlines()) == 1
    assert result.err.startswith("shoeproof: ")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["SELECT 1", "--checks"],
        ["SELECT 1", "--csv", "--json"],
        ["SELECT 1 AS a, 2 AS a"],
        ["SELECT 1 AS a, 2 AS A", "--json"],
    ],
)
def test_options_that_do_not_go_together(run: Run, path: Path, arguments: list[str]) -> None:
    assert run("sql", *arguments).code == 2


def test_parquet_is_not_left_half_written(run: Run, path: Path, tmp_path: Path) -> None:
    result = run("sql", SUMS, "--parquet", str(tmp_path / "none" / "x.parquet"))
    assert result.code == 3
    assert not (tmp_path / "none").exists()


def test_checks_at_the_terminal(run: Run, path: Path) -> None:
    sound = run("sql", "--checks")
    assert (sound.code, sound.out) == (0, "every check finds nothing\n")
    with Ledger.open(path) as ledger:
        play(ledger, closed(begun({"s1": {"main": 100}})))
    found = run("sql", "--checks")
    assert found.code == 1
    assert "unsettled_in_a_closed_round: 1 rows" in found.out
    verdict = json.loads(run("sql", "--checks", "--json").out)
    (as_data,) = verdict["checks"]
    assert not verdict["sound"]
    assert as_data["name"] == "unsettled_in_a_closed_round"


def test_project_says_how_far_the_tables_reach(run: Run, path: Path) -> None:
    result = run("project")
    assert result.code == 0
    assert "leaves of ledger.example/bj, 0 under a checkpoint" in result.out
    data = json.loads(run("project", "--rebuild", "--json").out)
    assert data["checks"] == []
    assert data["objection"] is None
    assert (path / "projection" / "segments" / "manifest.json").is_file()


def test_a_ledger_that_fails_verification(run: Run, path: Path) -> None:
    with Ledger.open(path) as ledger:
        altered = ledger.size() - 3
    alter(path, altered, b'"paid_minor":200', b'"paid_minor":900')
    refused = run("project")
    assert refused.code == 3
    assert f"leaf {altered}" in refused.err
    part = run("project", "--verified-only")
    assert part.code == 1
    assert part.out.startswith(f"This ledger fails verification at leaf {altered}: ")
    assert f"Only the {altered:,} leaves before it are counted" in " ".join(part.out.split())
    shown = run("sql", "SELECT COUNT(*) AS n FROM rounds WHERE state = 'closed'",
                "--verified-only")  # fmt: skip
    assert shown.out.splitlines()[0].startswith("This ledger fails verification")
    assert shown.out.split()[-1] == "1"


def test_an_altered_segment_is_refused_in_one_line(run: Run, path: Path) -> None:
    run("project")
    file = next((path / "projection" / "segments" / "bets").rglob("tail-*"))
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    result = run("sql", "SELECT 1 AS one")
    assert result.code == 3
    assert "is not what was published: make it again with `shoeproof project --rebuild`" in (
        result.err
    )
    assert len(result.err.splitlines()) == 1
    assert run("project", "--rebuild").code == 0


def test_approved_returns_are_a_table(run: Run, tmp_path: Path) -> None:
    sheet = {"id": "PAR-7", "date": "2026-01-31", "sha256": "ab" * 32, "game": "zappit"}
    sheet |= {"rules_digest": "cd" * 32, "bet": "main", "percent": "98.87"}
    file = tmp_path / "par.json"
    file.write_text(json.dumps([sheet]))
    asked = run("sql", "SELECT id, date, percent FROM par_sheets", "--par-sheets", file, "--json")
    assert json.loads(asked.out) == [{"id": "PAR-7", "date": "2026-01-31", "percent": "98.87"}]
    file.write_text("[")
    refused = run("sql", "SELECT 1 AS one", "--par-sheets", file)
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("DATE 'infinity'", "infinity"),
        ("DATE '294000-01-01'", "294000-01-01"),
        ("TIMESTAMP '-infinity'", "-infinity"),
        ("TIMESTAMP_NS '2026-01-01 00:00:00.123456789'", "2026-01-01 00:00:00.123456789"),
        ("TIME '24:00:00'", "24:00:00"),
        ("TIMETZ '10:00:00+02'", "10:00:00+02"),
        ("INTERVAL 1 MONTH", "1 month"),
        ("340282366920938463463374607431768211455::UHUGEINT", str(2**128 - 1)),
        ("'101'::BIT", "101"),
        ("union_value(x := 1)", "1"),
        ("170141183460469231731687303715884105727::HUGEINT", 2**127 - 1),
        ("[1.5, 2, NULL]", ["1.5", 2, None]),
        ("{'day': DATE '2026-01-01'}", {"day": "2026-01-01"}),
        ("MAP {'k': [DATE 'infinity']}", [["k", ["infinity"]]]),
        ("'nan'::DOUBLE", None),
    ],
)
def test_a_value_of_any_type_is_told_as_it_is(
    run: Run, tmp_path: Path, value: str, told: object
) -> None:
    select = f"SELECT {value} AS v"
    assert json.loads(run("sql", select, "--json").out) == [{"v": told}]
    for form in ((), ("--csv",), ("--parquet", str(tmp_path / "answer.parquet"))):
        assert run("sql", select, *form).code == 0


def test_a_row_too_wide_for_the_screen_is_shown_column_by_column(run: Run) -> None:
    shown = run("sql", "SELECT * FROM rounds ORDER BY first_leaf").out.splitlines()
    cells = [line.split() for line in shown]
    assert cells[0] == ["row", "column", "value"]
    assert ["paid_minor", "200"] in cells
    assert [line[0] for line in cells if line[1:2] == ["first_leaf"]] == ["1", "2"]


def test_an_answer_keeps_its_order(run: Run) -> None:
    select = "SELECT i FROM range(300000) numbers(i) ORDER BY hash(i)"
    found = [int(row) for row in run("sql", select, "--csv").out.split()[1:]]
    in_order = duckdb.execute(select).fetchall()
    assert found == [row[0] for row in in_order]


ENDLESS = (
    "SELECT COUNT(*) FROM range(1000000000) a, range(1000000000) b WHERE a.range * b.range < 7"
)


@pytest.mark.parametrize(
    "select",
    [
        # More than the database may use.
        "SELECT COUNT(*) AS n FROM (SELECT DISTINCT i FROM range(40000000) of(i))",
        "SELECT i FROM range(40000000) of(i) ORDER BY hash(i)",
        # An answer larger than all answers may be, which no database would count as its own.
        "SELECT i, i + 1 AS j FROM range(1000000000000) of(i)",
    ],
)
@pytest.mark.parametrize("form", [(), ("--csv",), ("--parquet", "answer.parquet")])
def test_what_needs_more_memory_than_there_is_is_one_line_and_leaves_nothing_behind(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    select: str,
    form: tuple[str, ...],
) -> None:
    assert run("sql", "SELECT 1 AS one").code == 0
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr(memory, "available", lambda: 200_000_000)
    result = run("sql", select, *form)
    assert (result.code, result.out) == (3, "")
    assert result.err == (
        "shoeproof: there is not enough memory for this: try again where there is more\n"
    )
    assert sorted(tmp_path.rglob("*")) == before
    assert run("sql", "SELECT 1 AS one").code == 0


def test_little_memory_is_enough_for_every_check(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: 0)
    assert run("project", "--rebuild").code == 0
    assert run("sql", "--checks").code == 0


def test_rows_printed_some_at_a_time_are_printed_as_if_together(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for count in (0, 1, 2, 3, 4, 5):
        select = f"SELECT i, [i] AS list FROM range({count}) of(i)"
        together = [run("sql", select, form).out for form in ("--json", "--csv")]
        assert json.loads(together[0]) == [{"i": i, "list": [i]} for i in range(count)]
        with monkeypatch.context() as patch:
            patch.setattr("shoeproof.cli.commands.sql.BATCH", 2)
            assert [run("sql", select, form).out for form in ("--json", "--csv")] == together


def test_an_error_after_the_first_rows_is_one_line(run: Run) -> None:
    select = "SELECT IF(i = 900000, 'x', '1')::INTEGER AS v FROM range(1000000) of(i)"
    result = run("sql", select, "--json")
    assert (result.code, result.out) == (2, "")
    error = json.loads(result.err)["error"]
    assert error["code"] == "query_refused"
    assert error["message"].startswith("Conversion Error: ")
    assert result.err.count("\n") == 1


def test_ctrl_c_ends_a_question_and_nothing_is_drawn_into_its_answer(path: Path) -> None:
    code = "from shoeproof.cli.main import run; run()"
    command = [sys.executable, "-c", code, "sql", ENDLESS, "--json", "--ledger", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        # DuckDB draws its bar after two seconds.
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(6)
        process.send_signal(signal.SIGINT)
        try:
            out, errors = process.communicate(timeout=600)
        finally:
            process.kill()
    assert process.returncode == 130
    assert out == b""
    assert b"Traceback" not in errors
