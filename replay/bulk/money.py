"""What was offered, staked and paid in rounds that were walked, held to the tables at once.

Each bet of a round has a place: its hands' main bets, the seats' insurance, the seats' side bets.
What each is due, by which line and in which turn, is worked out for all rounds together, and every
recorded settlement is compared with its place. Amounts are minor units in 64 bits; stakes are
below 2^30 and odds have at most nine digits, so that no product overflows.
"""

from typing import NamedTuple

import numpy as np

from replay.bulk.due import Layout
from replay.bulk.tables import ABSENT, ACT_BIT, ACTS, NUMBER, Ints, Pays
from replay.bulk.walk import Events, Walked
from replay.bulk.words import (
    BET,
    CHECKED,
    CLOSED,
    DECISION,
    HALF,
    KIND,
    LINE,
    OFFER,
    OFFERED,
    PAID,
    REVEALED,
    SEAT,
    SETTLED,
    SHOWN,
    STAKE,
    SYMBOL,
    WITHHELD,
    Names,
)
from replay.engine.hand import CASH_OUT, DOUBLE, EVEN_MONEY, INSURANCE, INSURANCE_ACTS, SPLIT
from replay.engine.round import NATURAL
from replay.engine.rules import Rounding

LARGEST_STAKE = 1 << 30


class Laid(NamedTuple):
    """What rounds staked, (rounds, seats that play); `side` maps each side bet to its stakes."""

    main: Ints
    insurance: Ints
    side: dict[str, Ints]


class _Bets(NamedTuple):
    """Every bet by round and place: whether it is there, its stake, payment, line's name, turn."""

    there: Ints
    stake: Ints
    paid: Ints
    line: Ints
    turn: Ints


def round_minor(amount: Ints, denominator: Ints, rounding: Rounding) -> Ints:
    """Return `engine.money.round_minor` of many fractions, elementwise."""
    found: Ints
    if rounding == "down":
        found = amount // denominator
    else:
        found = (2 * amount + denominator) // (2 * denominator)
    return found


def offers_hold(layout: Layout, events: Events, walked: Walked, laid: Laid) -> Ints:
    """Tell of each round whether each decision was offered, allowed and staked as the rules say."""
    tables, rounds = layout.tables, len(events.start)
    kind, seat, half = (events.of(each) for each in (KIND, SEAT, HALF))
    wrong = np.zeros(rounds, np.bool_)
    offers = np.flatnonzero(kind == OFFER)
    wrong[events.number[offers[kind[offers + 1] != DECISION]]] = True
    chosen = np.flatnonzero(events.of(KIND, walked.move) == DECISION)
    decision = walked.move[chosen]
    offer, number = decision - 1, events.number[decision]
    same = (
        (kind[offer] == OFFER) & (seat[offer] == seat[decision]) & (half[offer] == half[decision])
    )
    pos = events.pos[number, seat[decision]]
    symbol = events.of(SYMBOL, decision)
    answers = symbol >= NUMBER[INSURANCE_ACTS[0]]
    natural, has_half = walked.natural[number, pos], events.has_half[number, pos]
    asked = tables.asked[natural.astype(np.int64), has_half.astype(np.int64)]
    before = walked.before[chosen]
    legal = np.where(answers, asked, tables.legal[before])
    offered, withheld = events.of(OFFERED, offer), events.of(WITHHELD, offer)
    act = 1 << (symbol - NUMBER[ACTS[0]])
    allowed = (offered & ~legal == 0) & (legal & ~offered & ~withheld == 0) & (offered & act != 0)
    main = laid.main[number, pos]
    up = tables.up_value[walked.states[number, layout.dealer]]
    ratio = tables.cash_out_numerator[before, up], tables.cash_out_denominator[before, up]
    value = round_minor(ratio[0] * main, ratio[1], tables.rules.rounding)
    sold = offered & ACT_BIT[CASH_OUT] != 0
    costs = np.where((symbol == NUMBER[DOUBLE]) | (symbol == NUMBER[SPLIT]), main, 0)
    costs = np.where(symbol == NUMBER[INSURANCE], laid.insurance[number, pos], costs)
    holds = (
        same
        & allowed
        & (~sold | (events.of(PAID, offer) == value))
        & (events.of(STAKE, decision) == costs)
    )
    wrong[number[~holds]] = True
    return ~wrong


