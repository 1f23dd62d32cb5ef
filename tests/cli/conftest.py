"""A command line run inside the test's own process, and a small ledger to run it on."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from shoeproof.cli.main import run
from shoeproof.ledger import Ledger
from shoeproof.replay.live.players import make_player
from shoeproof.replay.live.simulation import simulate
from shoeproof.replay.live.table import TableSettings
from shoeproof.replay.rounds.catalogue import add_published_games, current_rules
from tests.cli.json_shapes import check_json

LIMITS: dict[str, tuple[int | None, int | None]] = {
    "main": (1, 10_000),
    "perfect_pairs": (1, 1000),
    "twenty_one_plus_three": (1, 1000),
}


class Result(NamedTuple):
    """What a command printed and how it ended; each sentence on stderr is one line again."""

    code: int
    out: str
    err: str


Shoeproof = Callable[..., Result]


@pytest.fixture
def shoeproof(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shoeproof:
    monkeypatch.delenv("SHOEPROOF_LEDGER", raising=False)
    monkeypatch.delenv("SHOEPROOF_PASSPHRASE", raising=False)
    monkeypatch.setenv("COLUMNS", "200")

    def call(*words: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["shoeproof", *map(str, words)])
        code = 0
        try:
            run()
        except SystemExit as ending:
            code = int(ending.code or 0)
        printed = capsys.readouterr()
        check_json(sys.argv[1:], code, printed.out)
        return Result(code, printed.out, printed.err.replace("\n  ", " "))

    return call


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with forty rounds of each game; tests only read it."""
    path = tmp_path_factory.mktemp("played") / "ledger"
    with Ledger.init(path, "test.example/played") as ledger:
        add_published_games(ledger)
        for game in ("zappit", "zero", "nba"):
            rules = current_rules(ledger, game)
            settings = TableSettings(limits=LIMITS, currency="EUR", table="t-1")
            bets = {"main": 1000, **dict.fromkeys(rules.side_bets, 100)}
            simulate(ledger, rules, settings, {"s1": bets}, make_player("random", 5), 40)
    return path
