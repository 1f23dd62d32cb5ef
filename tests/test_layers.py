"""The layers: imports run strictly downward, the engine is pure, no file has grown too long."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = ("cli", "audit_reports", "replay", "ledger")
"""From the top down; each may import those after it."""

IMPURE = {
    "ledger", "random", "secrets", "time", "datetime", "os", "io", "pathlib", "sqlite3", "socket",
    "subprocess", "uuid", "threading", "asyncio", "logging", "tempfile", "shutil",
}  # fmt: skip
"""What the engine has no use for: clocks, chance, files, the world, the ledger."""

LONGEST = 500


def _sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _imports(path: Path) -> Iterator[str]:
    """Every module a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{_name(path)} has a relative import"
            yield node.module or ""


@pytest.mark.parametrize("path", _sources(*LAYERS), ids=_name)
def test_imports_run_downward(path: Path) -> None:
    mine = LAYERS.index(path.relative_to(ROOT).parts[0])
    imported = {name.split(".")[0] for name in _imports(path)}
    assert not imported & {*LAYERS[:mine], "tests"}


@pytest.mark.parametrize("path", _sources("replay/engine"), ids=_name)
def test_the_engine_is_pure(path: Path) -> None:
    imported = set(_imports(path))
    assert not {name.split(".")[0] for name in imported} & IMPURE
    ours = {name for name in imported if name.startswith("replay")}
    assert all(name.startswith("replay.engine") or name == "replay.errors" for name in ours)
    calls = {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not calls & {"open", "print", "input", "exec", "eval", "__import__"}


def test_theory_and_games_know_no_ledger() -> None:
    for path in _sources("replay/theory", "replay/games"):
        assert not {name.split(".")[0] for name in _imports(path)} & {"ledger"}, _name(path)


@pytest.mark.parametrize("game", ["zappit", "zero", "nba"])
def test_no_code_asks_which_game_it_is(game: str) -> None:
    """A game's name stands in its constant and its policy, and in no comparison."""
    for path in _sources(*LAYERS):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare):
                values = (node.left, *node.comparators)
                constants = {each.value for each in values if isinstance(each, ast.Constant)}
                assert game not in constants, f"{_name(path)}:{node.lineno}"


def test_no_file_is_longer_than_a_reader_holds_in_mind() -> None:
    lengths = {
        _name(path): len(path.read_text(encoding="utf-8").splitlines())
        for path in _sources(*LAYERS, "tests")
    }
    assert not {name: length for name, length in lengths.items() if length > LONGEST}
    ours = sorted(length for name, length in lengths.items() if not name.startswith("tests"))
    assert ours[len(ours) // 2] <= 200
