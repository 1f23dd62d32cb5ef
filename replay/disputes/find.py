"""Finding a round by what a player remembers: an hour, an amount, a card, and no id.

The look-up index narrows by player and time, and each round left is read. What is not found is not
proven absent: the index proves nothing, and neither do a player's memory and clock.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

import msgspec

from ledger import Ledger, Recorded
from ledger.clock import format_time
from ledger.errors import EventUnreadable, UnknownStream
from ledger.events import (
    BetSettled,
    CardDealt,
    DealRequested,
    DecisionMade,
    HoleCardShown,
    RoundVoided,
    StakesPlaced,
)
from ledger.rounds import RoundRow
from ledger.sharing import Progress
from replay.currency import minor_units
from replay.engine.cards import RANKS, SUIT_SYMBOL, VALUE
from replay.errors import DisputeRefused

BEGUN_BEFORE: Final = timedelta(hours=24)
"""How long before the time asked for a round may have been opened that was still being played."""

_SUITS: Final = {symbol: suit for suit, symbol in SUIT_SYMBOL.items()}


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """What a player remembers; what is None, or empty, is not asked for.

    The round was being played at some moment of `begin` to `end`, both aware, the latter exclusive.
    `staked` and `paid` are amounts as people write them, in whatever currency the round is: what
    the whole round came to, or one bet of it. `cards` are codes like `Qs`, or ranks like `Q`; each
    was dealt, as often as it is named.
    """

    player: str | None = None
    begin: datetime | None = None
    end: datetime | None = None
    staked: Decimal | None = None
    paid: Decimal | None = None
    cards: tuple[str, ...] = ()


class Candidate(msgspec.Struct, frozen=True):
    """A round that was read: its row in the index, its sums, and its cards in the order shown.

    `stakes` and `payments` hold every amount a player may mean: of the whole round, of one bet.
    """

    row: RoundRow
    staked_minor: int
    paid_minor: int
    cards: tuple[str, ...]
    stakes: frozenset[int]
    payments: frozenset[int]


class Search(msgspec.Struct, frozen=True):
    """What a search found, and in what.

    It read `read` rounds of a ledger of `size` leaves; those of `unreadable` could not be read.
    `complete` is whether it looked at every round that the index offered.
    """

    found: tuple[Candidate, ...]
    unreadable: tuple[str, ...]
    read: int
    size: int
    complete: bool


def find_rounds(
    ledger: Ledger, remembered: Remembered, progress: Progress | None = None, *, most: int = 20
) -> Search:
    """Return at most `most` rounds that fit what a player remembers, the newest first.

    Without a player, a round opened more than a day before `begin` is not looked at. `progress` is
    told how many rounds are read, and of how many. Raises DisputeRefused when neither the player
    nor the time narrows the search, or the time ends before it begins; StoreUnavailable and
    StoreDamaged.
    """
    if remembered.player is None and remembered.begin is None:
        raise DisputeRefused("say which player, or from when: else every round is to be read")
    if remembered.begin and remembered.end and remembered.end <= remembered.begin:
        raise DisputeRefused("the time ends before it begins: nothing was played between the two")
    size = ledger.size()
    rows = _rows(ledger, remembered)
    found: list[Candidate] = []
    unreadable: list[str] = []
    read = 0
    for read, row in enumerate(rows, 1):
        try:
            candidate = _candidate(row, ledger.events(row.round))
        except (EventUnreadable, UnknownStream):
            unreadable.append(row.round)
            continue
        if _fits(candidate, remembered):
            found.append(candidate)
        if progress is not None:
            progress(read, len(rows))
        if len(found) == most:
            break
    return Search(tuple(found), tuple(unreadable), read, size, read == len(rows))


def read_card(text: str) -> str:
    """Return a card or a rank as people write it, `10♦`, `td`, `Q`, in the code of the ledger.

    Raises DisputeRefused for what is neither.
    """
    written = text.strip().replace("10", "T")
    suit = _SUITS.get(written[-1:], written[-1:].lower())
    for code in (written[:-1].upper() + suit, written.upper()):
        if code in VALUE or code in {*RANKS}:
            return code
    raise DisputeRefused(f"{text!r} is no card: write Qs, 10d, A♥, or a rank such as K")


def _rows(ledger: Ledger, remembered: Remembered) -> list[RoundRow]:
    begin, opened_from = remembered.begin, None
    if begin is not None and remembered.player is None:
        opened_from = begin - BEGUN_BEFORE
    rows = ledger.rounds(
        player=remembered.player,
        opened_from=opened_from,
        opened_to=remembered.end,
        newest_first=True,
    )
    if begin is None:
        return rows
    since = format_time(begin)
    return [row for row in rows if row.closed_at is None or row.closed_at >= since]


def _candidate(row: RoundRow, events: Sequence[Recorded]) -> Candidate:
    laid: list[int] = []
    added = 0
    settled: list[BetSettled] = []
    refunds: list[int] = []
    cards: list[str] = []
    for recorded in events:
        match recorded.event.data:
            case StakesPlaced(stakes=stakes) | DealRequested(stakes=stakes):
                laid = [stake for bets in stakes.values() for stake in bets.values()]
            case DecisionMade(added_stake_minor=more):
                added += more
            case BetSettled() as bet:
                settled.append(bet)
            case RoundVoided(refunds=returned):
                refunds = [refund.amount_minor for refund in returned]
            case CardDealt(card=str(card)) | HoleCardShown(card=card):
                cards.append(card)
    payments = [bet.paid_minor for bet in settled] + refunds
    return Candidate(
        row,
        sum(laid) + added,
        sum(payments),
        tuple(cards),
        frozenset({sum(laid), sum(laid) + added, *laid, *(bet.stake_minor for bet in settled)}),
        # Nearly every round has a bet that paid nothing: who was paid nothing means all of it.
        frozenset({sum(payments), *filter(None, payments)}),
    )


def _fits(candidate: Candidate, remembered: Remembered) -> bool:
    currency = candidate.row.currency
    for amount, amounts in (
        (remembered.staked, candidate.stakes),
        (remembered.paid, candidate.payments),
    ):
        if amount is not None and minor_units(amount, currency) not in amounts:
            return False
    codes = Counter(code for code in remembered.cards if code in VALUE)
    ranks = Counter(code[0] for code in remembered.cards)
    dealt = Counter(candidate.cards)
    return codes <= dealt and ranks <= Counter(card[0] for card in candidate.cards)
