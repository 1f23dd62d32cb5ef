"""A backup taken while rounds are played, and put back: what its rows call open moves no money."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.errors import SigningRefused
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.store.directory import DATABASE_VARIABLE
from shoeproof.ledger.verify.whole import verify
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.live.live_round import LiveRound
from shoeproof.replay.live.resume import resume_round
from shoeproof.replay.live.sweep import sweep
from shoeproof.replay.live.table import LiveTable
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from shoeproof.replay.wallet.intents import give_up, settle_open
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.replay.helpers import ORIGIN
from tests.replay.live import SETTINGS, STAKES

OPENING = 1_000_000


def back_up(path: Path, url: str | None, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Copy a ledger's database while it is open, and return what puts the copy in its place."""
    if url is None:
        copy = path.with_name("copy.sqlite")
        with (
            closing(sqlite3.connect(path / "events.sqlite")) as source,
            closing(sqlite3.connect(copy)) as target,
        ):
            source.backup(target)

        def put_back() -> None:
            for name in ("events.sqlite", "events.sqlite-wal", "events.sqlite-shm"):
                (path / name).unlink(missing_ok=True)
            copy.rename(path / "events.sqlite")

        return put_back
    import psycopg

    name = urlsplit(url).path[1:]
    server = url.replace(f"/{name}?", "/postgres?")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}_copy TEMPLATE {name}")

    def point_at_copy() -> None:
        monkeypatch.setenv(DATABASE_VARIABLE, url.replace(f"/{name}?", f"/{name}_copy?"))

    return point_at_copy


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str | None:
    if request.param == "sqlite":
        return None
    found: str = request.getfixturevalue("postgres_url")
    return found


def table(ledger: Ledger, wallet: MemoryWallet) -> LiveTable:
    return LiveTable(ledger, current_rules(ledger, "nba"), SETTINGS, wallet=wallet)


def deal(ledger: Ledger, wallet: MemoryWallet, player: str) -> LiveRound:
    while True:
        live = table(ledger, wallet).open_round(player)
        live.deal(STAKES)
        if isinstance(live.due, Decide):
            return live


def finish(live: LiveRound) -> None:
    while isinstance(live.due, Decide):
        live.decide(live.due.hand, "decline" if "decline" in live.offered else "stand")


@pytest.fixture
def scene(
    tmp_path: Path, url: str | None, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, MemoryWallet, str]:
    """A restored copy that calls a round and a stake open, of a ledger that settled both."""
    path, wallet = tmp_path / "ledger", MemoryWallet(OPENING)
    with Ledger.init(path, ORIGIN, database_url=url) as ledger:
        add_published_games(ledger)
        round_id = deal(ledger, wallet, "p").round_id
        reference = ledger.intents.ask(f"{round_id}/late/9", round_id, "p", "debit", 100).reference
        wallet.debit("p", 100, reference)
    put_back = back_up(path, url, monkeypatch)
    with Ledger.open(path) as ledger:
        ledger.intents.record(reference)
        finish(resume_round(ledger, round_id, wallet=wallet))
        sign_checkpoint(ledger)
    put_back()
    return path, wallet, round_id


def test_a_restored_copy_cancels_and_pays_nothing(
    scene: tuple[Path, MemoryWallet, str],
) -> None:
    path, wallet, round_id = scene
    balance = wallet.balance_minor("p")
    with Ledger.open(path) as ledger:
        [intent] = ledger.intents.open()
        size = ledger.size()
        for act in (
            lambda: resume_round(ledger, round_id, wallet=wallet),
            lambda: resume_round(ledger, round_id),
            lambda: sweep(ledger, wallet=wallet),
            lambda: settle_open(ledger, wallet, round_id),
            lambda: settle_open(ledger, wallet, older_than=timedelta(0)),
            lambda: table(ledger, wallet).open_round("another"),
        ):
            with pytest.raises(SigningRefused, match="were signed: it was restored"):
                act()
        assert not give_up(ledger.intents, wallet, "p", intent.reference)
        assert (ledger.size(), wallet.balance_minor("p")) == (size, balance)
        assert ledger.intents.open() == [intent]


def test_a_restored_copy_is_read(scene: tuple[Path, MemoryWallet, str]) -> None:
    path, _, round_id = scene
    with Ledger.open(path) as ledger:
        assert [row.round for row in ledger.rounds(state="open")] == [round_id]
        assert ledger.events(round_id)
        assert [each.code for each in verify(ledger).findings] == ["checkpoint_mismatch"]


def test_what_was_signed_last_and_nothing_since_goes_on(
    tmp_path: Path, url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backup that lacks nothing takes the place of the ledger."""
    path, wallet = tmp_path / "ledger", MemoryWallet(OPENING)
    with Ledger.init(path, ORIGIN, database_url=url) as ledger:
        add_published_games(ledger)
        round_id = deal(ledger, wallet, "p").round_id
        sign_checkpoint(ledger)
    back_up(path, url, monkeypatch)()
    with Ledger.open(path) as ledger:
        finish(resume_round(ledger, round_id, wallet=wallet))
        assert verify(ledger).findings == []
        assert ledger.rounds(state="open") == []
