"""The README's table of attacks has a row for each test here, and no other."""

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
README = HERE.parents[1] / "ledger" / "README.md"


def test_every_attack_has_its_row() -> None:
    section = README.read_text(encoding="utf-8").split("## Attacks, and what detects each")[1]
    table = section.split("**What verification cannot detect**")[0]
    rows = re.findall(r"^\| ([a-z].*?) \| .* \|$", table, re.MULTILINE)
    names = {
        node.name.removeprefix("test_").replace("_", " ")
        for path in HERE.glob("test_*.py")
        if path.name not in ("test_gallery.py", "test_honest_half.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }
    assert {row.replace("'", "") for row in rows} - {"attack"} == names
