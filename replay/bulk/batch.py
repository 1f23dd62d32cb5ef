"""Many rounds at once: which are sound, and for all others what the replayer finds.

The kernel (`walk`, `money`, `shoes`) proves rounds sound; what it cannot prove it leaves to
`judge`, which alone makes findings. So codes, places and sentences are the replayer's own, and a
mistake here can cost time and never invent or word a finding.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ledger import Finding
from replay.bulk.due import layout_of
from replay.bulk.money import LARGEST_STAKE, Laid, offers_hold, settlements_hold
from replay.bulk.shoes import committed, first_cards
from replay.bulk.tables import NUMBER, Ints
from replay.bulk.walk import Events, walk
from replay.bulk.words import (
    CARD,
    CLEAN,
    CLOSED,
    COMMITTED,
    IGNORED,
    INDEX,
    KIND,
    OPENED,
    OTHER,
    PLACED,
    REQUESTED,
    REVEALED,
    SHOWN,
    STAKE,
    SYMBOL,
    Own,
    Vocabulary,
)
from replay.engine.cards import FACE_DOWN
from replay.engine.round import Seat, check_stakes, insurance_stake_minor
from replay.engine.rules import Rules
from replay.errors import ShoeError, StakeRefused
from replay.money_check import check_limits, check_placed

_SHORTEST = 5
"""Opened, committed, requested, revealed, closed."""

_RANK = np.zeros(OTHER + 1, np.int64)
_RANK[[OPENED, COMMITTED, PLACED, REQUESTED, REVEALED, CLOSED]] = 0, 1, 2, 3, 5, 6
_RANK[CARD:REVEALED] = 4
_ONCE = np.zeros(OTHER + 1, np.bool_)
_ONCE[[OPENED, COMMITTED, REQUESTED, REVEALED, CLOSED]] = True


class Columns(NamedTuple):
    """Rounds as columns: each round's words are those from its start to the next one's.

    `words` are numbers of the vocabulary's rows, flat; `starts` has one place a round.
    """

    vocabulary: Vocabulary
    own: Sequence[Own]
    words: Ints
    starts: Ints


class _Opening(NamedTuple):
    """How rounds begin: rules, the seats' numbers, their stakes; None of it where it is refused."""

    digest: str
    seats: tuple[int, ...]
    main: tuple[int, ...]
    insurance: tuple[int, ...]
    side: tuple[tuple[int, ...], ...]


def replay_batch(
    columns: Columns,
    rules_by_digest: Mapping[str, Rules],
    judge: Callable[[int], Sequence[Finding]],
    doubted: Collection[int] = (),
) -> dict[int, tuple[Finding, ...]]:
    """Return the findings of every round that has any, by its place in the columns.

    `judge` replays one round by its place: it is asked for the rounds that are not proved sound,
    and for those `doubted` for what no column holds.
    """
    found = {}
    proved = sound(columns, rules_by_digest)
    proved[list(doubted)] = False
    for place in np.flatnonzero(~proved):
        findings = tuple(judge(int(place)))
        if findings:
            found[int(place)] = findings
    return found


def sound(
    columns: Columns, rules_by_digest: Mapping[str, Rules], *, with_shoes: bool = True
) -> Ints:
    """Tell of each round whether it is proved that the replayer finds nothing in it.

    Without `with_shoes` the play and the money are judged alone, as a bench of the engine asks.
    """
    proved = np.zeros(len(columns.own), np.bool_)
    table = columns.vocabulary.table()
    words, lengths = _without_ignored(columns, table)
    formed, placed = _well_formed(table, words, lengths)
    if not len(formed):
        return proved
    kept = np.repeat(np.isin(np.arange(len(lengths)), formed), lengths)
    words, lengths = words[kept], lengths[formed]
    starts = np.cumsum(lengths) - lengths
    openings, which = _openings(columns.vocabulary, table, words, starts, placed, rules_by_digest)
    groups: dict[tuple[str, int], list[int]] = {}
    for number, opening in enumerate(openings):
        if opening is not None:
            groups.setdefault((opening.digest, len(opening.seats)), []).append(number)
    for (digest, _), members in groups.items():
        chosen = np.flatnonzero(np.isin(which, members))
        group = _Group(
            digest,
            rules_by_digest[digest],
            [columns.own[place] for place in formed[chosen]],
            openings,
            which[chosen],
        )
        inside = np.repeat(np.isin(np.arange(len(lengths)), chosen), lengths)
        proved[formed[chosen]] = group.sound(
            columns.vocabulary, table, words[inside], lengths[chosen], with_shoes=with_shoes
        )
    return proved


