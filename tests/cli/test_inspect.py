"""`inspect`: one key, one verdict, on one ledger or several."""

import csv
import json
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from shoeproof.audit_reports.errors import ProjectionUnavailable
from shoeproof.audit_reports.inspection import run
from shoeproof.audit_reports.rtp_report.figures import Scope
from shoeproof.audit_reports.rtp_report.from_ledger import judged_of
from shoeproof.audit_reports.shuffle_tests.battery import run_shuffle_tests
from shoeproof.audit_reports.statistics.verdict import NO_EVIDENCE
from shoeproof.audit_reports.tables.views import open_tables
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import BetSettled, DealRequested, DecisionMade, Mode
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.replay.live.players import make_player
from shoeproof.replay.live.simulation import simulate
from shoeproof.replay.live.table import TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from tests.audit_reports.helpers import begun, play, settled, simple
from tests.cli.conftest import LIMITS, Shoeproof
from tests.ledger.helpers import alter

INCONCLUSIVE = 4
MANY = 1_600


def key_of(path: Path) -> str:
    with Ledger.open(path) as ledger:
        return ledger.public_keys()["operator"]


def simulated(path: Path, rounds: int, game: str = "zappit", mode: Mode = "real") -> Path:
    with Ledger.init(path, f"test.example/{path.name}") as ledger:
        add_published_games(ledger)
        go_on(ledger, rounds, game, mode)
        sign_checkpoint(ledger)
    return path


