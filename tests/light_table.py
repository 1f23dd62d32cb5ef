"""A game server at work, to be run where nothing is installed but `requirements-table.txt`.

`python -m tests.light_table FOLDER` plays rounds with a wallet, leaves one open, sweeps it an hour
later and verifies every leaf. It prints what came of them.
"""

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from shoeproof.ledger import Ledger
from shoeproof.ledger.verify.whole import verify
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.live.resume import resume_round
from shoeproof.replay.live.sweep import sweep
from shoeproof.replay.live.table import LiveTable, TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from shoeproof.replay.wallet.wallet import MemoryWallet

ROUNDS = 5


def main(folder: Path) -> None:
    """Play, sweep and verify."""
    now = [datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)]
    wallet = MemoryWallet(100_000)
    with Ledger.init(folder, "table.example/bj", clock=lambda: now[0]) as ledger:
        add_published_games(ledger)
        rules = current_rules(ledger, "nba")
        settings = TableSettings(limits={"main": (1, 10_000)}, currency="EUR")
        table = LiveTable(ledger, rules, settings, wallet=wallet)
        for number in range(ROUNDS):
            live = table.open_round(f"p-{number}")
            live.deal({"s1": {"main": 100}})
            if isinstance(live.due, Decide):
                live = resume_round(ledger, live.round_id, wallet=wallet)
            while isinstance(due := live.due, Decide):
                live.decide(due.hand, "stand" if "stand" in live.offered else "decline")
        table.open_round("p-absent").place({"s1": {"main": 100}})
        now[0] += timedelta(hours=1)
        swept = sweep(ledger, wallet=wallet)
        found = verify(ledger, public_key=ledger.public_keys()["operator"]).findings
        closed, void = (len(ledger.rounds(state=state)) for state in ("closed", "void"))
        print(f"{closed} closed, {void} void, {len(swept.swept)} swept, {len(found)} findings")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