def _without_ignored(columns: Columns, table: Ints) -> tuple[Ints, Ints]:
    counts = np.diff(np.append(columns.starts, len(columns.words)))
    number = np.repeat(np.arange(len(columns.own)), counts)
    kept = table[columns.words, KIND] != IGNORED
    # A round begins with its opening and ends with its close: nothing is passed over there.
    within = counts > 0
    kept[columns.starts[within]] = kept[(columns.starts + counts - 1)[within]] = True
    lengths = np.bincount(number[kept], minlength=len(columns.own))
    return columns.words[kept], lengths


def _well_formed(table: Ints, words: Ints, lengths: Ints) -> tuple[Ints, Ints]:
    """Return the rounds whose events all are clean and where they belong, and their placings."""
    if not len(words):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    kind = table[words, KIND]
    number = np.repeat(np.arange(len(lengths)), lengths)
    rank, same = _RANK[kind], number[1:] == number[:-1]
    bad = (table[words, CLEAN] == 0) | (kind == OTHER)
    bad[1:] |= same & ((rank[1:] < rank[:-1]) | ((kind[1:] == kind[:-1]) & _ONCE[kind[1:]]))
    broken = (np.bincount(number[bad], minlength=len(lengths)) > 0) | (lengths < _SHORTEST)
    counted = np.zeros((2, len(lengths)), np.int64)
    for row, each in zip(counted, (PLACED, REQUESTED), strict=True):
        row[:] = np.bincount(number[kind == each], minlength=len(lengths))
    formed = np.flatnonzero(~broken & (counted[1] == 1))
    starts = (np.cumsum(lengths) - lengths)[formed]
    ends = starts + lengths[formed]
    right = (
        (kind[starts] == OPENED)
        & (kind[starts + 1] == COMMITTED)
        & (kind[ends - 2] == REVEALED)
        & (kind[ends - 1] == CLOSED)
    )
    return formed[right], counted[0][formed[right]]


