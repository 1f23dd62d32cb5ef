"""The map that each package's README begins with: every file, and which files read which event.

`python -m tests.maps` writes it as the files now are.
"""

import ast
import re
from pathlib import Path

from shoeproof.ledger.leaf.events import EVENTS
from tests.rooms import LAYERS, ROOMS, ROOT, sources

MAP = "## Map"
INDEX = "## Which file reads which event"


def map_of(package: str) -> str:
    """Return the map of a package: its rooms from the bottom up, and every file of each."""
    blocks = [
        MAP,
        "From the bottom up: a room imports what stands before it, never what comes after.",
    ]
    loose: list[str] = []
    for room in reversed(ROOMS[package]):
        folder = ROOT / package / room
        if not folder.is_dir():
            loose.append(_line(folder.with_suffix(".py"), package))
            continue
        blocks += ["\n".join(loose)] if loose else []
        loose = []
        files = sorted(sources(f"{package}/{room}"), key=lambda each: (len(each.parts), each))
        blocks.append(f"**`{room}/`** {says(folder / '__init__.py')}")
        blocks.append("\n".join(_line(each, package) for each in files if each.stem != "__init__"))
    return "\n\n".join([*blocks, *(["\n".join(loose)] if loose else [])])


def index_of(package: str) -> str:
    """Return which files of a package name each event."""
    readers: dict[str, list[str]] = {event: [] for event in EVENTS}
    for path in sources(package):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        named = {node.id for node in nodes if isinstance(node, ast.Name)}
        named |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        for event in named & readers.keys():
            readers[event].append(f"`{path.relative_to(ROOT / package).as_posix()}`")
    rows = [f"| {event} | {', '.join(files)} |" for event, files in readers.items() if files]
    return "\n".join([INDEX, "", "| event | files |", "|---|---|", *rows])


def says(path: Path) -> str:
    """Return the first sentence of a file's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return re.split(r"(?<=[.!?])\s", " ".join(text.split()))[0]


def made_of(package: str) -> str:
    """Return the sections that are made from the files, as they stand in the README."""
    return f"{map_of(package)}\n\n{index_of(package)}\n\n"


def with_map(text: str, package: str) -> str:
    """Return a README with its map, before the first section that is written by hand."""
    head, *rest = re.split(r"^(?=## )", text, flags=re.M)
    kept = [part for part in rest if part.split("\n")[0] not in (MAP, INDEX)]
    made = made_of(package)
    return head + (made + "".join(kept) if kept else f"{made.rstrip()}\n")


def _line(path: Path, package: str) -> str:
    return f"- `{path.relative_to(ROOT / package).as_posix()}`: {says(path)}"


if __name__ == "__main__":
    for package in LAYERS:
        readme = ROOT / package / "README.md"
        readme.write_text(with_map(readme.read_text("utf-8"), package), "utf-8")
