"""Witnesses over HTTP: this project's, another's, and a ledger that is honest or not."""

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import IO, NamedTuple

import pytest

from shoeproof.ledger.checkpoint.note import NoteKey, parse_vkey, verify_note
from shoeproof.ledger.checkpoint.signed import verify_checkpoint
from shoeproof.ledger.errors import WitnessUnreachable
from shoeproof.ledger.leaf.clock import utc_now
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from shoeproof.ledger.store.kept_checkpoints import kept_checkpoints
from shoeproof.ledger.witness.client import ask, keep, make_request
from shoeproof.ledger.witness.cosigner import Witness
from shoeproof.ledger.witness.request import origin_digest
from shoeproof.ledger.witness.witness_policy import parse_policy, require
from tests.ledger.helpers import ORIGIN, play, round_id

ROOT = Path(__file__).parents[2]
SHOEPROOF = [sys.executable, "-c", "from shoeproof.cli.main import run; run()"]
AICS = [sys.executable, "-m", "aics_witness"]


class Served(NamedTuple):
    """A witness that listens, and its key."""

    url: str
    key: NoteKey


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@contextmanager
def running(words: list[str], port: int, log: IO[bytes] | None = None) -> Iterator[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        words, env=environment, stdout=subprocess.DEVNULL, stderr=log or subprocess.DEVNULL
    )
    try:
        for _ in range(400):
            assert process.poll() is None, "the witness ended at once"
            with socket.socket() as trying:
                if trying.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture
def log_vkey(ledger: Ledger) -> str:
    return ledger.public_keys()["log"]


@pytest.fixture
def ours(tmp_path: Path, log_vkey: str) -> Iterator[Served]:
    pytest.importorskip("uvicorn", reason="serving needs the extra `serve`")
    folder, port = tmp_path / "witness", free_port()
    witness = Witness.init(folder, "regulator.example", [parse_vkey(log_vkey)])
    words = [*SHOEPROOF, "witness", "serve", str(folder), "--port", str(port)]
    with running(words, port) as url:
        yield Served(url, witness.key)


