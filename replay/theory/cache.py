"""The theory of a game, from the data shipped with the package where that holds it.

A file is named by the digest of its rules, so a changed rule finds none and is computed afresh.
`python -m shoeproof.replay.theory` writes the files of the published games again.
"""

from fractions import Fraction
from importlib.resources import files

import msgspec

from shoeproof.replay.engine.rules import Rules, rules_digest
from shoeproof.replay.theory.results import Theory
from shoeproof.replay.theory.solve import Progress, solve


def theory(rules: Rules, progress: Progress | None = None) -> Theory:
    """Return everything the rules say about a game's returns.

    At once for the published games, after a few seconds for other rules; `progress` is called with
    the steps done and their number while computing.
    """
    shipped = files("shoeproof.replay.theory").joinpath("data", f"{rules_digest(rules)}.json")
    if shipped.is_file():
        return read_theory(shipped.read_bytes())
    return solve(rules, progress)


def write_theory(value: Theory) -> bytes:
    """Return a theory as the JSON that `read_theory` reads."""
    return msgspec.json.encode(value, enc_hook=str)


def read_theory(text: bytes) -> Theory:
    """Return the theory that `write_theory` wrote."""
    return msgspec.json.decode(text, type=Theory, dec_hook=_read_fraction)


def _read_fraction(kind: type, value: str) -> Fraction:
    return Fraction(value)
