"""A wallet and a store that fail when they are told, a server that goes on, and its books."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import eventsourcing.sqlite as es
import pytest

from shoeproof.ledger import Ledger
from shoeproof.ledger.leaf.events import (
    BetSettled,
    DealRequested,
    DecisionMade,
    EventData,
    Funds,
    RoundVoided,
)
from shoeproof.ledger.verify.whole import verify
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.interruptions.judge import replay_in
from shoeproof.replay.live.live_round import LiveRound
from shoeproof.replay.live.resume import resume_round
from shoeproof.replay.live.table import LiveTable, TableSettings
from shoeproof.replay.rounds.catalogue import current_rules
from shoeproof.replay.wallet.wallet import MemoryWallet, Wallet

SETTINGS = TableSettings(
    limits={"main": (100, 50_000), "perfect_pairs": (1, 10_000)}, currency="EUR", table="t-1"
)
OPENING = 100_000
STAKES = {"s1": {"main": 1_000, "perfect_pairs": 100}}


class Died(BaseException):
    """The process ended here: nothing it had in memory is left."""


Meets = Callable[[Callable[[], Any]], Any]


class Chance:
    """Has the n-th call fail, before or after it takes effect."""

    def __init__(self, at: int, *, after: bool, error: BaseException) -> None:
        self.at, self.after, self.error = at, after, error
        self.calls = 0

    def __call__(self, act: Callable[[], Any]) -> Any:
        self.calls += 1
        mine = self.calls == self.at
        if mine and not self.after:
            raise self.error
        answer = act()
        if mine and self.after:
            raise self.error
        return answer


class FailingWallet(MemoryWallet):
    """A wallet whose calls meet a chance."""

    def __init__(self, chance: Meets | None = None) -> None:
        super().__init__(OPENING)
        self.chance = chance

    def _meet(self, act: Callable[[], Any]) -> Any:
        return act() if self.chance is None else self.chance(act)

    def debit(self, player: str, amount_minor: int, reference: str) -> Funds:
        answer: Funds = self._meet(
            lambda: MemoryWallet.debit(self, player, amount_minor, reference)
        )
        return answer

    def credit(self, player: str, amount_minor: int, reference: str) -> Funds:
        answer: Funds = self._meet(
            lambda: MemoryWallet.credit(self, player, amount_minor, reference)
        )
        return answer

    def cancel(self, player: str, reference: str) -> None:
        self._meet(lambda: MemoryWallet.cancel(self, player, reference))

    @property
    def stands(self) -> dict[str, int]:
        """What was moved and stands, by reference."""
        return {reference: change for reference, (change, _) in self._moved.items()}


def recorded(ledger: Ledger) -> Counter[tuple[str, int]]:
    """Every movement that an event records, by reference and amount."""
    found: Counter[tuple[str, int]] = Counter()
    for row in ledger.rounds():
        for each in ledger.events(row.round):
            data: Any = each.event.data
            if isinstance(data, RoundVoided):
                continue
            funds = getattr(data, "funds", None)
            if funds is not None:
                sign = -1 if funds.direction == "debit" else 1
                found[funds.reference, sign * (funds.cash_minor + funds.incentive_minor)] += 1
    return found


def check_books(ledger: Ledger, wallet: FailingWallet) -> None:
    """Hold the wallet's movements to the events, and each round to its rules."""
    assert ledger.intents.open() == []
    assert recorded(ledger) == Counter(wallet.stands.items())
    for row in ledger.rounds():
        assert row.state == "closed"
        events = ledger.events(row.round)
        assert (found := replay_in(ledger, row.round).findings) == (), found
        staked = sum(_staked(each.event.data) for each in events)
        paid = sum(
            each.event.data.paid_minor for each in events if isinstance(each.event.data, BetSettled)
        )
        moved = sum(each for name, each in wallet.stands.items() if name.startswith(row.round))
        assert moved == paid - staked
    assert verify(ledger).findings == []


def _staked(data: EventData) -> int:
    if isinstance(data, DealRequested):
        return sum(sum(bets.values()) for bets in data.stakes.values())
    return data.added_stake_minor if isinstance(data, DecisionMade) else 0


def table(ledger: Ledger, wallet: MemoryWallet | None = None) -> LiveTable:
    seed = bytes(range(32))
    return LiveTable(ledger, current_rules(ledger, "nba"), SETTINGS, wallet=wallet,
                     seeds=lambda: seed)  # fmt: skip


def table_of(ledger: Ledger, wallet: Wallet) -> LiveTable:
    """A table whose shoes differ."""
    return LiveTable(ledger, current_rules(ledger, "nba"), SETTINGS, wallet=wallet)


def act(live: LiveRound) -> str:
    """What the player does: whatever costs most."""
    order = ("split", "double", "insurance", "hit", "stand", "decline")
    return next(each for each in order if each in live.offered)


def go_on(live: LiveRound, client_seed: bytes) -> None:
    """Play one more turn."""
    if live.state is None:
        live.deal(STAKES, client_seed)
    elif live.is_unpaid:
        live.settle_up()
    elif isinstance(live.due, Decide):
        live.decide(live.due.hand, act(live))


def play_through(ledger: Ledger, wallet: FailingWallet, round_id: str, client_seed: bytes) -> None:
    """Play a round to its end as a server does, which takes it up anew after any error."""
    live: LiveRound | None = None
    for _ in range(60):
        try:
            live = live or resume_round(ledger, round_id, wallet=wallet)
            go_on(live, client_seed)
            if live.is_over:
                return
        except Exception:
            # Sometimes the server keeps its object, sometimes it reads the round anew.
            live = live if len(client_seed) % 2 else None
        except Died:
            ledger._heads.clear()
            live = None
        if ledger.rounds(state="open") == []:
            return
    raise AssertionError("the round came to no end")


@contextmanager
def commits_meet(chance: Meets) -> Iterator[None]:
    """Have the store's commits meet a chance."""
    commit = es.SQLiteConnection.commit

    def meeting(connection: es.SQLiteConnection) -> None:
        chance(lambda: commit(connection))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(es.SQLiteConnection, "commit", meeting)
        yield


class Dice:
    """Has any call fail, before or after it takes effect, with a chance of one in some."""

    def __init__(self, random: Random, one_in: int, errors: list[BaseException]) -> None:
        self._random, self._one_in, self._errors = random, one_in, errors
        self.failures = 0

    def __call__(self, act: Callable[[], Any]) -> Any:
        fails = not self._random.randrange(self._one_in)
        after = fails and self._random.random() < 0.5
        if fails:
            self.failures += 1
            if not after:
                raise self._random.choice(self._errors)
        answer = act()
        if after:
            raise self._random.choice(self._errors)
        return answer
