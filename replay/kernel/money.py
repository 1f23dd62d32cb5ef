"""What was offered, staked and paid in rounds whose courses hold, compared with the tables.

Every decision's stake, every cash-out value, every settlement and every total is held to what its
round's last states make due, for all rounds at once. Amounts are minor units in 64 bits; stakes
are below 2^30 and odds have at most nine digits, so that no product overflows.
"""

import numpy as np

from shoeproof.replay.engine.hand import CASH_OUT, DOUBLE, INSURANCE, SPLIT
from shoeproof.replay.engine.rules import Rounding
from shoeproof.replay.kernel.due import LayoutOf
from shoeproof.replay.kernel.symbols import (
    BET,
    COLUMN,
    COLUMNS,
    DECISION,
    INSURANCE_BET,
    LINE,
    MAIN,
    OFFERED,
    PAID,
    SETTLED,
    STAKE,
    SYMBOL,
    NumberedTexts,
)
from shoeproof.replay.kernel.tables import ACT_BIT, NUMBER, Ints, Pays, RuleTables
from shoeproof.replay.kernel.walk import RoundBatch, Walked


def round_minor(amount: Ints, denominator: Ints, rounding: Rounding) -> Ints:
    """Return `engine.money.round_minor` of many fractions, elementwise."""
    found: Ints
    if rounding == "down":
        found = amount // denominator
    else:
        found = (2 * amount + denominator) // (2 * denominator)
    return found


def amounts_hold(
    layout_of: LayoutOf, batch: RoundBatch, walked: Walked, names: NumberedTexts
) -> Ints:
    """Tell of each round whether every amount is what the rules make of its cards and stakes."""
    tables = layout_of(1).tables
    decision = np.flatnonzero(batch.kind == DECISION)
    settled = np.flatnonzero(batch.kind == SETTLED)
    right = np.ones(len(batch.start), np.bool_)
    right[batch.number[decision[batch.of(STAKE, decision) != _costs(batch, decision)]]] = False
    sold = np.zeros(0, np.int64)
    if tables.rules.cash_out is not None:
        sold = walked.move[~_values_hold(tables, batch, walked)]
    right[batch.number[sold]] = False
    line, stake, paid = _due(layout_of, batch, walked, settled, names)
    differs = (
        (batch.of(LINE, settled) != line)
        | (batch.of(STAKE, settled) != stake)
        | (batch.of(PAID, settled) != paid)
    )
    right[batch.number[settled[differs]]] = False
    closed = batch.start + batch.lengths - 1
    bounds = np.append(np.searchsorted(settled, batch.start), len(settled))
    for total, amounts in ((STAKE, stake), (PAID, paid)):
        sums = np.append(0, np.cumsum(amounts))[bounds]
        right &= batch.of(total, closed) == np.diff(sums)
    return right


def _costs(batch: RoundBatch, decision: Ints) -> Ints:
    """Return the stake that each decision adds."""
    symbol, costs = batch.of(SYMBOL, decision), np.zeros(len(decision), np.int64)
    for acts, stakes in (
        ((DOUBLE, SPLIT), batch.openings.main),
        ((INSURANCE,), batch.openings.insurance),
    ):
        adds = np.flatnonzero(np.isin(symbol, [NUMBER[act] for act in acts]))
        costs[adds] = batch.by_seat(stakes, decision[adds])
    return costs


def _values_hold(tables: RuleTables, batch: RoundBatch, walked: Walked) -> Ints:
    """Tell of each move whether it is no decision to which a value was offered that is not due."""
    holds = np.ones(len(walked.move), np.bool_)
    decision = np.flatnonzero(batch.kind[walked.move] == DECISION)
    offer = walked.move[decision] - 1
    offers = np.flatnonzero(batch.of(OFFERED, offer) & ACT_BIT[CASH_OUT])
    decision, offer = decision[offers], offer[offers]
    hand = walked.before[decision]
    up = tables.up_value[walked.states[batch.number[offer], 0]]
    amount = tables.cash_out_numerator[hand, up] * batch.by_seat(batch.openings.main, offer)
    value = round_minor(amount, tables.cash_out_denominator[hand, up], tables.rules.rounding)
    holds[decision] = batch.of(PAID, offer) == value
    return holds


