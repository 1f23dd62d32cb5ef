"""Every command of the command line, and which of them a command line calls."""

from collections.abc import Iterator
from typing import Any, Final

import typer

from shoeproof.cli.main import app, loaded
from shoeproof.cli.panels import PANELS

ROOT: Final[Any] = typer.main.get_command(app).make_context("shoeproof", ["demo"])
"""The context that every command is called in."""


def _below(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, each in getattr(command, "commands", {}).items():
        yield from _below(each, (*path, name))


COMMANDS: Final[dict[tuple[str, ...], Any]] = {
    path: command
    for panel in PANELS.values()
    for listed in panel
    for path, command in _below(loaded(listed.name), (listed.name,))
}
"""Every command and group by the words that call it."""


def called(words: list[str]) -> tuple[str, ...] | None:
    """Return the path of the command that a command line calls, None where it calls none."""
    path = tuple(words[:1])
    while (command := COMMANDS.get(path)) is not None and hasattr(command, "commands"):
        word = words[len(path)] if len(words) > len(path) else ""
        path = (*path, word if word in command.commands else getattr(command, "default", ""))
    return path if path in COMMANDS else None


def helped(path: tuple[str, ...]) -> str:
    """Return a command's help as a terminal of eighty columns shows it."""
    context = ROOT
    for length in range(1, len(path) + 1):
        command = COMMANDS[path[:length]]
        context = typer.Context(
            command, info_name=path[length - 1], parent=context, terminal_width=80
        )
    return str(context.command.get_help(context))


def prints_json(command: Any) -> bool:
    """Tell whether a command has the option `--json`."""
    return any("--json" in each.opts for each in command.params)
