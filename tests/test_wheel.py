"""The wheel installs one top-level name, and lives beside packages that carry the names of ours."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("ledger", "replay", "audit_reports", "cli")
BYSTANDER = "import ledger, replay, audit_reports, cli; print(ledger.X, replay.X, cli.X)"
COMMANDS = """
set -euo pipefail
export PATH="$1:$PATH" SHOEPROOF_LEDGER=casino
shoeproof init --origin casino.example/bj
shoeproof simulate nba --rounds 30
shoeproof verify
shoeproof audit --workers 2
shoeproof theory nba
shoeproof sql --checks
# Few rounds may by chance return what is out of range.
shoeproof report rtp --no-shuffle-tests -o rtp.html || test $? = 1
python -m shoeproof rounds
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built of this checkout."""
    place = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--wheel-dir", place, ROOT)
    return next(place.glob("*.whl"))


@pytest.fixture(scope="module")
def bystander(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of another distribution, whose packages are named as our folders."""
    path = tmp_path_factory.mktemp("bystander") / "bystander-1.0-py3-none-any.whl"
    information = "bystander-1.0.dist-info"
    files = {f"{name}/__init__.py": "X = 1\n" for name in PACKAGES} | {
        f"{information}/METADATA": "Metadata-Version: 2.1\nName: bystander\nVersion: 1.0\n",
        f"{information}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in (*files, f"{information}/RECORD"))
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in (*files.items(), (f"{information}/RECORD", record)):
            archive.writestr(name, text)
    return path


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """A virtual environment that has the packages of this one, though not the checkout."""
    venv.create(tmp_path / "venv", symlinks=True)
    paths = {"base": str(tmp_path / "venv"), "platbase": str(tmp_path / "venv")}
    here = Path(sysconfig.get_path("purelib", "venv", vars=paths))
    (here / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return Path(sysconfig.get_path("scripts", "venv", vars=paths)) / "python"


def pip(*words: str | Path) -> None:
    ran([sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *words], ROOT)


def install(python: Path, wheel: Path) -> None:
    pip("--python", python, "install", "--no-deps", "--no-index", "--ignore-installed", wheel)


def ran(command: list[str | Path], folder: Path) -> str:
    """Run a command that must succeed, in a folder, without what this process was told of paths."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=1800
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_is_typed_and_complete(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    tops = {name.split("/")[0] for name in names}
    assert {name for name in tops if not name.endswith(".dist-info")} == {"shoeproof"}
    assert any(name.endswith("licenses/LICENSE") for name in names)
    ours = {name for name in names if name.startswith("shoeproof/")}
    packaged = {
        f"shoeproof/{path.relative_to(ROOT)}"
        for name in PACKAGES
        for path in (ROOT / name).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    beside = {f"shoeproof/{path.name}" for path in (ROOT / "shoeproof").glob("*.*")}
    assert "shoeproof/py.typed" in beside
    assert ours == packaged | beside


def test_the_checkout_has_each_package_at_its_top_and_links_to_it() -> None:
    for name in PACKAGES:
        assert (ROOT / "shoeproof" / name).samefile(ROOT / name)


def test_no_module_is_imported_by_the_name_of_its_folder() -> None:
    bare = re.compile(rf"^\s*(?:from|import) (?:{'|'.join(PACKAGES)})\b", re.MULTILINE)
    for folder in (*PACKAGES, "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            assert not bare.search(path.read_text(encoding="utf-8")), path


def test_every_layer_works_from_the_wheel(wheel: Path, python: Path, tmp_path: Path) -> None:
    install(python, wheel)
    where = "import shoeproof.ledger; print(shoeproof.ledger.__file__)"
    assert (tmp_path / "venv") in Path(ran([python, "-c", where], tmp_path)).parents
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("these commands are typed into bash")
    printed = ran([bash, "-c", COMMANDS, bash, python.parent], tmp_path)
    assert "SOUND" in printed
    assert (tmp_path / "rtp.html").stat().st_size > 10_000


@pytest.mark.parametrize("removed", ["shoeproof", "bystander"])
@pytest.mark.parametrize("first", ["shoeproof", "bystander"])
def test_beside_packages_of_the_same_names(
    wheel: Path, bystander: Path, python: Path, tmp_path: Path, first: str, removed: str
) -> None:
    for each in (wheel, bystander) if first == "shoeproof" else (bystander, wheel):
        install(python, each)
    programs: dict[str, list[str | Path]] = {
        "shoeproof": [python.parent / "shoeproof", "--version"],
        "bystander": [python, "-c", BYSTANDER],
    }
    told = {name: ran(command, tmp_path) for name, command in programs.items()}
    assert told["shoeproof"].startswith("shoeproof ")
    assert told["bystander"] == "1 1 1\n"
    pip("--python", python, "uninstall", "--yes", removed)
    (left,) = programs.keys() - {removed}
    assert ran(programs[left], tmp_path) == told[left]
    assert not (python.parent / "shoeproof").exists() or left == "shoeproof"
