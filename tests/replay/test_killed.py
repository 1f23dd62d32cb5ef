"""Servers killed at any moment, over a wallet that fails: nothing lost, doubled or unexplained.

`python -m tests.bench.kills` is the long form.
"""

from pathlib import Path

import pytest

from tests.replay.closed_loop import PLAYERS, closed_loop

KILLS = 40


@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
def test_killed_at_any_moment_the_books_agree(
    tmp_path: Path, store: str, request: pytest.FixtureRequest
) -> None:
    url = None if store == "sqlite" else request.getfixturevalue("postgres_url")
    books = closed_loop(tmp_path / "ledger", url, KILLS, seed=1)
    assert books.findings == []
    assert (books.lost, books.doubled, books.unexplained) == (0, 0, 0)
    assert books.rounds >= PLAYERS // 2
