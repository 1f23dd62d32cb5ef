"""A live table that lies in one named way and is consistent in all others.

It goes on from what it did: a wrong card is played on with, a hand paid by altered rules is booked
so, and the totals sum up what was booked. What it signs is a sound ledger that only replay can
contradict. The occasion for a lie is found by playing the engine alone over one shoe after the
other; the client seed, which a player may choose, picks the shoe.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import chain, count
from typing import Any, NamedTuple

import msgspec
import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import (
    AlarmRaised,
    BetSettled,
    CardDealt,
    DealerChecked,
    EventData,
    HoleCardShown,
    RoundClosed,
    WinHeld,
)
from shoeproof.ledger.leaf.streams import OPERATIONS_STREAM
from shoeproof.replay.engine.cards import FACE_DOWN
from shoeproof.replay.engine.round import (
    NATURAL,
    NO_NATURAL,
    Check,
    Deal,
    Decide,
    RoundState,
    Settle,
    apply,
)
from shoeproof.replay.engine.rules import Rules, rules_digest
from shoeproof.replay.engine.shoe import Shoe
from shoeproof.replay.games.policies import Policy
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.interruptions.judge import replay_in
from shoeproof.replay.live.live_round import LiveRound
from shoeproof.replay.live.table import LiveTable, TableSettings
from shoeproof.replay.rounds.catalogue import add_rules
from shoeproof.replay.rounds.replayer import Replay
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.replay.helpers import (
    Choose,
    Draft,
    HandClock,
    Played,
    looks_like_natural,
    new_ledger,
    play,
)

Turn = list[EventData]
Alter = Callable[[Turn], Turn]
Limits = Mapping[str, tuple[int | None, int | None]]

SEED = hashlib.sha256(b"the seed of a table that lies").digest()
LIMITS: Limits = {"main": (1, 10_000)}
STAKES = {"s1": {"main": 100}}


def truthfully(turn: Turn) -> Turn:
    return turn


def the_same(rules: Rules) -> Rules:
    return rules


def whenever(moves: list[Played]) -> bool:
    return True


@dataclass(frozen=True, kw_only=True)
class Lie:
    """One way to lie, the occasion it needs, and every finding it must yield.

    `logs` gives the rules the table names and `plays` those it plays by. `draws` says from which
    place of the shoe the n-th card comes, the next ones following it, and `faces` which card a
    place shows. `check` is what the dealer says after looking. `alter` makes what changes each
    turn before it is signed, anew for each round. `claims` is the digest named, known or not.
    `keeps` gives the policy the table keeps instead of the one it names, and `waits` how long the
    player thinks over the n-th decision. A round `left_open` after the deal is never played on,
    and two hours pass.
    """

    game: str
    findings: list[str]
    choose: Choose
    wanted: Callable[[list[Played]], bool] = whenever
    stakes: Mapping[str, Mapping[str, int]] = field(default_factory=lambda: STAKES)
    logs: Callable[[Rules], Rules] = the_same
    plays: Callable[[Rules], Rules] = the_same
    draws: Mapping[int, int] = field(default_factory=dict)
    faces: Mapping[int, str] = field(default_factory=dict)
    check: bool | None = None
    alter: Callable[[], Alter] = lambda: truthfully
    wallet: Callable[[], MemoryWallet | None] = lambda: MemoryWallet(1_000_000)
    claims: str | None = None
    books_true_totals: bool = False
    keeps: Callable[[Policy | None], Policy | None] = lambda policy: policy
    waits: Mapping[int, timedelta] = field(default_factory=dict)
    left_open: bool = False
    limits: Limits = field(default_factory=lambda: LIMITS)


class Told(NamedTuple):
    """What became of a lie: the ledger, the round and its replay."""

    ledger: Ledger
    round_id: str
    replay: Replay

    @property
    def codes(self) -> list[str]:
        return [finding.code for finding in self.replay.findings]


def cards_dealt(lie: Lie, shoe: Shoe) -> Iterator[tuple[int, str]]:
    """The places and faces of the cards as the lying table deals them."""
    place = 0
    for number in count():
        place = lie.draws.get(number, place)
        yield place, lie.faces[place] if place in lie.faces else shoe[place]
        place += 1


class AlteringJournal:
    """Writes each turn to the ledger after the lie had its way with it."""

    def __init__(self, ledger: Ledger, lie: Lie) -> None:
        self._ledger = ledger
        self._alter = lie.alter()
        self._books_true_totals = lie.books_true_totals
        self._staked = self._paid = 0
        self.now = ledger.now

    def append(self, *drafts: Draft, **conditions: Any) -> None:
        stream = drafts[0][0]
        turn = self._alter([data for _, data in drafts])
        for place, data in enumerate(turn):
            if isinstance(data, BetSettled):
                self._staked += data.stake_minor
                self._paid += data.paid_minor
            elif isinstance(data, RoundClosed) and not self._books_true_totals:
                turn[place] = RoundClosed(self._staked, self._paid)
        if turn:
            self._ledger.append(
                *[(_stream(stream, data), data) for data in turn], at=conditions["at"]
            )


def _stream(round_id: str, data: EventData) -> str:
    return f"holds/{round_id}" if isinstance(data, WinHeld) else round_id


class LyingRound(LiveRound):
    """A round whose cards and whose look at the hole card are the lie's."""

    lie: Lie
    cards: Iterator[tuple[int, str]]

    def restore_shoe(self, client_seed: bytes) -> None:
        super().restore_shoe(client_seed)
        assert self._shoe is not None
        self.cards = cards_dealt(self.lie, self._shoe)

    def _play_out(self, state: RoundState, drafts: list[EventData]) -> RoundState:
        while not isinstance(due := state.due, Decide | Settle):
            if isinstance(due, Deal):
                place, symbol = next(self.cards)
                if due.down:
                    self._hole, symbol = symbol, FACE_DOWN
                    drafts.append(CardDealt(place, due.receiver))
                else:
                    drafts.append(CardDealt(place, due.receiver, symbol))
            elif isinstance(due, Check):
                truth = looks_like_natural(self._hole, state.dealer.up)
                natural = truth if self.lie.check is None else self.lie.check
                drafts.append(DealerChecked(natural))
                symbol = NATURAL if natural else NO_NATURAL
            else:
                symbol = self._hole
                drafts.append(HoleCardShown(symbol))
            state = apply(state, symbol)
        return state


