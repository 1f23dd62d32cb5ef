"""Rounds to judge: honest ones played in any way, and the same with one thing changed."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from random import Random
from typing import Any

from msgspec.structs import fields, replace

from shoeproof.ledger import Event, Ledger, Recorded
from shoeproof.ledger.leaf.clock import parse_time
from shoeproof.ledger.leaf.events import (
    BetSettled,
    DecisionMade,
    DecisionOffered,
    EventData,
    Funds,
    HoleCardShown,
    ShoeCommitted,
    ShoeRevealed,
)
from shoeproof.replay.engine.cards import PACK
from shoeproof.replay.engine.hand import DECLINE, INSURANCE_ACTS, PLAY_ACTS
from shoeproof.replay.engine.round import Decide
from shoeproof.replay.games.published import GAMES
from shoeproof.replay.live.table import LiveTable, TableSettings
from shoeproof.replay.rounds.catalogue import current_rules
from shoeproof.replay.wallet.wallet import MemoryWallet
from tests.bulk.other_events import ASIDES, ELSEWHERE, ENDINGS
from tests.replay.helpers import ORIGIN, Draft

LIMITS: dict[str, tuple[int | None, int | None]] = {
    bet: (1, 20_000) for game in GAMES.values() for bet in game.rules.bets
}
Rounds = list[list[Recorded]]
NOON = "2026-01-02T12:00:00.000001Z"

_current_rules = lru_cache(maxsize=8)(current_rules)
_OTHERS = (*ASIDES, *ELSEWHERE, *ENDINGS)


class Notes:
    """A journal that keeps what it is told, unsigned, as if it were recorded."""

    def __init__(self) -> None:
        self.events: list[Recorded] = []

    def now(self) -> datetime:
        return parse_time(NOON)

    def append(self, *drafts: Draft, **conditions: Any) -> None:
        for stream, data in drafts:
            self.events.append(recorded(stream, len(self.events), data))


def recorded(stream: str, seq: int, data: EventData) -> Recorded:
    name = type(data).__name__
    return Recorded(seq, Event(1, ORIGIN, stream, seq, name, NOON, None, data), b"", b"")


def honest_round(
    ledger: Ledger,
    game: str,
    stakes: Mapping[str, Mapping[str, int]],
    random: Random,
    *,
    balance_minor: int | None = None,
    hides_cash_out: bool = False,
    client_seed: bytes = b"",
    lively: bool = True,
) -> list[Recorded]:
    """One round at a live table, by a player who seldom stands where he may do more."""
    notes = Notes()
    laid = sum(sum(bets.values()) for bets in stakes.values())
    table = LiveTable(
        ledger,
        _current_rules(ledger, game),
        TableSettings(limits=LIMITS, currency="EUR"),
        wallet=None if balance_minor is None else MemoryWallet(max(balance_minor, laid)),
        journal=notes,
        seeds=lambda: random.randbytes(32),
    )
    live = table.open_round("p-1")
    live.hidden = frozenset({"cash-out"} if hides_cash_out else ())
    if random.random() < 0.2:
        live.place(stakes)
    live.deal(stakes, client_seed)
    while isinstance(live.due, Decide):
        notes.append(*[(live.round_id, each) for each in _asides(random)])
        acts = [act for act in live.offered if act not in ("stand", "cash-out", "decline")]
        choices = acts if lively and acts and random.random() < 0.7 else live.offered
        live.decide(live.due.hand, random.choice(choices))
    return notes.events


def _asides(random: Random) -> list[EventData]:
    return [each for each in ASIDES if random.random() < 0.03]


def stakes_for(game: str, random: Random) -> dict[str, dict[str, int]]:
    """Any seats of a game's table with small or large stakes, side bets beside some."""
    rules = GAMES[game].rules
    count = min(rules.seats, random.choice([1, 1, 1, 2, 3, 5]))
    seats = random.sample(range(1, rules.seats + 1), count)
    laid = {}
    for seat in seats:
        bets = ["main"] + [bet for bet in rules.side_bets if random.random() < 0.4]
        laid[f"s{seat}"] = {bet: random.choice([1, 2, 3, 100, 101, 7777]) for bet in bets}
    return laid


def renumbered(stream: str, data: list[EventData]) -> list[Recorded]:
    return [recorded(stream, seq, each) for seq, each in enumerate(data)]


def corrupted(events: list[Recorded], random: Random) -> list[Recorded]:
    """The round with one thing changed: a value, an event dropped, doubled, moved or put in."""
    data = [each.event.data for each in events]
    stream = events[0].event.stream
    place = random.randrange(1, len(data))
    match random.randrange(9):
        case 0:
            del data[place]
        case 1:
            data.insert(place, data[place])
        case 2:
            data.insert(random.randrange(1, len(data)), data.pop(place))
        case 3:
            data.insert(place, random.choice(_OTHERS))
        case _:
            data[place] = _changed(data[place], random)
    return renumbered(stream, data)


def uncommitted(events: Sequence[Recorded]) -> list[Recorded]:
    """The round under a commitment to no shoe, so that no card is held to one."""
    data = [
        replace(each.event.data, commitment="00" * 32)
        if isinstance(each.event.data, ShoeCommitted)
        else each.event.data
        for each in events
    ]
    return renumbered(events[0].event.stream, data)


def recarded(events: list[Recorded], random: Random) -> list[Recorded]:
    """The round with one of its cards made another."""
    data = [each.event.data for each in events]
    seen = [
        place for place, each in enumerate(data) if isinstance(getattr(each, "card", None), str)
    ]
    place = random.choice(seen)
    data[place] = replace(data[place], card=random.choice(PACK))
    return renumbered(events[0].event.stream, data)


