"""An open round: it bars another of its game, holds its stakes, and moves money once."""

import multiprocessing
from pathlib import Path
from typing import Any

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.errors import StreamConflict
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.errors import InputRefusedError
from shoeproof.replay.interruptions.holds import held_wins
from shoeproof.replay.live.open_rounds import held_stakes_minor
from shoeproof.replay.live.resume import resume_round
from shoeproof.replay.live.table import LiveTable
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.replay.faults import SETTINGS, STAKES, Floor, asked
from tests.replay.helpers import ORIGIN, Played
from tests.replay.test_holds import won


@pytest.fixture
def nba() -> Floor:
    return Floor("nba")


# One open round of a game


def test_an_open_round_bars_another_of_the_same_game(nba: Floor) -> None:
    live = nba.deal(asked)
    with pytest.raises(InputRefusedError, match=f"go on with {live.round_id} first"):
        nba.table().open_round(live.player)
    nba.table().open_round("somebody else")
    nba.game = "zero"
    nba.table().open_round(live.player)


def _open_many(path: Path, barrier: Any, answers: Any) -> None:
    with Ledger.open(path) as ledger:
        table = LiveTable(ledger, current_rules(ledger, "nba"), SETTINGS)
        won = 0
        for number in range(20):
            barrier.wait()
            try:
                table.open_round(f"p-{number}")
                won += 1
            except InputRefusedError:
                pass
        answers.put(won)


def test_of_two_processes_that_open_at_once_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    with Ledger.init(path, ORIGIN) as ledger:
        add_published_games(ledger)
    context = multiprocessing.get_context("spawn")
    barrier, answers = context.Barrier(2), context.Queue()
    workers = [context.Process(target=_open_many, args=(path, barrier, answers)) for _ in range(2)]
    for worker in workers:
        worker.start()
    won = [answers.get(timeout=500) for _ in workers]
    for worker in workers:
        worker.join()
    assert sum(won) == 20
    with Ledger.open(path) as ledger:
        assert len(ledger.rounds(state="open")) == 20


def test_on_postgresql_a_second_round_is_refused_in_its_transaction(
    postgres_url: str, tmp_path: Path
) -> None:
    with Ledger.init(tmp_path / "ledger", ORIGIN, database_url=postgres_url) as ledger:
        add_published_games(ledger)
        floor = Floor("nba", ledger=ledger)
        live = floor.table().open_round("p-1")
        with pytest.raises(InputRefusedError, match=live.round_id):
            floor.table().open_round("p-1")
        live.deal(STAKES)
        floor.game = "zero"
        large = won(floor, 1_500_000)
        assert [each.round for each in held_wins(ledger)] == [large.round_id]
        assert not floor.codes()


# Money in an open round


def test_what_is_held_in_an_open_round(nba: Floor) -> None:
    live = nba.table().open_round("p-1")
    assert held_stakes_minor(nba.ledger.events(live.round_id)) == 0
    live.place(STAKES)
    assert held_stakes_minor(nba.ledger.events(live.round_id)) == 100
    nba = Floor("nba")

    def splits(moves: list[Played]) -> bool:
        return moves[-1].after.hands[-1].name == "s1.2" and asked(moves)

    split = nba.deal(splits, acts=("split", "stand", "decline"))
    assert held_stakes_minor(nba.ledger.events(split.round_id)) == 100
    split.decide("s1", "split")
    assert held_stakes_minor(nba.ledger.events(split.round_id)) == (0 if split.is_over else 200)


def test_two_tables_that_make_one_turn_move_the_money_once(nba: Floor) -> None:
    wallet = MemoryWallet(1_000)

    def wins(moves: list[Played]) -> bool:
        return asked(moves) and moves[-1].after.dealer.total > 21

    live = nba.deal(wins, wallet=wallet)
    other = resume_round(nba.ledger, live.round_id, wallet=wallet)
    assert isinstance(live.due, Decide)
    live.decide("s1", "stand")
    with pytest.raises(StreamConflict):
        other.decide("s1", "stand")
    assert wallet.balance_minor(live.player) == 1_100
