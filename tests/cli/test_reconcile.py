"""A wallet's statement held to the ledger by references, from a terminal."""

import csv
import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.clock import utc_now
from shoeproof.ledger.leaf.events import AlarmRaised
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.errors import WalletUnanswered
from shoeproof.replay.live.table import LiveTable
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from shoeproof.replay.wallet.http import HttpWallet
from tests.cli.conftest import Shoeproof
from tests.replay.failing_wallet import SETTINGS
from tests.replay.helpers import ORIGIN
from tests.wallet_server import Failure, WalletServer, serving_wallet

Rows = list[list[str]]


@pytest.fixture
def server() -> Iterator[WalletServer]:
    with serving_wallet(10**6) as served:
        yield served


@pytest.fixture
def path(tmp_path: Path, server: WalletServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Five rounds that a wallet paid, and a stake whose cancellation it did not confirm."""
    path = tmp_path / "ledger"
    with Ledger.init(path, ORIGIN, clock=lambda: utc_now() - timedelta(minutes=10)) as ledger:
        add_published_games(ledger)
        wallet = HttpWallet(server.url, seconds=1, sleep=lambda _: None)
        table = LiveTable(ledger, current_rules(ledger, "nba"), SETTINGS, wallet=wallet)
        for number in range(5):
            live = table.open_round(f"p-{number}")
            live.deal({"s1": {"main": 1_000}})
            while isinstance(live.due, Decide):
                live.decide(live.due.hand, "stand" if "stand" in live.offered else "decline")
        live = table.open_round("p-9")
        unanswered: list[Failure] = ["503 after", "503 after", "503 after", "503", "503", "503"]
        server.failures.extend(unanswered)
        with pytest.raises(WalletUnanswered):
            live.deal({"s1": {"main": 5_000}})
    monkeypatch.setenv("SHOEPROOF_WALLET", server.url)
    return path


def rows_of(server: WalletServer) -> Rows:
    at = (utc_now() - timedelta(minutes=10)).isoformat()
    return [[at, f"{change / 100:.2f}", reference] for reference, change in server.stands.items()]


def write(
    path: Path, rows: Rows, header: tuple[str, ...] = ("time", "amount", "reference")
) -> Path:
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def reconciled(
    shoeproof: Shoeproof, path: Path, rows: Rows, *more: object
) -> list[tuple[str, str]]:
    statement = write(path.parent / "wallet.csv", rows)
    words = ("wallet", "reconcile", "--statement", statement, "--json", "--ledger", path)
    told = shoeproof(*words, *more)
    found = json.loads(told.out)["differences"]
    assert told.code == (1 if found else 0)
    return [(each["reference"], each["kind"]) for each in found]


def test_what_is_owed_is_found_and_cancelled(
    shoeproof: Shoeproof, path: Path, server: WalletServer
) -> None:
    [owed] = [name for name, change in server.stands.items() if change == -5_000]
    assert reconciled(shoeproof, path, rows_of(server)) == [(owed, "owed")]
    assert owed in server.stands
    cancelled = [*rows_of(server), [utc_now().isoformat(), "50.00", owed]]
    assert reconciled(shoeproof, path, cancelled, "--fix") == []
    assert owed not in server.stands
    with Ledger.open(path) as ledger:
        assert ledger.intents.open() == []
        notes = [getattr(each.event.data, "note", "") for each in ledger.events("operations")]
    assert [note.rpartition(", ")[2] for note in notes] == ["1 owed", "0 in flight"]


def test_the_wallet_itself_is_asked_where_no_statement_is_given(
    shoeproof: Shoeproof, path: Path, server: WalletServer
) -> None:
    told = shoeproof("wallet", "reconcile", "--fix", "--json", "--ledger", path)
    found = json.loads(told.out)
    # It dates its movements now, ten minutes after they were recorded.
    assert {each["kind"] for each in found["differences"]} == {"late"}
    assert found["lines"] == len(server.stands)
    assert shoeproof("wallet", "reconcile", "--from", "noon", "--ledger", path).code == 2


LIES: dict[str, tuple[Callable[[Rows], object], str]] = {
    "never logged": (
        lambda rows: rows.append([rows[0][0], "-10.00", "elsewhere/deal/2.0"]),
        "movement_without_event",
    ),
    "not moved": (lambda rows: rows.pop(0), "event_without_movement"),
    "another amount": (lambda rows: rows[0].__setitem__(1, "-10.01"), "other_amount"),
    "moved twice": (lambda rows: rows.append(rows[0]), "doubled"),
    "late": (lambda rows: rows[0].__setitem__(0, utc_now().isoformat()), "late"),
}


@pytest.mark.parametrize("name", LIES)
def test_every_disagreement_is_found(
    shoeproof: Shoeproof, path: Path, server: WalletServer, name: str
) -> None:
    lie, kind = LIES[name]
    rows = rows_of(server)
    early = (utc_now() - timedelta(hours=1)).isoformat()
    rows.insert(1, [early, "-1.00", "frame"])
    rows.append([utc_now().isoformat(), "1.00", "frame"])
    lie(rows)
    assert kind in {found for _, found in reconciled(shoeproof, path, rows)}


def test_a_statement_of_any_wallet_is_read_by_what_it_calls_its_columns(
    shoeproof: Shoeproof, path: Path, server: WalletServer
) -> None:
    statement = write(path.parent / "w.csv", rows_of(server), ("Booked at", "Betrag", "Ext. no"))
    words = ("wallet", "reconcile", "--statement", statement, "--ledger", path)
    assert shoeproof(*words).code == 2
    columns = path.parent / "columns.toml"
    columns.write_text('time = "Booked at"\namount = "Betrag"\nreference = "Ext. no"\n')
    told = shoeproof(*words, "--columns", columns)
    assert (told.code, "1 differ" in told.out) == (1, True)


def test_a_restored_copy_cancels_nothing(
    shoeproof: Shoeproof, path: Path, server: WalletServer
) -> None:
    with Ledger.open(path) as ledger:
        copied = (path / "events.sqlite").read_bytes()
        ledger.append(("operations", _alarm()))
        sign_checkpoint(ledger)
    for name in ("events.sqlite-wal", "events.sqlite-shm"):
        (path / name).unlink(missing_ok=True)
    (path / "events.sqlite").write_bytes(copied)
    before = dict(server.stands)
    statement = write(path.parent / "wallet.csv", rows_of(server))
    words = ("wallet", "reconcile", "--statement", statement, "--fix", "--ledger", path)
    refused = shoeproof(*words)
    assert refused.code == 3
    assert "restored from a backup" in refused.err
    assert server.stands == before


def _alarm() -> AlarmRaised:
    return AlarmRaised(1, None, "a test")