def go_on(ledger: Ledger, rounds: int, game: str = "zappit", mode: Mode = "real") -> None:
    settings = TableSettings(limits=LIMITS, currency="EUR", table="t-1", build="1.4", mode=mode)
    rules, player = current_rules(ledger, game), make_player("basic", 5)
    simulate(ledger, rules, settings, {"s1": {"main": 1000}}, player, rounds)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rounds enough to judge their cards by, with no luck that is to be watched.

    Of honest ledgers one in some dozens has some, and one in a hundred a striking shuffle.
    """
    for _ in range(10):
        path = simulated(tmp_path_factory.mktemp("many") / "many", MANY)
        with Ledger.open(path) as ledger, open_tables(ledger) as tables:
            (game,) = judged_of([ledger], tables, Scope()).games
            if game.word == NO_EVIDENCE and not run_shuffle_tests(ledger).rejected:
                return path
    raise AssertionError("ten honest ledgers in a row are striking")


def report(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "inspection.json").read_bytes())
    return found


def test_an_honest_ledger_is_sound(shoeproof: Shoeproof, many: Path, tmp_path: Path) -> None:
    folder = tmp_path / "report"
    result = shoeproof("inspect", "--public-key", key_of(many), "--ledger", many, "-o", folder)
    assert result.code == 0, result.out
    assert result.out.splitlines()[0] == "INSPECTION: SOUND"
    found = report(folder)
    (examined,) = found["examined"]
    assert (examined["rounds"], examined["builds"]) == (MANY, ["1.4"])
    assert examined["covered"] == examined["size"]
    (main,) = [each for each in found["returns"] if each["bet"] == "main"]
    assert main["rounds"] == MANY
    assert 0 < main["detectable"] < 1
    assert found["found"] == found["unjudged"] == []
    files = {each.name for each in folder.iterdir()}
    assert files - {"inspection.pdf"} == {"inspection.html", "inspection.json", "inspection.txt"}
    assert (folder / "inspection.txt").read_text() in result.out
    page = (folder / "inspection.html").read_text()
    assert '<span class="word good">sound</span>' in page
    assert key_of(many) in found["repeat"]["command"]


def test_too_few_rounds_are_inconclusive_and_not_sound(
    shoeproof: Shoeproof, played: Path, tmp_path: Path
) -> None:
    result = shoeproof("inspect", "--public-key", key_of(played), "--ledger", played,
                       "-o", tmp_path)  # fmt: skip
    assert result.code == INCONCLUSIVE
    assert result.out.splitlines()[0] == "INSPECTION: INCONCLUSIVE"
    assert any("too few rounds" in each for each in report(tmp_path)["unjudged"])


def test_a_forged_ledger_is_untrusted_and_nothing_of_it_is_counted(
    shoeproof: Shoeproof, played: Path, tmp_path: Path
) -> None:
    forged = copytree(played, tmp_path / "forged")
    with Ledger.open(forged) as ledger:
        paid = [leaf.leaf_index for leaf in ledger.leaves() if leaf.topic == "BetSettled"]
    alter(forged, paid[-1], b'"paid_minor":', b'"paid_minoR":')
    result = shoeproof("inspect", "--public-key", key_of(played), "--ledger", forged,
                       "-o", tmp_path)  # fmt: skip
    assert result.code == 3
    assert result.out.splitlines()[0] == "INSPECTION: UNTRUSTED"
    found = report(tmp_path)
    assert found["found"][0]["weight"] == "forged"
    assert found["found"][0]["places"][0]["leaf_index"] == paid[-1]
    assert found["returns"] == []


def test_a_ledger_of_another_key_is_untrusted(
    shoeproof: Shoeproof, played: Path, many: Path, tmp_path: Path
) -> None:
    result = shoeproof("inspect", "--public-key", key_of(many), "--ledger", played, "-o", tmp_path)
    assert (result.code, result.out.splitlines()[0]) == (3, "INSPECTION: UNTRUSTED")


def test_a_checkpoint_of_another_history_is_untrusted(
    shoeproof: Shoeproof, many: Path, tmp_path: Path
) -> None:
    other = copytree(many, tmp_path / "other")
    with Ledger.open(other) as ledger:
        play(ledger, simple(0))
        kept = sign_checkpoint(ledger)
    note = tmp_path / "kept"
    note.write_bytes(kept)
    result = shoeproof("inspect", "--public-key", key_of(many), "--ledger", many,
                       "--checkpoint", note, "-o", tmp_path / "out")  # fmt: skip
    assert (result.code, result.out.splitlines()[0]) == (3, "INSPECTION: UNTRUSTED")


def test_a_payment_beside_the_rules_is_a_finding(shoeproof: Shoeproof, tmp_path: Path) -> None:
    path = tmp_path / "overpaid"
    with Ledger.init(path, "test.example/overpaid") as ledger:
        add_published_games(ledger)
        play(ledger, [*begun({"s1": {"main": 100}}), settled("s1", 100, 9_900)])
    result = shoeproof("inspect", "--public-key", key_of(path), "--ledger", path, "-o", tmp_path)
    assert (result.code, result.out.splitlines()[0]) == (1, "INSPECTION: FINDINGS")
    assert {each["weight"] for each in report(tmp_path)["found"]} == {"wrong"}


def test_play_for_fun_alone_is_not_sound(shoeproof: Shoeproof, tmp_path: Path) -> None:
    path = simulated(tmp_path / "fun", 30, mode="fun")
    shoeproof("inspect", "--public-key", key_of(path), "--ledger", path, "-o", tmp_path)
    found = report(tmp_path)
    assert (found["word"], found["returns"]) == ("inconclusive", [])
    assert any("no round for real money" in each for each in found["unjudged"])


def test_a_failure_of_this_side_says_nothing_of_the_ledger(
    shoeproof: Shoeproof, played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise ProjectionUnavailable("No space left on device: make room on the disk")

    monkeypatch.setattr(run, "open_tables", full)
    result = shoeproof("inspect", "--public-key", key_of(played), "--ledger", played,
                       "-o", tmp_path)  # fmt: skip
    assert (result.code, "make room on the disk" in result.err) == (3, True)
    assert not (tmp_path / "inspection.json").exists()


def test_a_folder_that_lies_there_is_left_alone(
    shoeproof: Shoeproof, played: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "work" / "mine.txt"
    mine.parent.mkdir()
    mine.write_text("precious")
    shoeproof("inspect", "--public-key", key_of(played), "--ledger", played, "-o", tmp_path)
    assert mine.read_text() == "precious"


# Several ledgers


def test_several_ledgers_are_counted_as_one_and_named_apart(
    shoeproof: Shoeproof, many: Path, tmp_path: Path
) -> None:
    more = simulated(tmp_path / "more", 100)
    # Each ledger has a key of its own, in their order. What is to be watched is chance's affair.
    result = shoeproof(
        "inspect", "--public-key", key_of(many), "--public-key", key_of(more),
        "--ledger", many, "--ledger", more, "-o", tmp_path / "out",
    )  # fmt: skip
    assert result.code in (0, INCONCLUSIVE), result.out
    found = report(tmp_path / "out")
    names = [(each["ledger"], each["rounds"]) for each in found["examined"]]
    assert names == [("test.example/many", MANY), ("test.example/more", 100)]
    (main,) = [each for each in found["returns"] if each["bet"] == "main"]
    assert main["rounds"] == MANY + 100


def test_a_ledger_given_twice_is_refused(
    shoeproof: Shoeproof, played: Path, tmp_path: Path
) -> None:
    copy, key = copytree(played, tmp_path / "copy"), key_of(played)
    result = shoeproof("inspect", "--public-key", key, "--ledger", played, "--ledger", copy,
                       "-o", tmp_path)  # fmt: skip
    assert result.code == 2
    assert "is given twice" in result.err


# The wallet's statement


def stated(path: Path, to: Path) -> list[list[str]]:
    """A statement of all that a ledger's rounds moved, worked out from their events."""
    rows = []
    with Ledger.open(path) as ledger:
        for leaf in ledger.leaves():
            if leaf.stream.count("-") != 4:
                continue
            event = ledger.events(leaf.stream)[leaf.version - 1].event
            minor = 0
            match event.data:
                case DealRequested(stakes=stakes):
                    minor = -sum(sum(bets.values()) for bets in stakes.values())
                case DecisionMade(added_stake_minor=added):
                    minor = -added
                case BetSettled(paid_minor=paid):
                    minor = paid
            if minor:
                rows.append([event.at, f"{minor / 100:.2f}"])
    write(to, rows)
    return rows


