"""What `--help` lists and loads, and how each command's help ends."""

import shlex
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import pytest
import typer

from shoeproof.cli.main import loaded
from shoeproof.cli.panels import PANELS
from tests.cli.command_tree import COMMANDS, ROOT, helped
from tests.reference import PLACE, reference

HEAVY = ("numpy", "pyarrow", "duckdb", "scipy", "eventsourcing", "cryptography", "rich")

LISTED = [each for commands in PANELS.values() for each in commands]


EVERY = [*COMMANDS.items()]

every_command = pytest.mark.parametrize(
    ("path", "command"), EVERY, ids=[" ".join(path) for path, _ in EVERY]
)


def python(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize("words", [["--help"], ["-h"], []], ids=" ".join)
def test_the_list_of_commands_loads_nothing_heavy(words: list[str]) -> None:
    code = f"""
import sys
from shoeproof.cli.main import app
app({words!r}, standalone_mode=False) if {words!r} else None
print("LOADED", *(name for name in {HEAVY!r} if name in sys.modules))
"""
    assert all(find_spec(name) for name in HEAVY)
    assert python(code).splitlines()[-1] == "LOADED"


LIGHT = (
    "play", "table", "rounds", "replay", "bundle", "adjudicate", "value", "inspect", "verify",
    "rtp", "report", "shuffle-tests", "project", "sql", "shoe", "theory", "strategy", "witness",
    "init", "keys", "rules",
)  # fmt: skip
"""The commands whose help is printed without what computes for them."""


def test_the_help_of_a_command_loads_nothing_that_computes() -> None:
    code = f"""
import sys
from shoeproof.cli.main import loaded
for name in {LIGHT!r}:
    loaded(name)
print(*(each for each in ("numpy", "scipy", "duckdb", "pyarrow") if each in sys.modules))
"""
    assert python(code) == "\n"


def test_completion_of_a_command_loads_nothing_heavy() -> None:
    code = f"""
import os, sys
os.environ |= {{"_SHOEPROOF_COMPLETE": "complete_bash"}}
os.environ |= {{"COMP_WORDS": "shoeproof re", "COMP_CWORD": "1"}}
from shoeproof.cli.main import app
try:
    app(prog_name="shoeproof")
except SystemExit:
    print("LOADED", *(name for name in {HEAVY!r} if name in sys.modules))
"""
    assert python(code).split() == ["replay", "report", "rebuild", "LOADED"]


@pytest.mark.parametrize("listed", LISTED, ids=lambda listed: listed.name)
def test_the_list_says_of_a_command_what_its_own_help_says_first(listed: Any) -> None:
    assert loaded(listed.name).help.startswith(listed.says)


def test_every_command_is_listed_on_a_line_of_its_own_in_eighty_columns() -> None:
    lines = ROOT.command.get_help(ROOT).splitlines()
    for listed in LISTED:
        assert f"  {listed.name:<13}  {listed.says}" in lines


@every_command
def test_every_command_has_two_ways_to_ask_for_help(path: tuple[str, ...], command: Any) -> None:
    assert "-h, --help" in helped(path)


@every_command
def test_the_commands_of_a_group_are_listed_whole(path: tuple[str, ...], command: Any) -> None:
    listed = helped(path).partition("\nCommands:\n")[2].partition("\n\n")[0]
    assert "..." not in listed
    names = [line.split()[0] for line in listed.splitlines()]
    assert names == [*getattr(command, "commands", {})]


@every_command
def test_help_ends_with_an_example_that_the_command_takes(
    path: tuple[str, ...], command: Any
) -> None:
    last = helped(path).splitlines()[-1]
    assert last.startswith("  Example: shoeproof ")
    context = ROOT
    words = shlex.split(last)[2:]
    while words and isinstance(context.command, typer.core.TyperGroup):
        name, found, words = context.command.resolve_command(context, words)
        assert found is not None
        context = found.make_context(name, words, parent=context)
        words = [*context._protected_args, *context.args]
    assert context.command in (command, *getattr(command, "commands", {}).values())


def test_the_reference_says_what_the_help_says() -> None:
    """`python -m tests.reference` writes it."""
    assert PLACE.read_text(encoding="utf-8") == reference()


@every_command
def test_help_is_whole_in_eighty_columns(path: tuple[str, ...], command: Any) -> None:
    assert [line for line in helped(path).splitlines() if len(line) > 80] == []
