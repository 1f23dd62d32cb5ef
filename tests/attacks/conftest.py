"""The scene of every attack: a ledger with two closed rounds, and an auditor who kept something."""

from pathlib import Path
from typing import NamedTuple

import pytest

from shoeproof.ledger.ledger import Ledger
from shoeproof.ledger.signing import sign_checkpoint
from tests.ledger.helpers import ORIGIN, OTHER_ROUND, TickingClock, play


class Scene(NamedTuple):
    """Leaves 5 to 12 are ROUND, 13 to 20 OTHER_ROUND; `kept` covers all 21 leaves.

    `public_key` is the operator's, handed over when the ledger was made.
    """

    path: Path
    public_key: str
    kept: bytes


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    path = tmp_path / "ledger"
    with Ledger.init(path, ORIGIN, clock=TickingClock()) as ledger:
        play(ledger)
        play(ledger, OTHER_ROUND)
        return Scene(path, ledger.public_keys()["operator"], sign_checkpoint(ledger))
