"""A round of which the first event was deleted is this ledger's still, and cannot be trusted."""

from pathlib import Path

from shoeproof.ledger import Ledger
from shoeproof.replay.rounds.catalogue import add_published_games
from tests.cli.conftest import Shoeproof
from tests.disputes import live
from tests.ledger.helpers import tampering


def test_a_round_whose_opening_was_deleted_is_no_other_ledgers(
    shoeproof: Shoeproof, tmp_path: Path
) -> None:
    path = tmp_path / "ledger"
    with Ledger.init(path, "test.example/deleted") as ledger:
        add_published_games(ledger)
        round_id = live.play(ledger, live.lost)
    with tampering(path) as database:
        chosen = "originator_id = ? AND topic = 'RoundOpened'"
        rows = f"SELECT event_rowid FROM stored_events WHERE {chosen}"
        database.execute(f"DELETE FROM leaves WHERE event_rowid IN ({rows})", (round_id,))
        database.execute(f"DELETE FROM stored_events WHERE {chosen}", (round_id,))
    result = shoeproof("dispute", "assess", round_id, "--ledger", path)
    assert result.code == 3
    assert "NO MONEY MOVES" in result.out
    assert "whose opening does not verify" in result.out
