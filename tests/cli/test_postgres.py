"""The commands on a ledger that is kept in PostgreSQL, by its directory and by its URL."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Shoeproof

pytest.importorskip("psycopg", reason="PostgreSQL needs the extra `postgres`")


def test_ledger_in_postgres_by_its_directory_and_by_its_url(
    shoeproof: Shoeproof, tmp_path: Path, postgres_url: str
) -> None:
    path, kept = tmp_path / "ledger", tmp_path / "kept"
    words = ("init", "--origin", "a.example/b", "--store", postgres_url, "--ledger", path)
    assert shoeproof(*words).code == 0
    assert not (path / "events.sqlite").exists()
    assert shoeproof("simulate", "nba", "--rounds", 5, "--ledger", path).code == 0
    assert shoeproof("checkpoint", "-o", kept, "--ledger", path).code == 0
    assert shoeproof("simulate", "zero", "--rounds", 5, "--ledger", path).code == 0
    for place in (path, postgres_url):
        assert shoeproof("verify", "--checkpoint", kept, "--ledger", place).code == 0
        assert shoeproof("audit", "--ledger", place).code == 0
        assert shoeproof("fsck", "--ledger", place).code == 0
        rows = json.loads(shoeproof("rounds", "--json", "--ledger", place).out)
        assert len(rows) == 10
        assert shoeproof("replay", rows[0]["round"], "--ledger", place).code == 0
    refused = shoeproof("simulate", "nba", "--rounds", 1, "--ledger", postgres_url)
    assert (refused.code, "holds the keys" in refused.err) == (2, True)


def test_database_that_cannot_be_reached(shoeproof: Shoeproof, tmp_path: Path) -> None:
    url = "postgresql://nobody@127.0.0.1:1/nothing"
    result = shoeproof("verify", "--ledger", url)
    assert (result.code, result.err.count("\n")) == (3, 1)
    words = ("init", "--origin", "a.example/b", "--store", url, "--ledger", tmp_path / "new")
    assert shoeproof(*words).code == 3
    assert not (tmp_path / "new").exists()
    words = ("init", "--origin", "a.example/b", "--store", "mysql://x", "--ledger", tmp_path / "n")
    assert "use postgresql" in shoeproof(*words).err
