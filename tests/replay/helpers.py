"""What the replay tests share: where the cases lie, and a round played by the engine alone."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.clock import Clock, utc_now
from shoeproof.ledger.leaf.events import EventData
from shoeproof.replay.engine.cards import FACE_DOWN, VALUE
from shoeproof.replay.engine.round import (
    NATURAL,
    NO_NATURAL,
    Check,
    Deal,
    Decide,
    RoundState,
    Settle,
    apply,
    open_round,
)
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.rounds.catalogue import add_published_games
from shoeproof.replay.written.round_text import ActMove, DealMove, Move

PROJECT = Path(__file__).parents[2]
CASES = PROJECT / "tests" / "cases"
SHARED = PROJECT.parent / "shared"
ORIGIN = "tests.example/blackjack"
NOON = datetime(2026, 1, 2, 12, 0, 0, tzinfo=UTC)

Choose = Callable[[RoundState, Decide], str]
"""What the player does at a decision."""

Draft = tuple[str, EventData]


class Played(NamedTuple):
    """One move: the state it was made in, the move, and the card behind a face-down one."""

    before: RoundState
    symbol: str
    after: RoundState
    face: str | None


def shared(name: str) -> Path:
    """The path of a file handed to the project from outside; skip where it is not there."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"there is no {path}: it is no part of the project")
    return path


def play(
    rules: Rules,
    stakes: Mapping[str, Mapping[str, int]],
    cards: Iterator[str],
    choose: Choose,
    check: bool | None = None,
) -> Iterator[Played]:
    """Play a round to its end by the engine alone, move by move.

    `check` is what the dealer says after looking, where that is not the truth.
    """
    state = open_round(rules, stakes)
    hole = ""
    while not isinstance(state.due, Settle):
        before, due, face = state, state.due, None
        if isinstance(due, Deal):
            symbol = next(cards)
            if due.down:
                hole = face = symbol
                symbol = FACE_DOWN
        elif isinstance(due, Decide):
            symbol = choose(state, due)
        elif isinstance(due, Check):
            truth = looks_like_natural(hole, state.dealer.up)
            symbol = NATURAL if (truth if check is None else check) else NO_NATURAL
        else:
            symbol = hole
        state = apply(state, symbol)
        yield Played(before, symbol, state, face)


def looks_like_natural(hole: str, up: str) -> bool:
    """Say whether the dealer's first two cards are an ace and a ten."""
    return sorted((VALUE[hole], VALUE[up])) == [1, 10]


def prefer(*acts: str) -> Choose:
    """A player who takes the first of these acts that is allowed."""

    def choose(state: RoundState, due: Decide) -> str:
        return next(act for act in acts if act in due.legal)

    return choose


def at_random(random: Random) -> Choose:
    """A player who takes any act, and seldom one that ends the hand."""

    def choose(state: RoundState, due: Decide) -> str:
        lively = [act for act in due.legal if act not in ("stand", "cash-out", "decline")]
        return random.choice(lively if lively and random.random() < 0.7 else due.legal)

    return choose


def drawn_from(pack: Sequence[str], random: Random) -> Iterator[str]:
    """Cards without end, each of the pack with equal chance."""
    return (random.choice(pack) for _ in count())


def written(moves: Sequence[Played]) -> list[Move]:
    """The moves of a round as a `.round` text writes them."""
    found: list[Move] = []
    for move in moves:
        due = move.before.due
        if isinstance(due, Deal):
            card = move.symbol if move.face is None else move.face
            found.append(DealMove(due.receiver, card, down=due.down))
        elif isinstance(due, Decide):
            shown = due.cash_out_minor if move.symbol == "cash-out" else None
            found.append(ActMove(due.hand, move.symbol, shown))
    return found


class HandClock:
    """A clock that stands until it is set on."""

    def __init__(self) -> None:
        self.moment = NOON

    def __call__(self) -> datetime:
        return self.moment

    def forward(self, **span: float) -> None:
        """Let `minutes=20` or `microseconds=1` pass."""
        self.moment += timedelta(**span)


def new_ledger(clock: Clock = utc_now) -> Ledger:
    """A ledger in memory that carries the published games."""
    ledger = Ledger.in_memory(ORIGIN, clock=clock)
    add_published_games(ledger)
    return ledger


def names(ledger: Ledger, stream: str) -> list[str]:
    """The types of a stream's events, in order."""
    return [recorded.event.type for recorded in ledger.events(stream)]
