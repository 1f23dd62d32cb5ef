"""`fault` and `fault remedy`: what they print, write and refuse, and how they end."""

import csv
import json
import re
import shlex
import shutil
from base64 import b64encode
from pathlib import Path
from typing import NamedTuple

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoeproof.ledger import Ledger
from shoeproof.ledger.rotation import new_key
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.replay.rounds.catalogue import add_published_games
from tests.cli.conftest import Result, Shoeproof
from tests.cli.test_bad_input import told
from tests.faults.floor import Floor, both_ways, new_floor
from tests.ledger.helpers import alter


class Place(NamedTuple):
    """A ledger of which one build pays wrongly in two currencies, and the rigging's account."""

    path: Path
    floor: Floor
    size: int
    checkpoint: Path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("fault")
    path, kept = folder / "ledger", folder / "kept.checkpoint"
    with Ledger.init(path, "faults.example/cli") as ledger:
        add_published_games(ledger)
        for name in ("ann", "bob"):
            new_key(ledger, name, ["staff"])
        floor = new_floor(ledger)
        floor.play(10, build="1.4.1")
        floor.play(10, rig=both_ways, build="1.4.2", table="t-2", least_short=1)
        floor.play(10, rig=both_ways, build="1.4.2", table="=1+1", currency="GBP", least_short=1)
        size = ledger.size()
        kept.write_bytes(sign_checkpoint(ledger))
    return Place(path, floor, size, kept)


@pytest.fixture
def place(made: Place, tmp_path: Path) -> Place:
    """A copy to write into."""
    return made._replace(path=Path(shutil.copytree(made.path, tmp_path / "ledger")))


@pytest.fixture
def call(shoeproof: Shoeproof, place: Place) -> Shoeproof:
    def fault(*words: object) -> Result:
        return shoeproof("fault", *words, "--ledger", place.path)

    return fault


def owed(place: Place, currency: str) -> int:
    return sum(each.short_minor for each in place.floor.booked if each.currency == currency)


