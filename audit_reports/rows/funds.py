"""What the wallet's answers say: which money moved, of which kind, and for which bet.

The wallet answers for a whole deal. Of several bets in one deal that were paid from both kinds of
money nothing says which had which, and nothing is invented.
"""

from typing import Literal, TypeAlias

from shoeproof.audit_reports.rows.records import WalletRow
from shoeproof.audit_reports.rows.said import Said
from shoeproof.ledger.leaf.events import Funds, Stakes
from shoeproof.replay.wallet.movements import movements_of
from shoeproof.replay.wallet.wallet import is_accepted, is_held

Direction: TypeAlias = Literal["debit", "credit"]

Split: TypeAlias = tuple[int, int] | None
"""Cash and incentive money in minor units, None where they were not recorded apart."""


def funds_of_move(funds: Funds | None, amount_minor: int) -> Split:
    """Return the two kinds of money of one movement; None where they do not add up to it."""
    if funds is None or funds.total_minor != amount_minor:
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
    """Add two movements; None if either is None."""
    return None if one is None or other is None else (one[0] + other[0], one[1] + other[1])


def moved_minor(funds: Funds, direction: Direction) -> int:
    """Return what an answer shows to have moved in a direction, in minor units.

    What was declined moved nothing, a negative part takes nothing off a debit, and money that went
    the other way counts below zero.
    """
    if not is_accepted(funds.answer):
        return 0
    parts = funds.cash_minor, funds.incentive_minor
    if funds.direction == "debit":
        taken = sum(max(part, 0) for part in parts)
        return taken if direction == "debit" else -taken
    return sum(parts) if direction == "credit" else -sum(parts)


def wallet_rows(event: Said, round_: str, first_leaf: int | None, *, fun: bool) -> list[WalletRow]:
    """Return the movements of an event that the wallet says moved amounts other than those booked.

    `first_leaf` is the round's, None of an event outside of its stream. Of play for `fun` no money
    is booked at all. A payment a part of which is held is booked with what was not.
    """
    rows = []
    for movement in movements_of(event.data):
        direction, funds = movement.direction, movement.funds
        if funds is None:
            continue
        booked, moved = 0 if fun else movement.booked_minor, moved_minor(funds, direction)
        if moved != booked and not (is_held(funds) and 0 <= moved <= booked):
            rows.append(
                WalletRow(
                    first_leaf, event.leaf_index, event.at, round_, type(event.data).__name__,
                    movement.hand, movement.bet, direction, booked, moved, funds.answer,
                )
            )  # fmt: skip
    return rows
