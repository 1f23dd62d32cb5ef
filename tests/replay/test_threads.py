"""Players at once, by threads and by an event loop, at one table over one open ledger."""

import asyncio
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.verify.whole import verify
from shoeproof.replay.audit.one_by_one import audit
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.live.table import LiveTable
from shoeproof.replay.rounds.catalogue import add_published_games
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.replay.live import STAKES, table

PLAYERS = 32
README = Path(__file__).parents[2] / "replay" / "README.md"


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    """A new ledger with the published games, in each kind of store that lasts."""
    is_postgres = request.param == "postgresql"
    url = request.getfixturevalue("postgres_url") if is_postgres else None
    with Ledger.init(tmp_path / "ledger", "casino.example/bj", database_url=url) as made:
        add_published_games(made)
        yield made


def play(at: LiveTable, player: str) -> None:
    """Play a round to its end, standing."""
    live = at.open_round(player)
    live.deal(STAKES, view_seq=live.seq)
    while isinstance(due := live.due, Decide):
        act = "stand" if "stand" in live.offered else live.offered[-1]
        live.decide(due.hand, act, view_seq=live.seq)
    assert live.is_over


def check(ledger: Ledger) -> None:
    """Assert that all rounds were played, soundly, and that no money is left open."""
    assert len(ledger.rounds(state="closed")) == PLAYERS
    assert ledger.intents.open() == []
    assert verify(ledger).findings == []
    assert not audit(ledger).findings


def test_threads_share_a_table(ledger: Ledger) -> None:
    at = table(ledger, wallet=MemoryWallet(10_000))
    with ThreadPoolExecutor(PLAYERS) as pool:
        for played in [pool.submit(play, at, f"p-{number}") for number in range(PLAYERS)]:
            played.result()
    check(ledger)


def test_an_event_loop_goes_on_while_rounds_are_played(ledger: Ledger) -> None:
    at = table(ledger, wallet=MemoryWallet(10_000))
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0)
            ticks += 1

    async def serve() -> int:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(PLAYERS))
        ticking = asyncio.create_task(tick())
        writing = ledger.store.leaf_reader.group._writing
        with writing:
            # Nothing can be written now, and every player waits; the loop does not.
            rounds = [asyncio.to_thread(play, at, f"p-{number}") for number in range(PLAYERS)]
            played = asyncio.gather(*rounds)
            await asyncio.sleep(0.2)
            while_waiting = ticks
            assert not played.done()
        ledger.store.leaf_reader.group._wake_next()
        await played
        ticking.cancel()
        return while_waiting

    assert asyncio.run(serve()) > 10
    check(ledger)


def test_threads_that_send_one_input_take_it_once(ledger: Ledger) -> None:
    at = table(ledger, wallet=MemoryWallet(10_000))
    live = at.open_round("p")
    seq, barrier = live.seq, threading.Barrier(8)

    def deal() -> None:
        barrier.wait()
        live.deal(STAKES, view_seq=seq)

    with ThreadPoolExecutor(8) as pool:
        for dealt in [pool.submit(deal) for _ in range(8)]:
            dealt.result()
    requests = [each for each in ledger.events(live.round_id)
                if each.event.type == "DealRequested"]  # fmt: skip
    assert len(requests) == 1


def test_the_readmes_example_runs() -> None:
    [example] = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    exec(compile(example, "README.md", "exec"), {})
