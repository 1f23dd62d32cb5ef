"""The drill of `ledger/README.md` for a ledger that is lost, each of its commands run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shoeproof.ledger.errors import SigningRefused
from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from tests.ledger.helpers import play, round_id

ROOT = Path(__file__).parents[2]
ORIGIN = "casino.example/blackjack"


def steps() -> list[str]:
    """Return the blocks of the drill, in their order."""
    text = (ROOT / "ledger" / "README.md").read_text(encoding="utf-8")
    drill = text.partition("## When a ledger is lost")[2].partition("\n## ")[0]
    return re.findall(r"```bash\n(.*?)```", drill, re.DOTALL)


class Floor:
    """A ledger and the folder the drill is run in."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / "casino"
        with Ledger.init(self.path, ORIGIN) as ledger:
            play(ledger, round_id(1))
            self.key = ledger.public_keys()["operator"]

    def run(self, script: str, code: int = 0) -> str:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        env = {**os.environ, "PATH": path, "KEY": self.key, "SHOEPROOF_LEDGER": "casino"}
        ran = subprocess.run(
            ["bash", "-ec", script], cwd=self.folder, env=env, capture_output=True, text=True
        )
        assert ran.returncode == code, ran.stdout + ran.stderr
        return ran.stdout + ran.stderr


@pytest.fixture
def floor(tmp_path: Path) -> Floor:
    return Floor(tmp_path)


def test_drill_where_nothing_was_signed_after_the_backup(floor: Floor) -> None:
    back_up, put_back, _, anew = steps()
    with Ledger.open(floor.path) as live:
        play(live, round_id(2), length=3)
        floor.run(back_up)
        play(live, round_id(3))
    floor.run(put_back)
    with Ledger.open(floor.path) as ledger:
        assert [row.round for row in ledger.rounds()] == [round_id(1), round_id(2)]
        play(ledger, round_id(4))
    shutil.rmtree(floor.path)
    assert "it can be written to" in floor.run(anew)
    with Ledger.open(floor.folder / "from-export") as ledger:
        play(ledger, round_id(5))
    with Ledger.open(floor.folder / "from-tiles") as ledger:
        assert [row.round for row in ledger.rounds()] == [round_id(1), round_id(2)]
        with pytest.raises(SigningRefused):
            play(ledger, round_id(5))


def test_drill_where_something_was_signed_after_the_backup(floor: Floor) -> None:
    back_up, put_back, another_origin, _ = steps()
    floor.run(back_up)
    with Ledger.open(floor.path) as ledger:
        play(ledger, round_id(2))
        sign_checkpoint(ledger)
    assert "checkpoint_mismatch" in floor.run(put_back, code=1)
    assert "were signed" in floor.run("shoeproof checkpoint -o later", code=3)
    floor.run("shoeproof rounds")
    floor.run(another_origin)
    with Ledger.open(floor.folder / "casino-2") as ledger:
        assert ledger.origin == "casino.example/blackjack-2"
        play(ledger, round_id(2))


@pytest.mark.parametrize(
    "words",
    ["", "--export a --tiles b", "--export a --newest"],
)
def test_what_cannot_be_asked_of_rebuild(floor: Floor, words: str) -> None:
    floor.run(f'shoeproof rebuild new --public-key "$KEY" {words}', code=2)
