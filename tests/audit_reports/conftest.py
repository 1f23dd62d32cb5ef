from collections.abc import Iterator
from pathlib import Path

import pytest

from shoeproof.ledger import Ledger
from shoeproof.replay.rounds.catalogue import add_published_games


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a new ledger goes."""
    return tmp_path / "ledger"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    """A new ledger on disk with the published games."""
    with Ledger.init(path, "ledger.example/bj") as made:
        add_published_games(made)
        yield made
