"""How fast rounds are played, recorded live and replayed: `python -m tests.bench.engine`.

Every figure stands beside a floor measured in the same run: hashing the keystream blocks that a
round's cards are drawn from, and signing the events that a live round records.
"""

import hashlib
import hmac
import os
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import TypeVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.envelope import pae, split_leaf
from shoeproof.replay.engine.outcomes import outcomes
from shoeproof.replay.engine.round import Decide, RoundState
from shoeproof.replay.engine.rules import Rules, rules_digest
from shoeproof.replay.engine.shoe import Shoe
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.live.players import basic_player
from shoeproof.replay.live.table import LiveTable, TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules, rules_by_digest
from shoeproof.replay.rounds.replayer import replay_round
from tests.replay.helpers import play

Answer = TypeVar("Answer")

ROUND_ID = "01936f3c-7a10-7b3e-9c55-2f6d8a1b4c5d"
SEED = hashlib.sha256(b"bench").digest()
STAKES = {"s1": {"main": 1000}}
ENGINE_ROUNDS = 20_000
LIVE_ROUNDS = 500


def main() -> None:
    """Print the table."""
    for game in GAMES.values():
        engine(game.rules)
    with (
        tempfile.TemporaryDirectory() as folder,
        Ledger.init(Path(folder) / "ledger", "bench.example/engine") as ledger,
    ):
        add_published_games(ledger)
        for game_id in GAMES:
            live(ledger, game_id)


def engine(rules: Rules) -> None:
    """Print the scalar engine's speed, without the shoes and with them."""
    digest = rules_digest(rules)
    shoes = [
        list(islice(Shoe(SEED, ROUND_ID, digest, number.to_bytes(4), rules.decks), 60))
        for number in range(2_000)
    ]

    def play_all() -> None:
        for number in range(ENGINE_ROUNDS):
            *_, last = play(rules, STAKES, iter(shoes[number % len(shoes)]), basic)
            outcomes(last.after)

    def shuffle_all() -> None:
        for number in range(ENGINE_ROUNDS // 4):
            shoe = Shoe(SEED, ROUND_ID, digest, number.to_bytes(4), rules.decks)
            for _ in islice(shoe, 6):
                pass

    # One keystream block is eight words, enough for the cards of most rounds.
    fixed = bytes(200)
    floor = (
        ENGINE_ROUNDS
        / timed(lambda: [hmac.digest(SEED, fixed, "sha256") for _ in range(ENGINE_ROUNDS)])[0]
    )
    rate = ENGINE_ROUNDS / timed(play_all)[0]
    show(f"engine {rules.id}", rate, "rounds/s", f"{rate / floor:.3f} of HMAC-SHA-256 blocks")
    rate = ENGINE_ROUNDS / 4 / timed(shuffle_all)[0]
    show(f"shoe {rules.id}, six cards", rate, "shoes/s", f"{rate / floor:.3f} of one block each")


def live(ledger: Ledger, game_id: str) -> None:
    """Print the speed of live recording, durable at each turn, and of replaying what it wrote."""
    table = LiveTable(
        ledger,
        current_rules(ledger, game_id),
        TableSettings(limits={"main": (1, 100_000)}, currency="EUR"),
    )
    first = ledger.size()
    elapsed, played = timed(lambda: [play_live(table) for _ in range(LIVE_ROUNDS)])
    rounds, turns = [round_id for round_id, _ in played], sum(turns for _, turns in played)
    events = ledger.size() - first
    key = Ed25519PrivateKey.generate()
    payloads = [pae(split_leaf(leaf.state).payload) for leaf in ledger.leaves(first)]
    signing = events / timed(lambda: [key.sign(payload) for payload in payloads])[0]
    syncing = turns * seconds_to_sync(ledger)
    rate, floor = events / elapsed, events / (events / signing + syncing)
    note = f"{rate / floor:.2f} of signing each event and syncing a file each of {turns} turns"
    show(f"live recording {game_id}", rate, "events/s", note)
    rules = rules_by_digest(ledger)
    streams = [ledger.events(round_id) for round_id in rounds]
    hashing = events / timed(lambda: [hashlib.sha256(payload) for payload in payloads])[0]
    elapsed, replays = timed(lambda: [replay_round(events, rules) for events in streams])
    assert not any(replay.findings for replay in replays)
    note = f"{events / elapsed / hashing:.3f} of SHA-256 over the same events"
    show(f"replay {game_id}", LIVE_ROUNDS / elapsed, "rounds/s", note)


def seconds_to_sync(ledger: Ledger, times: int = 300) -> float:
    """Return the seconds it takes to make one page durable where the ledger lies."""
    assert ledger.path is not None
    with (ledger.path / "sync").open("wb", buffering=0) as file:

        def sync_all() -> None:
            for _ in range(times):
                file.write(bytes(4096))
                os.fdatasync(file.fileno())

        return timed(sync_all)[0] / times


def play_live(table: LiveTable) -> tuple[str, int]:
    """Play one recorded round by the basic player and return its id and number of turns."""
    turns = 2
    round_ = table.open_round("p-1")
    round_.deal(STAKES)
    while isinstance(round_.due, Decide):
        assert round_.state is not None
        round_.decide(round_.due.hand, basic_player(round_.state, round_.due.hand, round_.offered))
        turns += 1
    return round_.round_id, turns


def basic(state: RoundState, due: Decide) -> str:
    """Choose as the basic player does."""
    return basic_player(state, due.hand, due.legal)


def timed(work: Callable[[], Answer]) -> tuple[float, Answer]:
    """Return how many seconds some work took, and what it returned."""
    start = time.perf_counter()
    answer = work()
    return time.perf_counter() - start, answer


def show(what: str, rate: float, unit: str, note: str) -> None:
    """Print one line."""
    print(f"{what:<28}{rate:>12,.0f} {unit:<10}{note}", flush=True)


if __name__ == "__main__":
    main()
