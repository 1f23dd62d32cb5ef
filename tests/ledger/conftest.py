from collections.abc import Iterator
from pathlib import Path

import pytest

from shoeproof.ledger.ledger import Ledger
from tests.ledger.helpers import ORIGIN, TickingClock, play


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a new ledger goes."""
    return tmp_path / "ledger"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    """A new ledger on SQLite."""
    with Ledger.init(path, ORIGIN, clock=TickingClock()) as made:
        yield made


@pytest.fixture
def played(path: Path) -> Path:
    """The path of a closed ledger that holds one short round, leaves 4 to 11."""
    with Ledger.init(path, ORIGIN, clock=TickingClock()) as ledger:
        play(ledger)
    return path
