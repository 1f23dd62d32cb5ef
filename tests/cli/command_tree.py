"""Every command of the command line, and which of them a command line calls."""

from collections.abc import Iterator
from typing import Any, Final

from cli.commands import PANELS
from cli.main import loaded


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


def prints_json(command: Any) -> bool:
    """Tell whether a command has the option `--json`."""
    return any("--json" in each.opts for each in command.params)
