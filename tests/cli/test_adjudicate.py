"""`adjudicate` and `dispute assess --shown` on files as people send them."""

import codecs
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Shoeproof

STOOD = """format = "round/v2"
game = "nba"
currency = "EUR"
moves = ["deal s1 Kd", "deal dealer 7c", "deal s1 9h", "deal dealer Td down", "s1 stand"]
[stakes]
s1 = 1000
"""


def _write(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    "content",
    [codecs.BOM_UTF8 + STOOD.encode(), STOOD.encode("utf-16"), STOOD.replace("\n", "\r\n")],
    ids=["mark", "utf-16", "crlf"],
)
def test_a_file_from_windows_is_judged(
    shoeproof: Shoeproof, tmp_path: Path, content: bytes | str
) -> None:
    result = shoeproof("adjudicate", _write(tmp_path / "a.round", content), "--json")
    assert result.code == 0
    assert json.loads(result.out)["total_paid_minor"] == 2000


def test_a_round_is_judged_by_the_rules_that_are_given(
    shoeproof: Shoeproof, tmp_path: Path
) -> None:
    rules = json.loads(shoeproof("rules", "show", "nba", "--json").out)
    (win,) = [each for each in rules["settlement"] if each["name"] == "win"]
    win["pays"] = "2/1"
    given = _write(tmp_path / "rules.json", json.dumps(rules))
    result = shoeproof(
        "adjudicate", _write(tmp_path / "a.round", STOOD), "--rules", given, "--json"
    )
    assert json.loads(result.out)["total_paid_minor"] == 3000


def test_a_screenshot_is_named_for_what_it_is(shoeproof: Shoeproof, tmp_path: Path) -> None:
    result = shoeproof("adjudicate", _write(tmp_path / "a.round", b"\x89PNG\r\n\x1a\n\x00"))
    assert result.code == 3
    assert result.err.count("\n") == 1
    assert "this is a PNG image" in result.err


def test_a_dealer_who_stopped_short_is_said_in_words(shoeproof: Shoeproof, tmp_path: Path) -> None:
    """An ace, a four and a seven taken for 22."""
    moves = (
        STOOD.replace("Kd", "Td").replace("7c", "4c").replace("9h", "2h").replace("Td d", "Ad d")
    )
    text = moves.replace('"s1 stand"', '"s1 stand", "deal dealer 7d", "dealer stops"')
    result = shoeproof("adjudicate", _write(tmp_path / "a.round", text))
    assert result.code == 1
    told = " ".join(result.out.split())
    assert "card_missing at move 6: the dealer had 12 (4c Ad 7d) and drew no more" in told
    assert "stands on every 17" in told
    assert "undecided" in told


def test_an_unreadable_card_of_round_v1_is_judged(shoeproof: Shoeproof, tmp_path: Path) -> None:
    text = STOOD.replace("v2", "v1").replace("9h", "??")
    result = shoeproof("adjudicate", _write(tmp_path / "a.round", text), "--json")
    judged = json.loads(result.out)
    assert (result.code, judged["complete"], judged["findings"]) == (0, False, [])
    assert judged["bets"][0]["paid_minor"] is None


def test_a_recorded_round_is_written_with_its_offers_and_judged_clean(
    shoeproof: Shoeproof, played: Path, tmp_path: Path
) -> None:
    for game in ("zappit", "zero", "nba"):
        rows = shoeproof("rounds", "--game", game, "--json", "--ledger", played).out
        for row in json.loads(rows)[:8]:
            text = shoeproof("replay", row["round"], "--as-round", "--ledger", played).out
            assert ('format = "round/v2"' in text) == (" offered " in text)
            result = shoeproof("adjudicate", _write(tmp_path / f"{row['round']}.round", text))
            assert result.code == 0, (text, result.out)


def test_a_marked_file_is_read_as_what_a_screen_showed(
    shoeproof: Shoeproof, played: Path, tmp_path: Path
) -> None:
    rows = shoeproof("rounds", "--game", "nba", "--json", "--ledger", played).out
    round_id = json.loads(rows)[0]["round"]
    text = shoeproof("replay", round_id, "--as-round", "--ledger", played).out
    plain = _write(tmp_path / "plain.round", text)
    marked = _write(tmp_path / "marked.round", codecs.BOM_UTF8 + text.encode())
    first, second = (
        shoeproof("dispute", "assess", round_id, "--shown", file, "--ledger", played, "--json")
        for file in (plain, marked)
    )
    assert (first.code, first.out) == (second.code, second.out)
