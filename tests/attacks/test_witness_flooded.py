"""Whoever can reach a witness keeps it from answering others, or keeps its log from asking it."""

import resource
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from shoeproof.ledger.checkpoint.note import parse_vkey
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.witness.client import SECONDS, ask
from shoeproof.ledger.witness.cosigner import Witness
from tests.attacks.conftest import Scene
from tests.cli.conftest import Shoeproof, shoeproof
from tests.ledger.test_witness_http import SHOEPROOF, Served, free_port, running

pytest.importorskip("uvicorn", reason="serving needs the extra `serve`")

__all__ = ["shoeproof"]

HALF_HEAD = b"POST /add-checkpoint HTTP/1.1\r\nHost: w\r\nX: "
HALF_BODY = b"POST /add-checkpoint HTTP/1.1\r\nHost: w\r\nContent-Length: 400\r\n\r\nold 0\n"
FLOOD = 1300


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def served(scene: Scene, tmp_path: Path, log: Path) -> Iterator[Served]:
    """A witness of the scene's ledger that listens, and logs into a file."""
    with Ledger.open(scene.path) as ledger:
        key = parse_vkey(ledger.public_keys()["log"])
    witness = Witness.init(tmp_path / "witness", "regulator.example", [key])
    port = free_port()
    words = [*SHOEPROOF, "witness", "serve", str(tmp_path / "witness"), "--port", str(port)]
    with log.open("wb") as file, running(words, port, file) as url:
        yield Served(url, witness.key)


@pytest.fixture
def many_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def connected(served: Served, said: bytes) -> socket.socket:
    host, _, port = served.url.removeprefix("http://").partition(":")
    connection = socket.create_connection((host, int(port)), 30)
    connection.sendall(said)
    return connection


@pytest.mark.usefixtures("many_files")
@pytest.mark.parametrize("half", [b"", HALF_HEAD, HALF_BODY], ids=["nothing", "head", "body"])
def test_witness_kept_waiting_by_half_sent_requests(
    scene: Scene, served: Served, log: Path, half: bytes
) -> None:
    with ExitStack() as stack, Ledger.open(scene.path) as ledger:
        for _ in range(FLOOD):
            stack.enter_context(connected(served, half))
        for _ in range(3):
            assert b"regulator.example" in ask(ledger, sign_checkpoint(ledger), *served)
    assert "Traceback" not in log.read_text()


def test_witness_whose_log_is_filled_by_aborted_requests(served: Served, log: Path) -> None:
    for _ in range(20):
        connection = connected(served, HALF_BODY)
        time.sleep(0.02)
        # Reset rather than ended.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
    deadline = time.monotonic() + 20
    while len(lines := log.read_text().splitlines()) < 20 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert ["before it was whole" in line for line in lines] == [True] * 20


def test_witness_that_a_slow_sender_holds(served: Served) -> None:
    begun = time.monotonic()
    with connected(served, HALF_HEAD) as connection:
        connection.settimeout(60)
        with suppress(ConnectionError):
            while time.monotonic() - begun < 60:
                connection.sendall(b"x")
                time.sleep(0.5)
    assert time.monotonic() - begun < 30


@contextmanager
def dripping(said: bytes) -> Iterator[str]:
    """A witness that sends a byte now and then, for ever."""
    stopped = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def drip() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.sendall(said)
                while not stopped.wait(1):
                    connection.sendall(b"x")

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        stopped.set()
        thread.join(10)


@pytest.mark.parametrize(
    "said", [b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\n\r\n"], ids=["head", "body"]
)
def test_witness_that_answers_byte_by_byte(
    scene: Scene, shoeproof: Shoeproof, served: Served, tmp_path: Path, said: bytes
) -> None:
    policy = tmp_path / "policy"
    other = Witness.init(tmp_path / "other", "slow.example", [served.key._replace(kind=1)])
    with dripping(said) as url:
        policy.write_text(
            f"witness slow {other.key.vkey} {url}\nwitness w {served.key.vkey} {served.url}\n"
            "group all any slow w\nquorum all\n"
        )
        begun = time.monotonic()
        told = shoeproof("witness", "ask", "--policy", policy, "--ledger", scene.path)
    assert (told.code, "does not answer: it takes more" in told.err) == (0, True), told.err
    assert time.monotonic() - begun < SECONDS + 10


def test_witness_that_is_down_beside_enough_others(
    scene: Scene, shoeproof: Shoeproof, served: Served, tmp_path: Path
) -> None:
    policy, answer = tmp_path / "policy", tmp_path / "answer"
    down = Witness.init(tmp_path / "down", "down.example", [served.key._replace(kind=1)])
    lines = (
        f"witness down {down.key.vkey} http://127.0.0.1:{free_port()}\n"
        f"witness w {served.key.vkey} {served.url}\n"
    )
    words = ("witness", "ask", "--policy", policy, "-o", answer, "--ledger", scene.path)
    policy.write_text(f"{lines}group all 1 down w\nquorum all\n")
    told = shoeproof(*words)
    assert (told.code, told.err.count("does not answer")) == (0, 1), told.err
    assert b"regulator.example" in answer.read_bytes()
    answer.unlink()
    policy.write_text(f"{lines}group all 2 down w\nquorum all\n")
    told = shoeproof(*words)
    assert (told.code, "is not reached" in told.err, answer.exists()) == (3, True, False), told.err
