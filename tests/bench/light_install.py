"""What an installation takes, in MB: `python -m tests.bench.light_install`.

Makes two virtual environments, each without pip: one with what `requirements-table.txt` names, in
which a table is run, swept and verified, and one with everything. It lists what takes most.
"""

import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
LARGEST = 8


def main() -> None:
    """Print the size of both, and what the light one can do."""
    with tempfile.TemporaryDirectory() as folder:
        light, whole = Path(folder, "light"), Path(folder, "whole")
        install(light, "--requirement", ROOT / "requirements-table.txt")
        install(light, "--no-deps", ROOT)
        show("light", light)
        run = "import sys; sys.path.append(sys.argv[1]); from pathlib import Path; "
        run += "from tests.light_table import main; main(Path(sys.argv[2]))"
        subprocess.run(
            [light / "bin" / "python", "-c", run, ROOT, Path(folder, "ledger")], check=True
        )
        install(whole, ROOT)
        show("whole", whole)


def install(place: Path, *words: str | Path) -> None:
    """Install into an environment, made where it is not there yet."""
    if not place.exists():
        venv.create(place)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--python", place / "bin" / "python", "install", *words], check=True)


def show(name: str, place: Path) -> None:
    """Print what an environment takes, and its largest parts."""
    paths = {"base": str(place), "platbase": str(place)}
    libraries = Path(sysconfig.get_path("purelib", "venv", vars=paths))
    parts = sorted(((megabytes(each), each.name) for each in libraries.iterdir()), reverse=True)
    print(f"{name}: {megabytes(place):.1f} MB")
    print("  " + ", ".join(f"{part} {size:.1f}" for size, part in parts[:LARGEST]))


def megabytes(place: Path) -> float:
    """Return the size of all files in a place, in 10⁶ bytes."""
    every = [place] if place.is_file() else place.rglob("*")
    return sum(each.stat().st_size for each in every if each.is_file()) / 1e6


if __name__ == "__main__":
    main()
