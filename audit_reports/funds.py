"""Cash and incentive money of single bets, as far as what was recorded tells them apart.

The wallet answers for a whole deal. Of several bets in one deal that were paid from both kinds of
money nothing says which had which, and nothing is invented.
"""

from typing import TypeAlias

from ledger.events import Funds, Stakes

Split: TypeAlias = tuple[int, int] | None
"""Cash and incentive money in minor units, None where they were not recorded apart."""


def funds_of_move(funds: Funds | None, amount_minor: int) -> Split:
    """Return the two kinds of money of one movement; None where they do not add up to it."""
    if funds is None or funds.cash_minor + funds.incentive_minor != amount_minor:
        return (0, 0) if not amount_minor and funds is None else None
    return funds.cash_minor, funds.incentive_minor


def funds_of_deal(funds: Funds | None, stakes: Stakes) -> dict[tuple[str, str], Split]:
    """Return the two kinds of money of each stake of a deal, by seat and bet."""
    laid = {(seat, bet): stake for seat, bets in stakes.items() for bet, stake in bets.items()}
    whole = None if funds is None else funds_of_move(funds, sum(laid.values()))
    if whole is None:
        return dict.fromkeys(laid)
    cash, incentive = whole
    if not incentive:
        return {bet: (stake, 0) for bet, stake in laid.items()}
    if not cash:
        return {bet: (0, stake) for bet, stake in laid.items()}
    return {bet: whole if len(laid) == 1 else None for bet in laid}


def add(one: Split, other: Split) -> Split:
    """Add two movements; None where one of them is."""
    return None if one is None or other is None else (one[0] + other[0], one[1] + other[1])
