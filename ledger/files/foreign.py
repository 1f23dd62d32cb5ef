"""Foreign bytes as JSON and TOML: what is wrong with them is one kind of error, a ValueError.

Both readers end in a RecursionError where brackets are nested without end, and TOML's takes time
that grows with the square of what it is given. Every file of others is read through here, so that
no reader has to think of that again.
"""

import re
import tomllib
from typing import Any, Final, TypeVar

import msgspec

LONGEST_TOML: Final = 2**18
"""Bytes of the longest TOML text that is read: many times any settings or round."""

_deep_key = re.compile(r"""(?<![\w"'-])(?:[\w"'-]++\s*+\.\s*+){32}""").search
"""A dotted key of more parts than any of ours: reading it takes the square of their number."""

T = TypeVar("T")


def read_json(data: bytes | str, kind: type[T]) -> T:
    """Return JSON as a value of a type.

    Raises ValueError for anything else: not JSON, not of the type, or nested too deeply.
    """
    try:
        return msgspec.json.decode(data, type=kind)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def read_toml(text: str) -> dict[str, Any]:
    """Return TOML as plain data; raise ValueError if it is not TOML, too long or too deep."""
    if len(text) > LONGEST_TOML:
        raise ValueError(f"it is longer than {LONGEST_TOML:,} characters")
    if _deep_key(text):
        raise ValueError("it has a key of more than 32 parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
