"""Bets for which part of the stake went back by a decision: neither void nor paid by the rules.

A void gives the whole stake back, less what the bet had been paid before. What a decision refunds
otherwise is a payment that no rule knows, and would take a lost round out of the return for a cent.
Pure.
"""

from collections.abc import Iterator, Sequence

from shoeproof.ledger import Recorded
from shoeproof.ledger.leaf.events import (
    BetResettled,
    BetSettled,
    DealRequested,
    DecisionMade,
    Funds,
    Refunded,
    RoundVoided,
)
from shoeproof.replay import findings as codes
from shoeproof.replay.currency import amount_text
from shoeproof.replay.engine.round import stakes_minor
from shoeproof.replay.rounds.money_check import Bet
from shoeproof.replay.wallet.wallet import is_accepted


def parts_back(
    round_: Sequence[Recorded], cases: Sequence[Recorded], currency: str
) -> Iterator[tuple[str, str, Recorded]]:
    """Yield a finding's code and sentence, with the last refund of each such bet.

    `round_` are the events of the round, `cases` those of the cases about it, both in order.
    """
    if any(_took_less(each) for each in round_):
        # What goes back is what the wallet took; another finding names the debit.
        return
    stakes, had = _settled(round_)
    before = dict(had)
    last: dict[Bet, Recorded] = {}
    for recorded in cases:
        data = recorded.event.data
        if isinstance(data, BetResettled):
            had[data.hand, data.bet] = before[data.hand, data.bet] = data.paid_minor
            last.pop((data.hand, data.bet), None)
        elif isinstance(data, Refunded) and data.amount_minor > 0 and data.hand and data.bet:
            bet = data.hand, data.bet
            had[bet] = had.get(bet, 0) + data.amount_minor
            last[bet] = recorded
    for bet, recorded in last.items():
        if bet in stakes and not before[bet] < stakes[bet] <= had[bet]:
            came, stake = (amount_text(minor, currency) for minor in (had[bet], stakes[bet]))
            text = f"{bet[1]} of {bet[0]} comes to {came} by a refund, staked {stake}"
            yield codes.REFUND_MISMATCH, f"{text}: a void gives the whole stake back", recorded


def _settled(events: Sequence[Recorded]) -> tuple[dict[Bet, int], dict[Bet, int]]:
    """Return by settled bet its stake, and what the round paid and gave back."""
    stakes: dict[Bet, int] = {}
    had: dict[Bet, int] = {}
    for each in events:
        data = each.event.data
        if isinstance(data, BetSettled):
            bet = data.hand, data.bet
            stakes[bet] = data.stake_minor
            had[bet] = had.get(bet, 0) + data.paid_minor
        elif isinstance(data, RoundVoided):
            for refund in data.refunds:
                bet = refund.hand, refund.bet
                had[bet] = had.get(bet, 0) + refund.amount_minor
    return stakes, had


def _took_less(recorded: Recorded) -> bool:
    data = recorded.event.data
    if isinstance(data, DealRequested):
        return _is_less(data.funds, stakes_minor(data.stakes))
    return isinstance(data, DecisionMade) and _is_less(data.funds, data.added_stake_minor)


def _is_less(funds: Funds | None, booked: int) -> bool:
    if funds is None:
        return False
    return not is_accepted(funds.answer) or funds.total_minor < booked