def write(to: Path, rows: list[list[str]]) -> None:
    with to.open("w", newline="") as file:
        csv.writer(file).writerows([["time", "amount"], *rows])


def test_a_wallet_s_statement_is_held_to_every_movement(
    shoeproof: Shoeproof, tmp_path: Path
) -> None:
    path = simulated(tmp_path / "few", 12)
    file = tmp_path / "wallet.csv"
    rows = stated(path, file)

    def inspected() -> dict[str, Any]:
        shoeproof("inspect", "--public-key", key_of(path), "--ledger", path,
                  "--statement", file, "-o", tmp_path / "out")  # fmt: skip
        return report(tmp_path / "out")

    found = inspected()
    assert found["statement"]["agreeing"] == found["statement"]["lines"] == len(rows)
    assert found["found"] == []
    write(file, [*rows[:3], *rows[4:], [rows[-1][0], "-123.45"]])
    found = inspected()
    assert found["word"] == "findings"
    assert {each["says"] for each in found["found"]} == {
        "1 movement is on the statement and in no round",
        "1 movement is in the ledger and not on the statement",
    }


def test_a_statement_of_a_part_leaves_the_rest_unjudged(
    shoeproof: Shoeproof, tmp_path: Path
) -> None:
    path = simulated(tmp_path / "few", 12)
    file = tmp_path / "wallet.csv"
    part = stated(path, file)
    with Ledger.open(path) as ledger:
        go_on(ledger, 3)
    rows = stated(path, tmp_path / "whole.csv")
    shoeproof("inspect", "--public-key", key_of(path), "--ledger", path,
              "--statement", file, "-o", tmp_path / "out")  # fmt: skip
    found = report(tmp_path / "out")
    assert found["statement"]["outside"] == len(rows) - len(part) > 0
    assert any("were not compared with anything" in each for each in found["unjudged"])


# Going on, and what cannot be


def test_an_inspection_that_was_stopped_goes_on(
    shoeproof: Shoeproof, many: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("inspect", "--public-key", key_of(many), "--ledger", many, "-o", tmp_path)

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(run, "run_shuffle_tests", stopped)
        assert shoeproof(*words).code != 0
    assert not (tmp_path / "inspection.json").exists()
    assert (tmp_path / run.WORK).is_dir()
    assert shoeproof(*words).code == 0
    assert not (tmp_path / run.WORK).exists()


def test_what_cannot_be_is_said_in_one_line(
    shoeproof: Shoeproof, played: Path, tmp_path: Path
) -> None:
    key = key_of(played)
    file = tmp_path / "file"
    file.write_text("amount\n1.00\n")
    for words, code, says in (
        (("--public-key", key, "-o", tmp_path / "a", "--ledger", tmp_path), 3, "is not a ledger"),
        (("--public-key", key, "-o", file, "--ledger", played), 2, "is not a folder"),
        (("--public-key", "nothing", "-o", tmp_path, "--ledger", played), 2, "neither a public"),
        (("--public-key", key, "-o", tmp_path, "--ledger", played, "--statement", file), 2,
         "no column 'time'"),
        (("--public-key", key, "-o", tmp_path, "--ledger", played, "--policy", file), 3,
         "policy"),
        (("--public-key", key, "-o", tmp_path, "--ledger", played, "--zone", "Mars/X"), 2,
         "not a valid time zone"),
        (("-o", tmp_path, "--ledger", played), 2, "--public-key"),
    ):  # fmt: skip
        result = shoeproof("inspect", *words)
        assert (result.code, says in result.err) == (code, True), result.err
