"""The command reference, made from `--help`: `python -m tests.reference` writes it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from shoeproof.cli.panels import PANELS
from tests.cli.command_tree import COMMANDS, helped

PLACE: Final = Path(__file__).parent.parent / "cli" / "COMMANDS.md"


def reference() -> str:
    """Return the help of every command, in the order in which `shoeproof --help` lists them."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield "# Commands\n"
    yield "What `--help` says of every command; `python -m tests.reference` writes this page.\n"
    for panel, listed in PANELS.items():
        yield f"## {panel}\n"
        for each in listed:
            for path in COMMANDS:
                if path[0] == each.name:
                    yield f"### {' '.join(path)}\n\n```text\n{helped(path)}\n```\n"


if __name__ == "__main__":
    PLACE.write_text(reference(), encoding="utf-8")
