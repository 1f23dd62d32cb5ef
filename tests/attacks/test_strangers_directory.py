"""Whoever hands over a ledger's directory says in it where else to look: nobody looks there."""

import os
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from shoeproof.audit_reports.tables.views import SEGMENTS
from shoeproof.ledger.errors import UnsupportedFormat
from shoeproof.ledger.verify.whole import verify
from tests.attacks.conftest import Scene
from tests.cli.conftest import Shoeproof, shoeproof

__all__ = ["shoeproof"]


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A stranger's server, at which nobody may call."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening


def port_of(listener: socket.socket) -> int:
    port: int = listener.getsockname()[1]
    return port


def set_store(scene: Scene, store: str) -> None:
    settings = scene.path / "ledger.toml"
    settings.write_text(settings.read_text().replace('"sqlite"', f'"{store}"'))


COMMANDS = [
    ("verify",),
    ("fsck",),
    ("audit",),
    ("rounds",),
    ("export", "-o", "{tmp}/out"),
    ("checkpoint", "-o", "{tmp}/out"),
    ("simulate", "nba", "--rounds", "1"),
    ("table", "sweep"),
    ("keys", "list"),
    ("publish", "{tmp}/site"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_settings_name_a_server(
    scene: Scene,
    listener: socket.socket,
    shoeproof: Shoeproof,
    words: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """It would be sent the auditor's password, which libpq takes from the environment."""
    monkeypatch.setenv("PGPASSWORD", "the auditor's")
    set_store(scene, f"postgresql://auditor@127.0.0.1:{port_of(listener)}/casino")
    told = shoeproof(*(word.format(tmp=tmp_path) for word in words), "--ledger", scene.path)
    assert (told.code, "never says where" in told.err) == (3, True), told.err
    with pytest.raises(BlockingIOError):
        listener.accept()


def test_settings_name_a_wallet(
    scene: Scene, listener: socket.socket, shoeproof: Shoeproof, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be sent the operator's bearer token."""
    monkeypatch.setenv("SHOEPROOF_WALLET_TOKEN", "the operator's")
    with open(scene.path / "ledger.toml", "a", encoding="utf-8") as settings:
        settings.write(f'wallet = "http://127.0.0.1:{port_of(listener)}"\n')
    told = shoeproof("wallet", "reconcile", "--fix", "--ledger", scene.path)
    assert (told.code, "SHOEPROOF_WALLET" in told.err) == (2, True), told.err
    told = shoeproof("table", "sweep", "--ledger", scene.path)
    assert (told.code, "'wallet', which is not a setting" in told.err) == (3, True), told.err
    with pytest.raises(BlockingIOError):
        listener.accept()


@pytest.mark.parametrize("store", ["sqlite:///{other}", "sqlite:////{other}", "{other}", "../o"])
def test_settings_name_another_database(scene: Scene, tmp_path: Path, store: str) -> None:
    other = tmp_path / "other.sqlite"
    shutil.copy(scene.path / "events.sqlite", other)
    set_store(scene, store.format(other=other))
    with pytest.raises(UnsupportedFormat, match="never says where"):
        verify(scene.path)


NAMES = ["events.sqlite", "events.sqlite-wal", "ledger.toml", "guard", "keys", "keys/operator.pem",
         "checkpoints", "checkpoints/21", "clock", "projection"]  # fmt: skip


def lead_out(place: Path, outside: Path) -> None:
    """Put something outside the directory, and in the directory a link to it."""
    if place.exists():
        place.rename(outside)
    place.symlink_to(outside)


def lead_out_twice(place: Path, outside: Path) -> None:
    """The same by way of a link that lies within."""
    lead_out(place, outside)
    place.rename(place.with_name("between"))
    place.symlink_to("between")


def be_a_pipe(place: Path, outside: Path) -> None:
    """Whoever opens it waits for ever."""
    if place.exists():
        place.rename(outside)
    os.mkfifo(place)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("fault", [lead_out, lead_out_twice, be_a_pipe])
def test_something_in_it_is_elsewhere(
    scene: Scene,
    tmp_path: Path,
    shoeproof: Shoeproof,
    name: str,
    fault: Callable[[Path, Path], None],
) -> None:
    """What is read there is not what was handed over, what is written there is somebody's file."""
    fault(scene.path / name, tmp_path / "outside")
    for words in (("verify",), ("checkpoint", "-o", tmp_path / "signed")):
        told = shoeproof(*words, "--ledger", scene.path)
        assert (told.code, "points outside the ledger's directory" in told.err) == (3, True), told
    assert not (tmp_path / "signed").exists()


def test_view_among_the_counted_rounds_reads_elsewhere(
    scene: Scene, tmp_path: Path, shoeproof: Shoeproof
) -> None:
    """What was counted is kept beside the ledger, in a database that may name files as well."""
    # These rounds were made up, which the verdict says.
    assert shoeproof("rtp", "--ledger", scene.path).code == 1
    outside = tmp_path / "outside.parquet"
    with duckdb.connect(str(scene.path / "projection" / "rtp.duckdb")) as database:
        database.execute(f"COPY rounds TO '{outside}' (FORMAT parquet)")
        database.execute("DROP TABLE rounds")
        database.execute(f"CREATE VIEW rounds AS FROM read_parquet('{outside}')")
    # What was published of it is made anew.
    shutil.rmtree(scene.path / "projection" / SEGMENTS)
    told = shoeproof("rtp", "--ledger", scene.path)
    assert (told.code, "--rebuild" in told.err) == (3, True), told
    assert shoeproof("rtp", "--rebuild", "--ledger", scene.path).code == 1
