"""JSON and TOML of others are read in one place: another reader would forget what they end in."""

import ast
from pathlib import Path

import pytest

from shoeproof.ledger.files.foreign import LONGEST_TOML, read_json, read_toml
from tests.fuzz.mutations import DEEP

ROOT = Path(__file__).parents[2]

OWN = {
    "ledger/files/foreign.py",
    # Rules' parser is part of the engine, which knows no ledger; it is a target of its own.
    "replay/engine/rules.py",
    # What this program made in the same process, or ships with.
    "replay/rounds/catalogue.py",
    "replay/luck/values.py",
    "replay/schemas/__init__.py",
    "replay/theory/cache.py",
    "cli/commands/rules.py",
    # Leaves in bulk: whatever cannot be read is told of its round.
    "replay/bulk/export/parquet.py",
}


def test_no_other_module_reads_json_or_toml_by_itself() -> None:
    reads = {
        str(path.relative_to(ROOT))
        for package in ("ledger", "replay", "audit_reports", "cli")
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and ast.unparse(node) in ("msgspec.json.decode", "json.loads", "tomllib.loads")
    }
    assert reads <= OWN


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = " + "[" * DEEP, "nested too deeply"),
        ("a." * DEEP + "a = 1", "more than 32 parts"),
        ("[" + " a . " * DEEP + "a]", "more than 32 parts"),
        ("x = " + "9" * 5_000, "digits"),
        ("#" * (LONGEST_TOML + 1), "longer than"),
    ],
    ids=["brackets", "key", "key with blanks", "digits", "comment"],
)
def test_toml_without_end(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_toml(text)


@pytest.mark.parametrize("text", ["[" * DEEP, '{"a":' * DEEP, '[{"b":' * DEEP], ids=len)
def test_json_without_end(text: str) -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        read_json(text, object)