def test_a_fault_is_shown_in_eighty_columns(
    call: Shoeproof, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = call("1.4.2")
    assert result.code == 1, result.err
    rounds = {each.round for each in place.floor.booked if each.build == "1.4.2"}
    assert result.out.startswith(f"Build 1.4.2: {len(rounds)} rounds of 5 players")
    for unit in ("EUR", "GBP"):
        row = next(line for line in result.out.splitlines() if re.match(f"{unit} +[0-9]", line))
        assert row.split()[-1] == f"{owed(place, unit) / 100:.2f}"
    commands = [line for line in result.out.splitlines() if "--ledger" in line]
    assert f"shoeproof fault build:1.4.2 --size {place.size}" in commands[0]
    others = [line for line in result.out.splitlines() if line not in commands]
    assert max(map(len, others)) <= 80


def test_a_build_without_a_fault_ends_in_nought(call: Shoeproof) -> None:
    result = call("1.4.1")
    assert result.code == 0, result.err
    assert "nothing is wrong in them" in result.out
    assert call("show", "build:1.4.1").out == result.out


def test_json_is_the_report(call: Shoeproof, place: Place) -> None:
    report = json.loads(call("build:1.4.2", "--json").out)
    money = {row["currency"]: row["owed_minor"] for row in report["money"]}
    assert money == {unit: owed(place, unit) for unit in ("EUR", "GBP")}


def test_page_and_tables_say_how_to_repeat_them_and_are_the_same_bytes_again(
    call: Shoeproof, place: Place, tmp_path: Path
) -> None:
    forms = ("html", "csv", "json")
    names = [[tmp_path / f"{name}.{form}" for form in forms] for name in ("a", "b")]
    first = [word for file in names[0] for word in ("-o", file)]
    again = [word for file in names[1] for word in ("-o", file)]
    assert call("1.4.2", *first).code == 1
    for key in ("ann", "bob"):
        call("remedy", "1.4.2", "--key", key, "--cap", "EUR=999", "--cap", "GBP=999", "--yes")
    assert call("1.4.2", *again, "--size", place.size).code == 1
    for one, other in zip(*names, strict=True):
        assert one.read_bytes() == other.read_bytes()
    page = names[0][0].read_text()
    root = json.loads(names[0][2].read_text())["basis"]["root"]
    assert f"shoeproof fault build:1.4.2 --size {place.size}" in page
    assert root in page
    assert "licence condition 15.2.1" in page
    assert "A.6.4(a)" in page


def test_the_table_adds_up_and_no_name_is_a_formula(
    call: Shoeproof, place: Place, tmp_path: Path
) -> None:
    file = tmp_path / "fault.csv"
    call("1.4.2", "-o", file)
    with open(file, newline="") as opened:
        rows = list(csv.DictReader(opened))
    for unit in ("EUR", "GBP"):
        for kind in ("in all", "player", "round"):
            mine = [each for each in rows if (each["rows"], each["currency"]) == (kind, unit)]
            assert sum(int(each["owed_minor"]) for each in mine) == owed(place, unit)
    assert "'=1+1" in {each["table"] for each in rows}
    assert not any(cell.startswith("=") for each in rows for cell in each.values())


def test_a_kept_checkpoint_is_counted_and_held_to(call: Shoeproof, place: Place) -> None:
    with Ledger.open(place.path) as ledger:
        new_floor(ledger).play(3, build="1.4.1")
    report = json.loads(call("1.4.2", "--checkpoint", place.checkpoint, "--json").out)
    assert (report["basis"]["size"], report["basis"]["is_held"]) == (place.size, True)


def test_a_checkpoint_of_another_history_is_not_counted(
    call: Shoeproof, place: Place, tmp_path: Path
) -> None:
    """Of two copies that went on apart, each refuses what the other signed."""
    other = Path(shutil.copytree(place.path, tmp_path / "other"))
    for path, rounds in ((other, 2), (place.path, 4)):
        with Ledger.open(path) as ledger:
            new_floor(ledger).play(rounds, build="1.4.1")
    with Ledger.open(other) as ledger:
        note = tmp_path / "other.checkpoint"
        note.write_bytes(sign_checkpoint(ledger))
    told(call("1.4.2", "--checkpoint", note), 3, "not those the checkpoint was signed for")


def test_what_is_no_checkpoint_of_the_ledger_is_refused(
    call: Shoeproof, place: Place, tmp_path: Path
) -> None:
    note = tmp_path / "made-up.checkpoint"
    note.write_bytes(place.checkpoint.read_bytes().replace(b"faults.example", b"others.example"))
    assert call("1.4.2", "--checkpoint", note).code == 3
    note.write_text("no note at all")
    assert call("1.4.2", "--checkpoint", note).code == 3
    assert call("1.4.2", "--checkpoint", tmp_path / "nowhere").code == 2


@pytest.mark.parametrize("name", ["a table", "t\u202e1", "t'$(id)", "remedy", "-t"])
def test_any_name_is_shown_harmlessly_and_can_be_asked_for(
    call: Shoeproof, place: Place, shoeproof: Shoeproof, name: str
) -> None:
    with Ledger.open(place.path) as ledger:
        new_floor(ledger).play(3, rig=both_ways, table=name)
    result = call("show", f"table:{name}")
    assert result.out.startswith("Table "), result.err
    assert "\u202e" not in result.out
    if name.isascii():
        command = next(line for line in result.out.splitlines() if "--size" in line)
        assert shoeproof(*shlex.split(command)[1:]).out == result.out


def test_an_altered_ledger_is_not_counted(call: Shoeproof, place: Place) -> None:
    with Ledger.open(place.path) as ledger:
        leaf = next(each for each in ledger.leaves() if each.topic == "BetSettled")
    alter(place.path, leaf.leaf_index, b'"stake_minor":1', b'"stake_minor":2')
    told(call("1.4.2"), 3, f"leaf {leaf.leaf_index} ", "verify the ledger")


def test_another_operators_key_is_refused(call: Shoeproof) -> None:
    other = b64encode(Ed25519PrivateKey.generate().public_key().public_bytes_raw()).decode()
    told(call("1.4.2", "--public-key", other), 3, "not the one given")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("9.9.9",), "no finding, build, rules or table '9.9.9'"),
        (("table:",), "is not a fault"),
        (("finding:nothing",), "there is no finding 'nothing'"),
        (("1.4.2", "--size", "999999999"), "the ledger has"),
        (("1.4.2", "--from", "yesterday"), "is not a valid time"),
        (("1.4.2", "--from", "2026-01-01"), "has no time zone"),
        (
            ("1.4.2", "--from", "2026-01-02T00:00Z", "--to", "2026-01-01T00:00Z"),
            "--to must be after --from",
        ),
        (("1.4.2", "-o", "page.doc"), "has no ending that names a format"),
        (("remedy", "1.4.2", "--yes"), "give --key"),
        (("remedy", "1.4.2", "--key", "ann", "--yes"), "give a cap"),
        (("remedy", "1.4.2", "--key", "ann", "--yes", "--cap", "EUR"), "'EUR' is not a valid cap"),
        (
            ("remedy", "1.4.2", "--key", "ann", "--yes", "--cap", "EUR=x"),
            "'x' is not a valid amount",
        ),
        (("remedy", "1.4.2", "--key", "ann", "--yes", "--cap", "EUR=0.001"), "decimal places"),
        (
            ("remedy", "1.4.2", "--key", "ann", "--yes", "--cap", "EUR=0.01", "--cap", "GBP=999"),
            "above the cap of 0.01 EUR",
        ),
        (("remedy", "1.4.2", "--key", "nobody", "--yes"), "there is no key 'nobody'"),
    ],
)
def test_what_cannot_be_is_said_in_one_line_and_nothing_is_recorded(
    call: Shoeproof, place: Place, words: tuple[str, ...], message: str
) -> None:
    told(call(*words), 2, message)
    with Ledger.open(place.path) as ledger:
        assert ledger.size() == place.size


