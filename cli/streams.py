"""What the screen is told: any character on any console, and errors for people or for machines."""

import codecs
import io
import json
import sys
from typing import Final

_STAND_INS: Final = {
    "♠": "s", "♥": "h", "♦": "d", "♣": "c",
    "─": "-", "│": "|", "●": "*", "▸": ">", "→": "->", "…": "...", "±": "+/-", "−": "-", "×": "x",
}  # fmt: skip
"""What stands for a character on a console that has none such; for any other `?` does."""


def show_on_any_console() -> None:
    """Have stdout and stderr replace what their encoding lacks, where Python would raise."""
    codecs.register_error("shoeproof", _replaced)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="shoeproof")


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_STAND_INS.get(each, "?") for each in lacking), error.end


def are_for_machines() -> bool:
    """Tell whether the command line asks for JSON, and so for errors as JSON too."""
    return "--json" in sys.argv[1:]


def error_json(code: str, message: str) -> str:
    """Return an error as the one line of JSON that stands on stderr for it."""
    return json.dumps({"error": {"code": code, "message": message}})