def tell(lie: Lie, name: str, monkeypatch: pytest.MonkeyPatch) -> Told:
    """Let a table tell the lie for one round, and replay what it signed."""
    digits = hashlib.sha256(name.encode()).hexdigest()
    round_id = f"01936f3c-7a10-7{digits[:3]}-9{digits[3:6]}-{digits[6:18]}"
    ids = chain([round_id], map("01936f3c-7a10-7000-8000-{:012x}".format, count()))
    monkeypatch.setattr("shoeproof.replay.live.table.new_round_id", lambda: next(ids))
    clock = HandClock()
    ledger = new_ledger(clock)
    logged = lie.logs(GAMES[lie.game].rules)
    if rules_digest(logged) not in ledger.rules():
        add_rules(ledger, logged)
    table = LiveTable(
        ledger,
        logged,
        TableSettings(limits=dict(lie.limits), currency=GAMES[lie.game].currency),
        wallet=lie.wallet(),
        journal=AlteringJournal(ledger, lie),
        seeds=lambda: SEED,
    )
    table.rules = lie.plays(logged)
    table.digest = lie.claims or table.digest
    opened = table.open_round("p-1")
    kept = lie.keeps(table.policy)
    live = LyingRound(table, opened.round_id, opened.player, SEED, kept, ledger.now())
    live.lie = lie
    live.place(lie.stakes)
    live.deal(lie.stakes, occasion(lie, table, round_id))
    if lie.left_open:
        clock.forward(hours=2)
        ledger.append((OPERATIONS_STREAM, AlarmRaised(1, None, "time passes")))
    for number in count():
        if not isinstance(live.due, Decide) or lie.left_open:
            break
        clock.moment += lie.waits.get(number, timedelta(0))
        assert live.state is not None
        asked = msgspec.structs.replace(live.due, legal=live.offered)
        live.decide(live.due.hand, lie.choose(live.state, asked))
    return Told(ledger, round_id, replay_in(ledger, round_id))


def occasion(lie: Lie, table: LiveTable, round_id: str) -> bytes:
    """A client seed under which the round comes to what the lie needs."""
    for number in range(200_000):
        client_seed = number.to_bytes(4, "big")
        shoe = Shoe(SEED, round_id, table.digest, client_seed, table.rules.decks)
        cards = (card for _, card in cards_dealt(lie, shoe))
        moves = list(play(table.rules, lie.stakes, cards, lie.choose, lie.check))
        if lie.wanted(moves):
            return client_seed
    raise AssertionError("no shoe gives the occasion for this lie")
