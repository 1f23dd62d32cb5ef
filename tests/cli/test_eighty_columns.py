"""What commands print fits a terminal of eighty columns, but for keys, which are copied whole."""

import os
import shlex
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from shoeproof.cli.screen.render import print_command
from shoeproof.ledger import Ledger
from tests.cli.conftest import Shoeproof
from tests.cli.test_dispute import Place, made, opened, place

__all__ = ["made", "place"]

WIDE = 80


@pytest.fixture(autouse=True)
def _eighty_columns(shoeproof: Shoeproof, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDE))


@pytest.fixture
def call(shoeproof: Shoeproof, place: Place, monkeypatch: pytest.MonkeyPatch) -> Shoeproof:
    """`shoeproof dispute …` beside a ledger whose path is short."""
    monkeypatch.chdir(place.path.parent)
    return lambda *words: shoeproof("dispute", *words, "--ledger", place.path.name)


def too_wide(text: str) -> list[str]:
    return [line for line in text.splitlines() if len(line) > WIDE]


def spoken(words: str, width: int = WIDE) -> list[str]:
    out = Console(width=width, file=StringIO())
    with out.capture() as captured:
        print_command(out, words)
    return captured.get().splitlines()


def test_a_long_command_goes_on_after_a_backslash() -> None:
    words = "shoeproof verify --ledger 'a b/ledger' --public-key keys/of/the/operator.vkey --json"
    lines = spoken(words, 50)
    assert len(lines) > 1
    assert max(map(len, lines)) <= 50
    assert all(line.endswith(" \\") for line in lines[:-1])
    joined = "\n".join(lines).replace("\\\n", "")
    assert shlex.split(joined) == shlex.split(words)


def test_a_short_command_is_one_line() -> None:
    assert spoken("shoeproof rounds --open") == ["  shoeproof rounds --open"]


def test_a_case_from_its_opening_to_the_decision(call: Shoeproof, place: Place) -> None:
    case = opened(call, place.lost)
    assert too_wide(call("assess", case).out) == []
    hint = call("assess", case).out.rstrip().splitlines()
    assert hint[-1].startswith("    --")
    assert hint[-2].endswith("\\")
    decided = call("reject", case, "--key", "ann", "--yes")
    assert too_wide(decided.out) == []
    assert too_wide(call("list", "--all").out) == []


def test_cards_and_bets_that_were_found(shoeproof: Shoeproof, played: Path) -> None:
    found = shoeproof(
        "dispute", "find", "--player", "simulated", "--limit", 200, "--ledger", played,
        "--from", "2020-01-01T00:00Z",
    )  # fmt: skip
    assert "twenty one plus three" in found.out
    assert too_wide(found.out) == []


def test_a_replay_has_its_digest_on_a_line_of_its_own(shoeproof: Shoeproof, played: Path) -> None:
    with Ledger.open(played) as ledger:
        row = ledger.rounds(limit=1)[0]
    shown = shoeproof("replay", row.round, "--ledger", played)
    assert f"       {row.rules_digest}" in shown.out.splitlines()
    assert too_wide(shown.out) == []


@pytest.mark.parametrize("words", [("theory", "nba"), ("rules", "show", "nba")])
def test_a_game(shoeproof: Shoeproof, words: tuple[str, ...]) -> None:
    assert too_wide(shoeproof(*words).out) == []


@pytest.mark.parametrize(
    "words",
    [
        ("rtp", "--by", "nonsense"),
        ("rtp", "--from", "yesterday"),
        ("inspect", "--public-key", "nobody", "-o", "report.html"),
        ("fault", "show", "nonsense"),
        ("replay", "00000000-0000-7000-8000-000000000000"),
        ("sql", "SELECT nonsense FROM bets"),
        ("rounds", "--limit", "0"),
        ("dispute", "decide", "x", "--key", "ann", "--remedy", "something-else-entirely"),
        ("adjudicate", "nowhere/" * 12 + "a.round"),
    ],
    ids=" ".join,
)
def test_an_error_is_broken_between_words(
    played: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the terminal's width, and in eighty columns where there is none."""
    monkeypatch.chdir(played.parent)
    monkeypatch.setenv("SHOEPROOF_LEDGER", "ledger")
    for columns in ("80", "60"):
        monkeypatch.setenv("COLUMNS", columns)
        run = subprocess.run(
            [sys.executable, "-m", "shoeproof", *words],
            capture_output=True, text=True, check=False,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        )  # fmt: skip
        first, *others = run.stderr.splitlines()
        assert first.startswith("shoeproof:")
        assert all(each.startswith("  ") for each in others)
        # A path is copied whole.
        wide = [each for each in (first, *others) if len(each) > int(columns)]
        assert [each for each in wide if " " in each.strip()] == []
