"""A server of many players over a wallet by HTTP, to be killed: only its books are left of it.

It has no reconciler of its own. What it does after it died is what any server does all the time: it
takes up the rounds that are open, its players go on or stay away, others begin a round, and a sweep
runs beside them.
"""

import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

from shoeproof.ledger import Ledger
from shoeproof.ledger.errors import StoreUnavailable
from shoeproof.ledger.leaf.clock import Clock, utc_now
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.errors import InputRefusedError, ReplayError, StakeRefused
from shoeproof.replay.live.live_round import LiveRound
from shoeproof.replay.live.resume import resume_round
from shoeproof.replay.live.sweep import sweep
from shoeproof.replay.live.table import LiveTable, TableSettings
from shoeproof.replay.rounds.catalogue import current_rules
from shoeproof.replay.wallet.http import HttpWallet

SETTINGS = TableSettings(
    limits={"main": (100, 50_000), "perfect_pairs": (1, 10_000)}, currency="EUR", table="t-1"
)
STAKES = {"s1": {"main": 1_000, "perfect_pairs": 100}}
SPEED = 60
"""How many seconds pass in one: what is due after twenty minutes is due after twenty seconds."""

_STAY_AWAY = 4
"""One player in so many does not come back to a server that was started anew."""


def running_since(begun: datetime) -> Clock:
    """Return the clock of a floor that opened at `begun`; all of its servers have the same."""
    return lambda: begun + SPEED * (utc_now() - begun)


class Player:
    """One player, who plays round after round and begins again after every error."""

    def __init__(self, ledger: Ledger, wallet: HttpWallet, name: str, random: Random) -> None:
        self._ledger, self._wallet, self.name, self._random = ledger, wallet, name, random
        self._table = LiveTable(ledger, current_rules(ledger, "nba"), SETTINGS, wallet=wallet)

    def play(self) -> None:
        """Play one round, or what is left of one."""
        with suppress(ReplayError, StoreUnavailable):
            self._round(self._take_up())

    def _take_up(self) -> LiveRound:
        for row in self._ledger.rounds(player=self.name, state="open"):
            with suppress(InputRefusedError):
                return resume_round(self._ledger, row.round, wallet=self._wallet)
        return self._table.open_round(self.name)

    def _round(self, live: LiveRound) -> None:
        if live.state is None:
            if self._random.random() < 0.3:
                live.place(STAKES)
            live.deal(STAKES, self._random.randbytes(4))
        while isinstance(live.due, Decide):
            dear = [act for act in ("split", "double", "insurance") if act in live.offered]
            if not live.offered:
                # The other server went on, and what it came to is yet to be paid.
                return
            try:
                live.decide(live.due.hand, self._random.choice(dear or live.offered))
            except StakeRefused:
                live.decide(live.due.hand, "stand" if "stand" in live.offered else "decline")


def serve(
    path: Path,
    database_url: str | None,
    url: str,
    names: Iterable[str],
    seed: str,
    begun: datetime,
) -> None:
    """Have these players play at once, and sweep, until the process is killed."""
    with Ledger.open(path, clock=running_since(begun), database_url=database_url) as ledger:
        wallet = HttpWallet(url, seconds=0.3, sleep=lambda _: None)

        def sweep_on() -> None:
            with suppress(StoreUnavailable):
                sweep(ledger, wallet=wallet)
            time.sleep(0.2)

        jobs: list[Callable[[], None]] = [sweep_on]
        for name in names:
            random = Random(f"{seed}/{name}")
            if random.randrange(_STAY_AWAY):
                jobs.append(Player(ledger, wallet, name, random).play)
        threads = [threading.Thread(target=_for_ever, args=(job,)) for job in jobs]
        for each in threads:
            each.start()
        for each in threads:
            each.join()


def _for_ever(job: Callable[[], None]) -> None:
    try:
        while True:
            job()
    except BaseException:
        # A thread that ends would go unnoticed.
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(3)


def come_back(
    path: Path, database_url: str | None, url: str, names: Iterable[str], begun: datetime
) -> None:
    """Have these players play their round to its end; then time passes for all the others."""
    wallet, clock, passed = HttpWallet(url), running_since(begun), timedelta(0)
    with Ledger.open(path, clock=lambda: clock() + passed, database_url=database_url) as ledger:
        for name in names:
            Player(ledger, wallet, name, Random(name)).play()
        while True:
            passed += timedelta(minutes=21)
            swept = sweep(ledger, wallet=wallet)
            assert (swept.skipped, swept.owed) == ((), ()), swept
            # What was paid may leave a decision due, which is offered for twenty minutes.
            if not swept.swept and swept.next_due is None:
                return
