"""Several ledgers in `sql`, `rtp` and `report rtp`: counted as one, named apart, each once."""

import json
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.replay.live.players import make_player
from shoeproof.replay.live.simulation import simulate
from shoeproof.replay.live.table import TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from tests.audit_reports.helpers import play, simple
from tests.cli.conftest import LIMITS, Result, Shoeproof
from tests.ledger.helpers import alter

ROUNDS = {"a": 40, "b year": 25}
SUMS = (
    "SELECT count(*) AS rounds, sum(paid_minor) AS paid, sum(staked_minor) AS staked "
    "FROM round_bets WHERE state = 'closed'"
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two ledgers with the same tables and players on the same day, the second uncovered."""
    paths = []
    for number, (name, rounds) in enumerate(ROUNDS.items()):
        path = tmp_path_factory.mktemp("several") / name
        with Ledger.init(path, f"test.example/{name.partition(' ')[0]}") as ledger:
            add_published_games(ledger)
            settings = TableSettings(limits=LIMITS, currency="EUR", table="t-1", build="1.4")
            rules, player = current_rules(ledger, "zappit"), make_player("basic", number)
            simulate(ledger, rules, settings, {"s1": {"main": 1000}}, player, rounds)
            if not number:
                sign_checkpoint(ledger)
        paths.append(path)
    return paths


def ledgers(paths: list[Path]) -> list[object]:
    return [word for path in paths for word in ("--ledger", path)]


def rows(result: Result) -> Any:
    assert result.code == 0, result.err
    return json.loads(result.out)


def test_sql_counts_them_as_one_and_names_them_apart(
    shoeproof: Shoeproof, made: list[Path]
) -> None:
    apart = [rows(shoeproof("sql", SUMS, "--json", "--ledger", path))[0] for path in made]
    (found,) = rows(shoeproof("sql", SUMS, "--json", *ledgers(made)))
    assert found == {name: sum(each[name] for each in apart) for name in found}
    by_ledger = "SELECT ledger, count(*) AS n FROM rounds GROUP BY 1 ORDER BY 1"
    assert rows(shoeproof("sql", by_ledger, "--json", *ledgers(made))) == [
        {"ledger": "test.example/a", "n": 40},
        {"ledger": "test.example/b", "n": 25},
    ]


def test_rtp_sums_them_and_shows_each_apart(shoeproof: Shoeproof, made: list[Path]) -> None:
    alone = [main_of(rows(shoeproof("rtp", "--json", "--ledger", path))) for path in made]
    together = rows(shoeproof("rtp", "--json", *ledgers(made)))
    whole = main_of(together)["row"]
    for name in ("rounds", "initial_minor", "staked_minor", "paid_minor"):
        assert whole[name] == sum(each["row"][name] for each in alone)
    slices = together["games"][0]["slices"]["ledger"]
    assert {each["slice"]["ledger"]: each["paid_minor"] for each in slices} == {
        f"test.example/{name}": each["row"]["paid_minor"]
        for name, each in zip("ab", alone, strict=True)
    }
    shown = shoeproof("rtp", *ledgers(made))
    assert "test.example/b" in shown.out
    part = rows(shoeproof("rtp", "--json", "--from", "2020-01-01T00:30Z", "--zone",
                          "Asia/Kolkata", "--by", "ledger,day", *ledgers(made)))  # fmt: skip
    by_day = part["games"][0]["slices"]["ledger,day"]
    assert sorted(each["rounds"] for each in by_day) == [25, 40]


def main_of(judged: Any) -> Any:
    (game,) = judged["games"]
    (bet,) = [each for each in game["bets"] if each["row"]["bet"] == "main"]
    return bet


def test_a_report_names_every_ledger_with_its_size_checkpoint_and_key(
    shoeproof: Shoeproof, made: list[Path], tmp_path: Path
) -> None:
    file, page = tmp_path / "r.json", tmp_path / "r.html"
    for output in (file, page):
        result = shoeproof("report", "rtp", "-o", output, *ledgers(made))
        assert result.code == 0, result.out + result.err
    said = json.loads(file.read_bytes())["provenance"]
    for path, counted in zip(made, said["ledgers"], strict=True):
        with Ledger.open(path) as ledger:
            assert counted["ledger"] == ledger.origin
            assert counted["size"] == ledger.size()
            assert counted["operator_key"] == ledger.public_keys()["operator"]
            assert counted["operator_key"] in page.read_text()
    assert said["size"] == sum(each["size"] for each in said["ledgers"])
    covered = [each["checkpoint_size"] for each in said["ledgers"]]
    assert covered == [said["ledgers"][0]["size"], None]
    assert said["ledgers"][0]["checkpoint"].splitlines()[0] == "test.example/a"
    shoes = json.loads(file.read_bytes())["shuffle"]["shoes"]
    assert shoes == sum(ROUNDS.values())
    assert "those of each ledger are counted on" in page.read_text()


@pytest.mark.parametrize("command", [["sql", SUMS], ["rtp"], ["report", "rtp", "-o", "x.html"]])
def test_one_ledger_twice_or_one_round_in_two_is_refused_in_a_line(
    shoeproof: Shoeproof, made: list[Path], tmp_path: Path, command: list[str]
) -> None:
    copied = tmp_path / "copy"
    copytree(made[0], copied)
    for pair in ([made[0], made[0]], [made[0], copied]):
        result = shoeproof(*command, *ledgers(pair))
        assert result.code == 2
        assert result.err.count("\n") == 1
        assert "test.example/a is given twice" in result.err


def test_a_round_in_two_ledgers_is_refused_in_a_line(shoeproof: Shoeproof, tmp_path: Path) -> None:
    paths = [tmp_path / "one", tmp_path / "two"]
    with (
        Ledger.init(paths[0], "test.example/one") as one,
        Ledger.init(paths[1], "test.example/two") as two,
    ):
        add_published_games(one)
        add_published_games(two)
        round_id = play(one, simple(200))
        two.append(*((round_id, each.event.data) for each in one.events(round_id)))
    for command in (["sql", SUMS], ["rtp"]):
        result = shoeproof(*command, *ledgers(paths))
        assert result.code != 0
        assert f"the round {round_id} stands in more than one" in result.err
        assert result.err.count("\n") == 1


@pytest.mark.parametrize("option", ["--raise", "--watch"])
def test_what_goes_with_one_ledger_alone_is_refused_of_several(
    shoeproof: Shoeproof, made: list[Path], option: str
) -> None:
    result = shoeproof("rtp", option, *ledgers(made))
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert f"{option} goes with one ledger, and 2 are given" in result.err


def test_each_of_several_that_fails_verification_is_named(
    shoeproof: Shoeproof, made: list[Path], tmp_path: Path
) -> None:
    altered = tmp_path / "altered"
    copytree(made[1], altered)
    with Ledger.open(altered) as ledger:
        last = ledger.size() - 1
    alter(altered, last, b'"v":1', b'"v":2')
    refused = shoeproof("rtp", "--ledger", made[0], "--ledger", altered)
    assert refused.code == 3
    result = shoeproof("rtp", "--verified-only", "--ledger", made[0], "--ledger", altered)
    assert result.code == 1
    assert f"The ledger test.example/b fails verification at leaf {last}" in result.out


def test_the_environment_names_one_whatever_is_in_its_name(
    shoeproof: Shoeproof, made: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOEPROOF_LEDGER", str(made[1]))
    assert " " in made[1].name
    assert rows(shoeproof("sql", SUMS, "--json"))[0]["rounds"] == 25
