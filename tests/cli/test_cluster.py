"""`audit --scheduler`, and what is said when there is no cluster to be had."""

import socket
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Shoeproof


def test_the_command(shoeproof: Shoeproof, played: Path, tmp_path: Path, scheduler: str) -> None:
    local = shoeproof("audit", "--json", "--ledger", played)
    there = shoeproof("audit", "--json", "--scheduler", scheduler, "--ledger", played)
    assert (there.code, there.out) == (0, local.out)
    shoeproof("export", "parquet", tmp_path / "rounds", "--ledger", played)
    words = ("audit", "--parquet", tmp_path / "rounds", "--json")
    assert shoeproof(*words, "--scheduler", scheduler).out == shoeproof(*words).out


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense", "foo://x:1", ""])
def test_no_scheduler(
    shoeproof: Shoeproof, played: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed", reason="a cluster needs the extra `cluster`")
    monkeypatch.setattr("shoeproof.replay.bulk.cluster._ANSWERS_IN", 1)
    result = shoeproof("audit", "--scheduler", address, "--ledger", played)
    assert (result.code, result.err.count("\n")) == (3, 1)
    assert "no Dask scheduler answers" in result.err


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", b""])
def test_something_else_answers(
    shoeproof: Shoeproof, played: Path, answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what is no word of Dask's, or not at all."""
    pytest.importorskip("distributed", reason="a cluster needs the extra `cluster`")
    monkeypatch.setattr("shoeproof.replay.bulk.cluster._ANSWERS_IN", 1)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen() -> None:
            connection, _ = server.accept()
            connection.sendall(answer)
            time.sleep(0.2 if answer else 5)
            connection.close()

        threading.Thread(target=listen, daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        result = shoeproof("audit", "--scheduler", address, "--ledger", played)
    assert (result.code, result.err.count("\n")) == (3, 1)
    assert "no Dask scheduler answers" in result.err


def test_the_extra_is_missing(
    shoeproof: Shoeproof, played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "shoeproof.replay.bulk.cluster", raising=False)
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = shoeproof("audit", "--scheduler", "tcp://127.0.0.1:1", "--ledger", played)
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "pip install 'shoeproof[cluster]'" in result.err


def test_workers_are_the_schedulers_or_processes_here(shoeproof: Shoeproof, played: Path) -> None:
    words = ("--scheduler", "tcp://127.0.0.1:1", "--workers", 2, "--ledger", played)
    assert shoeproof("audit", *words).code == 2
