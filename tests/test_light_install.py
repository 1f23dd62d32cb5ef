"""A game server that only writes needs `requirements-table.txt`; what needs more says so."""

import re
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.findings import SIGNATURE_INVALID
from tests.ledger.helpers import FIRST, ORIGIN, TickingClock, alter, codes_at, play, round_id

ROOT = Path(__file__).parent.parent
REQUIREMENTS = ROOT / "requirements-table.txt"
OWN = {"shoeproof", "ledger", "replay", "audit_reports", "cli", "tests"}


def needed(names: Iterable[str]) -> set[str]:
    """Return distributions and all that they need here, in normal form (PEP 503)."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = normal(waiting.pop())
        if name not in found:
            found.add(name)
            with suppress(PackageNotFoundError):  # what only older Pythons need is not here
                waiting += [each for each in requires(name) or () if "extra ==" not in each]
    return found


def normal(requirement: str) -> str:
    """Return the name of a requirement's distribution."""
    name = re.match(r"[\w.-]+", requirement)
    assert name is not None
    return re.sub(r"[-_.]+", "-", name[0]).lower()


def lines() -> list[str]:
    text = REQUIREMENTS.read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@pytest.fixture(scope="module")
def missing() -> str:
    """Code after which no library can be imported but those that the file names and they need."""
    light = needed(lines())
    absent = [
        name
        for name, distributions in packages_distributions().items()
        if name not in OWN and not light & set(map(normal, distributions))
    ]
    assert {"numpy", "pyarrow", "duckdb", "typer", "rich"} <= set(absent)
    return f"import sys; sys.modules.update(dict.fromkeys({sorted(absent)!r}))\n"


def run(code: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_file_names_what_the_project_depends_on() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for line in lines():
        assert f'"{line}"' in project


def test_a_table_is_run_swept_and_verified(missing: str, tmp_path: Path) -> None:
    code = "from pathlib import Path; from tests.light_table import main; main(Path(sys.argv[1]))"
    done = run(missing + code, tmp_path / "ledger")
    assert done.stdout == "5 closed, 1 void, 1 swept, 0 findings\n", done.stderr


def test_altered_leaves_are_found_without_numpy_as_with_it(missing: str, tmp_path: Path) -> None:
    """Without NumPy each leaf is read by itself, and with it most are compared by columns."""
    place = tmp_path / "ledger"
    with Ledger.init(place, ORIGIN, clock=TickingClock()) as ledger:
        for number in range(8):
            play(ledger, round_id(number))
    alter(place, FIRST + 3, b'"Td"', b'"Ad"')
    alter(place, FIRST + 40, b"{", b"[")
    found = codes_at(place)
    assert (FIRST + 3, SIGNATURE_INVALID) in found
    code = "from pathlib import Path; from tests.ledger.helpers import codes_at\n"
    done = run(f"{missing}{code}print(codes_at(Path(sys.argv[1])))", place)
    assert done.stdout == f"{found}\n", done.stderr


@pytest.mark.parametrize(
    ("imported", "told"),
    [
        ("shoeproof.replay.theory", "theory needs numpy"),
        ("shoeproof.replay.luck", "luck needs numpy"),
        ("shoeproof.replay.bulk.audit", "the bulk audit needs numpy and pyarrow"),
        ("shoeproof.audit_reports.tables.views", "counting and reporting needs "),
    ],
)
def test_what_needs_more_says_what(missing: str, imported: str, told: str) -> None:
    code = f"""
from importlib import import_module
from shoeproof.needs import NotInstalled
try:
    import_module({imported!r})
except NotInstalled as error:
    print(error)
"""
    [line] = run(missing + code).stdout.splitlines()
    assert line.startswith(told)
    assert line.endswith("not installed here: pip install shoeproof")


def test_the_command_line_says_so_as_of_bad_input(missing: str) -> None:
    done = run(missing + "from shoeproof.cli.__main__ import run; run()")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "Error: the command line needs typer and rich, not installed here: pip install shoeproof\n"
    )
