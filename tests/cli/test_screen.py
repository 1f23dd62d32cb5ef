"""What a person sees: nothing that a ledger or a file says can take over the screen."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from shoeproof.cli.screen.render import amount, plain
from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import BetSettled
from shoeproof.replay.live.resume import resume_round
from shoeproof.replay.live.table import LiveTable, TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from tests.cli.conftest import Shoeproof

ROOT = Path(__file__).parent.parent.parent
HOSTILE = ["[/red]", "[red]bob[/red]", ":smile:", "bob\x1b[2J\x1b[32mSOUND", "a\nb", "a\u202eb"]


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger.init(tmp_path / "ledger", "screen.example/bj")
    add_published_games(made)
    return made


def open_round(ledger: Ledger, player: str) -> str:
    """Return a round in which a decision to play is due."""
    rules = current_rules(ledger, "nba")
    table = LiveTable(ledger, rules, TableSettings(limits={}, currency="EUR", table=player))
    while True:
        live = table.open_round(player)
        live.deal({"s1": {"main": 1000}})
        if "decline" in live.offered:
            live.decide("s1", "decline")
        if "stand" in live.offered:
            return live.round_id


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_shown_as_they_are(shoeproof: Shoeproof, ledger: Ledger, name: str) -> None:
    round_id = open_round(ledger, name)
    for words in (["rounds"], ["audit"], ["replay", round_id]):
        result = shoeproof(*words, "--ledger", ledger.path)
        assert result.code == 0, result
        assert "\x1b" not in result.out
        assert "\u202e" not in result.out
    assert plain(name) in shoeproof("rounds", "--ledger", ledger.path).out


def test_names_of_written_rounds_are_shown_as_they_are(
    shoeproof: Shoeproof, tmp_path: Path
) -> None:
    file = tmp_path / "hostile.round"
    file.write_text(
        'format = "round/v1"\ngame = "nba"\nname = "[/red]\\u001b[2J"\ncurrency = "[/x]"\n'
        "moves = []\n[stakes]\ns1 = 1000\n"
    )
    result = shoeproof("adjudicate", file)
    assert result.code == 0
    assert "[/red]\\x1b[2J" in result.out


@pytest.mark.parametrize(
    ("minor", "currency", "shown"),
    [
        (1250, "EUR", "12.50 EUR"),
        (-5, "EUR", "-0.05 EUR"),
        (1000, "JPY", "1,000 JPY"),
        (1234, "KWD", "1.234 KWD"),
        (None, "EUR", "-"),
    ],
)
def test_amounts_by_currency(minor: int | None, currency: str, shown: str) -> None:
    assert amount(minor, currency) == shown


def test_a_whole_id_needs_no_look_up_index(shoeproof: Shoeproof, ledger: Ledger) -> None:
    round_id = open_round(ledger, "bob")
    ledger.store.query("DELETE FROM rounds")
    assert shoeproof("replay", round_id.upper(), "--ledger", ledger.path).code == 0


def test_an_open_round_that_lies_is_a_finding(shoeproof: Shoeproof, ledger: Ledger) -> None:
    round_id = open_round(ledger, "bob")
    ledger.append((round_id, BetSettled("s1", "s1", "main", 1000, 0, "loss", None)))
    result = shoeproof("audit", "--json", "--ledger", ledger.path)
    assert result.code == 1
    assert json.loads(result.out)["findings"][0]["stream"] == round_id


def test_who_resumed_later_decides_by_what_was_shown_or_not_at_all(
    shoeproof: Shoeproof, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two screens on one round only the first to decide goes on; the other changes nothing."""
    round_id = open_round(ledger, "bob")
    first = resume_round(ledger, round_id)
    assert ledger.path is not None
    answers = iter(["s"])

    def decide_elsewhere(*_: object, **__: object) -> str:
        first.decide("s1", "stand")
        return next(answers)

    monkeypatch.setattr("typer.prompt", decide_elsewhere)
    result = shoeproof("play", "--resume", round_id, "--ledger", ledger.path)
    assert result.code == 2
    assert "went on elsewhere; nothing was decided here" in result.out
    assert shoeproof("audit", "--ledger", ledger.path).code == 0


def test_the_shoe_of_a_recorded_round(shoeproof: Shoeproof, played: Path) -> None:
    rows = json.loads(shoeproof("rounds", "--game", "nba", "--json", "--ledger", played).out)
    round_id = rows[0]["round"]
    shoe = json.loads(shoeproof("shoe", "--round", round_id, "--json", "--ledger", played).out)
    events = json.loads(shoeproof("replay", round_id, "--json", "--ledger", played).out)["events"]
    dealt = [each["data"] for each in events if each["type"] == "CardDealt"]
    assert all(
        shoe["cards"][card["shoe_index"]] == card["card"] for card in dealt if "card" in card
    )
    committed = next(each for each in events if each["type"] == "ShoeCommitted")
    assert shoe["commitment"] == committed["data"]["commitment"]


def test_a_reader_that_goes_away_is_no_finding(played: Path) -> None:
    command = f"{sys.executable} -m shoeproof rounds --json --ledger {played}"
    script = f"{command} | head -n 1 >/dev/null; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 141), done.stderr
    assert done.stderr == ""


def test_a_shoe_keeps_its_places_and_cards_apart(shoeproof: Shoeproof, played: Path) -> None:
    with Ledger.open(played) as opened:
        round_id = opened.rounds(limit=1)[0].round
    shown = shoeproof("shoe", "--round", round_id, "--ledger", played).out.splitlines()
    places = [line.split()[0] for line in shown[3:] if line.startswith(" ")]
    assert places == [str(13 * line) for line in range(len(places))]


@pytest.mark.parametrize("columns", [80, 100])
def test_no_sentence_of_an_audit_is_broken_within_a_word(
    shoeproof: Shoeproof, played: Path, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = shoeproof("audit", "--ledger", played).out.splitlines()
    assert max(map(len, shown)) <= columns
    left_open = shown[shown.index("Left open:") + 1 :]
    assert left_open
    assert all(line.startswith("  ") for line in left_open)
