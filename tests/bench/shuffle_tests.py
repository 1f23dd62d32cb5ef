"""Shuffle tests: `python -m tests.bench.shuffle_tests` prints how fast shoes are made and tested.

The floor, in the same run, is the keystream alone: the blocks that a whole shoe of eight decks
takes. The last rows go the whole way from a ledger's leaves, their signatures verified, and go on
from what was counted before.
"""

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from time import perf_counter

import msgspec
import numpy as np

from shoeproof.audit_reports.rows.verified import made_of_verified
from shoeproof.audit_reports.shuffle_tests.battery import run_shuffle_tests
from shoeproof.audit_reports.shuffle_tests.counting import BATCH, Noted
from shoeproof.audit_reports.shuffle_tests.deals import DealCounts
from shoeproof.audit_reports.shuffle_tests.drawn import WrongCards
from shoeproof.audit_reports.shuffle_tests.records import DealtRound, SeenCard
from shoeproof.audit_reports.shuffle_tests.repeats import Repeats
from shoeproof.audit_reports.shuffle_tests.shoes import ShoeCounts
from shoeproof.ledger import Ledger
from shoeproof.replay.engine.cards import PACK
from shoeproof.replay.engine.shoe import Shoe, context, keystream_block
from shoeproof.replay.kernel.shoes import first_cards, whole_shoes
from shoeproof.replay.kernel.symbols import RoundColumns
from shoeproof.replay.live.players import make_player
from shoeproof.replay.live.simulation import simulate
from shoeproof.replay.live.table import TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules

DIGEST = "ab" * 32
DECKS = 8
BLOCKS = 52
CARDS = 6
"""Seen of a round of one seat, about."""


def _rate(count: int, work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return count / (perf_counter() - start)


def _own(random: Random, number: int) -> RoundColumns:
    own = RoundColumns(f"01936f3c-7a10-7b3e-9c55-{number:012d}")
    own.seed, own.client_seed = random.randbytes(32), b""
    return own


def _keystream(rounds: list[RoundColumns]) -> None:
    for own in rounds:
        bound = context(own.round_id, DIGEST, own.client_seed or b"")
        for number in range(BLOCKS):
            keystream_block(own.seed or b"", bound, number)


def _scalar(rounds: list[RoundColumns]) -> None:
    for own in rounds:
        list(Shoe(own.seed or b"", own.round_id, DIGEST, b"", DECKS))


def _in_batches(
    rounds: list[DealtRound], counts: ShoeCounts | None = None, wrong: WrongCards | None = None
) -> None:
    for start in range(0, len(rounds), BATCH):
        batch = rounds[start : start + BATCH]
        shoes = whole_shoes([each.own for each in batch], DIGEST, DECKS)
        if counts is not None:
            counts.add(shoes)
        if wrong is not None:
            wrong.add(batch, shoes)


def _seen(rounds: list[RoundColumns]) -> list[DealtRound]:
    """The rounds with the first cards of their shoes, as an ordinary round shows them."""
    cards = first_cards(rounds, DIGEST, DECKS, CARDS).tolist()
    return [
        DealtRound(own, 0, seen=[
            SeenCard(index, PACK[card], 0, is_hole=False) for index, card in enumerate(mine)
        ])
        for own, mine in zip(rounds, cards, strict=True)
    ]  # fmt: skip


def _deals(rounds: int, random: Random) -> None:
    counts = DealCounts(DECKS)
    for _ in range(rounds):
        counts.add(random.sample(range(52), 3))


def _of_a_ledger(rounds: int) -> list[tuple[str, float]]:
    """Return the rates of a ledger's leaves: by signatures, and once more when little is new."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Ledger.init(Path(folder, "ledger"), "bench.example/bj") as ledger,
    ):
        add_published_games(ledger)
        _play(ledger, rounds)
        leaves = made_of_verified(ledger, 0, ledger.size(), (), zip)
        verified = _rate(rounds, lambda: list(leaves))
        first = _rate(rounds, lambda: run_shuffle_tests(ledger))
        _play(ledger, rounds // 10)
        again = _rate(rounds + rounds // 10, lambda: run_shuffle_tests(ledger))
    return [
        ("signatures of a ledger verified", verified),
        ("`shuffle-tests` of that ledger", first),
        ("the same with a tenth more rounds", again),
    ]


def _kept(rounds: int) -> float:
    """Return the rate at which what is kept of rounds is read and searched for repeats."""
    noted = Noted()
    for kind in (noted.seeds, noted.shoes, noted.commitments):
        leaves = np.arange(rounds, dtype="<i8").tobytes()
        kind.merge(Repeats(bytearray(os.urandom(16 * rounds)), bytearray(leaves)))
    data = msgspec.msgpack.encode(noted)

    def work() -> None:
        assert not list(msgspec.msgpack.decode(data, type=Noted).all_findings())

    return _rate(rounds, work)


def _play(ledger: Ledger, rounds: int) -> None:
    settings = TableSettings(limits={"main": (1, 10_000)}, currency="EUR")
    rules, player = current_rules(ledger, "nba"), make_player("basic", 1)
    simulate(ledger, rules, settings, {"s1": {"main": 100}}, player, rounds)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20_000)
    rounds = parser.parse_args().rounds
    random = Random(1)
    shoes = [_own(random, number) for number in range(rounds)]
    dealt = _seen(shoes)
    floor = _rate(rounds, lambda: _keystream(shoes))
    rows = [("keystream of whole shoes", floor)]
    rows += [("whole shoes, one by one", _rate(rounds // 10, lambda: _scalar(shoes[::10])))]
    rows += [("whole shoes together", _rate(rounds, lambda: _in_batches(dealt)))]
    counts, wrong = ShoeCounts(DECKS), WrongCards()
    rows += [("whole shoes, tested", _rate(rounds, lambda: _in_batches(dealt, counts)))]
    rows += [("cards held to them, too", _rate(rounds, lambda: _in_batches(dealt, counts, wrong)))]
    assert not list(wrong.findings())
    rows += [("initial deals, tested", _rate(rounds, lambda: _deals(rounds, random)))]
    rows += _of_a_ledger(max(rounds // 20, 100))
    rows += [("kept rounds read, repeats looked for", _kept(100 * rounds))]
    print(f"{rounds:,} rounds, {DECKS} decks, load {os.getloadavg()[0]:.1f}")
    for name, rate in rows:
        print(f"{name:34}{rate:>12,.0f} rounds/s{rate / floor:>8.2f} of the keystream")
    print(f"results of all tests: {1 / _rate(1, lambda: list(counts.results('nba'))):.3f} s")


if __name__ == "__main__":
    main()
