"""The closed loop: servers that are killed over a wallet that fails, and what their books say.

Two servers run at a time, some players play at both, and one of them is killed and started again
at any moment. Nobody reconciles anything: at the end some players come back, the others do not, and
one sweep runs. What moved at the wallet, by its own journal, is then held to what the ledger says.
"""

import multiprocessing
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from random import Random
from typing import NamedTuple

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.clock import utc_now
from shoeproof.ledger.leaf.events import DealRequested, DecisionMade
from shoeproof.ledger.verify.whole import verify
from shoeproof.replay.audit.one_by_one import audit
from shoeproof.replay.live.open_rounds import held_stakes_minor
from shoeproof.replay.rounds.catalogue import add_published_games
from tests.replay.failing_wallet import recorded
from tests.replay.floor_that_dies import come_back, serve
from tests.replay.helpers import ORIGIN
from tests.wallet_server import Failure, WalletServer, serving_wallet

PLAYERS = 32
OPENING = 10**9
FAILURES: list[Failure] = ["503", "503 after", "garbage", "hang up", "late", "402"]
_NAMES = [f"p-{number}" for number in range(PLAYERS)]
_SERVED = _NAMES[:20], _NAMES[12:]
"""Who plays at either server: some at both at once."""

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.replay.floor_that_dies", "psycopg"])


class Books(NamedTuple):
    """What became of it; `findings` has a line for all that is not as it should be.

    `cancelled` are stakes that were asked for and are played in no round.
    """

    kills: int
    rounds: int
    movements: int
    cancelled: int
    lost: int
    doubled: int
    unexplained: int
    findings: list[str]


class FailingServer(WalletServer):
    """A wallet that fails one request in six, in every way, until it is `well`."""

    late_seconds = 0.35
    well = False
    random = Random(1)

    def next_failure(self) -> Failure | None:
        if self.well or self.random.randrange(6):
            return None
        return self.random.choice(FAILURES)


def closed_loop(path: Path, database_url: str | None, kills: int, seed: int) -> Books:
    """Make a ledger, kill its servers so often, and read its books."""
    begun = utc_now()
    with Ledger.init(path, ORIGIN, database_url=database_url, clock=lambda: begun) as ledger:
        add_published_games(ledger)
    with serving_wallet(OPENING, FailingServer) as wallet:
        assert isinstance(wallet, FailingServer)
        wallet.random = Random(seed)
        _kill(path, database_url, wallet, kills, Random(seed), begun)
        wallet.well = True
        come_back(path, database_url, wallet.url, _NAMES[::2], begun)
        with Ledger.open(path, database_url=database_url) as ledger:
            return read_books(ledger, wallet, kills)


def _kill(
    path: Path,
    database_url: str | None,
    wallet: WalletServer,
    kills: int,
    random: Random,
    begun: datetime,
) -> None:
    def start(place: int, seed: int) -> ForkServerProcess:
        words = path, database_url, wallet.url, _SERVED[place], f"{seed}/{random.random()}", begun
        process = _context.Process(target=serve, args=words)
        process.start()
        return process

    running = [start(place, -1) for place in range(2)]
    try:
        for number in range(kills):
            _let_work(wallet, random)
            assert all(each.is_alive() for each in running), "a server died by itself"
            place = random.randrange(2)
            running[place].kill()
            running[place].join()
            running[place] = start(place, number)
    finally:
        for each in running:
            each.kill()
            each.join()


def _let_work(wallet: WalletServer, random: Random) -> None:
    """Wait until money is asked for, and then for any while."""
    asked, until = len(wallet.asked), time.monotonic() + 30
    while len(wallet.asked) == asked and time.monotonic() < until:
        time.sleep(0.002)
    time.sleep(random.random() * 0.2)


def read_books(ledger: Ledger, wallet: WalletServer, kills: int) -> Books:
    """Hold every movement of the wallet's journal to an event, and each round to its rules."""
    findings = [f"{each.code} in {each.stream}" for each in audit(ledger).findings]
    findings += [f"{each.code}: {each.text}" for each in verify(ledger).findings]
    findings += [f"{each.reference} is {each.state}" for each in ledger.intents.open()]
    booked, moved = recorded(ledger), Counter[str]()
    doubled: list[str] = []
    for reference, changes in _by_reference(wallet.journal).items():
        moved[reference] = sum(changes)
        signs = [change > 0 for change in changes]
        if len(set(signs)) < len(signs):
            doubled.append(f"moved more than once: {reference}")
    moves = Counter((name, change) for name, change in moved.items() if change)
    findings += [f"moved and not in the ledger: {each}" for each in moves - booked]
    findings += [f"in the ledger and not moved: {each}" for each in booked - moves]
    findings += [*doubled, *_unbalanced(ledger, moved)]
    return Books(
        kills=kills,
        rounds=len(ledger.rounds()),
        movements=len(wallet.journal),
        cancelled=sum(intent.state == "cancelled" for intent in ledger.intents.all()),
        lost=(booked - moves).total(),
        doubled=len(doubled),
        unexplained=(moves - booked).total(),
        findings=findings,
    )


def _by_reference(journal: Sequence[tuple[str, int]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for reference, change in journal:
        found[reference].append(change)
    return found


def _unbalanced(ledger: Ledger, moved: Counter[str]) -> Iterator[str]:
    """Yield the rounds that are not over, or cost or brought another amount than their events say.

    A round that was never dealt may wait for its player; nothing is held in it.
    """
    net: Counter[str] = Counter()
    for reference, change in moved.items():
        net[reference.partition("/")[0]] += change
    for row in ledger.rounds():
        events = ledger.events(row.round)
        if row.state == "open" and held_stakes_minor(events):
            yield f"{row.round} is open and holds money"
        says = 0
        for data in (each.event.data for each in events):
            if isinstance(data, DealRequested):
                says -= sum(sum(bets.values()) for bets in data.stakes.values())
            elif isinstance(data, DecisionMade):
                says -= data.added_stake_minor
            says += getattr(data, "paid_minor", 0)
        if net.pop(row.round, 0) != says:
            yield f"{row.round} came to {says} by its events"
    yield from (f"{each} is no round, and money moved for it" for each, by in net.items() if by)