def _openings(
    vocabulary: Vocabulary,
    table: Ints,
    words: Ints,
    starts: Ints,
    placed: Ints,
    rules_by_digest: Mapping[str, Rules],
) -> tuple[list[_Opening | None], Ints]:
    """Return every distinct way the rounds begin, and which of them each has."""
    last_placed = np.where(placed > 0, table[words[starts + 1 + placed], STAKE], -1)
    opened = table[words[starts], STAKE]
    requested = table[words[starts + 2 + placed], STAKE]
    size = len(vocabulary.stakes) + 1
    keys, which = np.unique(
        (opened * size + requested) * size + last_placed + 1, return_inverse=True
    )
    openings = [
        _opening(vocabulary, rules_by_digest, int(key // size // size), int(key // size % size),
                 int(key % size) - 1)
        for key in keys
    ]  # fmt: skip
    return openings, which


def _opening(
    vocabulary: Vocabulary,
    rules_by_digest: Mapping[str, Rules],
    opened: int,
    requested: int,
    placed: int,
) -> _Opening | None:
    digest = vocabulary.openings.items[opened][0]
    rules, stakes = rules_by_digest.get(digest), vocabulary.stakes[requested]
    if rules is None or any(check_limits(vocabulary.limits(opened), stakes)):
        return None
    if placed >= 0 and any(check_placed(vocabulary.stakes[placed], stakes)):
        return None
    try:
        check_stakes(rules, stakes)
    except StakeRefused:
        return None
    if any(amount >= LARGEST_STAKE for bets in stakes.values() for amount in bets.values()):
        return None
    names = sorted(stakes)
    return _Opening(
        digest,
        tuple(int(name[1:]) for name in names),
        tuple(stakes[name]["main"] for name in names),
        tuple(insurance_stake_minor(rules, Seat(name, stakes[name])) for name in names),
        tuple(tuple(stakes[name].get(bet, 0) for name in names) for bet in rules.side_bets),
    )


class _Group:
    """Rounds of one rule set with one number of seats that play."""

    def __init__(
        self,
        digest: str,
        rules: Rules,
        own: Sequence[Own],
        openings: Sequence[_Opening | None],
        which: Ints,
    ) -> None:
        self.digest, self.rules, self.own = digest, rules, own
        used, self.which = np.unique(which, return_inverse=True)
        self.openings = [opening for number in used if (opening := openings[number]) is not None]
        self.layout = layout_of(rules, len(self.openings[0].seats))

    def sound(
        self,
        vocabulary: Vocabulary,
        table: Ints,
        words: Ints,
        lengths: Ints,
        *,
        with_shoes: bool,
    ) -> Ints:
        """Tell of each round whether it is proved sound."""
        laid = self._laid()
        events = Events(
            table=np.ascontiguousarray(table.T),
            words=words,
            number=np.repeat(np.arange(len(lengths)), lengths),
            start=np.cumsum(lengths) - lengths,
            pos=self._places(),
            has_half=laid.insurance > 0,
        )
        walked = walk(self.layout, events)
        proved = (
            walked.followed
            & offers_hold(self.layout, events, walked, laid)
            & settlements_hold(self.layout, events, walked, laid, vocabulary.names)
        )
        if with_shoes:
            proved &= committed(self.own, self.digest)
            proved &= self._cards_are_the_shoe_s(events, proved)
        return proved

    def _laid(self) -> Laid:
        def each(of: Callable[[_Opening], tuple[int, ...]]) -> Ints:
            return np.array([of(opening) for opening in self.openings], np.int64)[self.which]

        def side_stakes(place: int) -> Ints:
            return each(lambda opening: opening.side[place])

        side = {bet: side_stakes(place) for place, bet in enumerate(self.rules.side_bets)}
        return Laid(each(lambda one: one.main), each(lambda one: one.insurance), side)

    def _places(self) -> Ints:
        places = np.full((len(self.openings), 10), -1)
        for row, opening in zip(places, self.openings, strict=True):
            row[list(opening.seats)] = np.arange(len(opening.seats))
        return places[self.which]

    def _cards_are_the_shoe_s(self, events: Events, asked: Ints) -> Ints:
        """Tell of each round asked for whether every card is the shoe's, in the shoe's order."""
        kind = events.of(KIND)
        right = np.zeros(len(asked), np.bool_)
        card = np.flatnonzero((kind == CARD) & asked[events.number])
        if not len(card):
            return right
        number = events.number[card]
        counts = np.bincount(number, minlength=len(asked))
        ordinal = np.arange(len(card)) - np.repeat(np.cumsum(counts) - counts, counts)
        right[asked] = True
        right[number[events.of(INDEX, card) != ordinal]] = False
        hole = np.full(len(asked), -1)
        shown = np.flatnonzero((kind == SHOWN) & asked[events.number])
        hole[events.number[shown]] = events.of(SYMBOL, shown)
        logged = events.of(SYMBOL, card)
        logged = np.where(logged == NUMBER[FACE_DOWN], hole[number], logged)
        # Rounds with the same number of cards are drawn together, a block of the keystream at once.
        blocks = -(-counts // 8)
        for block in np.unique(blocks[asked]):
            chosen = np.flatnonzero(asked & (blocks == block))
            most = int(counts[chosen].max())
            try:
                cards = first_cards(
                    [self.own[n] for n in chosen.tolist()], self.digest, self.rules.decks, most
                )
            except ShoeError:
                right[chosen] = False
                continue
            place = np.full(len(asked), -1)
            place[chosen] = np.arange(len(chosen))
            mine = place[number] >= 0
            differs = cards[place[number[mine]], ordinal[mine]] != logged[mine]
            right[number[mine][differs]] = False
        return right
