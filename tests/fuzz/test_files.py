"""Every command that reads a file, given one that is none: a sentence, never a traceback."""

import shutil
from pathlib import Path
from typing import Final

import pytest

from shoeproof.ledger import Ledger
from tests.cli.conftest import Shoeproof, played, shoeproof
from tests.fuzz.mutations import NASTY
from tests.fuzz.targets import CORPUS, kept

__all__ = ["played", "shoeproof"]

KINDS: Final = (
    "nothing", "nul", "not utf-8", "surrogate in utf-8", "brackets", "nested objects",
    "nested tables", "dotted key", "digits", "long line", "many lines", "control",
)  # fmt: skip

COMMANDS: Final = [
    "adjudicate FILE",
    "adjudicate --rules FILE tests/cases/nba/bust-loses-though-dealer-busts.round",
    "audit --ledger LEDGER --checkpoint FILE",
    "audit --ledger LEDGER --resume FILE",
    "audit --parquet FOLDER",
    "bundle verify FILE --public-key KEY",
    "bundle ROUND --kept FILE -o OUT --ledger LEDGER",
    "dispute reject ROUND --key FILE.pem --yes --ledger LEDGER",
    "fault show operator:x --checkpoint FILE --ledger LEDGER",
    "import FILE --ledger LEDGER",
    "inspect LEDGER --statement FILE -o OUT.json",
    "inspect LEDGER --checkpoint FILE -o OUT.json",
    "publish OUT --checkpoint FILE --ledger LEDGER",
    "rebuild OUT --export FILE --public-key KEY",
    "rules add FILE --ledger COPY",
    "sql FROM --par-sheets FILE --ledger LEDGER",
    "strategy nba --rules FILE",
    "theory nba --rules FILE",
    "value FILE",
    "verify --ledger FOLDER",
    "verify --ledger LEDGER --checkpoint FILE",
    "verify --ledger LEDGER --policy FILE --checkpoint NOTE",
    "verify --ledger LEDGER --public-key FILE",
    "verify --tiles FOLDER",
    "wallet reconcile --statement FILE --ledger LEDGER",
    "wallet reconcile --statement STATEMENT --columns FILE --ledger LEDGER",
    "witness ask --policy FILE --ledger LEDGER",
    "witness cosign FOLDER FILE",
    "witness cosign WITNESS FILE",
]


class Place:
    """Where the files of one test lie, and what the words of a command stand for."""

    def __init__(self, path: Path, ledger: Path) -> None:
        with Ledger.open(ledger) as opened:
            round_id = opened.rounds(limit=1)[0].round
        self.file = path / "file"
        self.folder = path / "folder"
        self.words = {
            "LEDGER": str(ledger),
            "COPY": str(ledger),
            "ROUND": round_id,
            "KEY": kept("operator.vkey"),
            "OUT": str(path / "out"),
            "FOLDER": str(self.folder),
            "NOTE": str(CORPUS / "checkpoint" / "cosigned.checkpoint"),
            "STATEMENT": str(CORPUS / "statement" / "plain.csv"),
            "WITNESS": str(path / "witness"),
            "FROM": "FROM par_sheets",
        }

    def command(self, words: str) -> list[str]:
        found = []
        for word in words.split():
            stem, dot, suffix = word.partition(".")
            stem = str(self.file) if stem == "FILE" else self.words.get(stem, stem)
            found.append(f"{stem}{dot}{suffix}")
        return found

    def write(self, data: bytes) -> None:
        """Write the bytes to every file that a command may read."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        names = (
            "ledger.toml",
            "manifest.json",
            "checkpoint",
            "logs",
            "witness.vkey",
            "witness.pem",
        )
        files = [*(self.folder / name for name in names), self.file, self.file.with_suffix(".pem")]
        for file in files:
            file.write_bytes(data)
            file.chmod(0o600)


@pytest.fixture
def place(tmp_path: Path, played: Path, shoeproof: Shoeproof) -> Place:
    log = kept("log.vkey")
    made = shoeproof("witness", "init", tmp_path / "witness", "--name", "w.example", "--log", log)
    assert made.code == 0, made
    return Place(tmp_path, played)


@pytest.mark.parametrize("words", COMMANDS)
def test_file_of_every_kind(shoeproof: Shoeproof, place: Place, words: str) -> None:
    for kind in KINDS:
        place.write(NASTY[kind])
        result = shoeproof(*place.command(words))
        assert result.code in (0, 1, 2, 3), (kind, result)
        assert "Traceback" not in result.err
        assert result.code in (0, 1) or result.err.startswith(("shoeproof:", "Usage:")), result
        assert not Path(place.words["OUT"]).exists() or result.code in (0, 1), kind
        result.err.encode()


@pytest.mark.parametrize("words", COMMANDS)
def test_directory_or_nothing_in_place_of_a_file(
    shoeproof: Shoeproof, place: Place, words: str
) -> None:
    place.folder.mkdir()
    for _ in ("nothing", "a directory"):
        result = shoeproof(*place.command(words))
        # Notes of an audit that are not there yet are begun.
        if place.file.is_dir() or "--resume" not in words:
            assert result.code in (1, 2, 3), result
            assert result.err.startswith(("shoeproof:", "Usage:")), result
        shutil.rmtree(place.file, ignore_errors=True)
        place.file.unlink(missing_ok=True)
        place.file.mkdir()
        place.file.with_suffix(".pem").mkdir(exist_ok=True)