@pytest.fixture
def theirs(tmp_path: Path, log_vkey: str) -> Iterator[Served]:
    if importlib.util.find_spec("aics_witness") is None:
        pytest.skip("aics-witness is not installed: it asks for Python 3.12")
    port = free_port()
    options = ["--config", str(tmp_path / "aics" / "witness.json")]
    made = subprocess.run(
        [*AICS, "init", *options, "--name", "other.example/w1"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    subprocess.run(
        [*AICS, "add-log", *options, "--origin", ORIGIN, "--vkey", log_vkey],
        check=True, capture_output=True,
    )  # fmt: skip
    vkey = next(word for word in made.stdout.split() if word.startswith("other.example/w1+"))
    words = [*AICS, "serve", *options, "--listen", f"127.0.0.1:{port}"]
    with running(words, port) as url:
        yield Served(url, parse_vkey(vkey))


@pytest.fixture(params=["ours", "theirs"])
def served(request: pytest.FixtureRequest) -> Served:
    found: Served = request.getfixturevalue(request.param)
    return found


def test_growing_ledger_is_cosigned_and_a_forked_one_is_refused(
    served: Served, ledger: Ledger, tmp_path: Path
) -> None:
    assert ledger.path is not None
    policy = parse_policy(f"witness w {served.key.vkey}\nquorum w\n".encode())
    play(ledger, length=3)
    ask(ledger, sign_checkpoint(ledger), *served)
    fork = Path(shutil.copytree(ledger.path, tmp_path / "fork"))
    for number in range(1, 4):
        play(ledger, round_id(number))
        cosigned = ask(ledger, sign_checkpoint(ledger), *served)
        keep(ledger, cosigned)
        assert list(require(policy, cosigned, now=utc_now())) == ["w"]
        log_key = parse_vkey(ledger.public_keys()["log"])
        assert verify_checkpoint(cosigned, [log_key, served.key]).checkpoint.size == ledger.size()
        assert next(kept_checkpoints(ledger.path)) == cosigned
    with Ledger.open(fork) as forked:
        for number in range(4, 8):
            play(forked, round_id(number))
        with pytest.raises(WitnessUnreachable, match="refuses \\(422\\)"):
            ask(forked, sign_checkpoint(forked), *served)
    ask(ledger, sign_checkpoint(ledger), *served)


def test_rolled_back_ledger_is_told(served: Served, ledger: Ledger, tmp_path: Path) -> None:
    assert ledger.path is not None
    play(ledger, length=3)
    backup = Path(shutil.copytree(ledger.path, tmp_path / "backup"))
    play(ledger, round_id(1))
    ask(ledger, sign_checkpoint(ledger), *served)
    with (
        Ledger.open(backup) as restored,
        pytest.raises(WitnessUnreachable, match="rolled back"),
    ):
        ask(restored, sign_checkpoint(restored), *served)


def post(url: str, body: bytes) -> tuple[int, str, bytes]:
    connection = HTTPConnection(url.removeprefix("http://"), timeout=120)
    try:
        connection.request("POST", "/add-checkpoint", body)
        answer = connection.getresponse()
        return answer.status, answer.getheader("Content-Type", ""), answer.read()
    finally:
        connection.close()


def test_answers_are_those_of_the_specification(
    ours: Served, ledger: Ledger, tmp_path: Path
) -> None:
    play(ledger, length=3)
    first = make_request(ledger, 0)
    status, kind, line = post(ours.url, first.encode())
    assert (status, kind) == (200, "text/plain; charset=utf-8")
    assert line.startswith("\N{EM DASH} regulator.example ".encode())
    size = ledger.size()
    play(ledger, round_id(1))
    conflict = post(ours.url, make_request(ledger, size - 1).encode())
    assert conflict == (409, "text/x.tlog.size", b"%d\n" % size)
    assert post(ours.url, make_request(ledger, size)._replace(proof=()).encode())[0] == 422
    assert post(ours.url, b"old 5\n")[0] == 400
    assert post(ours.url, b"x" * (1 << 17))[0] == 413
    with Ledger.init(tmp_path / "a", "other.example") as unknown:
        assert post(ours.url, make_request(unknown, 0).encode())[0] == 404
    with Ledger.init(tmp_path / "b", ORIGIN) as impostor:
        assert post(ours.url, make_request(impostor, size - size).encode())[0] == 403
    connection = HTTPConnection(ours.url.removeprefix("http://"), timeout=120)
    connection.request("GET", f"/{origin_digest(ORIGIN)}/checkpoint")
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (200, first.note + line)
    for path in (f"/{origin_digest('x')}/checkpoint", "/../checkpoint", "/witness.pem"):
        connection.request("GET", path)
        answer = connection.getresponse()
        assert (answer.status, b"PRIVATE" in answer.read()) == (404, False)
    connection.close()
    assert len(list((tmp_path / "witness" / "evidence").iterdir())) == 1


def test_two_requests_at_once_end_as_one_history(ours: Served, ledger: Ledger) -> None:
    """Checking against the last checkpoint and keeping the new one is one step."""
    from concurrent.futures import ThreadPoolExecutor

    requests = []
    for number in range(8):
        play(ledger, round_id(number))
        requests.append(make_request(ledger, 0).encode())
    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda body: post(ours.url, body)[0], requests))
    assert sorted(statuses) == [200] + [409] * 7


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "file:///etc/hostname", "nonsense"])
def test_witness_that_is_not_there(ledger: Ledger, url: str) -> None:
    key = NoteKey("w", bytes(range(32)), 4)
    with pytest.raises(WitnessUnreachable, match=r"does not answer|is not a witness"):
        ask(ledger, sign_checkpoint(ledger), url, key)


def test_answer_by_another_key_is_not_taken(ours: Served, ledger: Ledger) -> None:
    with pytest.raises(WitnessUnreachable, match="did not cosign"):
        ask(ledger, sign_checkpoint(ledger), ours.url, NoteKey("w", bytes(range(32)), 4))


def test_feeder_of_another_project_is_answered(ours: Served, ledger: Ledger) -> None:
    pytest.importorskip("aics_witness", reason="aics-witness asks for Python 3.12")
    from aics_witness.feeder import submit_checkpoint

    def proof(old_size: int, size: int) -> list[bytes]:
        return ledger.tree(size).consistency_proof(old_size)

    for number in range(3):
        play(ledger, round_id(number))
        note = sign_checkpoint(ledger)
        lines = submit_checkpoint(ours.url, note, proof, witness_vkey=ours.key.vkey)
        assert verify_note(note + lines.encode(), [ours.key])
