"""Finding a round by what a player remembers: an hour, an amount, a card, a total, and no id.

The look-up index narrows by player and time, and each round left is read. What is not found is not
proven absent: the index proves nothing, and neither do a player's memory and clock.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final, Literal, TypeAlias, get_args

import msgspec

from shoeproof.ledger import Ledger, Recorded
from shoeproof.ledger.errors import EventUnreadable, UnknownStream
from shoeproof.ledger.leaf.clock import format_time
from shoeproof.ledger.leaf.events import (
    BetSettled,
    CardDealt,
    DealRequested,
    DecisionMade,
    HoleCardShown,
    RoundOpened,
    RoundVoided,
    StakesPlaced,
)
from shoeproof.ledger.store.round_index import IndexedRound
from shoeproof.ledger.verify.workers import Progress
from shoeproof.replay.currency import exact_minor_units, unit_of
from shoeproof.replay.engine.cards import RANKS, SUIT_SYMBOL, VALUE
from shoeproof.replay.engine.outcomes import INSURANCE_BET, MAIN
from shoeproof.replay.engine.round import DEALER
from shoeproof.replay.engine.rules import Rules
from shoeproof.replay.errors import DisputeRefused, RoundUnreadable
from shoeproof.replay.rounds.catalogue import rules_by_digest
from shoeproof.replay.rounds.replayer import replay_round

LEAST_TOTAL: Final = 2
MOST_TOTAL: Final = 31
"""What a hand can come to: from one card of two pips to a ten on a hard 21."""

BEGUN_BEFORE: Final = timedelta(hours=24)
"""How long before the time asked for a round may have been opened that was still being played."""

_SUITS: Final = {symbol: suit for suit, symbol in SUIT_SYMBOL.items()}


Result: TypeAlias = Literal["won", "push", "lost", "void"]
"""How a bet, or a round, ended: more was paid than staked, as much, or less; or it was voided."""

RESULTS: Final[tuple[Result, ...]] = get_args(Result)


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """What a player remembers; what is None, or empty, is not asked for.

    The round was being played at some moment of `begin` to `end`, both aware, the latter exclusive.
    `staked` and `paid` are amounts as people write them, in whatever currency the round is: what
    the whole round came to, or one bet of it. `cards` are codes like `Qs`, or ranks like `Q`; each
    was dealt, as often as it is named; `player_cards` to the player, `dealer_cards` to the dealer.
    `total` is what a hand of the player came to in the end, `dealer_total` the dealer's. The round
    had the bet `bet`, which ended in `result`; without a bet a hand's main bet did, or the whole
    round. With `total` the bet is that of such a hand or, where it is not a main bet, of its seat.
    """

    player: str | None = None
    begin: datetime | None = None
    end: datetime | None = None
    staked: Decimal | None = None
    paid: Decimal | None = None
    cards: tuple[str, ...] = ()
    player_cards: tuple[str, ...] = ()
    dealer_cards: tuple[str, ...] = ()
    total: int | None = None
    dealer_total: int | None = None
    bet: str | None = None
    result: Result | None = None


class SeenBet(msgspec.Struct, frozen=True):
    """A bet of a round, and how it ended by what was recorded; None while it is open."""

    hand: str
    bet: str
    result: Result | None


class SeenHand(msgspec.Struct, frozen=True):
    """A hand as the engine has it in the end: its cards, its best total, the seat it is of."""

    hand: str
    seat: str
    cards: tuple[str, ...]
    total: int


class Candidate(msgspec.Struct, frozen=True):
    """A round that was read: its row in the index, its sums, and its cards in the order shown.

    `currency` is the unit of its amounts (`shoeproof.replay.currency`), empty where it cannot be
    read. `stakes` and `payments` hold every amount a player may mean: of the whole round, of one
    bet. `hands` are those of the player, `dealer` is the dealer's; they are empty and None where
    the play cannot be followed, and their totals are then unknown.
    """

    row: IndexedRound
    currency: str
    staked_minor: int
    paid_minor: int
    player_cards: tuple[str, ...]
    dealer_cards: tuple[str, ...]
    bets: tuple[SeenBet, ...]
    result: Result | None
    stakes: frozenset[int]
    payments: frozenset[int]
    hands: tuple[SeenHand, ...] = ()
    dealer: SeenHand | None = None

    @property
    def cards(self) -> tuple[str, ...]:
        """Every card that was shown, the dealer's last."""
        return self.player_cards + self.dealer_cards


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
    told how many rounds are read, and of how many. A round whose play cannot be followed may have
    any total. Raises DisputeRefused when neither the player nor the time narrows the search, the
    time ends before it begins, no game of the ledger has the bet, or no hand comes to the total;
    StoreUnavailable and StoreDamaged.
    """
    if remembered.player is None and remembered.begin is None:
        raise DisputeRefused("give the player or a start time: otherwise every round must be read")
    if remembered.begin and remembered.end and remembered.end <= remembered.begin:
        raise DisputeRefused("the time ends before it begins: nothing was played between the two")
    size, rules = ledger.size(), rules_by_digest(ledger)
    _check(remembered, rules.values())
    rows = _rows(ledger, remembered)
    found: list[Candidate] = []
    unreadable: list[str] = []
    read = 0
    for read, row in enumerate(rows, 1):
        try:
            events = ledger.events(row.round)
        except (EventUnreadable, UnknownStream):
            unreadable.append(row.round)
            continue
        candidate = _candidate(row, events)
        if _fits(candidate, remembered):
            # Replay costs more than all else: only what fits so far is replayed.
            candidate = _with_totals(candidate, events, rules)
            if _totals_fit(candidate, remembered):
                found.append(candidate)
        if progress is not None:
            progress(read, len(rows))
        if len(found) == most:
            break
    return Search(tuple(found), tuple(unreadable), read, size, read == len(rows))


def read_card(text: str) -> str:
    """Return a card or a rank as people write it, `10♦`, `td`, `Q`, in the code of the ledger.

    Raises DisputeRefused for a text that is neither.
    """
    written = text.strip().replace("10", "T")
    suit = _SUITS.get(written[-1:], written[-1:].lower())
    for code in (written[:-1].upper() + suit, written.upper()):
        if code in VALUE or code in {*RANKS}:
            return code
    raise DisputeRefused(f"{text!r} is not a card: write Qs, 10d, A♥, or a rank such as K")


def _rows(ledger: Ledger, remembered: Remembered) -> list[IndexedRound]:
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


def read_result(text: str) -> Result:
    """Return how a bet ended by its word; raise DisputeRefused for another word."""
    for result in RESULTS:
        if text.strip().lower() == result:
            return result
    raise DisputeRefused(f"{text!r} is not how a bet ends: write {', '.join(RESULTS)}")


def _check(remembered: Remembered, rules: Collection[Rules]) -> None:
    bet, known = remembered.bet, {MAIN, INSURANCE_BET, *(b for each in rules for b in each.bets)}
    if bet is not None and bet not in known:
        raise DisputeRefused(f"no game here has a bet {bet!r}; there is {', '.join(sorted(known))}")
    for total in (remembered.total, remembered.dealer_total):
        if total is not None and not LEAST_TOTAL <= total <= MOST_TOTAL:
            raise DisputeRefused(f"no hand comes to {total}: give {LEAST_TOTAL} to {MOST_TOTAL}")


def _candidate(row: IndexedRound, events: Sequence[Recorded]) -> Candidate:
    currency = ""
    laid: Mapping[str, Mapping[str, int]] = {}
    added = 0
    settled: list[BetSettled] = []
    voided: RoundVoided | None = None
    mine: list[str] = []
    dealers: list[str] = []
    for recorded in events:
        match recorded.event.data:
            case RoundOpened() as opened:
                currency = unit_of(opened)
            case StakesPlaced(stakes=stakes) | DealRequested(stakes=stakes):
                laid = stakes
            case DecisionMade(added_stake_minor=more):
                added += more
            case BetSettled() as bet:
                settled.append(bet)
            case RoundVoided() as voiding:
                voided = voiding
            case CardDealt(card=str(card), receiver=receiver):
                (dealers if receiver == DEALER else mine).append(card)
            case HoleCardShown(card=card):
                dealers.append(card)
    stakes_laid = [stake for bets in laid.values() for stake in bets.values()]
    refunds = [] if voided is None else [refund.amount_minor for refund in voided.refunds]
    payments = [bet.paid_minor for bet in settled] + refunds
    first = sum(stakes_laid)
    return Candidate(
        row,
        currency,
        first + added,
        sum(payments),
        tuple(mine),
        tuple(dealers),
        tuple(_seen_bets(laid, settled, voided)),
        _result_of_round(row, first + added, sum(payments)),
        frozenset({first, first + added, *stakes_laid, *(bet.stake_minor for bet in settled)}),
        # Nearly every round has a bet that paid nothing: who was paid nothing means all of it.
        frozenset({sum(payments), *filter(None, payments)}),
    )


def _seen_bets(
    laid: Mapping[str, Mapping[str, int]],
    settled: Sequence[BetSettled],
    voided: RoundVoided | None,
) -> Iterator[SeenBet]:
    """Yield every bet that was settled or given back, and those laid that nothing is said of."""
    told = set()
    for bet in settled:
        told.add((bet.seat, bet.bet))
        yield SeenBet(bet.hand, bet.bet, _result(bet.stake_minor, bet.paid_minor))
    for refund in [] if voided is None else voided.refunds:
        told.add((refund.hand.partition(".")[0], refund.bet))
        yield SeenBet(refund.hand, refund.bet, "void")
    for seat, bets in laid.items():
        for name in bets:
            if (seat, name) not in told:
                yield SeenBet(seat, name, None if voided is None else "void")


def _result_of_round(row: IndexedRound, staked_minor: int, paid_minor: int) -> Result | None:
    if row.state == "void":
        return "void"
    return None if row.state == "open" else _result(staked_minor, paid_minor)


def _result(staked_minor: int, paid_minor: int) -> Result:
    if paid_minor > staked_minor:
        return "won"
    return "push" if paid_minor == staked_minor else "lost"


def _with_totals(
    candidate: Candidate, events: Sequence[Recorded], rules: Mapping[str, Rules]
) -> Candidate:
    """Return a candidate with its hands as the engine has them, as it is where it cannot say."""
    try:
        replay = replay_round(events, rules)
    except RoundUnreadable:
        return candidate
    state = replay.state
    if state is None or not replay.judged:
        return candidate
    hands = [
        SeenHand(held.name, held.seat, held.cards, held.hand.total)
        for held in state.hands
        if held.cards
    ]
    dealer = SeenHand(DEALER, DEALER, state.dealer_cards, state.dealer.total)
    return msgspec.structs.replace(candidate, hands=tuple(hands), dealer=dealer)


def _fits(candidate: Candidate, remembered: Remembered) -> bool:
    for amount, amounts in (
        (remembered.staked, candidate.stakes),
        (remembered.paid, candidate.payments),
    ):
        if amount is not None and exact_minor_units(amount, candidate.currency) not in amounts:
            return False
    for asked, dealt in (
        (remembered.cards, candidate.cards),
        (remembered.player_cards, candidate.player_cards),
        (remembered.dealer_cards, candidate.dealer_cards),
    ):
        if not _were_dealt(asked, dealt):
            return False
    if remembered.bet is None and remembered.result in (None, candidate.result):
        return True
    return any(_bet_fits(bet, remembered) for bet in candidate.bets)


def _were_dealt(asked: Sequence[str], dealt: Sequence[str]) -> bool:
    codes = Counter(code for code in asked if code in VALUE)
    ranks = Counter(code[0] for code in asked)
    return codes <= Counter(dealt) and ranks <= Counter(card[0] for card in dealt)


def _bet_fits(bet: SeenBet, remembered: Remembered) -> bool:
    return bet.bet == (remembered.bet or MAIN) and remembered.result in (None, bet.result)


def _totals_fit(candidate: Candidate, remembered: Remembered) -> bool:
    if candidate.dealer is None:
        return True
    if remembered.dealer_total not in (None, candidate.dealer.total):
        return False
    if remembered.total is None:
        return True
    hands = [hand for hand in candidate.hands if hand.total == remembered.total]
    # Main bets are of a hand, all others of a seat.
    names = {name for hand in hands for name in (hand.hand, hand.seat)}
    return any(bet.hand in names for bet in candidate.bets if _bet_fits(bet, remembered))
