"""The words that lies are told in: what to change in a turn, and which occasion to wait for."""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from shoeproof.ledger.leaf.events import (
    BetSettled,
    DecisionOffered,
    EventData,
    Funds,
    Refund,
    RoundClosed,
    RoundVoided,
)
from shoeproof.replay.engine.hand import Hand
from shoeproof.replay.engine.outcomes import outcomes
from shoeproof.replay.engine.round import Decide, RoundState
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.replay.helpers import Choose, Played, prefer
from tests.replay.lying_table import Alter, Turn

Change = Callable[[Any], EventData | Iterable[EventData]]

STAND = prefer("stand", "decline")


# What is changed before it is signed


def changing(
    kind: type[EventData], change: Change, *, only: int | None = None
) -> Callable[[], Alter]:
    """Change the events of one kind, all of them or the `only`-th of the round, 0-based."""

    def begin() -> Alter:
        seen = -1

        def alter(turn: Turn) -> Turn:
            nonlocal seen
            altered: Turn = []
            for data in turn:
                made: EventData | Iterable[EventData] = data
                if isinstance(data, kind):
                    seen += 1
                    if only in (None, seen):
                        made = change(data)
                altered += [made] if isinstance(made, EventData) else made
            return altered

        return alter

    return begin


def both(*parts: Callable[[], Alter]) -> Callable[[], Alter]:
    """Make several changes, one after the other."""

    def begin() -> Alter:
        alters = [part() for part in parts]

        def alter(turn: Turn) -> Turn:
            for each in alters:
                turn = each(turn)
            return turn

        return alter

    return begin


def having(**fields: Any) -> Change:
    """Give an event other values."""
    return lambda data: replace(data, **fields)


def dropped(data: EventData) -> Iterable[EventData]:
    return ()


def twice(data: EventData) -> Iterable[EventData]:
    return (data, data)


def offering(act: str) -> Callable[[DecisionOffered], DecisionOffered]:
    """Offer an act besides."""
    return lambda offer: replace(offer, legal=[*offer.legal, act])


def withholding(act: str, **barred: str) -> Callable[[DecisionOffered], DecisionOffered]:
    """Leave an act out of an offer; `barred` gives a reason."""
    return lambda offer: replace(
        offer, legal=[each for each in offer.legal if each != act], barred=barred
    )


def settled(bet: str, **fields: Any) -> Callable[[], Alter]:
    """Settle the bets of one name with other values."""
    return changing(BetSettled, lambda data: replace(data, **fields) if data.bet == bet else data)


def held_back(
    moved: Callable[[EventData], bool], until: type[EventData], *, after: bool = False
) -> Callable[[], Alter]:
    """Keep events back and write them before, or after, the next one of another kind."""

    def begin() -> Alter:
        kept: Turn = []

        def alter(turn: Turn) -> Turn:
            altered: Turn = []
            for data in turn:
                if moved(data) and until is not type(data):
                    kept.append(data)
                    continue
                ripe = list(kept) if isinstance(data, until) else []
                altered += [data, *ripe] if after else [*ripe, data]
                if ripe:
                    kept.clear()
            return altered

        return alter

    return begin


def broken_off(begins: Callable[[EventData], bool]) -> Callable[[], Alter]:
    """Record nothing any more from such an event on."""

    def begin() -> Alter:
        over = False

        def alter(turn: Turn) -> Turn:
            nonlocal over
            kept: Turn = []
            for data in turn:
                over = over or begins(data)
                kept += [] if over else [data]
            return kept

        return alter

    return begin


def voiding(*refunds: Refund) -> Alter:
    """End the round by a void that returns these stakes."""

    def alter(turn: Turn) -> Turn:
        kept = [data for data in turn if not isinstance(data, BetSettled)]
        return [
            RoundVoided("a malfunction", list(refunds)) if isinstance(data, RoundClosed) else data
            for data in kept
        ]

    return alter


# The rules that are played by


