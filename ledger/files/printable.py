"""Text from a ledger or a file, made so that no screen, page or reader of JSON obeys it.

Names are whatever a player chose: control characters and marks that turn the writing direction
could make a screen say what the ledger does not, and letters that nobody sees could make one name
look like another. All that is shown or written for people goes through here.
"""

import json
import re

import msgspec

_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""What Python counts as printing and nobody sees (Unicode, Default_Ignorable_Code_Point)."""

_beyond_ascii = re.compile(r"[^\n -~]")


def printable(text: str, spared: str = "") -> str:
    """Return text with each character that does not print written out, but for those spared."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        each if each in spared or is_seen(each) else each.encode("unicode_escape").decode()
        for each in text
    )


def printable_json(value: object, indent: int | None = 2) -> str:
    """Return a value as JSON, on one line where `indent` is None, which any terminal may show.

    What does not print is escaped as `\\uXXXX` (RFC 8259, section 7), so that it says the same:
    only inside of strings can there be such characters.
    """
    encoded = msgspec.json.encode(value)
    text = encoded if indent is None else msgspec.json.format(encoded, indent=indent)
    return _beyond_ascii.sub(_in_json, text.decode())


def _in_json(match: re.Match[str]) -> str:
    return match[0] if is_seen(match[0]) else json.dumps(match[0])[1:-1]


def is_seen(character: str) -> bool:
    """Tell whether a reader sees a character as itself."""
    return character.isprintable() and _UNSEEN.match(character) is None
