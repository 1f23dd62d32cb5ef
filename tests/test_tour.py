"""The README's tour works as printed, and the demo prints what the README shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
TOUR = re.compile(r"^```(sh|python) tour\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DEMO = re.compile(r"^```text\n(\n?1\. Keys.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder in which the demo was run, and what it printed."""
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


def test_the_demo_prints_what_the_readme_shows(newcomer: tuple[Path, str]) -> None:
    shown = DEMO.search(README)
    assert shown is not None
    assert headings(shown[1]) == headings(newcomer[1])


def test_the_tour_runs_as_printed(newcomer: tuple[Path, str]) -> None:
    folder, _ = newcomer
    script = ["set -euo pipefail"]
    for number, (language, block) in enumerate(TOUR.findall(README)):
        if language == "python":
            (folder / f"block{number}.py").write_text(block, encoding="utf-8")
            script.append(f"python block{number}.py")
        else:
            script.append(block)
    assert len(script) >= 6
    printed = run(["bash", "-c", "\n".join(script)], folder)
    assert "SOUND" in printed
    assert "Every card, act and payment follows from the rules." in printed


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