def settlements_hold(
    layout: Layout, events: Events, walked: Walked, laid: Laid, names: Names
) -> Ints:
    """Tell of each round whether every bet was settled once, in its turn, as the rules pay it."""
    rounds = len(events.start)
    bets = _due(layout, events, walked, laid, names)
    places = bets.there.shape[1]
    settled = np.flatnonzero(events.of(KIND) == SETTLED)
    number = events.number[settled]
    place = _places(layout, events, settled, laid, names)
    cell = number * places + place
    known = place >= 0
    cell[~known] = 0
    split = (walked.states[:, 1 : layout.hands : 2] != ABSENT)[
        number, events.pos[number, events.of(SEAT, settled)]
    ]
    after = events.of(KIND, settled + 1)
    holds = (
        known
        & bets.there.reshape(-1)[cell]
        & (bets.stake.reshape(-1)[cell] == events.of(STAKE, settled))
        & (bets.paid.reshape(-1)[cell] == events.of(PAID, settled))
        & (bets.line.reshape(-1)[cell] == events.of(LINE, settled))
        & (bets.turn.reshape(-1)[cell] == walked.turn[settled])
        & ((events.of(HALF, settled) > 0) == (split & (events.of(BET, settled) == 0)))
        # Within a turn payments come last, so that what they were paid on is what it ended with.
        & ((after == SETTLED) | (after == OFFER) | (after == REVEALED))
    )
    times = np.bincount(cell[known], minlength=bets.there.size).reshape(bets.there.shape)
    right: Ints = (times == bets.there).all(axis=1)
    right &= np.bincount(number[~holds], minlength=rounds) == 0
    closed = np.flatnonzero(events.of(KIND) == CLOSED)
    right &= events.of(STAKE, closed) == (bets.stake * bets.there).sum(axis=1)
    right &= events.of(PAID, closed) == (bets.paid * bets.there).sum(axis=1)
    right &= _checks_hold(layout, events, walked)
    return right


def _checks_hold(layout: Layout, events: Events, walked: Walked) -> Ints:
    """Tell of each round whether the check for a natural, if there was one, told the truth."""
    kind = events.of(KIND, walked.move)
    looked, shown = np.flatnonzero(kind == CHECKED), np.flatnonzero(kind == SHOWN)
    natural = np.zeros(len(events.start), np.bool_)
    natural[events.number[walked.move[shown]]] = layout.tables.natural[walked.after[shown]]
    said = events.of(SYMBOL, walked.move[looked]) == NUMBER[NATURAL]
    number = events.number[walked.move[looked]]
    right = np.ones(len(events.start), np.bool_)
    right[number[said != natural[number]]] = False
    return right


def _places(layout: Layout, events: Events, settled: Ints, laid: Laid, names: Names) -> Ints:
    """Return the place of the bet each settlement names, -1 for none."""
    pos = events.pos[events.number[settled], events.of(SEAT, settled)]
    bet = events.of(BET, settled)
    place = np.full(len(settled), -1)
    for first, name in _first_places(layout, laid):
        at = bet == names.number(name)
        own = 2 * pos + (events.of(HALF, settled) == 2) if name == "main" else first + pos
        place[at] = own[at]
    place[pos < 0] = -1
    return place


def _first_places(layout: Layout, laid: Laid) -> list[tuple[int, str]]:
    found = [(0, "main"), (layout.hands, "insurance")]
    first = layout.hands + layout.seats
    return found + [(first + n * layout.seats, name) for n, name in enumerate(laid.side)]


def _due(layout: Layout, events: Events, walked: Walked, laid: Laid, names: Names) -> _Bets:
    main = _main_bets(layout, events, walked, laid, names)
    insurance = _insurance(layout, events, walked, laid, names)
    side = [
        _side_bets(layout, events, walked, stakes, bet, names) for bet, stakes in laid.side.items()
    ]
    return _Bets(*(np.hstack(parts) for parts in zip(main, insurance, *side, strict=True)))