def every_hole(events: list[Recorded]) -> Iterator[list[Recorded]]:
    """The round with a hole card of each rank shown, whatever the look at it said."""
    data = [each.event.data for each in events]
    for place, each in enumerate(data):
        if isinstance(each, HoleCardShown):
            for card in PACK[::4]:
                told = [*data[:place], HoleCardShown(card), *data[place + 1 :]]
                yield renumbered(events[0].event.stream, told)


def settled_late(events: list[Recorded]) -> Iterator[list[Recorded]]:
    """The round with each of its settlements moved behind all others."""
    data = [each.event.data for each in events]
    end = next(place for place, each in enumerate(data) if isinstance(each, ShoeRevealed))
    for place, each in enumerate(data):
        if isinstance(each, BetSettled) and place < end - 1:
            told = [*data[:place], *data[place + 1 : end], each, *data[end:]]
            yield renumbered(events[0].event.stream, told)


def unasked(events: list[Recorded]) -> Iterator[list[Recorded]]:
    """The round without one of its answers to an ace that declined, nor the question."""
    data = [each.event.data for each in events]
    for place, each in enumerate(data):
        if isinstance(each, DecisionMade) and each.act == DECLINE:
            told = [*data[: place - 1], *data[place + 1 :]]
            yield renumbered(events[0].event.stream, told)


def under_rules(events: list[Recorded], digest: str) -> list[Recorded]:
    """The round as if it had been opened under other rules."""
    opened, *rest = [each.event.data for each in events]
    return renumbered(events[0].event.stream, [replace(opened, rules_digest=digest), *rest])


def every_corruption(events: list[Recorded], random: Random) -> Iterator[list[Recorded]]:
    """The round with each event dropped, doubled, swapped with the next, and each field changed."""
    data, stream = [each.event.data for each in events], events[0].event.stream
    for place, each in enumerate(data[1:], start=1):
        before, after = data[:place], data[place + 1 :]
        changed = [[_with(each, field.name, random)] for field in fields(each)]
        for instead in ([], [each, each], *changed):
            yield renumbered(stream, [*before, *instead, *after])
        if after:
            yield renumbered(stream, [*before, after[0], each, *after[1:]])


def every_insertion(events: list[Recorded], put: EventData) -> Iterator[list[Recorded]]:
    """The round with an event put in after each of its events but the last."""
    data, stream = [each.event.data for each in events], events[0].event.stream
    for place in range(1, len(data)):
        yield renumbered(stream, [*data[:place], put, *data[place:]])


def _changed(data: EventData, random: Random) -> EventData:
    return _with(data, random.choice(fields(data)).name, random)


def _with(data: EventData, name: str, random: Random) -> EventData:
    return replace(data, **{name: _other(name, getattr(data, name), random)})


_WORDS = {
    "act": (*PLAY_ACTS, *INSURANCE_ACTS, "flee"),
    "receiver": ("s1", "s2", "s1.1", "s1.2", "dealer", "s10", "nobody"),
    "hand": ("s1", "s2", "s1.1", "s1.2", "dealer", "s9"),
    "seat": ("s1", "s2", "s3", "dealer"),
    "line": ("win", "loss", "push", "lost", "natural", "dealer_natural", "gift"),
    "bet": ("main", "insurance", "perfect_pairs", "twenty_one_plus_three", "other"),
    "actor": ("player", "system", None),
    "card": (*PACK, "1x"),
    "commitment": ("00" * 32, "zz", ""),
    "seed": ("00" * 32, "zz", "00"),
    "client_seed": ("", "ff", "0", "00" * 65),
}


def _other(name: str, value: object, random: Random) -> object:
    if name in _WORDS:
        return random.choice(_WORDS[name])
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return random.choice([value + 1, value - 1, 2 * value, 0, -value, 2**62, 2**70])
    if name == "funds":
        if isinstance(value, Funds):
            part = random.choice(fields(value)).name
            return replace(value, **{part: _other_funds(part, getattr(value, part), random)})
        moved = random.choice(
            [Funds("debit", 0, 0, None, None, None), Funds("credit", 0, 0, "t", "ok", 5)]
        )
        return replace(moved, cash_minor=random.choice([0, 1, 100, 101]))
    if name == "cash_out_minor":
        return random.choice([0, 1, 86, 100])
    if name == "legal" and isinstance(value, list):
        act = random.choice(_WORDS["act"])
        return [each for each in value if each != act] if act in value else [*value, act]
    if name == "barred":
        act = random.choice(_WORDS["act"])
        return {act: random.choice(["funds", "hidden", "mood"])}
    if name == "stakes" and isinstance(value, dict):
        seat = random.choice(list(value))
        change = random.choice([{"main": 3}, {"main": 0}, {"main": 1, "odd": 5}, {}])
        return {**value, seat: {**value[seat], **change} if change else {}}
    return value


def _other_funds(name: str, value: object, random: Random) -> object:
    if name == "direction":
        return "credit" if value == "debit" else "debit"
    if name == "answer":
        return random.choice([None, "", "OK", "declined", "held", "approved"])
    if name == "transaction":
        return random.choice([None, "t"])
    return random.choice([None, -1, 0, 1]) if value is None else _other(name, value, random)


def altered_offers(events: list[Recorded]) -> Iterator[list[Recorded]]:
    """The round with each offer told in every slightly different way that means the same or not."""
    data = [each.event.data for each in events]
    for place, each in enumerate(data):
        if isinstance(each, DecisionOffered):
            for act in each.legal:
                bare = [other for other in each.legal if other != act]
                for why in ({}, {act: "funds"}, {act: "hidden"}):
                    told = replace(each, legal=bare, barred=why)
                    yield renumbered(
                        events[0].event.stream, [*data[:place], told, *data[place + 1 :]]
                    )
