"""The layers and their rooms: imports run strictly downward, the engine is pure, no file has grown
too long.
"""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.rooms import LAYERS, ROOMS, ROOT, imports, module_of, modules, name_of, room_of, sources

IMPURE = {
    "ledger", "random", "secrets", "time", "datetime", "os", "io", "pathlib", "sqlite3", "socket",
    "subprocess", "uuid", "threading", "asyncio", "logging", "tempfile", "shutil",
}  # fmt: skip
"""What the engine has no use for: clocks, chance, files, the world, the ledger."""

LONGEST = 500


@pytest.mark.parametrize("path", sources(*LAYERS), ids=name_of)
def test_imports_run_downward(path: Path) -> None:
    mine = LAYERS.index(path.relative_to(ROOT).parts[0])
    imported = {name.split(".")[0] for name in imports(path)}
    assert not imported & {*LAYERS[:mine], "tests"}


@pytest.mark.parametrize("package", LAYERS)
def test_every_room_has_its_place(package: str) -> None:
    """A room's place in the order is there, and no place is of a room that has gone."""
    there = {room_of(module) for module in modules() if module.startswith(f"{package}.")}
    assert there == set(ROOMS[package])


@pytest.mark.parametrize("path", sources(*LAYERS), ids=name_of)
def test_imports_run_down_the_rooms(path: Path) -> None:
    """A file imports its own room and those below it."""
    mine = module_of(path)
    package, room = mine.split(".")[0], room_of(mine)
    if room is None:
        return
    above = ROOMS[package][: ROOMS[package].index(room)]
    imported = {name for name in imports(path) if name.startswith(f"{package}.")}
    assert not {name for name in imported if room_of(name) in above}


def test_no_files_import_each_other() -> None:
    """Not in a circle either, nor where they are used, nor for types alone."""
    graph = {
        name: {each for each in imports(path) if each in modules() and each != name}
        for name, path in modules().items()
    }
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("path", sources("cli/commands"), ids=name_of)
def test_a_command_imports_no_other_command(path: Path) -> None:
    """`dispute` is one command in several files, which import one another."""
    imported = {name for name in imports(path) if name.startswith("cli.commands.")}
    folder = module_of(path).rpartition(".")[0]
    assert all(folder != "cli.commands" and name.startswith(f"{folder}.") for name in imported)


@pytest.mark.parametrize("path", sources("replay/engine"), ids=name_of)
def test_the_engine_is_pure(path: Path) -> None:
    imported = set(imports(path))
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
    for path in sources("replay/theory", "replay/games"):
        assert not {name.split(".")[0] for name in imports(path)} & {"ledger"}, name_of(path)


@pytest.mark.parametrize("game", ["zappit", "zero", "nba"])
def test_no_code_asks_which_game_it_is(game: str) -> None:
    """A game's name stands in its constant and its policy, and in no comparison."""
    for path in sources(*LAYERS):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare):
                values = (node.left, *node.comparators)
                constants = {each.value for each in values if isinstance(each, ast.Constant)}
                assert game not in constants, f"{name_of(path)}:{node.lineno}"


def test_no_file_is_longer_than_a_reader_holds_in_mind() -> None:
    lengths = {
        name_of(path): len(path.read_text(encoding="utf-8").splitlines())
        for path in sources(*LAYERS, "tests")
    }
    assert not {name: length for name, length in lengths.items() if length > LONGEST}
    ours = sorted(length for name, length in lengths.items() if not name.startswith("tests"))
    assert ours[len(ours) // 2] <= 200
