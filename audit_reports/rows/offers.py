"""What offers withheld from players, and cash-out values that the rules' table does not have.

An act that the rules allow may be kept back for two reasons: the player chose not to be shown cash
out, or has not the money. The second is a claim of the house, and is believed only where the last
balance that the wallet stated in the round confirms it.
"""

from collections.abc import Iterator

from shoeproof.audit_reports.rows.records import OfferRow
from shoeproof.ledger.leaf.events import DecisionOffered
from shoeproof.replay.engine.hand import CASH_OUT, DOUBLE, INSURANCE, SPLIT
from shoeproof.replay.engine.round import Decide, RoundState
from shoeproof.replay.rounds.money_check import FUNDS, HIDDEN
from shoeproof.replay.rounds.replayer import Replay


def barred_rows(
    offer: DecisionOffered,
    first_leaf: int,
    leaf_index: int,
    main_minor: int | None,
    balance_minor: int | None,
) -> Iterator[OfferRow]:
    """Yield a row for each act that an offer says is barred.

    `main_minor` is the stake of the hand's main bet, `balance_minor` the last balance that the
    wallet stated in the round; None where it is unknown.
    """
    for act, reason in offer.barred.items():
        if act in offer.legal:
            continue
        cost = _cost_minor(act, main_minor)
        is_short = None not in (cost, balance_minor) and (balance_minor or 0) < (cost or 0)
        is_believed = is_short if reason == FUNDS else (act, reason) == (CASH_OUT, HIDDEN)
        yield OfferRow(
            first_leaf, leaf_index, offer.hand, act, reason, is_believed, balance_minor, cost
        )


def rows_against_the_rules(replay: Replay) -> Iterator[OfferRow]:
    """Yield what a round's offers left out without a reason, and their wrong cash-out values."""
    before: RoundState | None = None
    first = replay.steps[0].recorded.leaf_index
    for step in replay.steps:
        offer, due = step.recorded.event.data, None if before is None else before.due
        leaf = step.recorded.leaf_index
        before = step.state
        if not isinstance(offer, DecisionOffered) or not isinstance(due, Decide):
            continue
        if due.hand != offer.hand:
            continue
        for act in due.legal:
            if act not in offer.legal and act not in offer.barred:
                yield OfferRow(first, leaf, offer.hand, act)
        right, shown = due.cash_out_minor, offer.cash_out_minor
        if CASH_OUT in offer.legal and CASH_OUT in due.legal and shown != right:
            yield OfferRow(
                first, leaf, offer.hand, CASH_OUT, shown_minor=shown or 0, table_minor=right
            )


def _cost_minor(act: str, main_minor: int | None) -> int | None:
    if main_minor is None:
        return None
    # Half of a stake may be rounded up: the larger cost is the one that excuses the house.
    return {DOUBLE: main_minor, SPLIT: main_minor, INSURANCE: -(-main_minor // 2)}.get(act)
