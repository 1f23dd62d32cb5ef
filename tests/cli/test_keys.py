"""`keys`: what it prints, what it leaves in the ledger, and whom it refuses."""

import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoeproof.ledger.keys.key import PublicKey
from tests.cli.conftest import Shoeproof


@pytest.fixture
def made(shoeproof: Shoeproof, tmp_path: Path) -> Path:
    path = tmp_path / "made"
    assert shoeproof("init", "--origin", "a.example/b", "--ledger", path).code == 0
    return path


def listed(shoeproof: Shoeproof, path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(
        shoeproof("keys", "list", "--json", "--ledger", path).out
    )
    return rows


def test_first_keys_are_listed_with_the_trust_anchor(shoeproof: Shoeproof, made: Path) -> None:
    rows = listed(shoeproof, made)
    assert [row["roles"] for row in rows if row["is_anchor"]] == [["operator"]]
    assert {tuple(row["roles"]) for row in rows} == {
        ("engine",), ("log",), ("operator",), ("settlement",), ("staff",),
    }  # fmt: skip
    text = shoeproof("keys", "list", "--ledger", made).out
    assert "trust anchor" in text
    assert all(str(row["vkey"])[:60] in text for row in rows)


def test_key_is_rotated_then_the_old_one_revoked(shoeproof: Shoeproof, made: Path) -> None:
    old = next(row for row in listed(shoeproof, made) if row["roles"] == ["engine"])
    rotated = shoeproof("keys", "rotate", "engine", "--ledger", made)
    assert rotated.code == 0
    assert f"keys revoke {old['id']} --ledger {made}" in rotated.out
    assert shoeproof("simulate", "nba", "--rounds", 2, "--ledger", made).code == 0
    revoked = shoeproof("keys", "revoke", old["id"], "--reason", "rotated", "--ledger", made)
    assert revoked.code == 0
    stops = {row["id"]: row["stop"] for row in listed(shoeproof, made)}
    assert isinstance(stops[old["id"]], int)
    assert shoeproof("simulate", "nba", "--rounds", 2, "--ledger", made).code == 0
    assert shoeproof("verify", "--ledger", made).code == 0


def test_key_revoked_from_the_past_makes_findings(shoeproof: Shoeproof, made: Path) -> None:
    assert shoeproof("simulate", "nba", "--rounds", 2, "--ledger", made).code == 0
    engine = next(row for row in listed(shoeproof, made) if row["roles"] == ["engine"])
    words = ("keys", "revoke", engine["id"], "--from-leaf", 12, "--ledger", made)
    assert shoeproof(*words).code == 0
    assert shoeproof("verify", "--ledger", made).code == 1


def test_key_of_another_server_is_added(shoeproof: Shoeproof, made: Path) -> None:
    raw = Ed25519PrivateKey.generate().public_key().public_bytes_raw()
    key = PublicKey("engine-2.a.example/b", raw)
    roles = ("--role", "engine", "--role", "settlement")
    words = ("keys", "add", key.vkey, *roles, "--ledger", made)
    added = json.loads(shoeproof(*words, "--json").out)
    assert added["event"]["data"]["roles"] == ["engine", "settlement"]
    assert listed(shoeproof, made)[-1]["vkey"] == key.vkey
    again = shoeproof(*words)
    assert (again.code, "already has a key" in again.err) == (3, True)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("add", "nonsense", "--role", "engine"), 3, "not a verifier key"),
        (("add", PublicKey("x", bytes(32)).vkey, "--role", "engine"), 3, "small order"),
        (("add", PublicKey("x", bytes(32)).vkey, "--role", "cashier"), 2, "cashier"),
        (("new", "ann", "--role", "settlement", "--role", "staff"), 2, "check each other"),
        (("new", "ann", "--role", "operator", "--role", "log"), 2, "check each other"),
        (("rotate", "cashier"), 2, "cashier"),
        (("revoke", "00000000"), 3, "no key with the id"),
    ],
)
def test_what_cannot_be_is_refused(
    shoeproof: Shoeproof, made: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    before = listed(shoeproof, made)
    result = shoeproof("keys", *words, "--ledger", made)
    assert result.code == code
    assert message in result.err
    assert "Traceback" not in result.err
    assert listed(shoeproof, made) == before
