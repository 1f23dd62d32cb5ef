"""The wheel holds the four packages, each typed, with their data, and no tests."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("ledger", "replay", "audit_reports", "cli")


def test_the_wheel_is_typed_and_complete(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", tmp_path, ROOT],
        check=True,
        capture_output=True,
        timeout=1800,
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for package in PACKAGES:
        assert f"{package}/py.typed" in names
    folders = {name.split("/")[0] for name in names}
    assert folders - {name for name in folders if name.endswith(".dist-info")} == set(PACKAGES)
    assert "replay/games/nba_cash_out.csv" in names
    assert any(name.startswith("audit_reports/tables/queries/") for name in names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
