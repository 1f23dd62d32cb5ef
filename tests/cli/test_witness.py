"""`witness`: a regulator and an operator who send each other files, and what verifiers accept."""

import json
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.conftest import Shoeproof
from tests.ledger.test_witness_http import SHOEPROOF, free_port, running


class Parties(NamedTuple):
    """An operator's ledger, a regulator's directory, and a policy that asks for the regulator."""

    ledger: Path
    witness: Path
    policy: Path


@pytest.fixture
def parties(shoeproof: Shoeproof, tmp_path: Path) -> Parties:
    found = Parties(tmp_path / "ledger", tmp_path / "regulator", tmp_path / "policy")
    made = shoeproof("init", "--origin", "a.example/b", "--ledger", found.ledger, "--json")
    key = json.loads(made.out)["public_keys"]["log"]
    words = ("witness", "init", found.witness, "--name", "regulator.example", "--log", key)
    line = shoeproof(*words)
    assert line.code == 0
    found.policy.write_text(f"{line.out}quorum regulator.example\n")
    return found


def cosigned(shoeproof: Shoeproof, parties: Parties, old: int) -> Path:
    """Have the regulator cosign the ledger as it stands, by files."""
    request, answer = parties.ledger / "request", parties.ledger / "cosigned"
    words = ("witness", "request", "--old", old, "-o", request, "--ledger", parties.ledger)
    assert shoeproof(*words).code == 0
    assert shoeproof("witness", "cosign", parties.witness, request, "-o", answer).code == 0
    return answer


def size_of(note: Path) -> int:
    return int(note.read_text().split("\n")[1])


def test_files_go_to_and_fro_and_the_policy_is_met(shoeproof: Shoeproof, parties: Parties) -> None:
    old = size_of(cosigned(shoeproof, parties, 0))
    assert shoeproof("simulate", "nba", "--rounds", 2, "--ledger", parties.ledger).code == 0
    note = cosigned(shoeproof, parties, old)
    words = ("verify", "--checkpoint", note, "--policy", parties.policy, "--max-age", "1h")
    result = shoeproof(*words, "--json", "--ledger", parties.ledger)
    assert result.code == 0
    assert list(json.loads(result.out)["cosigned_by"]) == ["regulator.example"]
    assert "cosigned by regulator.example" in shoeproof(*words, "--ledger", parties.ledger).out