def _due(
    layout_of: LayoutOf, batch: RoundBatch, walked: Walked, settled: Ints, names: NumberedTexts
) -> tuple[Ints, Ints, Ints]:
    """Return each settlement's line, as the number of its name, its stake and its payment."""
    tables, bet, number = layout_of(1).tables, batch.of(BET, settled), batch.number[settled]
    dealer = walked.states[:, 0].take(number)
    line, stake, paid = np.zeros((3, len(settled)), np.int64)

    def pay(chosen: Ints, pays: Pays, of_line: Ints, laid: Ints) -> None:
        win = round_minor(
            pays.numerator.take(of_line) * laid,
            pays.denominator.take(of_line),
            tables.rules.rounding,
        )
        line[chosen] = np.array([names.number(name) for name in pays.lines]).take(of_line)
        stake[chosen], paid[chosen] = laid, pays.times_stake.take(of_line) * laid + win

    main = np.flatnonzero(bet == MAIN)
    hand = walked.states.reshape(-1).take(number[main] * COLUMNS + batch.of(COLUMN, settled[main]))
    laid = batch.by_seat(batch.openings.main, settled[main]) << tables.doubled.take(hand)
    settles = tables.line[tables.facts.take(hand), tables.facts.take(dealer[main])]
    pay(main, tables.pays, settles, laid)
    if tables.offer_line >= 0:
        _pay_offers(batch, walked, settled, paid, main[settles == tables.offer_line])
    insured = np.flatnonzero(bet == INSURANCE_BET)
    if len(insured):
        laid = batch.by_seat(batch.openings.insurance, settled[insured])
        pay(insured, tables.insurance, tables.natural[dealer[insured]].astype(np.int64), laid)
    for name, stakes in batch.openings.side.items():
        beside = np.flatnonzero(bet == name)
        if len(beside):
            side = tables.side_bets[names.items[name]]
            cards = _first_cards(layout_of, batch, walked, settled[beside])
            laid = batch.by_seat(stakes, settled[beside])
            pay(beside, side.pays, side.line[cards], laid)
    return line, stake, paid


def _pay_offers(batch: RoundBatch, walked: Walked, settled: Ints, paid: Ints, chosen: Ints) -> None:
    """Pay the settlements of hands that were cashed out what they were offered."""
    sold = walked.move[batch.of(SYMBOL, walked.move) == NUMBER[CASH_OUT]]
    # A hand is sold once, and nothing of it moves after.
    cells = batch.number[sold] * COLUMNS + batch.of(COLUMN, sold)
    order = np.argsort(cells)
    asked = batch.number[settled[chosen]] * COLUMNS + batch.of(COLUMN, settled[chosen])
    paid[chosen] = batch.of(PAID, sold - 1)[order][np.searchsorted(cells[order], asked)]


def _first_cards(
    layout_of: LayoutOf, batch: RoundBatch, walked: Walked, settled: Ints
) -> tuple[Ints, Ints, Ints]:
    """Return the first two cards of each settlement's seat and the up card, as their symbols."""
    number = batch.number[settled]
    count = (batch.openings.place >= 0).sum(axis=1)[batch.opening[number]]
    place = batch.by_seat(batch.openings.place, settled)
    first, second, up = np.zeros((3, len(settled)), np.int64)
    for seats in np.unique(count).tolist():
        mine, layout = count == seats, layout_of(seats)
        first[mine], second[mine] = layout.dealt[:, place[mine]]
        up[mine] = layout.dealt_up
    dealt = walked.first[number]
    symbols = batch.of(SYMBOL, walked.move)
    return symbols[dealt + first], symbols[dealt + second], symbols[dealt + up]
