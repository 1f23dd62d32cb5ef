"""Which rounds are proved to have nothing in their wallets' answers that speaks against them.

As with the rules (`batch`), only "holds" is ever said here; what is not proved is judged by
`wallet_check`, which alone makes findings. No two rounds say the same of a wallet, so each is
walked by itself; one without a wallet costs nothing. Held payments are left to the replayer. What
was barred for lack of money is held to the last balance before; without one it is believed.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from shoeproof.ledger.leaf.events import Funds
from shoeproof.replay.engine.hand import DOUBLE, INSURANCE, SPLIT
from shoeproof.replay.kernel.symbols import (
    DECISION,
    KIND,
    OFFER,
    OFFERED,
    PAID,
    REQUESTED,
    SEAT,
    SETTLED,
    STAKE,
    WITHHELD,
    RoundColumns,
    Row,
    Vocabulary,
)
from shoeproof.replay.kernel.tables import ACT_BIT, Ints
from shoeproof.replay.wallet.wallet import ACCEPTED, HELD

_FINAL = ACCEPTED - {HELD}
_COSTLY = ACT_BIT[DOUBLE] | ACT_BIT[SPLIT] | ACT_BIT[INSURANCE]
"""The acts that an offer may leave out for lack of money."""


def wallets_hold(
    vocabulary: Vocabulary, own: Sequence[RoundColumns], words: Ints, lengths: Ints
) -> Ints:
    """Tell of each round whether its wallet's movements are proved to be right.

    The rounds' words are flat, `lengths` of them each.
    """
    holds = np.ones(len(lengths), np.bool_)
    told = [place for place, each in enumerate(own) if each.funds]
    if not told:
        return holds
    rows, table = vocabulary.rows.items, vocabulary.table()
    kind = table[KIND]
    moved = np.where(kind == DECISION, table[STAKE], table[PAID])
    moved[~np.isin(kind, (REQUESTED, DECISION, SETTLED))] = 0
    ends = np.cumsum(lengths)
    # How many movements were booked before each word.
    before = np.append(0, np.cumsum((moved > 0).take(words)))
    booked = (before[ends] - before[ends - lengths])[told].tolist()
    begun = words[(ends - lengths)[told]].tolist()
    barring = (kind == OFFER) & (table[WITHHELD] & ~table[OFFERED] & _COSTLY != 0)
    bars = np.append(0, np.cumsum(barring.take(words)))
    barred = (bars[ends] > bars[ends - lengths])[told].tolist()
    for place, count, first, is_barred in zip(told, booked, begun, barred, strict=True):
        is_fun = rows[first][PAID] != 0
        holds[place] = not is_fun and _holds(rows, own[place].funds, count)
        if is_barred and holds[place]:
            mine = words[ends[place] - lengths[place] : ends[place]].tolist()
            holds[place] = _bars_hold(vocabulary, own[place].funds, mine)
    return holds


def _bars_hold(
    vocabulary: Vocabulary, told: Sequence[tuple[int, Funds]], words: Sequence[int]
) -> bool:
    """Tell whether each act that was barred for lack of money costs more than was left.

    Which of a round's events a movement is of is certain only where all events that say the same
    moved money.
    """
    events, moved = Counter(words), Counter(number for number, _ in told)
    if any(events[number] != count for number, count in moved.items()):
        return False
    balance, movements = None, iter(told)
    stakes: dict[str, dict[str, int]] = {}
    for number in words:
        row = vocabulary.rows.items[number]
        if row[KIND] == REQUESTED:
            stakes = vocabulary.stakes[row[STAKE]]
        if number in moved:
            stated = next(movements)[1].balance_after_minor
            balance = balance if stated is None else stated
        elif row[KIND] == OFFER and balance is not None:
            barred = row[WITHHELD] & ~row[OFFERED] & _COSTLY
            main = stakes.get(f"s{row[SEAT]}", {}).get("main", 0)
            # Half of a stake may be rounded up, and costs no less than this.
            cost = main // 2 if barred & ACT_BIT[INSURANCE] else main
            if barred and balance >= cost:
                return False
    return True


def _holds(rows: Sequence[Row], told: Sequence[tuple[int, Funds]], booked: int) -> bool:
    """Tell whether movements answer for as many as were `booked` and each follows from the last."""
    transactions = set()
    balance, has_incentives, answers, moving = None, False, 0, 0
    for number, funds in told:
        row = rows[number]
        is_debit = row[KIND] != SETTLED
        minor = row[STAKE] if row[KIND] == DECISION else row[PAID]
        cash, incentives = funds.cash_minor, funds.incentive_minor
        if cash < 0 or incentives < 0 or cash + incentives != minor:
            return False
        if (funds.direction == "debit") != is_debit:
            return False
        if funds.answer is not None:
            if funds.answer not in _FINAL:
                return False
            answers += 1
        if incentives:
            if not is_debit and not has_incentives:
                return False
            has_incentives = True
        if funds.transaction is not None:
            if funds.transaction in transactions:
                return False
            transactions.add(funds.transaction)
        if balance is not None:
            balance += -minor if is_debit else minor
        stated = funds.balance_after_minor
        if stated is not None:
            if stated < 0 or balance not in (None, stated):
                return False
            balance = stated
        moving += minor > 0
    return not answers or (answers == len(told) and moving == booked)
