"""A fault of this program itself: one line on stderr, and the details in a file."""

import sys
import traceback
from importlib.metadata import version
from tempfile import NamedTemporaryFile

from shoeproof.cli.streams import are_for_machines, error_json


def tell_crash(error: BaseException) -> None:
    """Say that an error nobody foresaw ended the program, and where its traceback is."""
    said = f"a bug in shoeproof ended the program and says nothing about the ledger; {_kept(error)}"
    print(
        error_json("crashed", said) if are_for_machines() else f"shoeproof: {said}", file=sys.stderr
    )


def _kept(error: BaseException) -> str:
    """Keep the details in a file of its own; return where they are, or what they come to."""
    details = "".join(traceback.format_exception(error))
    try:
        with NamedTemporaryFile(
            "w",
            prefix="shoeproof-crash-",
            suffix=".txt",
            encoding="utf-8",
            errors="backslashreplace",
            delete=False,
        ) as file:
            # The command line stays out: it may hold a database's password.
            file.write(f"shoeproof {version('shoeproof')}, Python {sys.version}\n{details}")
    except OSError:
        return f"its details could not be kept: {details.splitlines()[-1]}"
    return f"please report it with its details, which are in {file.name}"
