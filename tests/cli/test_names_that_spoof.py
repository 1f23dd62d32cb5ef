"""Names chosen to deceive, in every free text of a ledger: no screen, JSON or file obeys them."""

import json
from pathlib import Path

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.files.printable import printable
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.live.players import make_player
from shoeproof.replay.live.table import LiveTable, TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from tests.cli.conftest import Result, Shoeproof

EVIL = "=a\x1b[31m\x9b2J\u202egpj.\u2067\u200b\x85\r\tb"

chooses = make_player("random", 5)


def play_on(table: LiveTable, player: str) -> None:
    live = table.open_round(player, session=EVIL)
    live.lose_connection(note=EVIL)
    live.restore_connection(note=EVIL)
    live.deal({"s1": {"main": 1000}})
    while isinstance(live.due, Decide) and live.state is not None:
        hand = live.due.hand
        live.decide(hand, chooses(live.state, hand, live.offered))


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("evil") / "ledger"
    with Ledger.init(path, "test.example/evil") as ledger:
        add_published_games(ledger)
        settings = TableSettings(
            limits={"main": (1, 10_000)}, currency="EUR", operator=EVIL, table=EVIL, channel=EVIL,
            build=EVIL,
        )  # fmt: skip
        table = LiveTable(ledger, current_rules(ledger, "nba"), settings)
        for number in range(3):
            play_on(table, f"{EVIL}{number}")
    return path


def harmless(text: str) -> None:
    text = text.replace("\r\n", "\n")
    assert printable(text, "\n") == text


def ends_well(result: Result) -> Result:
    assert "Traceback" not in result.err
    assert result.code in (0, 1), result
    harmless(result.out)
    harmless(result.err)
    return result


ASKED = "SELECT player, table_name, channel, build, 1000 AS more, -1 AS less FROM rounds"
COMMANDS = [
    ("rounds",),
    ("rounds", "--open"),
    ("verify",),
    ("audit",),
    ("rtp",),
    ("rtp", "--by", "player"),
    ("rtp", "--by", "table"),
    ("sql", ASKED),
    ("sql", "--csv", ASKED),
    ("sql", "--checks"),
    ("dispute", "find", "--player", f"{EVIL}0", "--from", "2020-01-01T00:00Z"),
    ("fault", f"table:{EVIL}"),
    ("keys", "list"),
    ("wallet", "reconcile", "--statement", "{statement}"),
]  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:2]))
def test_screen(shoeproof: Shoeproof, evil: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    statement = tmp_path / "s.csv"
    statement.write_text(f"time,amount,reference\n2026-01-01T00:00:00Z,1.00,{EVIL[:-3]}\n")
    words = tuple(word.replace("{statement}", str(statement)) for word in words)
    ends_well(shoeproof(*words, "--ledger", evil))
    if words[0] not in ("wallet",) and "--csv" not in words:
        told = shoeproof(*words, "--json", "--ledger", evil)
        if "No such option" not in told.err:
            json.loads(ends_well(told).out)


def test_a_round_its_case_and_its_reports(shoeproof: Shoeproof, evil: Path, tmp_path: Path) -> None:
    with Ledger.open(evil) as ledger:
        round_id = ledger.rounds(limit=1)[0].round
    ends_well(shoeproof("replay", round_id, "--ledger", evil))
    json.loads(ends_well(shoeproof("replay", round_id, "--json", "--ledger", evil)).out)
    opening = ("open", round_id, "--claim", "fairness", "--note", EVIL)
    ends_well(shoeproof("dispute", *opening, "--ledger", evil))
    for words in (("assess", round_id), ("list", "--all")):
        ends_well(shoeproof("dispute", *words, "--ledger", evil))
        json.loads(ends_well(shoeproof("dispute", *words, "--json", "--ledger", evil)).out)
    for suffix in ("html", "txt", "json"):
        file = tmp_path / f"case.{suffix}"
        shoeproof("dispute", "report", round_id, "-o", file, "--ledger", evil)
        harmless(file.read_text(encoding="utf-8"))
    for suffix in ("html", "csv", "json"):
        file = tmp_path / f"rtp.{suffix}"
        ends_well(shoeproof("report", "rtp", "--by", "player", "-o", file, "--ledger", evil))
        harmless(file.read_text(encoding="utf-8"))
    bundle = tmp_path / "bundle.json"
    ends_well(shoeproof("bundle", round_id, "-o", bundle, "--ledger", evil))
    harmless(bundle.read_text(encoding="utf-8"))
    ends_well(shoeproof("bundle", "verify", bundle, "--public-key", key_of(evil)))


def key_of(path: Path) -> str:
    with Ledger.open(path) as ledger:
        return ledger.public_keys()["operator"]


def test_csv_has_names_as_text_and_numbers_as_numbers(shoeproof: Shoeproof, evil: Path) -> None:
    rows = shoeproof("sql", "--csv", ASKED, "--ledger", evil).out.splitlines()[1:]
    assert rows
    for row in rows:
        assert row.startswith("'=a")
        assert row.endswith(",1000,-1")
