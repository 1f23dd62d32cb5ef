"""Change one expression of a source at a time, and print the changes that no test notices.

`python -m tests.mutants replay/rounds/money_check.py --sample 10 --seed 1` changes ten comparisons,
parts of conditions, constants or returned values, each alone and in a copy, and runs the tests
nearest by imports until one fails. What survives is a clause that they do not hold, or means the
same.
"""

import argparse
import ast
import copy
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parent.parent
PACKAGES: Final = ("ledger", "replay", "audit_reports", "cli")
COPIED: Final = (*PACKAGES, "shoeproof", "docs", "tests", "pyproject.toml", "README.md")

OTHER: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip


class Mutant(NamedTuple):
    """A source, the expression that is changed, and what it becomes."""

    path: Path
    node: ast.expr
    changed: ast.expr

    def __str__(self) -> str:
        before, after = ast.unparse(self.node), ast.unparse(self.changed)
        return f"{self.path.relative_to(ROOT)}:{self.node.lineno}: {before} -> {after}"

    def source(self) -> bytes:
        lines = self.path.read_bytes().splitlines(keepends=True)
        first, last = self.node.lineno - 1, (self.node.end_lineno or 0) - 1
        head = b"".join(lines[:first]) + lines[first][: self.node.col_offset]
        tail = lines[last][self.node.end_col_offset :] + b"".join(lines[last + 1 :])
        return head + f"({ast.unparse(self.changed)})".encode() + tail


def mutants_of(path: Path) -> Iterator[Mutant]:
    nodes = list(ast.walk(ast.parse(path.read_bytes())))
    # Python 3.11 does not tell where the parts of an f-string stand.
    texts = {part for e in nodes if isinstance(e, ast.JoinedStr) for part in ast.walk(e)}
    for node in nodes:
        if isinstance(node, ast.expr) and node not in texts:
            yield from (Mutant(path, node, each) for each in _others(node))
        elif isinstance(node, ast.Return) and not isinstance(node.value, ast.Constant | None):
            yield Mutant(path, node.value, ast.Constant(None))


def _others(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Compare():
            for place, operator in enumerate(node.ops):
                changed = copy.deepcopy(node)
                changed.ops[place] = OTHER[type(operator)]()
                yield changed
        case ast.BoolOp(op, values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
            for place in range(len(values)):
                yield ast.BoolOp(op, values[:place] + values[place + 1 :])
        case ast.UnaryOp(ast.Not(), operand):
            yield operand
        case ast.Constant(int(value)):
            yield ast.Constant(not value if isinstance(value, bool) else value + 1)


def tests_of(path: Path) -> list[list[str]]:
    """Return the tests that import a source, and those that do by one other; at least some."""
    files = [each for name in (*PACKAGES, "tests") for each in (ROOT / name).rglob("*.py")]
    imported = {each: set(_imported(each)) for each in files}
    found: list[list[str]] = []
    ring, seen, distance = {path}, {path}, 0
    while ring and (not found or distance < 2):
        dotted = (".".join(e.relative_to(ROOT).with_suffix("").parts) for e in ring)
        names = {each.removesuffix(".__init__") for each in dotted}
        ring = {each for each in files if imported[each] & names} - seen
        seen, distance = seen | ring, distance + 1
        tests = sorted(str(e.relative_to(ROOT)) for e in ring if e.name.startswith("test_"))
        found += [tests] if tests else []
    return found


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom):
            module = (node.module or "").removeprefix("shoeproof.")
            yield from (module, *(f"{module}.{each.name}" for each in node.names))


def first_failure(project: Path, tests: list[str]) -> str | None:
    """Run tests in a copy of the project and return the first that fails, if any does."""
    command = [sys.executable, "-m", "pytest", "-xq", "-n", "auto", *tests]
    env = {**os.environ, "PYTHONPATH": str(project)}
    try:
        done = subprocess.run(
            command, cwd=project, env=env, timeout=900, capture_output=True, text=True
        )
    except subprocess.TimeoutExpired:
        return "no end"
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", done.stdout, re.MULTILINE)
    return failed[1] if failed else None


def killer_of(mutant: Mutant, project: Path) -> str | None:
    """Return the first test that fails of a mutant, None where it survives."""
    place = project / mutant.path.relative_to(ROOT)
    place.write_bytes(mutant.source())
    runs = (first_failure(project, tests) for tests in tests_of(mutant.path))
    killer = next(filter(None, runs), None)
    place.write_bytes(mutant.path.read_bytes())
    if killer and "::" in killer and first_failure(project, [killer]):
        sys.exit(f"{killer} fails without a mutant: mend it first")
    return killer


def main() -> None:
    """Try a sample of the mutants there are, and print how each fared."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("place", help="a source, or a folder of them")
    parser.add_argument("--sample", type=int, default=10, help="how many mutants")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    asked = parser.parse_args()
    place = ROOT / asked.place
    paths = [place] if place.is_file() else sorted(place.rglob("*.py"))
    every = [mutant for path in paths for mutant in mutants_of(path)]
    sample = random.Random(asked.seed).sample(every, min(asked.sample, len(every)))
    survived = 0
    with tempfile.TemporaryDirectory() as directory:
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, Path(directory) / name, symlinks=True)
            else:
                shutil.copy(ROOT / name, Path(directory) / name)
        for mutant in sample:
            killer = killer_of(mutant, Path(directory))
            survived += killer is None
            print(f"{mutant}\n    {killer or 'SURVIVED'}", flush=True)
    print(f"{survived} of {len(sample)} survived; there are {len(every)} mutants")


if __name__ == "__main__":
    main()