def _main_bets(layout: Layout, events: Events, walked: Walked, laid: Laid, names: Names) -> _Bets:
    tables = layout.tables
    hands = walked.states[:, : layout.hands]
    there = hands != ABSENT
    stake = np.repeat(laid.main, 2, axis=1) * (1 + tables.doubled[hands])
    dealer = walked.states[:, layout.dealer]
    line = tables.line[tables.facts[hands], tables.facts[dealer][:, None]].astype(np.int64)
    paid = _paid(tables.pays, line, stake, tables.rules.rounding)
    column, symbol = walked.column, events.of(SYMBOL, walked.move)
    if tables.offer_line >= 0:
        shown = np.zeros_like(paid)
        sold = np.flatnonzero(symbol == NUMBER[CASH_OUT])
        at = events.number[walked.move[sold]], column[sold]
        shown[at] = events.of(PAID, walked.move[sold] - 1)
        paid = np.where(line == tables.offer_line, shown, paid)
    turn = np.repeat(_last_turn(events, walked)[:, None], layout.hands, axis=1)
    # A hand that ends so that the dealer no longer matters is decided in that turn.
    ended = np.flatnonzero((column < layout.hands) & (tables.early[walked.after] >= 0))
    turn[events.number[walked.move[ended]], column[ended]] = walked.turn[walked.move[ended]]
    taken = np.flatnonzero((symbol == NUMBER[EVEN_MONEY]) & (column >= layout.answers))
    at = events.number[walked.move[taken]], 2 * (column[taken] - layout.answers)
    early = tables.early[walked.states[at]] >= 0
    turn[at] = np.where(early, walked.turn[walked.move[taken]], turn[at])
    return _Bets(there, stake, paid, _named(tables.pays, names)[line], turn)


def _insurance(layout: Layout, events: Events, walked: Walked, laid: Laid, names: Names) -> _Bets:
    tables, kind = layout.tables, events.of(KIND, walked.move)
    there = np.zeros_like(laid.main, np.bool_)
    insured = (kind == DECISION) & (events.of(SYMBOL, walked.move) == NUMBER[INSURANCE])
    insured = np.flatnonzero(insured & (walked.column >= layout.answers))
    column = walked.column[insured] - layout.answers
    there[events.number[walked.move[insured]], column] = True
    turn = _last_turn(events, walked)
    checked = walked.move[kind == CHECKED]
    turn[events.number[checked]] = walked.turn[checked]
    natural = tables.natural[walked.states[:, layout.dealer]].astype(np.int64)
    line = np.repeat(natural[:, None], layout.seats, axis=1)
    paid = _paid(tables.insurance, line, laid.insurance, tables.rules.rounding)
    named = _named(tables.insurance, names)[line]
    return _Bets(there, laid.insurance, paid, named, np.repeat(turn[:, None], layout.seats, axis=1))


def _side_bets(
    layout: Layout, events: Events, walked: Walked, stakes: Ints, bet: str, names: Names
) -> _Bets:
    table = layout.tables.side_bets[bet]
    symbol, number = events.of(SYMBOL, walked.move), events.number[walked.move]
    ordinal = np.arange(len(number)) - np.searchsorted(number, number)
    cards = np.zeros((len(events.start), layout.hands + 1, 2), np.int64)
    dealt = np.flatnonzero((ordinal < len(layout.plan)) & (symbol < NUMBER["??"]))
    column = np.minimum(walked.column[dealt], layout.dealer)
    # A column's second card of the deal is the one that comes after its first.
    second = _is_second(number[dealt] * (layout.dealer + 1) + column)
    cards[number[dealt], column, second] = symbol[dealt]
    hands = cards[:, 0 : layout.hands : 2]
    up = cards[:, layout.dealer, 0]
    line = table.line[hands[..., 0], hands[..., 1], up[:, None]].astype(np.int64)
    paid = _paid(table.pays, line, stakes, layout.tables.rules.rounding)
    named = _named(table.pays, names)[line]
    return _Bets(stakes > 0, stakes, paid, named, np.zeros_like(stakes))


def _is_second(keys: Ints) -> Ints:
    order = np.argsort(keys, kind="stable")
    again = np.zeros(len(keys), np.int64)
    again[order[1:]] = keys[order[1:]] == keys[order[:-1]]
    return again


def _last_turn(events: Events, walked: Walked) -> Ints:
    ends: Ints = np.append(events.start[1:], len(events.number)) - 1
    return walked.turn[ends]


def _paid(pays: Pays, line: Ints, stake: Ints, rounding: Rounding) -> Ints:
    win = round_minor(pays.numerator[line] * stake, pays.denominator[line], rounding)
    return pays.times_stake[line] * stake + win


def _named(pays: Pays, names: Names) -> Ints:
    return np.array([names.number(name) for name in pays.lines])
