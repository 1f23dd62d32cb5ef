"""`keys` for persons: told by name, rotated by name, and never two that read as one."""

import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoeproof.ledger.keys.key import PublicKey
from tests.cli.conftest import Shoeproof
from tests.cli.test_bad_input import told
from tests.cli.test_keys import listed, made

__all__ = ["made"]


def new(shoeproof: Shoeproof, path: Path, name: str) -> None:
    words = ("keys", "new", name, "--role", "staff", "--ledger", path)
    assert shoeproof(*words).code == 0


def test_the_list_names_every_key_and_fits_a_terminal(
    shoeproof: Shoeproof, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new(shoeproof, made, "ann")
    monkeypatch.setenv("COLUMNS", "80")
    table, _, _ = shoeproof("keys", "list", "--ledger", made).out.partition("\n\n")
    rows = [line.split() for line in table.splitlines()]
    assert rows[0][:3] == ["id", "name", "roles"]
    assert ["operator.a.example/b", "operator"] in [row[1:3] for row in rows]
    assert ["ann", "staff"] in [row[1:3] for row in rows]
    assert max(map(len, table.splitlines())) <= 80


def test_a_person_s_key_is_rotated_by_name(shoeproof: Shoeproof, made: Path) -> None:
    new(shoeproof, made, "ann")
    before = listed(shoeproof, made)[-1]
    rotated = shoeproof("keys", "rotate", "ann", "--ledger", made)
    assert rotated.code == 0, rotated.err
    assert f"keys revoke {before['id']}" in rotated.out
    after = listed(shoeproof, made)[-1]
    assert (after["name"], after["roles"]) == ("ann", ["staff"])
    assert after["id"] != before["id"]
    assert (made / "keys" / f"ann-{before['id']}.pem").is_file()
    again = json.loads(shoeproof("keys", "rotate", "ann", "--ledger", made, "--json").out)
    assert again["event"]["data"]["name"] == "ann"


@pytest.mark.parametrize("name", ["cashier", "../keys/ann", ""])
def test_a_key_that_is_not_there_is_not_rotated(
    shoeproof: Shoeproof, made: Path, name: str
) -> None:
    told(shoeproof("keys", "rotate", name, "--ledger", made), 2, f"no key {name!r}", "keys/ has")


def test_a_name_that_only_capitals_tell_from_another_is_refused(
    shoeproof: Shoeproof, made: Path
) -> None:
    new(shoeproof, made, "bob")
    before = listed(shoeproof, made)
    for name in ("Bob", "BOB"):
        words = ("keys", "new", name, "--role", "staff", "--ledger", made)
        told(shoeproof(*words), 2, f"{name} is too like bob")
        assert not (made / "keys" / f"{name}.pem").exists()
    key = PublicKey("boB", Ed25519PrivateKey.generate().public_key().public_bytes_raw())
    told(shoeproof("keys", "add", key.vkey, "--role", "staff", "--ledger", made), 2, "too like bob")
    assert listed(shoeproof, made) == before


@pytest.mark.parametrize("name", [" bob", "bob ", "b ob"])
def test_a_name_with_blanks_is_refused(shoeproof: Shoeproof, made: Path, name: str) -> None:
    words = ("keys", "new", name, "--role", "staff", "--ledger", made)
    told(shoeproof(*words), 3, "is not a valid name for a key file")


def test_one_name_may_have_several_keys(shoeproof: Shoeproof, made: Path) -> None:
    new(shoeproof, made, "bob")
    key = PublicKey("bob", Ed25519PrivateKey.generate().public_key().public_bytes_raw())
    words = ("keys", "add", key.vkey, "--role", "staff", "--ledger", made)
    assert shoeproof(*words).code == 0