def paying(line: str, pays: str) -> Callable[[Rules], Rules]:
    """Rules of which one settlement line pays something else."""

    def change(rules: Rules) -> Rules:
        lines = [
            replace(each, pays=pays) if each.name == line else each for each in rules.settlement
        ]
        assert tuple(lines) != rules.settlement
        return replace(rules, settlement=tuple(lines))

    return change


def ruling(**fields: Any) -> Callable[[Rules], Rules]:
    """Rules of which some fields are others."""
    return lambda rules: replace(rules, **fields)


# How the player plays


def hit_to(cards: int, *acts: str) -> Choose:
    """Hit up to a number of cards, then take the first allowed of some acts, or stand."""

    def choose(state: RoundState, due: Decide) -> str:
        if "hit" in due.legal and hand_of(state, due.hand).count < cards:
            return "hit"
        return prefer(*acts, "stand", "decline")(state, due)

    return choose


def split_then_hit(state: RoundState, due: Decide) -> str:
    """Split, hit each half once, stand."""
    if "split" in due.legal:
        return "split"
    return hit_to(3)(state, due) if due.hand != "s1" else STAND(state, due)


# The occasion


def hand_of(state: RoundState, name: str) -> Hand:
    return next(held.hand for held in state.hands if held.name == name)


def acts(moves: list[Played]) -> list[str]:
    """Every act of the round, in order."""
    return [move.symbol for move in moves if isinstance(move.before.due, Decide)]


def line(moves: list[Played], hand: str = "s1", bet: str = "main") -> str | None:
    """The settlement line of one bet at the end, None where there is no such bet."""
    found = outcomes(moves[-1].after)
    return next((each.line for each in found if (each.hand, each.bet) == (hand, bet)), None)


def ends(name: str, hand: str = "s1", bet: str = "main") -> Callable[[list[Played]], bool]:
    """Wait for a bet that meets a settlement line."""
    return lambda moves: line(moves, hand, bet) == name


def does(*wanted: str) -> Callable[[list[Played]], bool]:
    """Wait for a round of exactly these acts."""
    return lambda moves: acts(moves) == list(wanted)


def up(moves: list[Played]) -> str:
    return moves[-1].after.dealer.up


def dealer_natural(moves: list[Played]) -> bool:
    return moves[-1].after.dealer.natural


def cards(moves: list[Played]) -> int:
    """How many cards left the shoe."""
    return sum(type(move.before.due).__name__ == "Deal" for move in moves)


# What a wallet says that says no more than it must


def credited(minor: int) -> Funds:
    return Funds("credit", minor, 0, None, "accepted", None)


def debited(minor: int) -> Funds:
    return Funds("debit", minor, 0, None, "accepted", None)


def without_balances() -> Alter:
    """Say no balances, so that another payment may be put in the place of the wallet's."""

    def untold(data: Any) -> EventData:
        funds = getattr(data, "funds", None)
        if funds is not None:
            data = replace(data, funds=replace(funds, balance_after_minor=None))
        told: EventData = data
        return told

    return lambda turn: [untold(data) for data in turn]


# Wallets that lie


class TwiceDebited(MemoryWallet):
    """Takes every stake twice."""

    def debit(self, player: str, amount_minor: int, reference: str) -> Funds:
        return super().debit(player, 2 * amount_minor, reference)


class DoubleDebitedTwice(MemoryWallet):
    """Takes the stake that a double adds twice."""

    def debit(self, player: str, amount_minor: int, reference: str) -> Funds:
        times = 2 if "-double/" in reference else 1
        return super().debit(player, times * amount_minor, reference)


class ShortCredited(MemoryWallet):
    """Pays out one unit less than it should."""

    def credit(self, player: str, amount_minor: int, reference: str) -> Funds:
        return super().credit(player, amount_minor - 1, reference)


class CreditedAsDebit(MemoryWallet):
    """Takes what it should pay out."""

    def credit(self, player: str, amount_minor: int, reference: str) -> Funds:
        return super().debit(player, amount_minor, reference)
