"""The rooms of each package and who may import whom, and the imports as they stand in the files."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent

LAYERS: Final = ("cli", "audit_reports", "replay", "ledger")
"""The packages from the top down; each may import those after it."""

ROOMS: Final = {
    "cli": (
        "__main__", "main", "commands", "input", "errors", "screen", "crash", "panels", "streams",
        "exit_codes", "schemas",
    ),
    "audit_reports": (
        "inspection", "rtp_report", "fault_report", "case_report", "shuffle_tests", "tables",
        "rows", "statistics", "pages", "findings", "errors",
    ),
    "replay": (
        "schemas", "bulk", "audit", "live", "disputes", "interruptions", "cases", "written", "luck",
        "kernel", "theory", "rounds", "wallet", "games", "engine", "local_time", "currency",
        "findings", "errors",
    ),
    "ledger": (
        "exchange", "witness", "verify", "rotation", "signing", "ledger", "writing", "store",
        "checkpoint", "keys", "leaf", "tree", "files", "findings", "errors",
    ),
}  # fmt: skip
"""The rooms of each package from the top down, files beside them included; each may import those
after it. A room is a folder, or a file that stands in the package itself.
"""


def sources(*folders: str) -> list[Path]:
    """Return the Python files below folders of this repository."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def name_of(path: Path) -> str:
    """Return a file's path from the root of this repository."""
    return path.relative_to(ROOT).as_posix()


def module_of(path: Path) -> str:
    """Return the name that a file is imported by."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def room_of(module: str) -> str | None:
    """Return the room that a module stands in, None for a package itself."""
    return module.split(".")[1] if "." in module else None


@cache
def modules() -> dict[str, Path]:
    """Return every file of the packages by the name it is imported by."""
    return {module_of(path): path for path in sources(*LAYERS)}


def imports(path: Path) -> Iterator[str]:
    """Yield every module a file imports, wherever in it, also for types alone."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.removeprefix("shoeproof.") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name_of(path)} has a relative import"
            base = (node.module or "").removeprefix("shoeproof.")
            whole = {f"{base}.{alias.name}" for alias in node.names}
            yield from whole & modules().keys()
            if not whole <= modules().keys():
                yield base