def test_verification_fails_closed(shoeproof: Shoeproof, parties: Parties, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    assert shoeproof("checkpoint", "-o", plain, "--ledger", parties.ledger).code == 0
    end = ("--policy", parties.policy, "--ledger", parties.ledger)
    unmet = shoeproof("verify", "--checkpoint", plain, *end)
    assert (unmet.code, "is not reached" in unmet.err) == (3, True)
    note = cosigned(shoeproof, parties, 0)
    assert shoeproof("verify", "--checkpoint", note, *end).code == 0
    forged = tmp_path / "forged"
    forged.write_bytes(note.read_bytes().replace(b"a.example/b\n", b"a.example/c\n", 1))
    assert shoeproof("verify", "--checkpoint", forged, *end).code == 3


def test_published_checkpoint_is_judged(
    shoeproof: Shoeproof, parties: Parties, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    assert shoeproof("publish", site, "--ledger", parties.ledger).code == 0
    end = ("--tiles", site, "--policy", parties.policy)
    assert shoeproof("verify", *end).code == 3
    note = cosigned(shoeproof, parties, 0)
    words = ("publish", site, "--checkpoint", note, "--ledger", parties.ledger)
    assert shoeproof(*words).code == 0
    assert shoeproof("verify", *end).code == 0


def test_fork_is_refused_and_the_evidence_named(shoeproof: Shoeproof, parties: Parties) -> None:
    old = size_of(cosigned(shoeproof, parties, 0))
    fork = parties.ledger.with_name("fork")
    shutil.copytree(parties.ledger, fork)
    assert shoeproof("simulate", "nba", "--rounds", 1, "--ledger", parties.ledger).code == 0
    seen = size_of(cosigned(shoeproof, parties, old))
    assert shoeproof("simulate", "nba", "--rounds", 30, "--ledger", fork).code == 0
    request = fork / "request"
    words = ("witness", "request", "--old", seen, "-o", request, "--ledger", fork)
    assert shoeproof(*words).code == 0
    refused = shoeproof("witness", "cosign", parties.witness, request)
    assert refused.code == 3
    [kept] = (parties.witness / "evidence").iterdir()
    assert str(kept) in refused.err
    assert refused.out == ""


def test_witness_is_asked_by_http(shoeproof: Shoeproof, parties: Parties, tmp_path: Path) -> None:
    pytest.importorskip("uvicorn", reason="serving needs the extra `serve`")
    port = free_port()
    words = [*SHOEPROOF, "witness", "serve", str(parties.witness), "--port", str(port)]
    answer = tmp_path / "answer"
    with running(words, port) as url:
        line, quorum = parties.policy.read_text().splitlines()
        parties.policy.write_text(f"{line} {url}\n{quorum}\n")
        asked = ("witness", "ask", "--policy", parties.policy, "-o", answer)
        assert shoeproof(*asked, "--ledger", parties.ledger).code == 0
    kept = parties.ledger / "checkpoints" / str(size_of(answer))
    assert kept.read_bytes() == answer.read_bytes()
    end = ("--checkpoint", answer, "--policy", parties.policy, "--ledger", parties.ledger)
    assert shoeproof("verify", *end).code == 0
    unreachable = shoeproof(*asked, "--ledger", parties.ledger)
    assert (unreachable.code, "does not answer" in unreachable.err) == (3, True)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("verify", "--policy", "{policy}"), 2, "give one by --checkpoint"),
        (("verify", "--max-age", "1h"), 2, "say whose by --policy"),
        (("verify", "--max-age", "soon"), 2, "write 36h"),
        (("verify", "--max-age", "2000000d"), 2, "too long an age"),
        (("verify", "--max-age", "9999999999999999d"), 2, "too long an age"),
        (("verify", "--max-age", "9" * 5000 + "h"), 2, "too long an age"),
        (("witness", "request", "--old", "99999"), 3, "never had 99999"),
        (("witness", "ask", "--policy", "{policy}"), 3, "is not reached"),
        (("witness", "ask", "--policy", "{ledger}/ledger.toml"), 3, "policy file, line 1"),
    ],
)
def test_what_cannot_be_is_refused(
    shoeproof: Shoeproof, parties: Parties, words: tuple[str, ...], code: int, message: str
) -> None:
    names = {name: str(path) for name, path in parties._asdict().items()}
    result = shoeproof(*(word.format(**names) for word in words), "--ledger", parties.ledger)
    assert (result.code, message in result.err) == (code, True), result.err
    assert "Traceback" not in result.err


def test_bad_files_for_a_witness(shoeproof: Shoeproof, parties: Parties, tmp_path: Path) -> None:
    rubbish = tmp_path / "rubbish"
    rubbish.write_bytes(b"old 5\n")
    assert shoeproof("witness", "cosign", parties.witness, rubbish).code == 3
    assert shoeproof("witness", "cosign", parties.witness, tmp_path / "nowhere").code == 2
    assert shoeproof("witness", "cosign", tmp_path, rubbish).code == 3
    again = ("witness", "init", parties.witness, "--name", "x", "--log", "nonsense+1+2")
    assert shoeproof(*again).code == 3


def test_deleted_memory_is_named(shoeproof: Shoeproof, parties: Parties) -> None:
    request = cosigned(shoeproof, parties, 0).with_name("request")
    [seen] = (parties.witness / "seen").iterdir()
    seen.unlink()
    refused = shoeproof("witness", "cosign", parties.witness, request)
    assert refused.code == 3
    assert f"{seen}, the record of what was last cosigned" in refused.err
    key = (parties.witness / "logs").read_text().split()[1]
    again = shoeproof("witness", "watch", parties.witness, "--log", key)
    assert (again.code, "already watched" in again.err) == (3, True)


def test_one_more_ledger_is_watched(shoeproof: Shoeproof, parties: Parties, tmp_path: Path) -> None:
    other = parties._replace(ledger=tmp_path / "other")
    made = shoeproof("init", "--origin", "c.example", "--ledger", other.ledger, "--json")
    key = json.loads(made.out)["public_keys"]["log"]
    assert shoeproof("witness", "watch", parties.witness, "--log", key).code == 0
    assert cosigned(shoeproof, other, 0)
    assert cosigned(shoeproof, parties, 0)
