"""What reaches a screen or a reader of JSON: nothing that is obeyed, hides or turns text."""

import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoeproof.ledger.files.printable import printable, printable_json

OBEYED = {
    "escape sequence": "\x1b[2J",
    "carriage return": "\r",
    "backspace": "\b",
    "delete": "\x7f",
    "one-character escape sequence": "\x9b2J",
    "next line": "\x85",
    "right-to-left override": "\u202e",
    "right-to-left isolate": "\u2067",
    "arabic letter mark": "\u061c",
    "zero width space": "\u200b",
    "zero width joiner": "\u200d",
    "byte order mark": "\ufeff",
    "soft hyphen": "\xad",
    "line separator": "\u2028",
    "tag": "\U000e0041",
    "hangul filler": "\u3164",
    "variation selector": "\ufe0f",
    "combining grapheme joiner": "\u034f",
    "lone surrogate": "\udc9b",
    "private use": "\ue000",
    "no-break space": "\xa0",
}


@pytest.mark.parametrize("mark", OBEYED.values(), ids=OBEYED)
def test_mark_is_written_out(mark: str) -> None:
    shown = printable(f"paid{mark} 100")
    assert not set(mark) - {"[", "2", "J"} & set(shown)
    assert shown.startswith("paid\\")
    shown.encode()


@pytest.mark.parametrize("mark", OBEYED.values(), ids=OBEYED)
def test_mark_is_escaped_in_json_which_says_the_same(mark: str) -> None:
    if mark == OBEYED["lone surrogate"]:
        return
    text = printable_json({mark: [mark]})
    assert not set(mark) - {"[", "2", "J"} & set(text)
    assert json.loads(text) == {mark: [mark]}


def test_every_control_and_format_character_is_written_out() -> None:
    marks = [
        chr(code)
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in ("Cc", "Cf", "Zl", "Zp", "Cs")
    ]
    assert len(marks) > 2000
    assert [each for each in marks if each in printable(each)] == []


@given(st.text())
def test_what_prints_stays_as_it_is(text: str) -> None:
    seen = "".join(each for each in text if printable(each) == each)
    assert printable(seen) == seen
    assert json.loads(printable_json(text)) == text


def test_cards_and_letters_of_every_script_stay() -> None:
    for text in ("A♠ 10♥", "Zoë", "日本語", "Ελλάδα", "שלום", "— “quoted” …"):
        assert printable(text) == text
        assert printable_json(text, indent=None) == f'"{text}"'
