"""The pages' commands work as printed, and the demo prints what its page shows."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = {
    path.stem: path.read_text(encoding="utf-8")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}
TOUR = re.compile(r"^```(sh|python) tour\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TEXT = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROLES = ("support", "regulator", "operator", "player")


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder in which the demo was run, and what it printed.

    Where it was run before, with its output in `demo.log`, SHOEPROOF_DEMO names the folder.
    """
    if made := os.environ.get("SHOEPROOF_DEMO"):
        printed = (Path(made) / "demo.log").read_text(encoding="utf-8")
        # It names the program by the place that it was started from.
        return Path(made), printed.replace("  .venv/bin/shoeproof", "  shoeproof")
    folder = tmp_path_factory.mktemp("newcomer")
    return folder, run(["shoeproof", "demo"], folder)


def run(command: list[str], folder: Path) -> str:
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "COLUMNS": "80",
    }
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=1800
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def headings(text: str) -> list[str]:
    """Return the lines that do not depend on the cards, figures and ids masked."""
    varying = re.compile(r"[0-9a-f-]{36}|[0-9A-Za-z+/=]{30,}|\b[0-9a-f]{8}\b|[0-9][0-9.,]*")
    masked = (varying.sub("#", line) for line in text.splitlines())
    fixed = ("#. ", "recorded ", "operator's", "# leaves", "# rounds", "The ledger is", "  shoe")
    return [line.rstrip() for line in masked if line.startswith(fixed)]


def test_the_demo_prints_what_its_page_shows(newcomer: tuple[Path, str]) -> None:
    [shown] = TEXT.findall(PAGES["demo"])
    assert headings(shown) == headings(newcomer[1])


def test_the_readmes_round_is_the_round_of_the_demo() -> None:
    [excerpt] = TEXT.findall(PAGES["README"])
    [shown] = TEXT.findall(PAGES["demo"])
    lines = iter(shown.splitlines())
    assert all(line in lines for line in excerpt.splitlines())


def test_every_role_has_commands() -> None:
    assert [role for role in ROLES if not TOUR.search(PAGES[role])] == []


@pytest.mark.parametrize("page", [name for name, text in PAGES.items() if TOUR.search(text)])
def test_the_commands_of_a_page_run_as_printed(
    newcomer: tuple[Path, str], page: str, tmp_path: Path
) -> None:
    shutil.copytree(newcomer[0] / "shoeproof-demo", tmp_path / "shoeproof-demo")
    script = ["set -euo pipefail"]
    for number, (language, block) in enumerate(TOUR.findall(PAGES[page])):
        if language == "python":
            (tmp_path / f"block{number}.py").write_text(block, encoding="utf-8")
            script.append(f"python block{number}.py")
        else:
            script.append(block)
    run(["bash", "-c", "\n".join(script)], tmp_path)


def test_a_second_demo_never_replaces_the_first(newcomer: tuple[Path, str]) -> None:
    folder, _ = newcomer
    executable = Path(sys.executable).parent / "shoeproof"
    again = subprocess.run(
        [executable, "demo"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert again.returncode == 2
    assert "--force" in again.stderr


def test_force_replaces_nothing_but_a_demo(tmp_path: Path) -> None:
    place = tmp_path / "shoeproof-demo"
    place.mkdir()
    (place / "precious.txt").write_text("keep me")
    executable = Path(sys.executable).parent / "shoeproof"
    done = subprocess.run(
        [executable, "demo", "--force"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert (place / "precious.txt").read_text() == "keep me"
