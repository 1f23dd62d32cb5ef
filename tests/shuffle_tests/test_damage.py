"""Kept counts that are damaged, or made by hand: told in one line, and made anew by --rebuild."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import pytest

from shoeproof.audit_reports.errors import LeafRefused, ProjectionUnavailable
from shoeproof.audit_reports.rtp_report.from_ledger import ReportRequest, report_on
from shoeproof.audit_reports.shuffle_tests import saved_counts as kept
from shoeproof.audit_reports.shuffle_tests.battery import run_shuffle_tests
from shoeproof.audit_reports.tables.read_model import DIRECTORY
from shoeproof.audit_reports.tables.views import open_tables
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import RoundOpened
from shoeproof.ledger.signing import sign_checkpoint
from tests.ledger.helpers import tampering
from tests.shuffle_tests.test_ledger import dealt, seeds

State = dict[str, Any]


@pytest.fixture
def counted(ledger: Ledger) -> Ledger:
    """A ledger whose shuffles were counted, with a round that is open before others."""
    first, *_ = dealt(ledger, "zappit", seeds(2))
    opened = ledger.events(first)[0].event.data
    assert isinstance(opened, RoundOpened)
    ledger.append(("01a22c2b-d0a9-76f2-b970-ac9da6320ff7", opened))
    dealt(ledger, "nba", seeds(5)[2:])
    run_shuffle_tests(ledger)
    return ledger


def held(ledger: Ledger) -> Path:
    assert ledger.path is not None
    return ledger.path / DIRECTORY / kept.FILE


def refused(ledger: Ledger) -> None:
    with pytest.raises(ProjectionUnavailable, match="run this again with --rebuild") as told:
        run_shuffle_tests(ledger)
    assert "\n" not in str(told.value)
    assert run_shuffle_tests(ledger, rebuild=True) == run_shuffle_tests(ledger)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE counts SET counts = ''::BLOB",
        "UPDATE counts SET counts = 'no MessagePack'::BLOB",
        "UPDATE counts SET counts = counts[:100]",
        "UPDATE noted SET noted = '\\x93'::BLOB",
        "DELETE FROM counts",
        "DELETE FROM noted",
        "INSERT INTO counts FROM counts",
        "INSERT INTO noted FROM noted",
        "DROP TABLE counts",
        "DROP TABLE noted; CREATE TABLE noted (noted VARCHAR); INSERT INTO noted VALUES ('x')",
        "UPDATE projected SET peaks = ['zz']",
        "UPDATE projected SET peaks = peaks[1:1]",
        "UPDATE projected SET covered = -1",
        "UPDATE projected SET size = -size",
        "ALTER TABLE projected ADD COLUMN more INTEGER",
    ],
)
def test_altered_tables_are_told_of(counted: Ledger, statement: str) -> None:
    with duckdb.connect(str(held(counted))) as database:
        database.execute(statement)
    refused(counted)


def of_game(state: State, what: str) -> Any:
    """The counts of one game: its fields by name."""
    return next(iter(state["counts"][what].values()))


def first_waiting(state: State) -> Any:
    return next(each for each in state["order"]["waiting"].values() if each["counted"])


def first_open(state: State) -> Any:
    return next(iter(state["open_rounds"]["by_stream"].values()))


ALTERED: dict[str, Callable[[State], object]] = {
    "rounds more": lambda state: state["counts"].update(rounds=99),
    "shoes more": lambda state: of_game(state, "shoes").update(shoes=99),
    "decks": lambda state: of_game(state, "shoes").update(decks=1),
    "no rules": lambda state: state["counts"]["shoes"].update(
        {"ab" * 32: state["counts"]["shoes"].popitem()[1]}
    ),
    "sums": lambda state: of_game(state, "shoes")["sums"].pop("overlap"),
    "shape": lambda state: of_game(state, "shoes")["collected"].__setitem__(1, [1, 417]),
    "short": lambda state: of_game(state, "shoes")["collected"].__setitem__(1, [9000]),
    "floats": lambda state: of_game(state, "shoes")["collected"].__setitem__(0, "<f8"),
    "objects": lambda state: of_game(state, "shoes")["first_two"].__setitem__(0, "|O"),
    "no type": lambda state: of_game(state, "shoes")["first_two"].__setitem__(0, "what"),
    "no array": lambda state: of_game(state, "shoes").update(by_place=7),
    "an array short": lambda state: of_game(state, "shoes")["by_place"].pop(),
    "deals": lambda state: of_game(state, "deals").update(deals=98),
    "no number": lambda state: of_game(state, "deals").update(products=float("nan")),
    "a card": lambda state: of_game(state, "deals")["last"].update(first=52),
    "an age": lambda state: state["counts"]["ages"].update(old=1),
    "a shoe that waits": lambda state: first_waiting(state)["counted"]["shoe"].__setitem__(
        2, b"\0" * len(first_waiting(state)["counted"]["shoe"][2])
    ),
    "whose rules": lambda state: first_waiting(state)["counted"].update(rules_digest="x"),
    "the open round": lambda state: state["open_rounds"]["by_stream"].clear(),
    "its leaf": lambda state: first_open(state).update(first_leaf=-1),
}


@pytest.mark.parametrize("altered", ALTERED)
def test_counts_that_do_not_hang_together_are_told_of(counted: Ledger, altered: str) -> None:
    with duckdb.connect(str(held(counted))) as database:
        ((data,),) = database.execute("FROM counts").fetchall()
        state = msgspec.msgpack.decode(data)
        ALTERED[altered](state)
        database.execute("UPDATE counts SET counts = ?", [msgspec.msgpack.encode(state)])
    refused(counted)


def test_a_file_that_is_no_database_is_told_of(counted: Ledger) -> None:
    held(counted).write_bytes(held(counted).read_bytes()[:20_000])
    refused(counted)


def test_counts_of_more_leaves_stay_as_they_are(counted: Ledger) -> None:
    size = counted.size()
    before = run_shuffle_tests(counted)
    dealt(counted, "zero", seeds(8)[5:])
    after = run_shuffle_tests(counted)
    bytes_after = held(counted).read_bytes()
    assert run_shuffle_tests(counted, size) == before
    assert held(counted).read_bytes() == bytes_after
    assert run_shuffle_tests(counted) == after


def test_what_is_left_of_a_ledger_whose_tail_is_gone_is_counted_when_asked(
    counted: Ledger, path: Path
) -> None:
    sign_checkpoint(counted)
    left = counted.size() - 1
    counted.close()
    with tampering(path) as connection:
        connection.execute("DELETE FROM leaves WHERE leaf_index = ?", (left,))
    with Ledger.open(path) as opened:
        with pytest.raises(LeafRefused, match="tail is gone"):
            run_shuffle_tests(opened)
        with open_tables(opened, verified_only=True) as tables:
            report = report_on([opened], tables, ReportRequest())
        assert report.objection is not None
        assert "tail is gone" in report.objection
        assert report.shuffle is not None
        assert report.shuffle.shoes == run_shuffle_tests(opened, left).shoes == 5