def test_a_checkpoint_and_a_size_are_not_both_given(call: Shoeproof, place: Place) -> None:
    words = ("1.4.2", "--size", 3, "--checkpoint", place.checkpoint)
    told(call(*words), 2, "not both")


# Decided in bulk


def test_a_list_records_nothing_and_prints_the_command_that_does(
    call: Shoeproof, place: Place, shoeproof: Shoeproof
) -> None:
    result = call("remedy", "1.4.2")
    assert result.code == 1, result.err
    assert "nothing was recorded" in result.out
    with Ledger.open(place.path) as ledger:
        assert ledger.size() == place.size
    command = next(line for line in result.out.splitlines() if "--yes" in line)
    words = command.split()[1:]
    assert re.search(f"--cap EUR={owed(place, 'EUR') / 100:.2f} ", command)
    first = shoeproof(*["ann" if word == "NAME" else word for word in words])
    assert (first.code, "Signed first" in first.out) == (1, True), first.err
    second = shoeproof(*["bob" if word == "NAME" else word for word in words])
    assert (second.code, "Confirmed and paid" in second.out) == (0, True), second.err
    after = json.loads(call("1.4.2", "--json").out)
    for row in after["money"]:
        assert row["put_right_minor"] == row["underpaid_minor"] == owed(place, row["currency"])
        assert row["owed_minor"] == 0
    assert call("1.4.2").code == 0
    assert "Nothing is owed" in call("remedy", "1.4.2").out


def test_what_was_decided_is_told_as_json(call: Shoeproof) -> None:
    caps = ("--cap", "EUR=999", "--cap", "GBP=999", "--yes", "--json", "--key")
    listed = json.loads(call("remedy", "1.4.2", "--json").out)
    assert listed["recorded"] is False
    first = json.loads(call("remedy", "1.4.2", *caps, "ann").out)
    assert len(first["signed"]) == len(listed["rounds"])
    second = json.loads(call("remedy", "1.4.2", *caps, "bob").out)
    assert (second["signed"], second["failed"], second["left"]) == ([], [], [])
    paid = {each["round"]: each["amount_minor"] for each in second["paid"]}
    assert paid == {each["round"]: each["amount_minor"] for each in listed["rounds"]}
